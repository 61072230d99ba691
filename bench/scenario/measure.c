/* Carries one case out: see measure.h. */
#include "bench/scenario/measure.h"

#include <errno.h>
#include <stdarg.h>
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

static void end_with(struct measurement *m, enum run_outcome status, const char *format, ...)
{
	va_list arguments;

	if (m->status != OUTCOME_OK)
		return;
	m->status = status;
	va_start(arguments, format);
	vsnprintf(m->why, sizeof m->why, format, arguments);
	va_end(arguments);
}

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

/* What the processes share without a probe; a probe brings its own marks and gauge. */
static bool make_room(struct measurement *m)
{
	m->side.board = shared_make(sizeof *m->side.board);
	m->side.shared = shared_make(m->work->shared_bytes + 1);
	m->own_marks = shared_make(THREADS_MAX * sizeof *m->own_marks);
	m->own_in_flight = shared_make(sizeof *m->own_in_flight);
	m->side.marks = m->own_marks;
	m->side.in_flight = m->own_in_flight;
	m->from = calloc(3, sizeof *m->from);
	if (!m->side.board || !m->side.shared || !m->own_marks || !m->own_in_flight || !m->from) {
		end_with(m, OUTCOME_FAILED, "no memory for the case");
		return false;
	}
	return true;
}

static bool try_probe(struct measurement *m, const struct probe_ops *ops, char why[PROBE_WHY_SIZE])
{
	const struct probe_config config = {.marked = true};

	if (probe_open(&m->probe_state, ops, &config, why) != 0)
		return false;
	m->probe = &m->probe_state;
	m->side.marks = m->probe->marks;
	m->side.in_flight = m->probe->in_flight;
	return true;
}

/* A probe by name is required; "auto" takes the best that is allowed. */
static bool choose_probe(struct measurement *m)
{
	const char *name = m->run->probe;
	char why[PROBE_WHY_SIZE] = "";

	if (strcmp(name, "none") == 0)
		return true;
	if (strcmp(name, "auto") != 0) {
		if (try_probe(m, probe_find(name), why))
			return true;
		end_with(m, OUTCOME_SKIPPED, "probe %s: %s", name, why);
		return false;
	}
	for (const struct probe_ops *const *ops = probe_table; *ops; ops++) {
		if (try_probe(m, *ops, why))
			return true;
		measurement_warn(m, "probe %s: %s", (*ops)->name, why);
	}
	return true;
}

static bool is_over(struct measurement *m)
{
	const struct board *b = m->side.board;
	int status;

	if (*m->run->signal)
		end_with(m, OUTCOME_INTERRUPTED, "interrupted by signal %d", (int)*m->run->signal);
	else if (__atomic_load_n(&b->broken, __ATOMIC_ACQUIRE) == 1)
		end_with(m, b->refused ? OUTCOME_SKIPPED : OUTCOME_FAILED, "%s", b->why);
	else if (child_has_ended(m->subject, &status))
		end_with(m, OUTCOME_FAILED, "the measured process ended before its time (%s %d)",
		         WIFSIGNALED(status) ? "signal" : "status",
		         WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	else if (witness_now_ns() > m->limit_ns)
		end_with(m, OUTCOME_FAILED, "not done after %.1f s, and ended: see its limit",
		         (double)(witness_now_ns() - m->started_ns) / 1e9);
	return m->status != OUTCOME_OK;
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
		end_with(m, OUTCOME_FAILED, "cannot start a process: %s%s", strerror(-(int)pid),
		         child_limits((int)pid));
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

static bool take_edge(struct measurement *m, struct probe_reading *reading, uint64_t *cpu_ns)
{
	struct timespec used;
	clockid_t clock;
	int error = 0;

	if (clock_getcpuclockid(m->subject, &clock) == 0 && clock_gettime(clock, &used) == 0)
		*cpu_ns = (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
	if (m->probe)
		error = probe_read(m->probe, reading);
	if (error)
		end_with(m, OUTCOME_FAILED, "the probe %s cannot be read: %s", m->probe->ops->name,
		         strerror(-error));
	return error == 0;
}

static void carry_out(struct measurement *m)
{
	struct board *b = m->side.board;
	char why[PROBE_WHY_SIZE] = "";

	m->subject = fork_side(m, "iostudy-subject", m->work->body);
	if (m->subject < 0 || !await(m, &b->ready, false))
		return;
	if (m->probe && probe_attach(m->probe, m->subject, why) != 0) {
		end_with(m, OUTCOME_FAILED, "probe %s: %s", m->probe->ops->name, why);
		return;
	}
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
	if (take_edge(m, m->to, &m->cpu_end_ns) && m->probe)
		probe_difference(m->window, m->from, m->to);
	m->has_window = true;
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
	if (m->probe)
		probe_close(m->probe);
	shared_free(m->side.board, sizeof *m->side.board);
	shared_free(m->side.shared, m->work->shared_bytes + 1);
	shared_free(m->own_marks, THREADS_MAX * sizeof *m->own_marks);
	shared_free(m->own_in_flight, sizeof *m->own_in_flight);
	free(m->from);
	free(m);
}

int measure_case(struct scenario_run *run, struct measure_work *work)
{
	struct measurement *m = calloc(1, sizeof *m);
	json_t *result;
	int error;

	if (!m) {
		json_decref(work->setting);
		json_decref(work->published);
		snprintf(run->why, sizeof run->why, "no memory for the case");
		return -ENOMEM;
	}
	*m = (struct measurement){.run = run, .work = work};
	m->side = (struct board_side){.run = run, .own = work->own};
	m->started_ns = witness_now_ns();
	m->limit_ns = m->started_ns + (work->limit_ns ? work->limit_ns : default_limit_ns);
	limits_prefer_us(true);
	if (make_room(m)) {
		m->window = m->from + 2;
		m->to = m->from + 1;
		if (choose_probe(m))
			carry_out(m);
	}
	take_down(m);
	limits_prefer_us(false);
	result = measurement_json(m);
	error = result ? run->result(run->context, result) : -ENOMEM;
	if (!error && m->status == OUTCOME_INTERRUPTED)
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
