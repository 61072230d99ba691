/* The order of blocks: see order.h. */
#include "bench/order.h"

#include "bench/random.h"

void order_begin(struct order *p, enum order_kind kind, uint64_t blocks, uint64_t seed,
                 uint32_t thread, uint32_t threads)
{
	*p = (struct order){
	    .kind = kind,
	    .blocks = blocks,
	    .seed = seed,
	    .random = random_stream(seed, thread),
	    .thread = thread,
	    .threads = threads,
	};
	while (p->bits < 63 && 1ull << p->bits < blocks)
		p->bits++;
	if (kind == ORDER_ROW && blocks >= threads) {
		p->begin = (uint64_t)((unsigned __int128)blocks * thread / threads);
		p->end = (uint64_t)((unsigned __int128)blocks * (thread + 1) / threads);
	} else {
		p->begin = thread % blocks;
		p->end = kind == ORDER_ROW ? p->begin + 1 : blocks;
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

uint64_t order_next(struct order *p)
{
	uint64_t position;

	p->pass_over = false;
	if (p->kind == ORDER_RANDOM)
		return random_below(&p->random, p->blocks);
	if (p->position >= p->end) { /* the thread's share of a pass is over */
		p->position = p->begin;
		p->pass_over = true;
	}
	position = p->position;
	p->position += p->kind == ORDER_ROW ? 1 : p->threads;
	return p->kind == ORDER_ROW ? position : permuted(p, position);
}
