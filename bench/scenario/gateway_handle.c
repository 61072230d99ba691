/*
 * How a request is handled: by a state machine that goes on when the reply comes, by sequential
 * code that is suspended, or by a thread that is parked in one of three ways.
 */
#include <errno.h>
#include <stdlib.h>

#include "bench/scenario/gateway_parts.h"
#include "bench/witness.h"

#define OUTER(pointer, type, member) ((type *)((char *)(pointer)-offsetof(type, member)))

/* callback: the state is the connection's call. */
static void call_ended(struct gateway_call *call)
{
	struct gateway_connection *c = OUTER(call, struct gateway_connection, call);

	c->error = call->error;
	gateway_connection_answer(c);
}

static void handle_by_callback(struct gateway_connection *c)
{
	if (!c->calls) {
		gateway_connection_answer(c);
		return;
	}
	c->call.done = call_ended;
	gateway_line_call(&c->loop->line, &c->call);
}

/* coroutine: what a thread would write, but that another request goes on meanwhile. */
static void resume_caller(struct gateway_call *call)
{
	struct gateway_connection *c = OUTER(call, struct gateway_connection, call);

	coroutine_resume(&c->loop->coroutines, c->index);
}

static int call_and_suspend(struct gateway_connection *c)
{
	c->call.done = resume_caller;
	gateway_line_call(&c->loop->line, &c->call);
	coroutine_suspend(&c->loop->coroutines);
	return c->call.error;
}

static void handle_in_coroutine(void *argument)
{
	struct gateway_connection *c = argument;

	if (c->calls)
		c->error = call_and_suspend(c);
	gateway_connection_answer(c);
}

/* blocking-wait: a loop is to bring the reply, while this thread waits for it. */
static void bring_reply(struct gateway_work *work, struct gateway_thread *thread)
{
	struct gateway_call *call = OUTER(work, struct gateway_call, work);
	struct gateway_loop *l = OUTER(thread, struct gateway_loop, thread);

	call->done = gateway_call_tell;
	gateway_line_call(&l->line, call);
}

static void ask_a_loop(struct gateway *g, struct gateway_call *call)
{
	const uint32_t turn = __atomic_fetch_add(&g->turn, 1, __ATOMIC_RELAXED);

	call->work.run = bring_reply;
	gateway_loop_post(&g->loops[turn % g->config.loops], &call->work);
}

/* sync-over-async: another thread makes the call, while this one waits for it. */
static void make_call(struct gateway_work *work, struct gateway_thread *thread)
{
	struct gateway_call *call = OUTER(work, struct gateway_call, work);

	call->error = gateway_call_blocking(thread, call->delay_ns);
	gateway_call_tell(call);
}

static void ask_a_helper(struct gateway *g, struct gateway_call *call)
{
	call->work.run = make_call;
	gateway_crew_give(&g->helpers, &call->work);
}

/* The call may outlive the wait for it. */
static int ask_and_wait(struct gateway_thread *t, uint64_t delay_ns,
                        void (*ask)(struct gateway *g, struct gateway_call *call))
{
	struct gateway_call *call = calloc(1, sizeof *call);

	if (!call)
		return -ENOMEM;
	call->delay_ns = delay_ns;
	call->holders = 2;
	ask(t->gateway, call);
	return gateway_call_await(t, call);
}

/* On this thread, which is parked until the reply has come. */
static int call_parked(struct gateway_thread *t, uint64_t delay_ns)
{
	switch (t->gateway->config.handler) {
	case HANDLER_BLOCKING_WAIT:
		return ask_and_wait(t, delay_ns, ask_a_loop);
	case HANDLER_SYNC_OVER_ASYNC:
		return ask_and_wait(t, delay_ns, ask_a_helper);
	default:
		return gateway_call_blocking(t, delay_ns);
	}
}

static void handled(struct gateway_work *work, struct gateway_thread *thread)
{
	(void)thread;
	gateway_connection_answer(OUTER(work, struct gateway_connection, work));
}

static void handle_in_pool(struct gateway_work *work, struct gateway_thread *thread)
{
	struct gateway_connection *c = OUTER(work, struct gateway_connection, work);

	if (c->calls)
		c->error = call_parked(thread, c->call.delay_ns);
	work->run = handled;
	gateway_loop_post(c->loop, work);
}

static void handle_on_loop(struct gateway_connection *c)
{
	if (c->calls)
		c->error = call_parked(&c->loop->thread, c->call.delay_ns);
	gateway_connection_answer(c);
}

void gateway_handle(struct gateway_connection *c)
{
	struct gateway *g = c->loop->gateway;

	if (g->config.handler == HANDLER_CALLBACK) {
		handle_by_callback(c);
	} else if (g->config.handler == HANDLER_COROUTINE) {
		coroutine_start(&c->loop->coroutines, c->index, handle_in_coroutine, c);
	} else if (g->config.threads) {
		c->work.run = handle_in_pool;
		gateway_crew_give(&g->pool, &c->work);
	} else {
		handle_on_loop(c);
	}
}
