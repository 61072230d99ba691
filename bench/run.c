/* Carries one run out: see run.h. */
#include "bench/run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "bench/child.h"
#include "bench/edge.h"
#include "bench/limits.h"
#include "bench/peer.h"
#include "bench/run_files.h"
#include "bench/run_probes.h"
#include "bench/script.h"
#include "bench/subject.h"
#include "bench/workload.h"

enum {
	SLICE_NS = 100000000, /* how long the parent sleeps at most between two looks */
	GRACE_NS = 200000000, /* how long the subject may take to end by itself */
};

/* How long the warm-up waits at most for the depth to be reached. */
static const uint64_t fill_limit_ns = 10000000000;

/* What a run holds; freed in reverse. */
struct scene {
	const struct run_options *options;
	struct run_result *result;
	struct plan *plan;
	struct peer peer;
	struct run_probes probes;
	struct witness *witness;
	pid_t subject;
	struct script script;
	struct edge *from, *to;
};

static int start_peer(struct scene *s)
{
	const struct service *service = workload_find(s->plan->workload)->peer;
	int err;

	if (!service || s->plan->peer_named)
		return 0;
	err = peer_start(&s->peer, s->plan, service, s->result->why);
	if (err)
		s->result->status = OUTCOME_FAILED;
	return err;
}

static struct probe_config configure_probe(const struct scene *s)
{
	const struct workload_ops *workload = workload_find(s->plan->workload);
	struct probe_config config = {
	    .peer_port = address_port(&s->plan->peer),
	    .peer = s->peer.pid,
	    .hidden_threads = engine_find(s->plan->engine)->caps & ENGINE_HIDDEN_THREADS,
	    .marked = true,
	};

	if (workload->need & ENGINE_FILES) {
		config.source = SOURCE_DISK;
		config.test_directory = s->options->directory;
	} else if (workload->need & ENGINE_SOCKETS) {
		config.source = s->plan->transport == TRANSPORT_TCP ? SOURCE_TCP : SOURCE_UNIX;
	}
	return config;
}

static int open_probes(struct scene *s)
{
	const struct probe_config config = configure_probe(s);

	return run_probes_open(&s->probes, s->options->probe, &config, s->result);
}

/* Whether the subject has said that it cannot go on; then the result says why. */
static bool is_broken(struct scene *s)
{
	const struct witness *witness = s->witness;

	if (__atomic_load_n(&witness->broken, __ATOMIC_ACQUIRE) != 1)
		return false;
	run_end(s->result, witness->refused ? OUTCOME_SKIPPED : OUTCOME_FAILED, "%s", witness->why);
	return true;
}

/* Whether the run is to end early; then the result says why. */
static bool is_over(struct scene *s)
{
	int status = 0;

	if (*s->options->signal) {
		run_end(s->result, OUTCOME_INTERRUPTED, "interrupted by signal %d",
		        (int)*s->options->signal);
		return true;
	}
	if (is_broken(s))
		return true;
	if (child_has_ended(s->subject, &status)) {
		if (is_broken(s)) /* it said why just before it ended */
			return true;
		if (WIFSIGNALED(status))
			run_end(s->result, OUTCOME_FAILED,
			        "the measured process was killed by signal %d (%s)",
			        WTERMSIG(status), strsignal(WTERMSIG(status)));
		else
			run_end(s->result, OUTCOME_FAILED,
			        "the measured process ended before its time, status %d",
			        WEXITSTATUS(status));
		return true;
	}
	return false;
}

/* Waits until all threads have counted themselves in word, or that time has come. False: the run is
 * over. */
static bool await_threads(struct scene *s, const uint32_t *word, uint64_t until_ns)
{
	for (;;) {
		const uint32_t now = __atomic_load_n(word, __ATOMIC_ACQUIRE);

		if (is_over(s))
			return false;
		if (now == s->plan->threads || witness_now_ns() >= until_ns)
			return true;
		witness_wait(word, now, SLICE_NS / 10);
	}
}

/* Lets time pass until then. False: the run is over. */
static bool await_time(struct scene *s, uint64_t until_ns)
{
	for (;;) {
		const uint64_t now_ns = witness_now_ns();

		if (is_over(s))
			return false;
		if (now_ns >= until_ns)
			return true;
		witness_wait(
		    &s->witness->broken, 0,
		    (int64_t)(until_ns - now_ns < SLICE_NS ? until_ns - now_ns : SLICE_NS));
	}
}

static bool take_edge(struct scene *s, struct edge *edge)
{
	int err = edge_read(edge, s->subject, s->witness, &s->probes);

	if (err && s->result->status == OUTCOME_OK)
		run_end(s->result, OUTCOME_FAILED, "the counters cannot be read: %s",
		        strerror(-err));
	return err == 0;
}

static int start_subject(struct scene *s)
{
	struct subject subject;

	s->witness = witness_make(s->plan->threads, s->plan->depth);
	if (!s->witness) {
		run_end(s->result, OUTCOME_FAILED, "no memory for the counters of %u threads",
		        s->plan->threads);
		return -ENOMEM;
	}
	subject = (struct subject){.plan = s->plan,
	                           .witness = s->witness,
	                           .marks = s->probes.tables.marks,
	                           .in_flight = s->probes.tables.in_flight};
	s->subject = subject_start(&subject);
	if (s->subject < 0)
		run_end(s->result, OUTCOME_FAILED, "cannot start the measured process: %s%s",
		        strerror(-(int)s->subject), child_limits((int)s->subject));
	return s->subject < 0 ? (int)s->subject : 0;
}

/* False: the script that was asked for does not run, or the run is over. */
static bool start_script(struct scene *s)
{
	char why[PLAN_WHY_SIZE] = "";

	if (!s->options->script ||
	    script_start(&s->script, s->options->script, s->subject, s->options->signal, why) == 0)
		return true;
	if (!is_over(s))
		run_end(s->result, OUTCOME_SKIPPED, "%s", why);
	return false;
}

/* The window: from warm-up to its second edge, or all of a run that counts its operations. */
static void measure(struct scene *s)
{
	bool begun;

	if (!await_threads(s, &s->witness->ready, UINT64_MAX) ||
	    run_probes_attach(&s->probes, s->subject) != 0 || !start_script(s))
		return;
	/* Also a rehearsal: the pages of an edge are in memory when it has to be quick. */
	if (!take_edge(s, s->from) || !take_edge(s, s->to) || !take_edge(s, s->from))
		return;
	witness_signal(&s->witness->go, 1);
	begun = s->plan->operations
	            ? await_threads(s, &s->witness->finished, UINT64_MAX)
	            : await_threads(s, &s->witness->started, witness_now_ns() + fill_limit_ns);
	if (!s->plan->operations) {
		if (!begun || !await_time(s, witness_now_ns() + s->plan->warmup_ns))
			return;
		__atomic_fetch_add(&s->witness->epoch, 1, __ATOMIC_RELAXED);
		if (!take_edge(s, s->from))
			return;
		await_time(s, s->from->sums.time_ns + s->plan->duration_ns);
	}
	if (!take_edge(s, s->to))
		return;
	s->result->script_output = script_end(&s->script);
	edge_difference(s->result, s->from, s->to);
	if (s->result->status == OUTCOME_OK)
		is_broken(s); /* between the last look and the edge */
}

static void note_conditions(struct scene *s)
{
	const struct run_result *result = s->result;

	if (result->window_ns && result->steal_share > 0.02)
		run_warn(s->result,
		         "the hypervisor took %.0f %% of a CPU during the window: the "
		         "figures are noisy",
		         result->steal_share * 100);
	if (result->window_ns && result->reading_ns > result->window_ns / 50)
		run_warn(
		    s->result,
		    "the threads were read over %.0f ms, for a window of %.0f ms: this process got "
		    "too little of the CPUs, and the figures are off by as much",
		    (double)result->reading_ns / 1e6, (double)result->window_ns / 1e6);
	if (workload_find(s->plan->workload)->need & ENGINE_FILES && !s->plan->file_verified)
		run_warn(s->result,
		         "the file was not filled by iostudy, so its blocks could not be "
		         "checked");
}

static void take_down(struct scene *s)
{
	free(script_end(&s->script)); /* where the run ended before its window */
	if (s->subject > 0) {
		witness_signal(&s->witness->stop, 1);
		child_end(s->subject, GRACE_NS);
	}
	run_files_finish(s->result, s->subject > 0, s->options->signal);
	run_probes_close(&s->probes);
	peer_stop(&s->peer);
	witness_free(s->witness);
	free(s->from);
	free(s->to);
}

void run_execute(const struct plan *plan, const struct run_options *options,
                 struct run_result *result)
{
	struct scene s = {.options = options, .result = result, .plan = &result->plan};
	int err;

	memset(result, 0, sizeof *result);
	result->plan = *plan;
	s.from = malloc(sizeof *s.from);
	s.to = malloc(sizeof *s.to);
	if (!s.from || !s.to) {
		run_end(result, OUTCOME_FAILED, "no memory for the readings");
		take_down(&s);
		return;
	}
	err = plan_complete(&result->plan, result->why);
	if (!err)
		err = limits_check(&result->plan, result->why);
	if (err)
		result->status = err == -EOPNOTSUPP ? OUTCOME_SKIPPED : OUTCOME_FAILED;
	if (!err)
		err = run_files_begin(result);
	if (!err)
		err = start_peer(&s);
	if (!err)
		err = open_probes(&s);
	limits_prefer_us(true);
	if (!err)
		err = start_subject(&s);
	if (!err)
		measure(&s);
	note_conditions(&s);
	take_down(&s);
	limits_prefer_us(false);
}
