/*
 * The unit of real work that a computing submitter does between two looks: a hash over 4 KiB.
 */
#ifndef IOSTUDY_COMPUTE_H
#define IOSTUDY_COMPUTE_H

#include <stdint.h>

#include "bench/witness.h"

enum { COMPUTE_WORDS = 512 };

static inline uint64_t compute_unit(const uint64_t block[COMPUTE_WORDS], uint64_t hash)
{
	for (uint32_t i = 0; i < COMPUTE_WORDS; i++)
		hash = (hash ^ block[i]) * 0x100000001b3ull;
	return hash;
}

/* Measures what it does with no I/O at all: 300 ms of it. */
void compute_alone(struct witness_thread *own);

#endif
