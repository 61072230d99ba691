/* A thread that carries coroutines: see carrier.h. */
#include "bench/scenario/carrier.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/witness.h"

enum { CARRIER_BATCH = 256 };

_Static_assert((int)COROUTINE_WHY_SIZE == (int)ENGINE_WHY_SIZE, "one reason for both");

int carrier_open(struct carrier *c, const struct engine_ops *ops, uint32_t count, uint32_t need,
                 char why[COROUTINE_WHY_SIZE])
{
	struct engine_config config = {.slots = count, .need = need};
	int error;

	memset(c, 0, sizeof *c);
	c->requests = config.requests = calloc(count, sizeof *c->requests);
	c->results = calloc(count, sizeof *c->results);
	c->woken = calloc(count, sizeof *c->woken);
	if (!c->requests || !c->results || !c->woken || handover_open(&c->ready, count) != 0) {
		snprintf(why, COROUTINE_WHY_SIZE, "no memory for %u coroutines", count);
		error = -ENOMEM;
		goto fail;
	}
	error = coroutines_open(&c->coroutines, count, COROUTINE_STACK_BYTES, true, why);
	if (error)
		goto fail;
	error = engine_open(&c->engine, ops, &config, why);
	if (!error)
		return 0;
	coroutines_close(&c->coroutines);
fail:
	free(c->requests);
	free(c->results);
	handover_close(&c->ready);
	free(c->woken);
	return error;
}

void carrier_close(struct carrier *c)
{
	engine_close(&c->engine);
	coroutines_close(&c->coroutines);
	free(c->requests);
	free(c->results);
	handover_close(&c->ready);
	free(c->woken);
}

static void count_ended(struct carrier *c, uint32_t index)
{
	c->alive -= coroutine_is_free(&c->coroutines, index);
}

void carrier_start(struct carrier *c, uint32_t index, void (*body)(void *), void *argument)
{
	c->alive++;
	coroutine_start(&c->coroutines, index, body, argument);
	count_ended(c, index);
}

int32_t carrier_do(struct carrier *c, struct io_req request)
{
	const uint32_t index = c->coroutines.current;

	c->requests[index] = request;
	handover_add(&c->ready, index);
	coroutine_suspend(&c->coroutines);
	return c->results[index];
}

int32_t carrier_rest(struct carrier *c)
{
	const uint32_t index = c->coroutines.current;

	coroutine_suspend(&c->coroutines);
	return c->results[index];
}

void carrier_wake(struct carrier *c, uint32_t index, int32_t result)
{
	const uint32_t count = c->coroutines.count;

	assert(c->woken_count < count);
	c->results[index] = result;
	c->woken[(c->woken_at + c->woken_count++) % count] = index;
}

static void resume_woken(struct carrier *c)
{
	while (c->woken_count) {
		const uint32_t index = c->woken[c->woken_at];

		c->woken_at = (c->woken_at + 1) % c->coroutines.count;
		c->woken_count--;
		coroutine_resume(&c->coroutines, index);
		count_ended(c, index);
	}
}

static void mark(struct carrier *c, enum thread_doing doing)
{
	if (c->mark)
		thread_mark_set(c->mark, doing, witness_now_ns());
}

static int submit_ready(struct carrier *c)
{
	mark(c, DOING_SUBMIT);
	return handover_make(&c->ready, &c->engine);
}

int carrier_run(struct carrier *c)
{
	struct io_done done[CARRIER_BATCH];

	while (c->alive && !c->stop) {
		int n;

		resume_woken(c);
		n = c->ready.count ? submit_ready(c) : 0;
		if (n < 0)
			return n;
		if (!c->alive)
			break;
		mark(c, DOING_WAIT);
		n = engine_reap(&c->engine, done, 1, CARRIER_BATCH, -1);
		mark(c, DOING_NOTHING);
		if (n < 0)
			return n;
		for (int i = 0; i < n; i++) {
			c->results[done[i].slot] = done[i].result;
			coroutine_resume(&c->coroutines, done[i].slot);
			count_ended(c, done[i].slot);
		}
	}
	return 0;
}
