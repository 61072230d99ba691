/* The schedule of an open loop: see arrivals.h. */
#include "bench/arrivals.h"

#include <math.h>

#include "bench/random.h"

#define SECOND_NS 1000000000ull

/* Exact for any count: no error adds up. */
static uint64_t constant_ns(const struct arrivals *a)
{
	return a->start_ns + (uint64_t)((unsigned __int128)a->count * SECOND_NS / a->rate_per_s);
}

/* An exponential gap; threads' streams together make the whole rate's. */
static uint64_t poisson_gap_ns(struct arrivals *a)
{
	const double mean_ns = (double)SECOND_NS * a->threads / (double)a->rate_per_s;
	const double share = ((double)(random_next(&a->random) >> 11) + 0.5) / 0x1p53;

	return (uint64_t)llround(-log(share) * mean_ns);
}

void arrivals_begin(struct arrivals *a, const struct plan *plan, uint32_t thread, uint64_t start_ns)
{
	*a = (struct arrivals){
	    .next_ns = start_ns,
	    .start_ns = start_ns,
	    .rate_per_s = plan->rate_per_s,
	    .count = thread,
	    .threads = plan->threads,
	    .poisson = plan->arrival == ARRIVAL_POISSON,
	    /* not the stream of the offsets and delays */
	    .random = random_stream(~plan->seed, thread),
	};
	a->next_ns = a->poisson ? start_ns + poisson_gap_ns(a) : constant_ns(a);
}

void arrivals_advance(struct arrivals *a)
{
	a->count += a->threads;
	a->next_ns = a->poisson ? a->next_ns + poisson_gap_ns(a) : constant_ns(a);
}
