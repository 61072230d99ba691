/*
 * Which block of the files comes next, for one thread of a disk workload.
 */
#ifndef IOSTUDY_ORDER_H
#define IOSTUDY_ORDER_H

#include <stdbool.h>
#include <stdint.h>

enum order_kind {
	ORDER_RANDOM, /* any block, again and again */
	ORDER_PASSES, /* in a random order, each block once in a pass of all threads together,
	                 however fast each is: none is read from a cache that the run filled */
	ORDER_ROW,    /* one after the other; each thread has a stretch of its own */
};

/* Where the threads of ORDER_PASSES are; zeroed at first. */
struct order_passes {
	uint64_t taken; /* positions */
	uint32_t ready; /* passes that may be read: a futex */
};

struct order {
	enum order_kind kind;
	uint64_t blocks; /* of all files, >= 1 */
	uint64_t seed, random;
	uint32_t bits;                 /* of the permutation's numbers */
	uint64_t position, begin, end; /* of a row */
	struct order_passes *passes;   /* shared by all threads */
	bool pass_over;                /* the last block was the first of another pass */
};

/* passes: for ORDER_PASSES; else not looked at. */
void order_begin(struct order *p, enum order_kind kind, uint64_t blocks, uint64_t seed,
                 uint32_t thread, uint32_t threads, struct order_passes *passes);

/* The next block; sets pass_over. Of passes: whoever is told so must call order_pass_ready when
 * the cache has been emptied; until then all other threads wait here for the blocks of that pass.
 */
uint64_t order_next(struct order *p);
void order_pass_ready(struct order *p);

#endif
