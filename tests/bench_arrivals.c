/* The schedule of an open loop: no moment is left out, and none drifts. */
#include <math.h>

#include "bench/arrivals.h"
#include "tests/test.h"

static struct plan rated(uint64_t rate_per_s, uint32_t threads, enum plan_arrival arrival)
{
	struct plan plan;

	plan_default(&plan);
	plan.rate_per_s = rate_per_s;
	plan.threads = threads;
	plan.arrival = arrival;
	return plan;
}

TEST(arrivals, at_equal_distances_add_up_exactly_over_all_threads)
{
	static const uint64_t rates[] = {1, 3, 7, 1000, 999983, 1000000000};

	for (size_t r = 0; r < sizeof rates / sizeof *rates; r++)
		for (uint32_t threads = 1; threads <= 5; threads += 2) {
			const struct plan plan = rated(rates[r], threads, ARRIVAL_CONSTANT);

			for (uint32_t thread = 0; thread < threads; thread++) {
				struct arrivals a;

				arrivals_begin(&a, &plan, thread, 5000);
				for (uint64_t i = 0; i < 1000; i++, arrivals_advance(&a)) {
					const uint64_t number = thread + i * threads;

					REQUIRE(a.next_ns ==
					        5000 + (uint64_t)((unsigned __int128)number *
					                          1000000000 / rates[r]));
				}
			}
		}
}

TEST(arrivals, of_a_poisson_process_have_its_mean_and_its_deviation)
{
	enum { COUNT = 100000 };
	const struct plan plan = rated(1000, 4, ARRIVAL_POISSON);
	struct arrivals a, again;
	double sum = 0, squares = 0;
	uint64_t before = 77;

	arrivals_begin(&a, &plan, 2, before);
	arrivals_begin(&again, &plan, 2, before);
	for (int i = 0; i < COUNT; i++) {
		const double gap = (double)(a.next_ns - before);

		REQUIRE(a.next_ns == again.next_ns); /* of the seed alone */
		before = a.next_ns;
		sum += gap;
		squares += gap * gap;
		arrivals_advance(&a);
		arrivals_advance(&again);
	}
	/* a thread of four has a gap of 4 ms; 4.5 deviations of a mean of so many are 1.5 % */
	CHECK_BETWEEN(sum / COUNT, 4e6 * 0.985, 4e6 * 1.015);
	CHECK_BETWEEN(sqrt(squares / COUNT - pow(sum / COUNT, 2)), 4e6 * 0.97, 4e6 * 1.03);
	arrivals_begin(&again, &plan, 3, 77);
	CHECK(again.next_ns != a.start_ns + 4000000);
}
