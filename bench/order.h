/*
 * Which block of the files comes next, for one thread of a disk workload.
 */
#ifndef IOSTUDY_ORDER_H
#define IOSTUDY_ORDER_H

#include <stdbool.h>
#include <stdint.h>

enum order_kind {
	ORDER_RANDOM, /* any block, again and again */
	ORDER_PASSES, /* in a random order, each block once in a pass over all threads: none is
	                 read twice from a cache that the run itself has filled */
	ORDER_ROW,    /* one after the other; each thread has a stretch of its own */
};

struct order {
	enum order_kind kind;
	uint64_t blocks; /* of all files, >= 1 */
	uint64_t seed, random;
	uint32_t thread, threads;
	uint32_t bits; /* of the permutation's numbers */
	uint64_t position, begin, end;
	bool pass_over; /* the last block was the first of another pass */
};

void order_begin(struct order *p, enum order_kind kind, uint64_t blocks, uint64_t seed,
                 uint32_t thread, uint32_t threads);

/* The next block; sets pass_over. */
uint64_t order_next(struct order *p);

#endif
