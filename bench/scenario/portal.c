/*
 * portal: a portal with a few threads in front of a service that takes many seconds. How many
 * requests does it serve in a window, while many more are outstanding, and what would it cost to
 * serve as many as an asynchronous one does?
 */
#include <errno.h>
#include <stdio.h>

#include "bench/scenario/server_case.h"

static const struct scenario_parameter parameters[] = {
    {"outstanding", "N", "requests at any time, each of a user who asks again at once", "1000",
     PARAMETER_NUMBER, 1, LOAD_USERS_MAX, NULL},
    {"window", "TIME", "in which the answers are counted", "30s", PARAMETER_TIME, 1000000,
     3600000000000, NULL},
    {"delay", "TIME", "what the service takes, at least", "10s", PARAMETER_TIME, 0, 600000000000,
     NULL},
    {"delay-max", "TIME", "and at most: at random between the two", "20s", PARAMETER_TIME, 0,
     600000000000, NULL},
    {"threads", "N", "of the portals whose threads wait", "8", PARAMETER_NUMBER, 1,
     GATEWAY_THREADS_MAX, NULL},
    {"server-price", "N", "of one server, in whatever currency (published: BRL 12,000)", "12000",
     PARAMETER_NUMBER, 0, 1000000000, NULL},
    {0},
};

/* A mode's own. */
struct way {
	enum gateway_handler handler;
	bool waits; /* it has the pool of threads */
};

static const struct scenario_mode modes[] = {
    {"blocking", "each of its threads waits for the service",
     "{\"served_in_window\": 14, \"servers\": 14, \"cost\": 168000}",
     &(const struct way){HANDLER_BLOCKING, true}},
    {"sync-over-async", "each of its threads waits for the result of an asynchronous call", NULL,
     &(const struct way){HANDLER_SYNC_OVER_ASYNC, true}},
    {"callback", "one thread; a request goes on when the service has answered",
     "{\"served_in_window\": 305, \"servers\": 1, \"cost\": 12000}",
     &(const struct way){HANDLER_CALLBACK, false}},
    {"coroutine", "one thread; sequential code, suspended while the service works", NULL,
     &(const struct way){HANDLER_COROUTINE, false}},
    {0},
};

/* What the scenario adds to a case. */
struct portal {
	uint64_t price;
};

static double per(uint64_t a, uint64_t b)
{
	return b ? (double)a / (double)b : 0;
}

/* How many of the blocking servers do what this one does, and for how much. */
static void add_cost(const struct server_case *c, uint64_t served, json_t *measured,
                     char because[SCENARIO_WHY_SIZE])
{
	const struct portal *portal = c->own;
	const uint64_t blocking = *c->kept, servers = (served + blocking - 1) / blocking;

	json_object_set_new(measured, "times_blocking", json_real(per(served, blocking)));
	json_object_set_new(measured, "blocking_servers", json_integer((json_int_t)servers));
	json_object_set_new(measured, "blocking_cost",
	                    json_integer((json_int_t)(servers * portal->price)));
	json_object_set_new(measured, "cost", json_integer((json_int_t)portal->price));
	snprintf(because, SCENARIO_WHY_SIZE,
	         "%llu requests were answered in the window, %.1f %% of what an ideal portal "
	         "answers with the same delays, and %.0f times as many as by the blocking one, of "
	         "which %llu servers would do the same: %llu instead of %llu. A request that waits "
	         "for the service holds no thread.",
	         (unsigned long long)served, 100 * per(served, load_ideal(&c->load)),
	         per(served, blocking), (unsigned long long)servers,
	         (unsigned long long)(servers * portal->price), (unsigned long long)portal->price);
}

static void conclude(const struct board_side *side, const struct measure_work *work,
                     json_t *measured, json_t *series, char because[SCENARIO_WHY_SIZE])
{
	const struct server_case *c = work->own;
	const struct server_shared *shared = side->shared;
	const struct load_tally *tally = &shared->tally;
	const struct way *way = work->mode->own;
	const uint64_t ideal = load_ideal(&c->load), served = tally->in_window;

	(void)series;
	json_object_set_new(measured, "served_in_window", json_integer((json_int_t)served));
	json_object_set_new(measured, "ideal_in_window", json_integer((json_int_t)ideal));
	json_object_set_new(measured, "share_of_ideal", json_real(per(served, ideal)));
	json_object_set_new(measured, "page_looks", json_integer((json_int_t)tally->looks));
	json_object_set_new(
	    measured, "page_p50_ns",
	    json_integer((json_int_t)server_case_percentile(&tally->page_latency, 0.5)));
	if (way->handler == HANDLER_BLOCKING)
		*c->kept = served;
	if (!way->waits && *c->kept)
		add_cost(c, served, measured, because);
	else
		snprintf(because, SCENARIO_WHY_SIZE,
		         "%llu requests were answered in the window, %.1f %% of what an ideal "
		         "portal answers with the same delays%s",
		         (unsigned long long)served, 100 * per(served, ideal),
		         way->waits ? ", since each holds one of its threads for as long as the "
		                      "service takes, and all others wait in its queue."
		                    : ": a request that waits for the service holds no thread.");
}

static int portal_run(struct scenario_run *run, const struct scenario_mode *mode)
{
	const struct way *way = mode->own;
	const uint32_t users = (uint32_t)scenario_number(run, "outstanding");
	const struct portal portal = {.price = scenario_number(run, "server-price")};
	struct server_case c;
	int error = load_check(users, run->why);

	if (error)
		return error;
	server_case_defaults(&c, run, users + 1);
	c.own = &portal;
	c.gateway.handler = way->handler;
	c.gateway.threads = c.gateway.threads_min = way->waits
	                                                ? (uint32_t)scenario_number(run, "threads")
	                                                : 0;
	c.load.users = users;
	c.load.window_ns = scenario_time_ns(run, "window");
	c.load.delay_min_ns = scenario_time_ns(run, "delay");
	c.load.delay_max_ns = scenario_time_ns(run, "delay-max");
	c.load.timeout_ns = c.load.delay_max_ns + 500000000; /* all that is handled is answered */
	c.load.page = "/threads.json";
	if (c.load.delay_max_ns < c.load.delay_min_ns) {
		snprintf(run->why, sizeof run->why, "--delay-max must not be below --delay");
		return -EINVAL;
	}
	c.gateway.call_timeout_ns = 2 * c.load.timeout_ns;
	struct measure_work work = {
	    .mode = mode,
	    .setting = json_pack("{s:i, s:I, s:I, s:I}", "outstanding", (int)users, "window_ns",
	                         (json_int_t)c.load.window_ns, "delay_ns",
	                         (json_int_t)c.load.delay_min_ns, "delay_max_ns",
	                         (json_int_t)c.load.delay_max_ns),
	    .conclude = conclude,
	};
	if (run->progress)
		run->progress(run->context, mode->name);
	return server_case_measure(run, &c, &work);
}

const struct scenario scenario_portal = {
    .name = "portal",
    .summary = "a portal in front of a slow service: how many requests it serves, at what cost",
    .parameters = parameters,
    .modes = modes,
    .prepare = server_case_prepare,
    .run = portal_run,
    .finish = server_case_finish,
};
