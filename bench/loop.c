/* The measuring loop: see loop.h. */
#include "bench/loop.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/compute.h"

enum { ALONE_NS = 300000000 }; /* how long the computing is measured without I/O */

/* The loop's own memory, all taken before it begins. */
struct turn {
	struct loop *loop;
	uint64_t now_ns;
	uint64_t *begun_ns; /* [slots]: when the operation in it was submitted; 0: not yet */
	uint32_t *ready;    /* [slots]: a ring of slots to submit */
	uint32_t ready_at, ready_count;
	uint32_t *batch;      /* [plan->batch] */
	bool *begins;         /* [plan->batch]: whether it is the first request of its operation */
	struct io_done *done; /* [plan->batch] */
	uint64_t begun;       /* operations begun */
	uint32_t running;     /* slots that are ready or in flight */
	struct witness_thread mine; /* the counters; published as a whole */
	bool synchronous, over;
	bool told;               /* that the depth was reached */
	char why[PLAN_WHY_SIZE]; /* of the first failure */
	uint64_t block[COMPUTE_WORDS], hash;
};

/* Shows the counters to the parent, in one short step: nothing that can fail lies in it. */
static void publish(struct turn *t)
{
	struct witness_thread *own = t->loop->own;
	const uint32_t sequence = own->sequence;
	const size_t head = offsetof(struct witness_thread, sequence) + sizeof own->sequence;

	__atomic_store_n(&own->sequence, sequence + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	memcpy((char *)own + head, (const char *)&t->mine + head, sizeof *own - head);
	__atomic_store_n(&own->sequence, sequence + 2, __ATOMIC_RELEASE);
}

/* The number in flight changes: the time until now counts with the old number. */
static void count_in_flight(struct turn *t, uint64_t now_ns, int32_t change)
{
	struct witness_thread *own = &t->mine;

	own->in_flight_ns += own->in_flight * (now_ns - own->changed_ns);
	own->changed_ns = now_ns;
	own->in_flight += (uint32_t)change;
	if (t->loop->in_flight)
		__atomic_fetch_add(t->loop->in_flight, (uint32_t)change, __ATOMIC_RELAXED);
}

static void push_ready(struct turn *t, uint32_t slot)
{
	uint32_t at = t->ready_at + t->ready_count++;

	if (at >= t->loop->workload->slots)
		at -= t->loop->workload->slots;
	t->ready[at] = slot;
}

static void pop_ready(struct turn *t, uint32_t n)
{
	t->ready_at += n;
	if (t->ready_at >= t->loop->workload->slots)
		t->ready_at -= t->loop->workload->slots;
	t->ready_count -= n;
}

/* Begins an operation in a free slot, if more are wanted. */
static void begin_operation(struct turn *t, uint32_t slot)
{
	struct loop *loop = t->loop;

	if (loop->operations && t->begun == loop->operations)
		return;
	t->begun++;
	t->running++;
	t->begun_ns[slot] = 0;
	loop->workload->ops->next(loop->workload, slot, t->now_ns);
	push_ready(t, slot);
}

static void count_failure(struct turn *t, enum workload_answer answer, int32_t result)
{
	const uint32_t number = result < 0 ? (uint32_t)-result : (uint32_t)EPIPE;

	if (answer == WORK_WRONG) {
		t->mine.wrong++;
	} else {
		t->mine.failed++;
		if (number < WITNESS_ERRNO_MAX)
			__atomic_fetch_add(&t->loop->witness->errors[number], 1, __ATOMIC_RELAXED);
	}
	if (!t->over)
		snprintf(t->why, sizeof t->why, "%s", t->loop->workload->why);
	t->over = true;
}

static void end_operation(struct turn *t, uint32_t slot)
{
	struct witness_thread *own = &t->mine;
	const uint64_t latency_ns = t->now_ns - t->begun_ns[slot];
	const uint32_t epoch = __atomic_load_n(&t->loop->witness->epoch, __ATOMIC_RELAXED);

	own->operations++;
	if (own->epoch != epoch || !own->latency_max_ns) {
		own->epoch = epoch;
		own->latency_min_ns = own->latency_max_ns = latency_ns;
	}
	if (latency_ns < own->latency_min_ns)
		own->latency_min_ns = latency_ns;
	if (latency_ns > own->latency_max_ns)
		own->latency_max_ns = latency_ns;
	histogram_add(&t->loop->witness->latency, latency_ns, t->loop->plan->threads > 1);
}

/* Hands completions to the workload, and goes on with what it answers. */
static void take(struct turn *t, uint32_t n)
{
	struct workload *workload = t->loop->workload;
	uint32_t ended = 0;

	for (uint32_t i = 0; i < n; i++) {
		const uint32_t slot = t->done[i].slot;
		const enum workload_answer answer = workload->ops->step(workload, slot,
		                                                        t->done[i].result);

		if (answer == WORK_SUBMIT) {
			push_ready(t, slot);
			continue;
		}
		ended++;
		t->running--;
		if (answer == WORK_DONE)
			end_operation(t, slot);
		else
			count_failure(t, answer, t->done[i].result);
		if (!t->over)
			begin_operation(t, slot);
	}
	t->mine.bytes = workload->bytes;
	t->mine.shorts = workload->shorts;
	if (ended)
		count_in_flight(t, t->now_ns, -(int32_t)ended);
	publish(t);
	if (t->over) /* the parent may read at once: after the counters */
		witness_break(t->loop->witness, t->why);
}

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

		if (++at == t->loop->workload->slots)
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

	count_in_flight(t, now_ns, (int32_t)begun);
	publish(t);
	thread_mark_set(loop->mark, t->synchronous ? DOING_CALL : DOING_SUBMIT, now_ns);
	accepted = engine_submit(loop->engine, t->batch, n);
	if (accepted < 0)
		return accepted;
	pop_ready(t, (uint32_t)accepted);
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
	count_in_flight(t, now_ns, -(int32_t)begun);
	publish(t);
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

static int park(struct turn *t)
{
	struct loop *loop = t->loop;

	thread_mark_set(loop->mark, DOING_WAIT, witness_now_ns());
	return engine_reap(loop->engine, t->done, 1, loop->plan->batch, -1);
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
	if (n == 0 && parks)
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
		take(t, (uint32_t)n);
	return n;
}

static void turn_free(struct turn *t)
{
	free(t->begun_ns);
	free(t->ready);
	free(t->batch);
	free(t->begins);
	free(t->done);
}

static int turn_make(struct turn *t, struct loop *loop, char why[PLAN_WHY_SIZE])
{
	const uint32_t slots = loop->workload->slots, batch = loop->plan->batch;

	*t = (struct turn){
	    .loop = loop,
	    .begun_ns = calloc(slots, sizeof *t->begun_ns),
	    .ready = calloc(slots, sizeof *t->ready),
	    .batch = calloc(batch, sizeof *t->batch),
	    .begins = calloc(batch, sizeof *t->begins),
	    .done = calloc(batch, sizeof *t->done),
	    .mine = *loop->own,
	    .synchronous = loop->engine->ops->caps & ENGINE_SYNCHRONOUS,
	};
	if (t->begun_ns && t->ready && t->batch && t->begins && t->done)
		return 0;
	turn_free(t);
	snprintf(why, PLAN_WHY_SIZE, "no memory for a depth of %u", slots);
	return -ENOMEM;
}

int loop_run(struct loop *loop, char why[PLAN_WHY_SIZE])
{
	struct turn t;
	int n = turn_make(&t, loop, why);

	if (n < 0)
		return n;
	t.mine.changed_ns = t.now_ns = witness_now_ns();
	for (uint32_t slot = 0; slot < loop->workload->slots; slot++)
		begin_operation(&t, slot);
	if (t.synchronous)
		tell_started(&t);
	while (t.running && !t.over && n >= 0 &&
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

void loop_compute_alone(struct witness_thread *own)
{
	static const uint64_t block[COMPUTE_WORDS];
	const uint64_t begin_ns = witness_now_ns();
	uint64_t units = 0, hash = 0, now_ns;

	do {
		for (int i = 0; i < 64; i++, units++)
			hash = compute_unit(block, hash);
		/* the compiler must not see that nobody reads the hash */
		__asm__ volatile("" : : "r"(hash));
		now_ns = witness_now_ns();
	} while (now_ns - begin_ns < ALONE_NS);
	own->alone_units = units; /* nobody reads it before the thread is ready */
	own->alone_ns = now_ns - begin_ns;
}
