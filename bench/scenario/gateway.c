/* The gateway's beginning and end: see gateway.h. */
#include "bench/scenario/gateway.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "bench/scenario/gateway_parts.h"
#include "bench/witness.h"

const char *const gateway_handler_names[HANDLER_COUNT + 1] = {"callback", "coroutine", "blocking",
                                                              "blocking-wait", "sync-over-async"};

const char *const gateway_handler_summaries[HANDLER_COUNT] = {
    "a state machine goes on when the reply comes; no thread waits",
    "sequential code, suspended until the reply comes; no thread waits",
    "a blocking call, on a connection of the thread's own",
    "waits for a reply that one of the loops must deliver",
    "hands the call to another thread, and waits for its result",
};

void gateway_defaults(struct gateway_config *config)
{
	*config = (struct gateway_config){
	    .engine = engine_find("epoll"),
	    .handler = HANDLER_CALLBACK,
	    .loops = 1,
	    .threads_min = 1,
	    .connections = 10000,
	    .delay_min_ns = 500000000,
	    .delay_max_ns = 500000000,
	    .call_timeout_ns = 60000000000,
	    .idle_timeout_ns = 60000000000,
	    .head_timeout_ns = 10000000000,
	    .grace_ns = 5000000000,
	    .seed = 1,
	};
}

static int check(const struct gateway_config *config, char why[GATEWAY_WHY_SIZE])
{
	const uint32_t need = ENGINE_SOCKETS | ENGINE_CONNECTIONS | ENGINE_TIMERS;
	const bool parks = config->handler != HANDLER_CALLBACK &&
	                   config->handler != HANDLER_COROUTINE;

	if ((config->engine->caps & need) != need || config->engine->caps & ENGINE_SYNCHRONOUS ||
	    config->engine->caps & ENGINE_NO_IO) {
		snprintf(why, GATEWAY_WHY_SIZE,
		         "the engine %s cannot carry a loop: it serves no sockets, connections and "
		         "timers at a time; use epoll or uring",
		         config->engine->name);
		return -EOPNOTSUPP;
	}
	if (config->threads && !parks) {
		snprintf(why, GATEWAY_WHY_SIZE,
		         "the handler %s needs no threads: it runs on the loops; leave them out, "
		         "or use blocking",
		         gateway_handler_names[config->handler]);
		return -EINVAL;
	}
	if (config->loops >= 1 && config->loops <= GATEWAY_LOOPS_MAX &&
	    config->threads <= GATEWAY_THREADS_MAX && config->connections >= config->loops &&
	    config->connections / config->loops < ENGINE_SLOTS_MAX - LOOP_SLOTS)
		return 0;
	snprintf(why, GATEWAY_WHY_SIZE,
	         "%u loops, %u threads and %u connections: at most %d loops, %d threads, and 1 to "
	         "%d connections for each loop can be had",
	         config->loops, config->threads, config->connections, GATEWAY_LOOPS_MAX,
	         GATEWAY_THREADS_MAX, ENGINE_SLOTS_MAX - LOOP_SLOTS - 1);
	return -EINVAL;
}

static int start_loop(struct gateway *g, uint32_t index)
{
	struct gateway_loop *l = &g->loops[index];
	const uint32_t loops = g->config.loops;
	int error;

	*l = (struct gateway_loop){
	    .thread = {.gateway = g, .kind = KIND_APPLICATION, .fd = -1},
	    .gateway = g,
	    .index = index,
	    .count = g->config.connections / loops + (index < g->config.connections % loops),
	    .wake = eventfd(0, EFD_CLOEXEC),
	};
	if (l->wake < 0)
		return -errno;
	pthread_mutex_init(&l->lock, NULL);
	pthread_mutex_init(&l->thread.lock, NULL);
	error = -pthread_create(&l->thread.id, NULL, gateway_loop_run, l);
	g->started += error == 0;
	if (error)
		close(l->wake);
	return error;
}

/* Until each loop that runs has opened what it needs. 0, or the first one's -errno. */
static int await_loops(struct gateway *g, char why[GATEWAY_WHY_SIZE])
{
	uint32_t opened;

	while ((opened = __atomic_load_n(&g->opened, __ATOMIC_ACQUIRE)) < g->started)
		witness_wait(&g->opened, opened, -1);
	for (uint32_t i = 0; i < g->started; i++)
		if (g->loops[i].opened != 0) {
			snprintf(why, GATEWAY_WHY_SIZE, "%s", g->loops[i].why);
			return g->loops[i].opened;
		}
	return 0;
}

static void enter(struct gateway *g, enum gateway_stage stage)
{
	witness_signal(&g->stage, stage);
	for (uint32_t i = 0; i < g->started; i++)
		gateway_loop_wake(&g->loops[i]);
}

static int start_all(struct gateway *g, char why[GATEWAY_WHY_SIZE])
{
	const struct gateway_config *config = &g->config;
	int error = 0;

	if (config->threads)
		error = gateway_crew_begin(&g->pool, config->threads_min ? config->threads_min : 1);
	if (!error && g->helpers.most)
		error = gateway_crew_begin(&g->helpers, 1);
	for (uint32_t i = 0; i < config->loops && !error; i++)
		error = start_loop(g, i);
	if (error)
		snprintf(why, GATEWAY_WHY_SIZE,
		         "cannot start the threads of %u loops and a pool of %u: %s; use fewer",
		         config->loops, config->threads, strerror(-error));
	return error ? error : await_loops(g, why);
}

int gateway_open(struct gateway **gateway, const struct gateway_config *config, int listener,
                 char why[GATEWAY_WHY_SIZE])
{
	const uint32_t waiters = config->threads ? config->threads : config->loops;
	struct gateway *g;
	int error = check(config, why);

	if (error)
		return error;
	g = calloc(1, sizeof *g);
	if (g)
		g->loops = calloc(config->loops, sizeof *g->loops);
	if (!g || !g->loops) {
		snprintf(why, GATEWAY_WHY_SIZE, "no memory for the gateway");
		free(g);
		return -ENOMEM;
	}
	g->config = *config;
	g->counts = config->counts ? config->counts : &g->own_counts;
	g->listener = listener;
	g->pool = (struct gateway_crew){
	    .gateway = g, .kind = KIND_POOL, .name = "pool", .most = config->threads};
	g->helpers = (struct gateway_crew){.gateway = g, .kind = KIND_HELPER, .name = "helper"};
	if (config->handler == HANDLER_SYNC_OVER_ASYNC)
		g->helpers.most = config->helpers ? config->helpers : waiters;
	error = start_all(g, why);
	if (error) {
		gateway_close(g);
		return error;
	}
	enter(g, GATEWAY_SERVES);
	*gateway = g;
	return error;
}

int gateway_wait(struct gateway *g, int64_t timeout_ns, char why[GATEWAY_WHY_SIZE])
{
	const uint64_t end_ns = witness_now_ns() + (uint64_t)timeout_ns;
	uint32_t broken;

	for (;;) {
		const uint64_t now_ns = witness_now_ns();

		broken = __atomic_load_n(&g->broken, __ATOMIC_ACQUIRE);
		if (broken || (timeout_ns >= 0 && now_ns >= end_ns))
			break;
		witness_wait(&g->broken, 0, timeout_ns < 0 ? -1 : (int64_t)(end_ns - now_ns));
	}
	if (broken)
		snprintf(why, GATEWAY_WHY_SIZE, "the engine of a loop broke: %s",
		         strerror((int)broken));
	return -(int)broken;
}

/* Until the loops serve no more. Past their time what blocks them is cut short. */
static void await_end(struct gateway *g)
{
	const int64_t pause_ns = 10000000;
	uint32_t ended;

	while ((ended = __atomic_load_n(&g->ended, __ATOMIC_ACQUIRE)) < g->started) {
		if (witness_now_ns() >= g->end_ns) {
			if (gateway_stage(g) != GATEWAY_CUT)
				enter(g, GATEWAY_CUT);
			for (uint32_t i = 0; i < g->started; i++)
				gateway_call_interrupt(&g->loops[i].thread);
		}
		witness_wait(&g->ended, ended, pause_ns);
	}
}

void gateway_close(struct gateway *g)
{
	g->end_ns = witness_now_ns() + g->config.grace_ns;
	enter(g, GATEWAY_STOPS);
	await_end(g);
	enter(g, GATEWAY_CUT);
	gateway_crew_end(&g->pool);
	gateway_crew_end(&g->helpers);
	enter(g, GATEWAY_GONE);
	for (uint32_t i = 0; i < g->started; i++) {
		struct gateway_loop *l = &g->loops[i];

		pthread_join(l->thread.id, NULL);
		pthread_mutex_destroy(&l->lock);
		pthread_mutex_destroy(&l->thread.lock);
		close(l->wake);
	}
	free(g->loops);
	free(g);
}
