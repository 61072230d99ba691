/*
 * A log-linear histogram of times: exact below 64 ns, then 64 buckets per doubling, so that a
 * time is at most 1/64 (1.6 %) over the lowest time of its bucket, which is what is reported.
 *
 * It is an array of counters that only grow: histograms add up, and the difference of two
 * readings is the histogram of what came between.
 */
#ifndef IOSTUDY_HISTOGRAM_H
#define IOSTUDY_HISTOGRAM_H

#include <stdbool.h>
#include <stdint.h>

enum {
	HISTOGRAM_EXACT = 64,     /* buckets of 1 ns, and buckets per doubling after them */
	HISTOGRAM_DOUBLINGS = 38, /* up to 2^44 ns = 4.9 hours; longer times count as that */
	HISTOGRAM_BUCKETS = HISTOGRAM_EXACT * (HISTOGRAM_DOUBLINGS + 1),
};

struct histogram {
	uint64_t counts[HISTOGRAM_BUCKETS]; /* written by several threads, atomically */
};

/* The bucket of a time, and the lowest time of a bucket. */
static inline uint32_t histogram_bucket(uint64_t time_ns)
{
	if (time_ns < HISTOGRAM_EXACT)
		return (uint32_t)time_ns;
	const uint32_t doubling = 57 - (uint32_t)__builtin_clzll(time_ns);
	if (doubling >= HISTOGRAM_DOUBLINGS)
		return HISTOGRAM_BUCKETS - 1;
	return (doubling + 1) * HISTOGRAM_EXACT + (uint32_t)(time_ns >> doubling) - HISTOGRAM_EXACT;
}

static inline uint64_t histogram_lowest(uint32_t bucket)
{
	if (bucket < HISTOGRAM_EXACT)
		return bucket;
	const uint32_t doubling = bucket / HISTOGRAM_EXACT - 1;
	return (uint64_t)(bucket % HISTOGRAM_EXACT + HISTOGRAM_EXACT) << doubling;
}

/* shared: other threads may add to it too, which costs a locked addition. */
static inline void histogram_add(struct histogram *h, uint64_t time_ns, bool shared)
{
	uint64_t *count = &h->counts[histogram_bucket(time_ns)];

	if (shared)
		__atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
	else
		__atomic_store_n(count, *count + 1, __ATOMIC_RELAXED);
}

#endif
