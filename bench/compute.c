/* What the computing does with no I/O: see compute.h. */
#include "bench/compute.h"

enum { ALONE_NS = 300000000 }; /* how long it is measured */

void compute_alone(struct witness_thread *own)
{
	static const uint64_t block[COMPUTE_WORDS];
	const uint64_t begin_ns = witness_now_ns();
	uint64_t units = 0, hash = 0, now_ns;

	do {
		for (int i = 0; i < 64; i++, units++)
			hash = compute_unit(block, hash);
		/* the compiler must not see that nobody reads the hash */
		__asm__ volatile("" : : "r"(hash));
		now_ns = witness_now_ns();
	} while (now_ns - begin_ns < ALONE_NS);
	own->alone_units = units; /* nobody reads it before the thread is ready */
	own->alone_ns = now_ns - begin_ns;
}
