/*
 * The measuring loop: keeps a thread's share of the depth in flight through one engine, and
 * publishes what happens.
 */
#ifndef IOSTUDY_LOOP_H
#define IOSTUDY_LOOP_H

#include <stdint.h>

#include "bench/plan.h"
#include "bench/witness.h"
#include "bench/workload.h"
#include "engines/engine.h"
#include "probes/threads.h"

struct loop {
	const struct plan *plan;
	struct engine *engine;
	struct workload *workload;
	struct witness *witness;
	struct witness_thread *own;        /* this thread's counters in it */
	struct witness_schedule *schedule; /* of an open loop: this thread's */
	uint64_t *scheduled_ns;            /* and its slots' */
	struct thread_mark *mark;
	uint32_t *in_flight; /* the gauge for the probe, shared by all threads; or NULL */
	uint64_t operations; /* this thread's share of plan->operations; 0: until stopped */
};

/* Runs until witness->stop, until the thread's operations are done, or until something breaks
 * (which it reports with witness_break). 0, or -errno with why: memory is short. */
int loop_run(struct loop *loop, char why[PLAN_WHY_SIZE]);

#endif
