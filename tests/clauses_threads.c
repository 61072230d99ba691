/* Several threads at one engine: its user's, and its own. */
#include "tests/engine_clauses.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SIDED_SLOTS = 32, SIDED_REQUESTS = 20000 };

struct two_sided {
	struct bed b;
	int pair[2];
	uint32_t free_slots[SIDED_SLOTS], free_count;
	pthread_mutex_t lock;
	bool failed;
};

static void *submit_side(void *argument)
{
	struct two_sided *t = argument;

	for (uint32_t i = 0;
	     i < SIDED_REQUESTS && !__atomic_load_n(&t->failed, __ATOMIC_RELAXED);) {
		uint32_t slot = UINT32_MAX;

		pthread_mutex_lock(&t->lock);
		if (t->free_count)
			slot = t->free_slots[--t->free_count];
		pthread_mutex_unlock(&t->lock);
		if (slot == UINT32_MAX) {
			sched_yield();
			continue;
		}
		bed_request(&t->b, slot, IO_SEND, t->pair[0], NULL, 4, 0);
		if (slot % 2)
			bed_request(&t->b, slot, IO_NOP, -1, NULL, 0, 0);
		memcpy(t->b.memory + slot * BED_BLOCK, &slot, sizeof slot);
		while (engine_submit(&t->b.e, &slot, 1) == 0)
			sched_yield();
		i++;
	}
	/* Lives until its requests are back: a ring takes back those of a thread that ends. */
	while (engine_in_flight(&t->b.e) && !__atomic_load_n(&t->failed, __ATOMIC_RELAXED))
		usleep(1000);
	return NULL;
}

/* One thread submits while another is in reap; TSan sees every hand-over of a request. */
void clause_two_sided(const struct engine_ops *ops)
{
	struct two_sided *t = calloc(1, sizeof *t);
	pthread_t submitter, drainer;
	uint32_t back = 0;

	pthread_mutex_init(&t->lock, NULL);
	if (!bed_pair(t->pair, false) || !bed_open(&t->b, ops, SIDED_SLOTS, ENGINE_SOCKETS))
		return;
	for (uint32_t i = 0; i < SIDED_SLOTS; i++)
		t->free_slots[t->free_count++] = i;
	CHECK(bed_drain(&drainer, &t->pair[1]));
	CHECK(pthread_create(&submitter, NULL, submit_side, t) == 0);
	while (back < SIDED_REQUESTS) {
		struct io_done done;

		if (!bed_reap(&t->b, &done))
			break;
		if (t->b.requests[done.slot].op == IO_SEND)
			CHECK_EQUAL(done.result, 4);
		/* The slot's memory is ours again: TSan would see the submitter in it. */
		memset(t->b.memory + done.slot * BED_BLOCK, 0, 8);
		pthread_mutex_lock(&t->lock);
		t->free_slots[t->free_count++] = done.slot;
		pthread_mutex_unlock(&t->lock);
		back++;
	}
	CHECK_EQUAL(back, SIDED_REQUESTS);
	__atomic_store_n(&t->failed, back < SIDED_REQUESTS, __ATOMIC_RELAXED);
	pthread_join(submitter, NULL);
	bed_close(&t->b);
	shutdown(t->pair[0], SHUT_RDWR);
	pthread_join(drainer, NULL);
	close(t->pair[0]);
	close(t->pair[1]);
	free(t);
}

struct hooks_seen {
	uint32_t threads_begun, threads_ended, calls_begun, calls_ended;
	uint32_t wrong_thread, slots_seen;
	pthread_t user;
};

static void seen_thread(void *context, uint32_t *counter)
{
	struct hooks_seen *seen = context;

	__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
	if (pthread_equal(pthread_self(), seen->user))
		__atomic_fetch_add(&seen->wrong_thread, 1, __ATOMIC_RELAXED);
}

static void on_thread_begin(void *context)
{
	seen_thread(context, &((struct hooks_seen *)context)->threads_begun);
}

static void on_thread_end(void *context)
{
	seen_thread(context, &((struct hooks_seen *)context)->threads_ended);
}

static void on_call_begin(void *context, uint32_t slot)
{
	struct hooks_seen *seen = context;

	__atomic_fetch_or(&seen->slots_seen, 1u << slot, __ATOMIC_RELAXED);
	seen_thread(context, &seen->calls_begun);
}

static void on_call_end(void *context, uint32_t slot)
{
	(void)slot;
	seen_thread(context, &((struct hooks_seen *)context)->calls_ended);
}

/* Whoever makes threads tells of each and of each call; whoever makes none calls no hook. */
void clause_hooks(const struct engine_ops *ops)
{
	const bool threads = ops == engine_find("pool") || ops == engine_find("epoll-offload");
	struct hooks_seen seen = {.user = pthread_self()};
	const struct engine_config config = {
	    .slots = 8,
	    .threads = 3,
	    .hooks = {.context = &seen,
	              .thread_begin = on_thread_begin,
	              .thread_end = on_thread_end,
	              .call_begin = on_call_begin,
	              .call_end = on_call_end},
	};
	char why[ENGINE_WHY_SIZE];
	struct io_done done;
	struct bed b;

	REQUIRE(bed_try(&b, ops, config, why) == 0);
	CHECK_EQUAL(__atomic_load_n(&seen.threads_begun, __ATOMIC_RELAXED), threads ? 3 : 0);
	for (uint32_t i = 0; i < 8; i++) {
		bed_request(&b, i, IO_NOP, -1, NULL, 0, 0);
		CHECK(bed_submit(&b, i));
	}
	for (uint32_t i = 0; i < 8; i++)
		CHECK(bed_reap(&b, &done));
	/* A completion is told after the end of its call. */
	CHECK_EQUAL(__atomic_load_n(&seen.calls_ended, __ATOMIC_RELAXED), threads ? 8 : 0);
	bed_close(&b);
	CHECK_EQUAL(seen.threads_ended, threads ? 3 : 0);
	CHECK_EQUAL(seen.calls_begun, threads ? 8 : 0);
	CHECK_EQUAL(seen.slots_seen, threads ? 0xff : 0);
	CHECK_EQUAL(seen.wrong_thread, 0);
}
