/*
 * blocking-calls: N calls to a service that takes D, made in every way that was published (N = 100,
 * D = 1 s), and without a thread for each: who is parked, and how long does it take in all?
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/scenario/calls.h"
#include "bench/scenario/measure.h"

static const struct scenario_parameter parameters[] = {
    {"calls", "N,...", "how many calls; with several numbers, a case for each", "100",
     PARAMETER_NUMBERS, 1, 100000, NULL},
    {"delay", "TIME", "what the service takes for each", "1s", PARAMETER_TIME, 1000000, 60000000000,
     NULL},
    {"form", "socket,shared,timer",
     "what a call is: a request to the delay service on a connection of its own, or on one that "
     "calls share (by coroutines), or a timer",
     "socket", PARAMETER_WORDS, 0, 0, calls_form_names},
    {"connections", "N", "that calls share", "1000", PARAMETER_NUMBER, 1, 1000, NULL},
    {0},
};

/* A mode's own. */
struct way {
	struct calls calls;
	int (*body)(struct board_side *side);
};

static const struct scenario_mode modes[] = {
    {"sequential", "one call after the other, on one thread",
     "{\"calls\": 100, \"delay_ns\": 1000000000, \"threads\": 1, \"total_ns\": 100122000000}",
     &(const struct way){{.threads = 1}, calls_by_threads}},
    {"pool-8", "a pool of 8 threads; each call blocks its worker",
     "{\"calls\": 100, \"delay_ns\": 1000000000, \"threads\": 8, \"total_ns\": 13057000000}",
     &(const struct way){{.threads = 8}, calls_by_threads}},
    {"pool-16", "a pool of 16 threads; each call blocks its worker",
     "{\"calls\": 100, \"delay_ns\": 1000000000, \"threads\": 16, \"total_ns\": 7057000000}",
     &(const struct way){{.threads = 16}, calls_by_threads}},
    {"thread-per-call", "a thread for every call",
     "{\"calls\": 100, \"delay_ns\": 1000000000, \"threads\": 100, \"total_ns\": 1069000000}",
     &(const struct way){{.threads = 0}, calls_by_threads}},
    {"published-async",
     "the published \"non-blocking\": a thread in a timer for every call, a pool of 8 receives",
     "{\"calls\": 100, \"delay_ns\": 1000000000, \"threads\": 8, \"threads_hidden\": 100, "
     "\"total_ns\": 1044000000}",
     &(const struct way){{.threads = 8}, calls_by_hidden_threads}},
    {"port",
     "truly non-blocking: a pool of 8 at a completion port; the last that came takes the next step",
     NULL, &(const struct way){{.threads = 8}, calls_by_port}},
    {"ring", "truly non-blocking: coroutines on one thread, over one io_uring ring", NULL,
     &(const struct way){{.engine = "uring"}, calls_by_coroutines}},
    {"epoll", "truly non-blocking: coroutines on one thread, over one epoll set", NULL,
     &(const struct way){{.engine = "epoll"}, calls_by_coroutines}},
    {0},
};

/* The scenario's own, from prepare to finish. */
struct calls_service {
	struct peer peer;
	struct address address;
};

static int calls_prepare(struct scenario_run *run)
{
	struct calls_service *service = run->own = calloc(1, sizeof *service);

	if (!service) {
		snprintf(run->why, sizeof run->why, "no memory for the scenario");
		return -ENOMEM;
	}
	return measure_peer(run, &service->peer, &serve_delay, &service->address);
}

static void calls_finish(struct scenario_run *run)
{
	struct calls_service *service = run->own;

	if (service)
		peer_stop(&service->peer);
	free(service);
}

/* One sentence, from what was measured. */
static void explain(const struct board_side *side, const struct measure_work *work,
                    char because[SCENARIO_WHY_SIZE])
{
	const struct way *way = work->mode->own;
	const struct calls *calls = work->own;
	const double total = (double)(side->board->end_ns - side->board->begin_ns) / 1e9;
	const double delay = (double)calls->delay_ns / 1e9;
	const uint32_t threads = calls->threads ? calls->threads : calls->count;
	const uint32_t rounds = (calls->count + threads - 1) / threads;

	if (calls->engine)
		snprintf(because, SCENARIO_WHY_SIZE,
		         "%u calls of %g s took %.3f s on one thread, since no thread waits for a "
		         "call: all are in flight at once, and one wait serves them all.",
		         calls->count, delay, total);
	else if (way->body == calls_by_hidden_threads)
		snprintf(because, SCENARIO_WHY_SIZE,
		         "%u calls took %.3f s and the pool of %u was free, since each call held "
		         "another thread, hidden in a timer: a thread per call all the same.",
		         calls->count, total, calls->threads);
	else
		snprintf(because, SCENARIO_WHY_SIZE,
		         "%u calls took %.3f s, since a call holds its thread for %g s and there "
		         "%s %u: %u %s of %g s.",
		         calls->count, total, delay, threads == 1 ? "was" : "were", threads, rounds,
		         rounds == 1 ? "round" : "rounds", delay);
}

/* Which threads of the pool were borrowed, and for how long; the others slept throughout. */
static void add_borrowed(const struct board_side *side, const struct calls *calls, json_t *measured,
                         char because[SCENARIO_WHY_SIZE])
{
	const struct calls_shared *shared = side->shared;
	json_t *threads = json_array();
	uint64_t time_ns = 0;
	uint32_t borrowed = 0;

	for (uint32_t i = 0; i < calls->threads; i++) {
		const struct calls_borrowed *b = &shared->borrowed[i];

		borrowed += b->times != 0;
		time_ns += b->time_ns;
		json_array_append_new(threads, json_pack("{s:i, s:I}", "times", (int)b->times,
		                                         "borrowed_ns", (json_int_t)b->time_ns));
	}
	json_object_set_new(measured, "pool", threads);
	json_object_set_new(measured, "borrowed_threads", json_integer(borrowed));
	json_object_set_new(measured, "borrowed_ns", json_integer((json_int_t)time_ns));
	snprintf(
	    because, SCENARIO_WHY_SIZE,
	    "%u calls of %g s took %.3f s: %u of the pool's %u threads were borrowed for their "
	    "steps, for %.1f ms in all, and %u slept throughout; while the calls were in "
	    "flight one thread waited at the port for all.",
	    calls->count, (double)calls->delay_ns / 1e9,
	    (double)(side->board->end_ns - side->board->begin_ns) / 1e9, borrowed, calls->threads,
	    (double)time_ns / 1e6, calls->threads - borrowed);
}

static void calls_conclude(const struct board_side *side, const struct measure_work *work,
                           json_t *measured, json_t *series, char because[SCENARIO_WHY_SIZE])
{
	const struct calls *calls = work->own;
	const struct calls_shared *shared = side->shared;
	const double memory = json_number_value(json_object_get(measured, "memory_max_bytes")) -
	                      (double)shared->memory_before_bytes;

	(void)series;
	if (((const struct way *)work->mode->own)->body == calls_by_port)
		add_borrowed(side, calls, measured, because);
	else
		explain(side, work, because);
	if (!shared->memory_before_bytes)
		return;
	json_object_set_new(measured, "memory_per_call_bytes",
	                    json_integer((json_int_t)(memory / calls->count)));
	json_object_set_new(measured, "stack_per_call_bytes",
	                    json_integer((json_int_t)(shared->stack_bytes / calls->count)));
}

static int run_case(struct scenario_run *run, const struct scenario_mode *mode,
                    enum calls_form form, uint32_t count)
{
	const struct way *way = mode->own;
	const struct calls_service *service = run->own;
	struct calls calls = way->calls;
	char text[80];

	calls.form = form;
	calls.count = count;
	calls.connections = (uint32_t)scenario_number(run, "connections");
	if (calls.connections > count)
		calls.connections = count;
	calls.delay_ns = scenario_time_ns(run, "delay");
	calls.seed = run->seed;
	calls.service = service->address;
	struct measure_work work = {
	    .mode = mode,
	    .own = &calls,
	    .shared_bytes = sizeof(struct calls_shared),
	    .body = way->body,
	    .setting = json_pack("{s:s, s:i, s:I}", "form", calls_form_names[form], "calls",
	                         (int)count, "delay_ns", (json_int_t)calls.delay_ns),
	    .conclude = calls_conclude,
	};
	snprintf(text, sizeof text, "%s, %u calls by %s", mode->name, count,
	         calls_form_names[form]);
	if (run->progress)
		run->progress(run->context, text);
	return measure_case(run, &work);
}

static int calls_run(struct scenario_run *run, const struct scenario_mode *mode)
{
	uint64_t counts[SCENARIO_LIST_MAX];
	const struct way *way = mode->own;
	const uint32_t n = scenario_numbers(run, "calls", counts);
	int error = 0;

	for (uint32_t form = 0; form < FORM_COUNT; form++) {
		if (!scenario_has_word(run, "form", calls_form_names[form]) ||
		    (form == FORM_SHARED && !way->calls.engine))
			continue;
		for (uint32_t i = 0; i < n && !error; i++)
			error = run_case(run, mode, form, (uint32_t)counts[i]);
	}
	return error;
}

const struct scenario scenario_blocking_calls = {
    .name = "blocking-calls",
    .summary = "N calls to a service that takes D: one by one, by pools, and with no thread each",
    .parameters = parameters,
    .modes = modes,
    .prepare = calls_prepare,
    .run = calls_run,
    .finish = calls_finish,
};
