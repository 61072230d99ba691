/*
 * event-loop: a server whose event loop has few threads calls a slow service for each request, in
 * five ways; and a load that comes by its own schedule, after a silence.
 */
#include <stdio.h>

#include "bench/scenario/server_case.h"

static const struct scenario_parameter parameters[] = {
    {"users", "N", "who come, one request each", "200", PARAMETER_NUMBER, 1, LOAD_USERS_MAX, NULL},
    {"ramp", "TIME", "over which they come", "10s", PARAMETER_TIME, 0, 3600000000000, NULL},
    {"silence", "TIME", "before the first", "5s", PARAMETER_TIME, 0, 3600000000000, NULL},
    {"delay", "TIME", "what the service takes", "500ms", PARAMETER_TIME, 1000000, 60000000000,
     NULL},
    {"timeout", "TIME", "of a request", "60s", PARAMETER_TIME, 1000000, 3600000000000, NULL},
    {"loops", "N", "threads of the event loop", "2", PARAMETER_NUMBER, 1, GATEWAY_LOOPS_MAX, NULL},
    {0},
};

/* A mode's own. */
struct way {
	enum gateway_handler handler;
	const char *because; /* what each request does to the loop */
};

static const struct scenario_mode modes[] = {
    {"blocking-call", "a blocking call on the event loop, on a socket of its own",
     "{\"success_share\": 0, \"total_ns\": 101000000000}",
     &(const struct way){HANDLER_BLOCKING,
                         "each request holds one of the loop's threads for as long as the "
                         "service takes, and the others wait behind it"}},
    {"blocking-wait", "waits on the loop for a reply that one of the loop's threads must deliver",
     "{\"success_share\": 0, \"total_ns\": 101000000000}",
     &(const struct way){HANDLER_BLOCKING_WAIT,
                         "the loop's threads wait for replies that only they could deliver: a "
                         "deadlock, until the time-out"}},
    {"sync-over-async", "hands the call to a pool, and waits on the loop for its result", NULL,
     &(const struct way){HANDLER_SYNC_OVER_ASYNC,
                         "the call is made elsewhere, and the loop's thread waits for its "
                         "result: it is held all the same"}},
    {"callback", "completion callbacks: a state machine for each request",
     "{\"success_share\": 1, \"total_ns\": 42000000000, \"under_800ms_share\": 0.685}",
     &(const struct way){HANDLER_CALLBACK,
                         "a request that waits for the service is a little state, and holds no "
                         "thread"}},
    {"coroutine", "sequential code, suspended while its call is in flight",
     "{\"success_share\": 1, \"total_ns\": 42000000000}",
     &(const struct way){HANDLER_COROUTINE,
                         "a request that waits for the service is a suspended coroutine, and "
                         "holds no thread"}},
    {0},
};

static void conclude(const struct board_side *side, const struct measure_work *work,
                     json_t *measured, json_t *series, char because[SCENARIO_WHY_SIZE])
{
	const struct board *b = side->board;
	const struct way *way = work->mode->own;
	char slowest[64];

	(void)series;
	json_object_set_new(measured, "under_550ms_share",
	                    json_real(server_case_share_under(b, 550000000)));
	json_object_set_new(measured, "under_800ms_share",
	                    json_real(server_case_share_under(b, 800000000)));
	snprintf(slowest, sizeof slowest, ", the slowest after %.3f s",
	         (double)b->latency_max_ns / 1e9);
	snprintf(because, SCENARIO_WHY_SIZE, "%llu of %llu requests were answered%s, since %s.",
	         (unsigned long long)(b->calls - b->failed), (unsigned long long)b->calls,
	         b->latency_max_ns ? slowest : "", way->because);
}

static int event_loop_run(struct scenario_run *run, const struct scenario_mode *mode)
{
	const struct way *way = mode->own;
	const uint32_t users = (uint32_t)scenario_number(run, "users");
	const uint64_t delay_ns = scenario_time_ns(run, "delay");
	struct server_case c;
	int error = load_check(users, run->why);

	if (error)
		return error;
	server_case_defaults(&c, run, users);
	c.gateway.handler = way->handler;
	c.gateway.loops = (uint32_t)scenario_number(run, "loops");
	c.gateway.delay_min_ns = c.gateway.delay_max_ns = delay_ns;
	c.gateway.call_timeout_ns = scenario_time_ns(run, "timeout");
	snprintf(c.load.target, sizeof c.load.target, "/");
	c.load.silence_ns = scenario_time_ns(run, "silence");
	c.load.ramp_ns = scenario_time_ns(run, "ramp");
	c.load.timeout_ns = scenario_time_ns(run, "timeout");
	struct measure_work work = {
	    .mode = mode,
	    .setting = json_pack("{s:i, s:I, s:I, s:I}", "users", (int)users, "ramp_ns",
	                         (json_int_t)c.load.ramp_ns, "delay_ns", (json_int_t)delay_ns,
	                         "timeout_ns", (json_int_t)c.load.timeout_ns),
	    .conclude = conclude,
	};
	if (run->progress)
		run->progress(run->context, mode->name);
	return server_case_measure(run, &c, &work);
}

const struct scenario scenario_event_loop = {
    .name = "event-loop",
    .summary = "a server with 2 event loops calls a slow service for each request, in five ways",
    .parameters = parameters,
    .modes = modes,
    .prepare = server_case_prepare,
    .run = event_loop_run,
    .finish = server_case_finish,
};
