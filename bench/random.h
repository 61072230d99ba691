/*
 * Reproducible random numbers: splitmix64, one stream per thread, from the run's seed.
 */
#ifndef IOSTUDY_RANDOM_H
#define IOSTUDY_RANDOM_H

#include <stdint.h>

static inline uint64_t random_mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

static inline uint64_t random_next(uint64_t *state)
{
	return random_mix(*state += 0x9e3779b97f4a7c15ull);
}

/* Uniform below limit (>= 1); the bias is under limit / 2^64. */
static inline uint64_t random_below(uint64_t *state, uint64_t limit)
{
	return (uint64_t)(((unsigned __int128)random_next(state) * limit) >> 64);
}

static inline uint64_t random_stream(uint64_t seed, uint64_t stream)
{
	return random_mix(random_mix(seed ^ 0x6a09e667f3bcc908ull) + stream);
}

#endif
