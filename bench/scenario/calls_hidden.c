/*
 * blocking-calls as they were published to be "non-blocking": a pool's thread begins a call by
 * making a thread for it, hidden in a timer, which waits and completes the call's future; the
 * pool's threads receive what is complete.
 */
#include <errno.h>
#include <stdlib.h>

#include "bench/scenario/calls.h"
#include "bench/witness.h"

struct hiding {
	struct board_side *side;
	const struct calls *calls;
	uint32_t next, complete, received; /* atomic */
	uint32_t resting;                  /* threads of the pool that are done */
	uint32_t hidden_resting;
	struct future *futures; /* [calls->count] */
};

struct future {
	struct hiding *hiding;
	uint32_t id;
};

static void *hidden_work(void *argument)
{
	const struct future *future = argument;
	struct hiding *h = future->hiding;
	struct caller caller;

	board_thread_begin(h->side, KIND_HELPER, "call-timer");
	if (caller_open(&caller) != 0) {
		board_break(h->side, false, "no memory for a thread's calls");
		return NULL;
	}
	call_make(h->side, &caller, h->calls, future->id);
	caller_close(&caller);
	witness_count(&h->complete);
	board_rest(h->side, &h->hidden_resting);
	return NULL;
}

/* Returns at once, and calls it asynchronous. */
static int call_later(struct hiding *h, uint32_t id)
{
	h->futures[id] = (struct future){.hiding = h, .id = id};
	return calls_thread_start(h->side, hidden_work, &h->futures[id], id, h->calls->count);
}

static void *pool_work(void *argument)
{
	struct hiding *h = argument;
	const uint32_t count = h->calls->count;
	uint32_t id;

	board_thread_begin(h->side, KIND_POOL, "pool");
	while ((id = __atomic_fetch_add(&h->next, 1, __ATOMIC_RELAXED)) < count)
		if (call_later(h, id) != 0)
			return NULL;
	while ((id = __atomic_fetch_add(&h->received, 1, __ATOMIC_RELAXED)) < count)
		board_await(&h->complete, id + 1);
	board_rest(h->side, &h->resting);
	return NULL;
}

int calls_by_hidden_threads(struct board_side *side)
{
	const struct calls *calls = side->own;
	struct hiding *h = calloc(1, sizeof *h);
	struct future *futures = calloc(calls->count, sizeof *futures);
	int error = h && futures ? 0 : -ENOMEM;

	board_ready(side);
	if (h)
		*h = (struct hiding){.side = side, .calls = calls, .futures = futures};
	for (uint32_t i = 0; i < calls->threads && !error; i++)
		error = calls_thread_start(side, pool_work, h, i, calls->threads);
	if (!error)
		board_await(&h->resting, calls->threads);
	return error; /* the threads end with the process, and what they use with them */
}
