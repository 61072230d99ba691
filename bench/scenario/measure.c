/* Carries one case out: see measure.h. */
#include "bench/scenario/measure.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench/child.h"
#include "bench/limits.h"
#include "bench/scenario/measure_json.h"
#include "bench/witness.h"

enum { GRACE_NS = 200000000 };

static const uint64_t first_look_ns = 5000000, last_look_ns = 100000000;
static const uint64_t default_limit_ns = 600000000000;

static void *shared_make(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static void shared_free(void *memory, size_t bytes)
{
	if (memory)
		munmap(memory, bytes);
}

static bool make_room(struct measurement *m)
{
	m->side.board = shared_make(sizeof *m->side.board);
	m->side.shared = shared_make(m->work->shared_bytes + 1);
	m->from = calloc(2 * RUN_PROBES_MAX, sizeof *m->from);
	if (!m->side.board || !m->side.shared || !m->from) {
		run_end(m->outcome, OUTCOME_FAILED, "no memory for the case");
		return false;
	}
	return true;
}

static bool choose_probes(struct measurement *m)
{
	const struct probe_config config = {.marked = true};

	if (run_probes_open(&m->probes, m->run->probe, &config, m->outcome) != 0)
		return false;
	m->side.marks = m->probes.tables.marks;
	m->side.in_flight = m->probes.tables.in_flight;
	return true;
}

static bool is_over(struct measurement *m)
{
	const struct board *b = m->side.board;
	int status;

	if (*m->run->signal)
		run_end(m->outcome, OUTCOME_INTERRUPTED, "interrupted by signal %d",
		        (int)*m->run->signal);
	else if (__atomic_load_n(&b->broken, __ATOMIC_ACQUIRE) == 1)
		run_end(m->outcome, b->refused ? OUTCOME_SKIPPED : OUTCOME_FAILED, "%s", b->why);
	else if (child_has_ended(m->subject, &status))
		run_end(m->outcome, OUTCOME_FAILED,
		        "the measured process ended before its time (%s %d)",
		        WIFSIGNALED(status) ? "signal" : "status",
		        WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	else if (witness_now_ns() > m->limit_ns)
		run_end(m->outcome, OUTCOME_FAILED,
		        "not done after %.1f s, and ended: see its limit",
		        (double)(witness_now_ns() - m->started_ns) / 1e9);
	return m->outcome->status != OUTCOME_OK;
}

/* Waits until the word is set, and looks at the process meanwhile. False: it is over. */
static bool await(struct measurement *m, const uint32_t *word, bool look)
{
	uint64_t pause_ns = first_look_ns;

	while (!__atomic_load_n(word, __ATOMIC_ACQUIRE)) {
		if (is_over(m))
			return false;
		if (look)
			census_look(&m->census);
		witness_wait(word, 0, (int64_t)pause_ns);
		if (pause_ns < last_look_ns)
			pause_ns += pause_ns / 4;
	}
	return !is_over(m);
}

static pid_t fork_side(struct measurement *m, const char *name,
                       int (*body)(struct board_side *side))
{
	const pid_t pid = child_fork(name);
	int error;

	if (pid < 0)
		run_end(m->outcome, OUTCOME_FAILED, "cannot start a process: %s%s",
		        strerror(-(int)pid), child_limits((int)pid));
	if (pid != 0)
		return pid;
	child_close_others(NULL, 0);
	limits_raise();
	if (body == m->work->body)
		board_thread_begin(&m->side, KIND_APPLICATION, "iostudy-subject");
	error = body(&m->side);
	if (error)
		board_break(&m->side, error == -EOPNOTSUPP, strerror(-error));
	board_doing(DOING_IDLE);
	witness_signal(&m->side.board->finished, 1);
	while (!__atomic_load_n(&m->side.board->stop, __ATOMIC_ACQUIRE))
		witness_wait(&m->side.board->stop, 0, -1);
	_exit(0);
}

static bool take_edge(struct measurement *m, struct probe_reading *readings, uint64_t *cpu_ns)
{
	struct timespec used;
	clockid_t clock;
	int error = 0;

	if (clock_getcpuclockid(m->subject, &clock) == 0 && clock_gettime(clock, &used) == 0)
		*cpu_ns = (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
	for (uint32_t i = 0; i < m->probes.count && !error; i++) {
		error = probe_read(&m->probes.probes[i], &readings[i]);
		if (error)
			run_end(m->outcome, OUTCOME_FAILED, "the probe %s cannot be read: %s",
			        m->outcome->probes[i].name, strerror(-error));
	}
	return error == 0;
}

/* The first readings become the window's. */
static void find_window(struct measurement *m, struct probe_reading *last)
{
	for (uint32_t i = 0; i < m->probes.count; i++) {
		const struct probe_reading first = m->from[i];

		probe_difference(&m->from[i], &first, &last[i]);
		m->outcome->probes[i].reading = &m->from[i];
	}
}

static void carry_out(struct measurement *m)
{
	struct board *b = m->side.board;
	struct probe_reading *last = m->from + RUN_PROBES_MAX;

	m->subject = fork_side(m, "iostudy-subject", m->work->body);
	if (m->subject < 0 || !await(m, &b->ready, false))
		return;
	if (run_probes_attach(&m->probes, m->subject) != 0)
		return;
	census_begin(&m->census, m->subject);
	census_look(&m->census);
	if (!take_edge(m, m->from, &m->cpu_begin_ns))
		return;
	m->begin_ns = witness_now_ns();
	witness_signal(&b->go, 1);
	if (m->work->load) {
		m->load = fork_side(m, "iostudy-load", m->work->load);
		if (m->load < 0)
			return;
	}
	await(m, &b->finished, true);
	m->end_ns = witness_now_ns();
	census_look(&m->census);
	if (take_edge(m, last, &m->cpu_end_ns))
		find_window(m, last);
	/* what failed half-way has no figures; what was interrupted has those so far */
	m->has_window = m->outcome->status == OUTCOME_OK ||
	                m->outcome->status == OUTCOME_INTERRUPTED;
}

static void take_down(struct measurement *m)
{
	if (m->side.board)
		witness_signal(&m->side.board->stop, 1);
	if (m->load > 0)
		child_end(m->load, GRACE_NS);
	if (m->subject > 0)
		child_end(m->subject, m->work->load ? 0 : GRACE_NS);
}

static void free_all(struct measurement *m)
{
	run_probes_close(&m->probes);
	shared_free(m->side.board, sizeof *m->side.board);
	shared_free(m->side.shared, m->work->shared_bytes + 1);
	free(m->from);
	free(m->outcome);
	free(m);
}

int measure_case(struct scenario_run *run, struct measure_work *work)
{
	struct measurement *m = calloc(1, sizeof *m);
	json_t *result;
	int error;

	if (m)
		m->outcome = calloc(1, sizeof *m->outcome);
	if (!m || !m->outcome) {
		free(m);
		json_decref(work->setting);
		json_decref(work->published);
		snprintf(run->why, sizeof run->why, "no memory for the case");
		return -ENOMEM;
	}
	m->run = run;
	m->work = work;
	m->side = (struct board_side){.run = run, .own = work->own};
	m->started_ns = witness_now_ns();
	m->limit_ns = m->started_ns + (work->limit_ns ? work->limit_ns : default_limit_ns);
	limits_prefer_us(true);
	if (make_room(m) && choose_probes(m))
		carry_out(m);
	take_down(m);
	limits_prefer_us(false);
	result = measurement_json(m);
	error = result ? run->result(run->context, result) : -ENOMEM;
	if (!error && m->outcome->status == OUTCOME_INTERRUPTED)
		error = -EINTR;
	free_all(m);
	return error;
}

int measure_peer(struct scenario_run *run, struct peer *peer, const struct service *service,
                 struct address *address)
{
	struct plan *plan = calloc(1, sizeof *plan);
	int error = -ENOMEM;

	if (plan) {
		plan->transport = TRANSPORT_TCP;
		error = peer_start(peer, plan, service, run->why);
		*address = plan->peer;
	}
	free(plan);
	return error;
}
