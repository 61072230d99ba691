/* The order of blocks: see order.h. */
#include "bench/order.h"

#include <assert.h>

#include "bench/random.h"
#include "bench/witness.h"

void order_begin(struct order *p, enum order_kind kind, uint64_t blocks, uint64_t seed,
                 uint32_t thread, uint32_t threads, struct order_passes *passes)
{
	assert(kind != ORDER_PASSES || passes);
	*p = (struct order){
	    .kind = kind,
	    .blocks = blocks,
	    .seed = seed,
	    .random = random_stream(seed, thread),
	    .passes = passes,
	};
	while (p->bits < 63 && 1ull << p->bits < blocks)
		p->bits++;
	if (blocks >= threads) {
		p->begin = (uint64_t)((unsigned __int128)blocks * thread / threads);
		p->end = (uint64_t)((unsigned __int128)blocks * (thread + 1) / threads);
	} else {
		p->begin = thread % blocks;
		p->end = p->begin + 1;
	}
	p->position = p->begin;
}

/* A bijection of the numbers of so many bits: odd factors and shifted copies are invertible. */
static uint64_t permute(uint64_t x, uint32_t bits, uint64_t seed)
{
	const uint64_t mask = (1ull << bits) - 1;

	for (int round = 0; round < 3; round++) {
		x = (x * 0x9e3779b97f4a7c15ull + random_stream(seed, (uint64_t)round)) & mask;
		x ^= x >> (bits / 2 + 1);
	}
	return x;
}

/* The block at a position of the permutation: what falls beyond the blocks is permuted again, so
 * each of them stands at one position below their number. */
static uint64_t permuted(const struct order *p, uint64_t position)
{
	do
		position = permute(position, p->bits, p->seed);
	while (position >= p->blocks);
	return position;
}

/* Until the cache has been emptied so many times. */
static void wait_for_pass(const struct order_passes *passes, uint32_t pass)
{
	uint32_t ready = __atomic_load_n(&passes->ready, __ATOMIC_ACQUIRE);

	while ((int32_t)(ready - pass) < 0) {
		witness_wait(&passes->ready, ready, -1);
		ready = __atomic_load_n(&passes->ready, __ATOMIC_ACQUIRE);
	}
}

static uint64_t next_of_pass(struct order *p)
{
	const uint64_t taken = __atomic_fetch_add(&p->passes->taken, 1, __ATOMIC_RELAXED);
	const uint32_t pass = (uint32_t)(taken / p->blocks);

	p->pass_over = pass && taken % p->blocks == 0;
	if (!p->pass_over)
		wait_for_pass(p->passes, pass);
	return permuted(p, taken % p->blocks);
}

void order_pass_ready(struct order *p)
{
	if (p->kind == ORDER_PASSES)
		witness_count(&p->passes->ready);
}

static uint64_t next_of_row(struct order *p)
{
	p->pass_over = p->position >= p->end;
	if (p->pass_over)
		p->position = p->begin;
	return p->position++;
}

uint64_t order_next(struct order *p)
{
	switch (p->kind) {
	case ORDER_PASSES:
		return next_of_pass(p);
	case ORDER_ROW:
		return next_of_row(p);
	default:
		return random_below(&p->random, p->blocks);
	}
}
