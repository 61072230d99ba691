/* The loops of the gateway: an engine and those whom it serves: see gateway_parts.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "bench/random.h"
#include "bench/scenario/gateway_parts.h"
#include "bench/witness.h"

enum { LOOP_BATCH = 256 };

static const uint64_t tick_most_ns = 50000000, tick_least_ns = 1000000;

void gateway_loop_do(struct gateway_loop *l, uint32_t slot, struct io_req request)
{
	l->requests[slot] = request;
	handover_add(&l->ready, slot);
}

void gateway_loop_accept(struct gateway_loop *l)
{
	if (l->accepting || l->stopping || l->open == l->count)
		return;
	l->accepting = true;
	gateway_loop_do(l, loop_slot_accept(l),
	                (struct io_req){.op = IO_ACCEPT, .fd = l->gateway->listener});
}

/* A failed accept is tried again by the clock: descriptors may be short for long. */
static void accepted(struct gateway_loop *l, int32_t fd)
{
	l->accepting = false;
	if (fd < 0)
		return;
	if (l->stopping || !l->first_free) {
		close(fd);
		return;
	}
	gateway_add(&l->gateway->counts->accepted, 1);
	gateway_connection_begin(&l->connections[l->first_free - 1], fd);
	gateway_loop_accept(l);
}

static void wait_for_wake(struct gateway_loop *l)
{
	gateway_loop_do(l, loop_slot_wake(l),
	                (struct io_req){.op = IO_READ,
	                                .fd = l->wake,
	                                .offset = UINT64_MAX,
	                                .data = &l->wake_word,
	                                .length = sizeof l->wake_word});
}

void gateway_loop_wake(struct gateway_loop *l)
{
	const uint64_t one = 1;

	if (write(l->wake, &one, sizeof one) < 0)
		abort(); /* its count cannot be full */
}

void gateway_loop_post(struct gateway_loop *l, struct gateway_work *work)
{
	pthread_mutex_lock(&l->lock);
	gateway_queue_add(&l->inbox, work);
	pthread_mutex_unlock(&l->lock);
	gateway_loop_wake(l);
}

static struct gateway_work *take_post(struct gateway_loop *l)
{
	struct gateway_work *work;

	pthread_mutex_lock(&l->lock);
	work = gateway_queue_take(&l->inbox);
	pthread_mutex_unlock(&l->lock);
	return work;
}

static void woken(struct gateway_loop *l)
{
	struct gateway_work *work;

	while ((work = take_post(l)))
		work->run(work, &l->thread);
	wait_for_wake(l);
}

/* Ten looks in the shortest of the times, within reason. */
static uint64_t tick_ns(const struct gateway_config *config)
{
	uint64_t least = config->call_timeout_ns;

	if (config->idle_timeout_ns < least)
		least = config->idle_timeout_ns;
	if (config->head_timeout_ns < least)
		least = config->head_timeout_ns;
	least /= 10;
	return least < tick_least_ns ? tick_least_ns : least > tick_most_ns ? tick_most_ns : least;
}

static void look(struct gateway_loop *l)
{
	const struct gateway *g = l->gateway;
	const uint64_t now_ns = witness_now_ns();

	l->stopping = gateway_stage(g) != GATEWAY_SERVES;
	gateway_line_look(&l->line, now_ns);
	for (uint32_t i = 0; i < l->count; i++)
		if (l->connections[i].phase != PHASE_FREE)
			gateway_connection_look(&l->connections[i], now_ns);
	gateway_loop_accept(l);
	gateway_loop_do(
	    l, loop_slot_tick(l),
	    (struct io_req){.op = IO_TIMEOUT, .deadline_ns = now_ns + tick_ns(&g->config)});
}

static void dispatch(struct gateway_loop *l, struct io_done done)
{
	if (done.slot < l->count)
		gateway_connection_step(&l->connections[done.slot], done.result);
	else if (done.slot == loop_slot_accept(l))
		accepted(l, done.result);
	else if (done.slot == loop_slot_tick(l))
		look(l);
	else if (done.slot == loop_slot_wake(l))
		woken(l);
	else if (done.slot == loop_slot_send(l))
		gateway_line_sent(&l->line, done.result);
	else
		gateway_line_received(&l->line, done.result);
}

/* 0, or -errno: the engine broke. */
static int serve(struct gateway_loop *l)
{
	struct io_done done[LOOP_BATCH];
	int n = 0;

	gateway_loop_accept(l);
	wait_for_wake(l);
	look(l);
	while (!l->stopping || (l->open && witness_now_ns() < l->gateway->end_ns)) {
		gateway_doing(&l->thread, DOING_SUBMIT);
		n = handover_make(&l->ready, &l->engine);
		if (n < 0)
			break;
		gateway_doing(&l->thread, DOING_WAIT);
		n = engine_reap(&l->engine, done, 1, LOOP_BATCH, -1);
		gateway_doing(&l->thread, DOING_NOTHING);
		if (n < 0)
			break;
		for (int i = 0; i < n; i++)
			dispatch(l, done[i]);
	}
	return n < 0 ? n : 0;
}

static int make_connections(struct gateway_loop *l)
{
	l->connections = calloc(l->count, sizeof *l->connections);
	if (!l->connections)
		return -ENOMEM;
	for (uint32_t i = l->count; i-- > 0;) {
		struct gateway_connection *c = &l->connections[i];

		c->loop = l;
		c->index = i;
		c->fd = -1;
		c->next_free = l->first_free;
		l->first_free = i + 1;
	}
	return 0;
}

/* What the loop needs, in the order in which it is given back. */
static int open_parts(struct gateway_loop *l)
{
	const struct gateway_config *config = &l->gateway->config;
	struct engine_config engine = {.slots = l->count + LOOP_SLOTS,
	                               .need = ENGINE_SOCKETS | ENGINE_CONNECTIONS | ENGINE_TIMERS};
	const uint32_t calls = l->count + config->threads + config->loops;
	const bool stacks = config->handler == HANDLER_COROUTINE;
	int error;

	snprintf(l->why, sizeof l->why, "no memory for %u connections", l->count);
	l->requests = engine.requests = calloc(engine.slots, sizeof *l->requests);
	if (!l->requests || handover_open(&l->ready, engine.slots) != 0 ||
	    make_connections(l) != 0 || gateway_line_open(&l->line, l, calls) != 0)
		return -ENOMEM;
	if (stacks) {
		error = coroutines_open(&l->coroutines, l->count, COROUTINE_STACK_BYTES, true,
		                        l->why);
		if (error)
			return error;
	}
	error = engine_open(&l->engine, config->engine, &engine, l->why);
	if (error && stacks)
		coroutines_close(&l->coroutines);
	return error;
}

static void close_parts(struct gateway_loop *l)
{
	struct gateway_work *work;

	if (l->opened == 0) {
		/* nobody is left to wait for what others have posted, but its memory is */
		while ((work = take_post(l)))
			work->run(work, &l->thread);
		gateway_line_fail(&l->line, -ECANCELED);
		engine_close(&l->engine);
		if (l->gateway->config.handler == HANDLER_COROUTINE)
			coroutines_close(&l->coroutines);
	}
	for (uint32_t i = 0; l->connections && i < l->count; i++)
		if (l->connections[i].fd >= 0)
			close(l->connections[i].fd);
	gateway_add(&l->gateway->counts->connections, -(int64_t)l->open);
	gateway_line_close(&l->line);
	handover_close(&l->ready);
	free(l->connections);
	free(l->requests);
}

static void break_gateway(struct gateway *g, int error)
{
	uint32_t none = 0;

	if (__atomic_compare_exchange_n(&g->broken, &none, (uint32_t)-error, false,
	                                __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		witness_signal(&g->broken, (uint32_t)-error);
}

void *gateway_loop_run(void *argument)
{
	struct gateway_loop *l = argument;
	struct gateway *g = l->gateway;
	enum gateway_stage stage;
	int error;

	gateway_thread_begin(&l->thread, "loop");
	l->random = random_stream(g->config.seed, l->index);
	l->opened = open_parts(l);
	witness_count(&g->opened);
	while (gateway_stage(g) == GATEWAY_OPENS)
		witness_wait(&g->stage, GATEWAY_OPENS, -1);
	error = l->opened == 0 ? serve(l) : 0;
	if (error)
		break_gateway(g, error);
	witness_count(&g->ended);
	/* Others may still hand over what they have done. */
	gateway_doing(&l->thread, DOING_IDLE);
	while ((stage = gateway_stage(g)) != GATEWAY_GONE)
		witness_wait(&g->stage, stage, -1);
	gateway_call_finish(&l->thread);
	close_parts(l);
	gateway_thread_end(&l->thread);
	return NULL;
}
