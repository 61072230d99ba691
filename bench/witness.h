/*
 * What the subject publishes: counters that only grow, in memory shared with the parent, which
 * reads them at the window's edges. The subject is only a witness: it does not know the window.
 */
#ifndef IOSTUDY_WITNESS_H
#define IOSTUDY_WITNESS_H

#include <stddef.h>
#include <stdint.h>

#include "bench/histogram.h"
#include "bench/plan.h"

enum { WITNESS_ERRNO_MAX = 134 }; /* one more than the highest errno */

/* One submitting thread's counters; sequence, which stands first, is odd while it writes. */
struct witness_thread {
	uint32_t sequence;
	uint32_t in_flight;    /* operations accepted and not yet completed */
	uint64_t in_flight_ns; /* their time, added up until changed_ns */
	uint64_t changed_ns;   /* CLOCK_MONOTONIC */
	uint64_t operations, bytes, shorts, wrong, failed;
	uint64_t compute_units;
	uint64_t alone_units, alone_ns; /* the same computing, before any I/O */
	uint64_t latency_min_ns, latency_max_ns;
	uint32_t epoch; /* of min and max */
	uint32_t unused[3];
} __attribute__((aligned(128)));

/* An open loop's: each word is whole, and written by its thread alone. */
struct witness_schedule {
	uint64_t next_ns;        /* the first moment whose request has not begun; 0: none */
	uint64_t min_ns, max_ns; /* latency from the scheduled moment */
	uint32_t epoch;          /* of min and max */
} __attribute__((aligned(64)));

struct witness {
	/* futex words */
	uint32_t ready;    /* threads that have opened engine and workload */
	uint32_t go;       /* set by the parent: begin */
	uint32_t started;  /* threads that have begun with I/O */
	uint32_t finished; /* threads that have made their share of plan->operations */
	uint32_t broken;   /* 1: something failed, see why; the run is over */
	uint32_t stop;     /* set by the parent: end */

	uint32_t epoch;   /* raised by the parent at the window's beginning: min and max anew */
	uint32_t refused; /* 1: it broke since the engine or the workload cannot serve here */
	uint32_t threads;
	char why[PLAN_WHY_SIZE];
	uint64_t errors[WITNESS_ERRNO_MAX]; /* failed operations by errno */
	struct histogram latency;           /* from submission to completion */
	struct histogram latency_scheduled; /* from the scheduled moment, of an open loop */
	struct witness_schedule *schedule;  /* [threads] */
	uint64_t *scheduled_ns;             /* [slots]: of the request in it; 0: none */
	uint32_t slots;
	struct witness_thread thread[]; /* [threads] */
};

/* The sums of all threads at one moment. */
struct witness_sums {
	uint64_t time_ns; /* the mean moment at which the threads were read */
	uint64_t took_ns; /* from the first to the last */
	uint64_t in_flight_ns;
	uint64_t operations, bytes, shorts, wrong, failed;
	uint64_t compute_units;
	double alone_per_s;                      /* units a second without I/O; 0: not measured */
	uint64_t latency_min_ns, latency_max_ns; /* of this epoch; 0 and 0: none completed */
	uint64_t errors[WITNESS_ERRNO_MAX];
	struct histogram latency;
	struct histogram latency_scheduled;
	uint64_t scheduled_min_ns, scheduled_max_ns; /* of this epoch; 0 and 0: none */
	uint64_t unfinished_ns; /* since the oldest scheduled moment whose request has not ended */
};

/* Shared memory for so many threads and slots, zeroed; NULL when there is none. */
struct witness *witness_make(uint32_t threads, uint32_t slots);
void witness_free(struct witness *witness);

/* Reads all threads, one after the other, each as of its own moment. 0; -EBUSY: a thread was ended
 * or stopped while it wrote. */
int witness_read(const struct witness *witness, struct witness_sums *sums);

/* Sets the first reason; later ones are dropped. Wakes the parent. */
void witness_break(struct witness *witness, const char *why);

/* A futex word becomes value, or grows by one, and who waits for it is woken. */
void witness_signal(uint32_t *word, uint32_t value);
void witness_count(uint32_t *word);
void witness_wake(const uint32_t *word); /* only wakes */

/* Waits while the word is value, at most so long; may return early. */
void witness_wait(const uint32_t *word, uint32_t value, int64_t timeout_ns);

/* CLOCK_MONOTONIC */
uint64_t witness_now_ns(void);

#endif
