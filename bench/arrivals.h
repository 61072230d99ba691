/*
 * The schedule of an open loop: the moments at which requests arrive, whatever became of those
 * before them. A thread has its share of the rate; no moment is ever left out.
 */
#ifndef IOSTUDY_ARRIVALS_H
#define IOSTUDY_ARRIVALS_H

#include <stdint.h>

#include "bench/plan.h"

struct arrivals {
	uint64_t next_ns; /* the next moment, CLOCK_MONOTONIC */
	uint64_t rate_per_s, start_ns;
	uint64_t count;   /* constant: the number of the next arrival, over all threads */
	uint32_t threads; /* that share the rate */
	uint64_t random;
	bool poisson;
};

/* Begins the share of a thread at start_ns. plan->rate_per_s is not 0. */
void arrivals_begin(struct arrivals *a, const struct plan *plan, uint32_t thread,
                    uint64_t start_ns);

/* Goes on to the moment after next_ns. */
void arrivals_advance(struct arrivals *a);

#endif
