/* `iostudy serve gateway`: the HTTP server of the experiments as a command. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/peer.h"
#include "bench/scenario/gateway.h"
#include "bench/units.h"
#include "cli/serve.h"

enum {
	KEY_HANDLER = SERVE_KEY_OWN,
	KEY_ENGINE,
	KEY_LOOPS,
	KEY_THREADS,
	KEY_THREADS_MIN,
	KEY_HELPERS,
	KEY_CONNECTIONS,
	KEY_SERVICE,
	KEY_DELAY,
	KEY_CALL_TIMEOUT,
	KEY_TIMEOUT,
	KEY_HEAD_TIMEOUT,
	KEY_GRACE,
	KEY_SEED,
};

static const uint64_t look_ns = 50000000; /* for a signal */

static const struct argp_option options[] = {
    {"handler", KEY_HANDLER, "NAME", 0,
     "what a request's thread does while the service works: callback and coroutine (nothing: it "
     "serves others), blocking, blocking-wait, sync-over-async (is parked) [callback]",
     1},
    {"loops", KEY_LOOPS, "N", 0, "threads of the event loop [1]", 1},
    {"threads", KEY_THREADS, "N", 0,
     "a pool that runs the handlers that park their thread; 0: the loops do [0]", 1},
    {"threads-min", KEY_THREADS_MIN, "N", 0,
     "of them from the start; others come when none is free [1]", 1},
    {"helpers", KEY_HELPERS, "N", 0,
     "threads that make the calls of sync-over-async; 0: as many as may wait [0]", 1},
    {"engine", KEY_ENGINE, "NAME", 0, "of the loops [epoll]", 1},
    {"connections", KEY_CONNECTIONS, "N", 0,
     "clients at once; more wait in the kernel's queue [10000]", 1},
    {"service", KEY_SERVICE, "HOST:PORT", 0,
     "the slow service, of iostudy serve delay [one of its own]", 1},
    {"delay", KEY_DELAY, "TIME[-TIME]", 0, "what GET / asks the service to take [500ms]", 1},
    {"call-timeout", KEY_CALL_TIMEOUT, "TIME", 0,
     "of a call to the service; the answer is 504 then [60s]", 1},
    {"timeout", KEY_TIMEOUT, "TIME", 0,
     "of an idle connection, and of a client that does not take its answer [60s]", 1},
    {"head-timeout", KEY_HEAD_TIMEOUT, "TIME", 0, "for a request to come whole [10s]", 1},
    {"grace", KEY_GRACE, "TIME", 0, "at the end, for requests in flight [5s]", 1},
    {"seed", KEY_SEED, "N", 0, "of the delays [1]", 1},
    {0},
};

static int set_handler(struct gateway_config *config, const char *name, char why[SERVE_WHY_SIZE])
{
	for (uint32_t i = 0; i < HANDLER_COUNT; i++)
		if (strcmp(name, gateway_handler_names[i]) == 0) {
			config->handler = (enum gateway_handler)i;
			return 0;
		}
	snprintf(why, SERVE_WHY_SIZE,
	         "--handler '%.40s': it takes callback, coroutine, blocking, blocking-wait or "
	         "sync-over-async",
	         name);
	return -EINVAL;
}

static int set_engine(struct gateway_config *config, const char *name, char why[SERVE_WHY_SIZE])
{
	const struct engine_ops *engine = engine_find(name);

	if (engine) {
		config->engine = engine;
		return 0;
	}
	snprintf(why, SERVE_WHY_SIZE,
	         "--engine '%.40s': there is none of that name; iostudy list engines names them",
	         name);
	return -EINVAL;
}

static int set_delay(struct gateway_config *config, const char *text, char why[SERVE_WHY_SIZE])
{
	struct plan *plan = calloc(1, sizeof *plan);
	char reason[PLAN_WHY_SIZE] = "no memory";
	int error = -ENOMEM;

	if (plan) {
		plan_default(plan);
		error = plan_set(plan, "delay", text, reason);
		config->delay_min_ns = plan->delay_min_ns;
		config->delay_max_ns = plan->delay_max_ns;
	}
	snprintf(why, SERVE_WHY_SIZE, "%.390s", reason);
	free(plan);
	return error;
}

static int set_service(struct gateway_config *config, const char *text, char why[SERVE_WHY_SIZE])
{
	char reason[ADDRESS_WHY_SIZE];
	const int error = address_parse(&config->service, text, reason);

	snprintf(why, SERVE_WHY_SIZE, "--service %.380s", reason);
	return error;
}

static int set_count(uint32_t *field, const char *name, const char *text, uint64_t low,
                     uint64_t high, char why[SERVE_WHY_SIZE])
{
	char says[60];
	const struct serve_number number = {name, says, units_parse_count, low, high};
	uint64_t value = *field;
	int error;

	snprintf(says, sizeof says, "%llu to %llu", (unsigned long long)low,
	         (unsigned long long)high);
	error = serve_number_take(&number, text, &value, why);
	*field = (uint32_t)value;
	return error;
}

static int set_time(uint64_t *field_ns, const char *name, const char *text, uint64_t low_ns,
                    char why[SERVE_WHY_SIZE])
{
	const struct serve_number number = {name, low_ns ? "10ms to 1h" : "0 to 1h",
	                                    units_parse_time, low_ns, 3600000000000};

	return serve_number_take(&number, text, field_ns, why);
}

static int set(void *own, int key, const char *value, char why[SERVE_WHY_SIZE])
{
	static const struct serve_number seed = {"seed", "a number", units_parse_count, 0,
	                                         UINT64_MAX};
	struct gateway_config *c = own;
	const uint64_t least_ns = 10000000;

	switch (key) {
	case KEY_HANDLER:
		return set_handler(c, value, why);
	case KEY_ENGINE:
		return set_engine(c, value, why);
	case KEY_LOOPS:
		return set_count(&c->loops, "loops", value, 1, GATEWAY_LOOPS_MAX, why);
	case KEY_THREADS:
		return set_count(&c->threads, "threads", value, 0, GATEWAY_THREADS_MAX, why);
	case KEY_THREADS_MIN:
		return set_count(&c->threads_min, "threads-min", value, 1, GATEWAY_THREADS_MAX,
		                 why);
	case KEY_HELPERS:
		return set_count(&c->helpers, "helpers", value, 0, GATEWAY_THREADS_MAX, why);
	case KEY_CONNECTIONS:
		return set_count(&c->connections, "connections", value, 1, 1000000, why);
	case KEY_SERVICE:
		return set_service(c, value, why);
	case KEY_DELAY:
		return set_delay(c, value, why);
	case KEY_CALL_TIMEOUT:
		return set_time(&c->call_timeout_ns, "call-timeout", value, least_ns, why);
	case KEY_TIMEOUT:
		return set_time(&c->idle_timeout_ns, "timeout", value, least_ns, why);
	case KEY_HEAD_TIMEOUT:
		return set_time(&c->head_timeout_ns, "head-timeout", value, least_ns, why);
	case KEY_GRACE:
		return set_time(&c->grace_ns, "grace", value, 0, why);
	default:
		return serve_number_take(&seed, value, &c->seed, why);
	}
}

static void defaults(void *own)
{
	gateway_defaults(own);
}

static int serve(const struct serve_scene *scene, const struct gateway_config *config)
{
	struct gateway *gateway;
	char why[GATEWAY_WHY_SIZE] = "";
	int error = gateway_open(&gateway, config, scene->listener, why);

	if (!error) {
		error = serve_announce(scene);
		while (!error && !*scene->came)
			error = gateway_wait(gateway, (int64_t)look_ns, why);
		gateway_close(gateway);
	}
	if (*why)
		snprintf(scene->why, SERVE_WHY_SIZE, "%s", why);
	return error;
}

/* The service of its own, unless one is named, ends with it. */
static int run(const struct serve_scene *scene)
{
	struct gateway_config config = *(const struct gateway_config *)scene->own;
	struct plan *plan = calloc(1, sizeof *plan);
	struct peer peer = {0};
	int error = plan ? 0 : -ENOMEM;

	if (plan && !config.service.length) {
		plan->transport = TRANSPORT_TCP;
		error = peer_start(&peer, plan, &serve_delay, scene->why);
		config.service = plan->peer;
	}
	/* Only now may a signal come: the threads do not take them, this one looks for them. */
	pthread_sigmask(SIG_SETMASK, scene->wait, NULL);
	if (!error)
		error = serve(scene, &config);
	peer_stop(&peer);
	free(plan);
	return error;
}

const struct serve_entry serve_gateway = {
    .name = "gateway",
    .summary = "answers HTTP requests by calling a slow service, in one of five ways",
    .run = run,
    .options = options,
    .own_bytes = sizeof(struct gateway_config),
    .defaults = defaults,
    .set = set,
};
