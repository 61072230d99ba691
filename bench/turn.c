/* How operations begin, go on and end: see turn.h. */
#include "bench/turn.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static void push_ready(struct turn *t, uint32_t slot)
{
	uint32_t at = t->ready_at + t->ready_count++;

	if (at >= t->slots)
		at -= t->slots;
	t->ready[at] = slot;
}

static bool more_wanted(const struct turn *t)
{
	return !t->loop->operations || t->begun < t->loop->operations;
}

/* Begins an operation in a free slot, if more are wanted. One that waits for another's request
 * is in flight from now on. */
static void begin_operation(struct turn *t, uint32_t slot)
{
	struct workload *workload = t->loop->workload;

	if (!more_wanted(t))
		return;
	t->begun++;
	t->running++;
	t->begun_ns[slot] = 0;
	if (workload->ops->next(workload, slot, t->now_ns) == WORK_SUBMIT) {
		push_ready(t, slot);
		return;
	}
	t->begun_ns[slot] = t->now_ns;
	turn_count_in_flight(t, t->now_ns, 1);
}

void turn_arrive(struct turn *t)
{
	struct loop *loop = t->loop;

	while (t->free_count && t->arrivals.next_ns <= t->now_ns && more_wanted(t)) {
		const uint32_t slot = t->free[--t->free_count];

		__atomic_store_n(&loop->scheduled_ns[slot], t->arrivals.next_ns, __ATOMIC_RELAXED);
		arrivals_advance(&t->arrivals);
		begin_operation(t, slot);
	}
	__atomic_store_n(&loop->schedule->next_ns, more_wanted(t) ? t->arrivals.next_ns : 0,
	                 __ATOMIC_RELAXED);
}

int64_t turn_until_arrival_ns(const struct turn *t, uint64_t now_ns)
{
	if (!t->free_count || !more_wanted(t))
		return -1;
	return t->arrivals.next_ns > now_ns ? (int64_t)(t->arrivals.next_ns - now_ns) : 0;
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

/* The latency from the moment at which the request was to be made. */
static void end_scheduled(struct turn *t, uint32_t slot)
{
	struct witness *witness = t->loop->witness;
	struct witness_schedule *own = t->loop->schedule;
	const uint64_t latency_ns = t->now_ns - t->loop->scheduled_ns[slot];
	const uint32_t epoch = __atomic_load_n(&witness->epoch, __ATOMIC_RELAXED);
	const bool anew = own->epoch != epoch || !own->max_ns;

	if (anew || latency_ns < own->min_ns)
		__atomic_store_n(&own->min_ns, latency_ns, __ATOMIC_RELAXED);
	if (anew || latency_ns > own->max_ns)
		__atomic_store_n(&own->max_ns, latency_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&own->epoch, epoch, __ATOMIC_RELEASE);
	histogram_add(&witness->latency_scheduled, latency_ns, t->loop->plan->threads > 1);
	__atomic_store_n(&t->loop->scheduled_ns[slot], 0, __ATOMIC_RELAXED);
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
	if (t->open)
		end_scheduled(t, slot);
}

/* Goes on with one slot. Returns 1 when its operation has ended. */
static uint32_t go_on(struct turn *t, uint32_t slot, int32_t result)
{
	struct workload *workload = t->loop->workload;
	const enum workload_answer answer = workload->ops->step(workload, slot, result);

	if (answer == WORK_SUBMIT) {
		push_ready(t, slot);
		return 0;
	}
	if (answer == WORK_WAIT)
		return 0;
	if (answer != WORK_DONE)
		count_failure(t, answer, result);
	if (slot >= workload->slots) /* a service: no operation */
		return 0;
	t->running--;
	if (answer == WORK_DONE)
		end_operation(t, slot);
	if (t->open)
		t->free[t->free_count++] = slot;
	else if (!t->over)
		begin_operation(t, slot);
	return 1;
}

void turn_take(struct turn *t, uint32_t n)
{
	struct workload *workload = t->loop->workload;
	uint32_t ended = 0;

	for (uint32_t i = 0; i < n; i++)
		ended += go_on(t, t->done[i].slot, t->done[i].result);
	while (workload->posted_count) {
		const struct io_done post = workload_take_post(workload);

		ended += go_on(t, post.slot, post.result);
	}
	t->mine.bytes = workload->bytes;
	t->mine.shorts = workload->shorts;
	if (ended)
		turn_count_in_flight(t, t->now_ns, -(int32_t)ended);
	turn_publish(t);
	if (t->over) /* the parent may read at once: after the counters */
		witness_break(t->loop->witness, t->why);
}

void turn_begin(struct turn *t)
{
	const uint32_t operations = t->loop->workload->slots;

	t->mine.changed_ns = t->now_ns = witness_now_ns();
	for (uint32_t slot = operations; slot < t->slots; slot++)
		t->begun_ns[slot] = t->now_ns; /* a service begins no operation */
	if (t->open) {
		arrivals_begin(&t->arrivals, t->loop->plan, t->loop->workload->thread, t->now_ns);
		while (t->free_count < operations) { /* the first slot on top */
			t->free[t->free_count] = operations - 1 - t->free_count;
			t->free_count++;
		}
		return;
	}
	for (uint32_t slot = 0; slot < operations; slot++)
		begin_operation(t, slot);
}

bool turn_goes_on(const struct turn *t)
{
	return t->running || (t->open && more_wanted(t));
}

void turn_free(struct turn *t)
{
	free(t->begun_ns);
	free(t->ready);
	free(t->batch);
	free(t->begins);
	free(t->done);
	free(t->free);
}

int turn_make(struct turn *t, struct loop *loop, char why[PLAN_WHY_SIZE])
{
	const uint32_t batch = loop->plan->batch;
	const uint32_t slots = loop->workload->slots + loop->workload->services;

	*t = (struct turn){
	    .loop = loop,
	    .slots = slots,
	    .begun_ns = calloc(slots, sizeof *t->begun_ns),
	    .ready = calloc(slots, sizeof *t->ready),
	    .batch = calloc(batch, sizeof *t->batch),
	    .begins = calloc(batch, sizeof *t->begins),
	    .done = calloc(batch, sizeof *t->done),
	    .free = calloc(slots, sizeof *t->free),
	    .mine = *loop->own,
	    .synchronous = loop->engine->ops->caps & ENGINE_SYNCHRONOUS,
	    .open = loop->plan->rate_per_s,
	};
	if (t->begun_ns && t->ready && t->batch && t->begins && t->done && t->free)
		return 0;
	turn_free(t);
	snprintf(why, PLAN_WHY_SIZE, "no memory for a depth of %u", slots);
	return -ENOMEM;
}
