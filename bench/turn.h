/*
 * One thread's turn at its requests: what the measuring loop knows of them, and how operations
 * begin, go on and end. All memory is taken before the loop begins.
 */
#ifndef IOSTUDY_TURN_H
#define IOSTUDY_TURN_H

#include <stddef.h>
#include <string.h>

#include "bench/arrivals.h"
#include "bench/compute.h"
#include "bench/loop.h"

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
	uint32_t slots;       /* those of the workload's services included */
	uint32_t running;     /* operations that are ready, waiting or in flight */
	struct witness_thread mine; /* the counters; published as a whole */
	bool synchronous, over;
	bool told; /* that the depth was reached */
	/* an open loop: requests arrive by a schedule */
	bool open;
	struct arrivals arrivals;
	uint32_t *free; /* [operations]: a stack of slots without an operation */
	uint32_t free_count;
	char why[PLAN_WHY_SIZE]; /* of the first failure */
	uint64_t block[COMPUTE_WORDS], hash;
};

/* 0, or -ENOMEM with why; nothing stays then. */
int turn_make(struct turn *t, struct loop *loop, char why[PLAN_WHY_SIZE]);
void turn_free(struct turn *t);

/* Begins what is to begin at first: in a closed loop an operation in every slot. */
void turn_begin(struct turn *t);

/* Whether operations are under way or to come. */
bool turn_goes_on(const struct turn *t);

/* In an open loop: begins, at now_ns, what the schedule says and free slots allow. */
void turn_arrive(struct turn *t);

/* In an open loop: how long until the next request can begin; -1: not before one has ended. */
int64_t turn_until_arrival_ns(const struct turn *t, uint64_t now_ns);

/* Hands the n completions in done, and what was posted, to the workload; goes on with what it
 * answers. */
void turn_take(struct turn *t, uint32_t n);

/* Takes the first n of the slots that are ready off their ring. */
static inline void turn_pop_ready(struct turn *t, uint32_t n)
{
	t->ready_at += n;
	if (t->ready_at >= t->slots)
		t->ready_at -= t->slots;
	t->ready_count -= n;
}

/* The number in flight changes: the time until now counts with the old number. */
static inline void turn_count_in_flight(struct turn *t, uint64_t now_ns, int32_t change)
{
	struct witness_thread *own = &t->mine;

	own->in_flight_ns += own->in_flight * (now_ns - own->changed_ns);
	own->changed_ns = now_ns;
	own->in_flight += (uint32_t)change;
	if (t->loop->in_flight)
		__atomic_fetch_add(t->loop->in_flight, (uint32_t)change, __ATOMIC_RELAXED);
}

/* Shows the counters to the parent, in one short step: nothing that can fail lies in it. */
static inline void turn_publish(struct turn *t)
{
	struct witness_thread *own = t->loop->own;
	const uint32_t sequence = own->sequence;
	const size_t head = offsetof(struct witness_thread, sequence) + sizeof own->sequence;

	__atomic_store_n(&own->sequence, sequence + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	memcpy((char *)own + head, (const char *)&t->mine + head, sizeof *own - head);
	__atomic_store_n(&own->sequence, sequence + 2, __ATOMIC_RELEASE);
}

#endif
