/*
 * virtual-threads: a thread for each request (as many as real servers allow) against coroutines on
 * few carriers, with more and more users at once: what grows with them, and what does not?
 */
#include <stdio.h>

#include "bench/scenario/server_case.h"

enum { FORM_STRING, FORM_SERVICE, FORM_COUNT };
static const char *const form_names[] = {"string", "service", NULL};

static const struct scenario_parameter parameters[] = {
    {"users", "N,...", "at once; a case for each number", "100,1000,10000", PARAMETER_NUMBERS, 1,
     LOAD_USERS_MAX, NULL},
    {"requests", "N", "of each user, one after the other", "3", PARAMETER_NUMBER, 1, 10000, NULL},
    {"ramp", "TIME", "over which the users come", "1s", PARAMETER_TIME, 0, 3600000000000, NULL},
    {"form", "string,service", "what a request does: return a string, or call a service", "all",
     PARAMETER_WORDS, 0, 0, form_names},
    {"delay", "TIME", "what the service takes", "100ms", PARAMETER_TIME, 1000000, 60000000000,
     NULL},
    {"threads", "N", "at most, of a thread per request", "200", PARAMETER_NUMBER, 1,
     GATEWAY_THREADS_MAX, NULL},
    {"carriers", "N", "threads that carry the coroutines", "2", PARAMETER_NUMBER, 1,
     GATEWAY_LOOPS_MAX, NULL},
    {"timeout", "TIME", "of a request", "60s", PARAMETER_TIME, 1000000, 3600000000000, NULL},
    {0},
};

enum { THREADS_FIRST = 10 }; /* of a thread per request, before anybody has come */

/* What was published of each mode, at 100 and at 1,000 users. */
struct way {
	enum gateway_handler handler;
	uint32_t threads_published[2];
};

static const struct scenario_mode modes[] = {
    {"thread-per-request", "each request on a thread of its own, up to a bound", NULL,
     &(const struct way){HANDLER_BLOCKING, {125, 222}}},
    {"coroutine", "each request a coroutine, on one of a few carriers", NULL,
     &(const struct way){HANDLER_COROUTINE, {28, 30}}},
    {0},
};

static json_t *published(const struct way *way, uint32_t users)
{
	if (users != 100 && users != 1000)
		return NULL;
	return json_pack("{s:i, s:i}", "users", (int)users, "threads_max",
	                 (int)way->threads_published[users == 1000]);
}

static void conclude(const struct board_side *side, const struct measure_work *work,
                     json_t *measured, json_t *series, char because[SCENARIO_WHY_SIZE])
{
	const struct server_case *c = work->own;
	const struct board *b = side->board;
	const long long threads = (long long)json_integer_value(
	    json_object_get(measured, "threads_max"));

	(void)series;
	if (c->gateway.handler == HANDLER_COROUTINE)
		snprintf(
		    because, SCENARIO_WHY_SIZE,
		    "%u users were served by %lld threads, and as many serve any number, since "
		    "a request that waits is a suspended coroutine and not a thread; the "
		    "slowest answer took %.3f s.",
		    c->load.users, threads, (double)b->latency_max_ns / 1e9);
	else
		snprintf(
		    because, SCENARIO_WHY_SIZE,
		    "%u users made the server grow to %lld threads of at most %u for requests, "
		    "since each request holds one; who comes when all are held waits for his "
		    "turn, the slowest %.3f s.",
		    c->load.users, threads, c->gateway.threads, (double)b->latency_max_ns / 1e9);
}

static int run_case(struct scenario_run *run, const struct scenario_mode *mode, uint32_t form,
                    uint32_t users)
{
	const struct way *way = mode->own;
	const uint64_t delay_ns = scenario_time_ns(run, "delay");
	struct server_case c;
	char text[80];
	int error = load_check(users, run->why);

	if (error)
		return error;
	server_case_defaults(&c, run, users);
	c.gateway.handler = way->handler;
	c.gateway.loops = (uint32_t)scenario_number(run, "carriers");
	if (way->handler == HANDLER_BLOCKING) {
		c.gateway.threads = (uint32_t)scenario_number(run, "threads");
		c.gateway.threads_min = c.gateway.threads < THREADS_FIRST ? c.gateway.threads
		                                                          : THREADS_FIRST;
	}
	c.gateway.delay_min_ns = c.gateway.delay_max_ns = delay_ns;
	c.gateway.call_timeout_ns = scenario_time_ns(run, "timeout");
	snprintf(c.load.target, sizeof c.load.target, form == FORM_STRING ? "/string" : "/");
	c.load.requests = (uint32_t)scenario_number(run, "requests");
	c.load.ramp_ns = scenario_time_ns(run, "ramp");
	c.load.timeout_ns = scenario_time_ns(run, "timeout");
	struct measure_work work = {
	    .mode = mode,
	    .setting = json_pack("{s:s, s:i}", "form", form_names[form], "users", (int)users),
	    .published = published(way, users),
	    .conclude = conclude,
	};
	snprintf(text, sizeof text, "%s, %u users, %s", mode->name, users, form_names[form]);
	if (run->progress)
		run->progress(run->context, text);
	return server_case_measure(run, &c, &work);
}

static int virtual_threads_run(struct scenario_run *run, const struct scenario_mode *mode)
{
	uint64_t users[SCENARIO_LIST_MAX];
	const uint32_t n = scenario_numbers(run, "users", users);
	int error = 0;

	for (uint32_t form = 0; form < FORM_COUNT; form++)
		for (uint32_t i = 0; i < n && !error; i++)
			if (scenario_has_word(run, "form", form_names[form]))
				error = run_case(run, mode, form, (uint32_t)users[i]);
	return error;
}

const struct scenario scenario_virtual_threads = {
    .name = "virtual-threads",
    .summary = "a thread per request against coroutines on few carriers, with more and more users",
    .parameters = parameters,
    .modes = modes,
    .prepare = server_case_prepare,
    .run = virtual_threads_run,
    .finish = server_case_finish,
};
