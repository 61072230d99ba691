/* The measuring loop: see loop.h. */
#include "bench/loop.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bench/turn.h"

/* Takes the next requests that are ready, at most a batch; those that begin an operation get its
 * time. Returns how many there are, and how many of them begin one. */
static uint32_t fill_batch(struct turn *t, uint64_t now_ns, uint32_t *begun)
{
	const uint32_t most = t->synchronous ? 1 : t->loop->plan->batch;
	const uint32_t n = t->ready_count < most ? t->ready_count : most;
	uint32_t at = t->ready_at;

	*begun = 0;
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t slot = t->ready[at];

		if (++at == t->slots)
			at = 0;
		t->batch[i] = slot;
		t->begins[i] = !t->begun_ns[slot];
		if (t->begins[i]) {
			t->begun_ns[slot] = now_ns;
			++*begun;
		}
	}
	return n;
}

/* Submits at most a batch of what is ready. Returns how many were accepted, or -errno. */
static int submit(struct turn *t)
{
	struct loop *loop = t->loop;
	const uint64_t now_ns = witness_now_ns();
	uint32_t begun;
	const uint32_t n = fill_batch(t, now_ns, &begun);
	int accepted;

	turn_count_in_flight(t, now_ns, (int32_t)begun);
	turn_publish(t);
	thread_mark_set(loop->mark, t->synchronous ? DOING_CALL : DOING_SUBMIT, now_ns);
	accepted = engine_submit(loop->engine, t->batch, n);
	if (accepted < 0)
		return accepted;
	turn_pop_ready(t, (uint32_t)accepted);
	if ((uint32_t)accepted == n)
		return accepted;
	if (accepted == 0 && engine_in_flight(loop->engine) == 0)
		return -EAGAIN; /* it takes none, and none will come back */
	/* what was refused is not in flight after all */
	begun = 0;
	for (uint32_t i = (uint32_t)accepted; i < n; i++) {
		if (!t->begins[i])
			continue;
		t->begun_ns[t->batch[i]] = 0;
		begun++;
	}
	turn_count_in_flight(t, now_ns, -(int32_t)begun);
	turn_publish(t);
	return accepted;
}

static void compute(struct turn *t)
{
	t->hash = compute_unit(t->block, t->hash);
	/* one word: needs no sequence */
	__atomic_store_n(&t->loop->own->compute_units, ++t->mine.compute_units, __ATOMIC_RELAXED);
}

static int look(struct turn *t)
{
	struct loop *loop = t->loop;

	if (!t->synchronous && loop->mark->doing != DOING_NOTHING)
		thread_mark_set(loop->mark, DOING_NOTHING, t->now_ns); /* held by neither */
	return engine_reap(loop->engine, t->done, 1, loop->plan->batch, 0);
}

/* Waits for a completion, and in an open loop no longer than until the next request is to begin.
 * With nothing in flight nobody waits for I/O: that is idle, in the engine's own wait where it
 * waits then, else until the word to stop. */
static int park(struct turn *t)
{
	struct loop *loop = t->loop;
	const bool idle = t->open && !t->mine.in_flight;
	const uint64_t now_ns = witness_now_ns();
	const int64_t until_ns = t->open ? turn_until_arrival_ns(t, now_ns) : -1;
	int n = 0;

	thread_mark_set(loop->mark, idle ? DOING_IDLE : DOING_WAIT, now_ns);
	if (!t->synchronous)
		n = engine_reap(loop->engine, t->done, 1, loop->plan->batch, until_ns);
	if (n == 0 && idle && until_ns > 0 && (t->synchronous || !engine_in_flight(loop->engine))) {
		const int64_t left_ns = turn_until_arrival_ns(t, witness_now_ns());

		if (left_ns > 0)
			witness_wait(&loop->witness->stop, 0, left_ns);
	}
	return n;
}

/* Takes what has completed, waiting as the plan says. Returns how many, or -errno. */
static int reap(struct turn *t)
{
	const uint32_t caps = t->loop->engine->ops->caps;
	const bool parks = t->loop->plan->wait == WAIT_PARK && !t->synchronous;
	int n = 0;

	/* Who parks looks first where that is free: it may not have to. */
	if (!parks || caps & ENGINE_QUICK_LOOK)
		n = look(t);
	if (n == 0 && (parks || (t->synchronous && t->open)))
		n = park(t);
	else if (n == 0 && t->loop->plan->wait == WAIT_COMPUTE)
		compute(t);
	if (n == 0 && !parks)
		return 0;
	t->now_ns = witness_now_ns();
	if (t->loop->mark->doing != DOING_NOTHING)
		thread_mark_set(t->loop->mark, DOING_NOTHING, t->now_ns);
	return n;
}

/* The warm-up begins when the depth is reached, or when so many operations have ended that more
 * are not to be expected. A call that blocks is the whole depth of its thread. */
static void tell_started(struct turn *t)
{
	if (t->told ||
	    (!t->synchronous && t->ready_count && t->mine.operations < t->loop->workload->slots))
		return;
	t->told = true;
	witness_count(&t->loop->witness->started);
}

static int turn_round(struct turn *t)
{
	int n = 0;

	if (t->open) {
		t->now_ns = witness_now_ns();
		turn_arrive(t);
	}
	if (t->loop->workload->posted_count)
		turn_take(t, 0);
	do {
		if (t->ready_count) {
			n = submit(t);
			if (n < 0)
				return n;
		}
	} while (!t->synchronous && t->ready_count && n > 0);
	tell_started(t);
	n = reap(t);
	if (n > 0)
		turn_take(t, (uint32_t)n);
	return n;
}

int loop_run(struct loop *loop, char why[PLAN_WHY_SIZE])
{
	struct turn t;
	int n = turn_make(&t, loop, why);

	if (n < 0)
		return n;
	turn_begin(&t);
	if (t.synchronous)
		tell_started(&t);
	while (turn_goes_on(&t) && !t.over && n >= 0 &&
	       !__atomic_load_n(&loop->witness->stop, __ATOMIC_RELAXED))
		n = turn_round(&t);
	if (n < 0) {
		snprintf(why, PLAN_WHY_SIZE, "the engine %s broke: %s", loop->plan->engine,
		         strerror(-n));
		witness_break(loop->witness, why);
	}
	turn_free(&t);
	return 0;
}
