/* Medians, comparisons and Holm's correction: against known values, and on simulated results. */
#include <math.h>
#include <stdlib.h>

#include "analysis/statistics.h"
#include "bench/random.h"
#include "tests/test.h"

/* Roughly normal, of mean 0 and deviation 1; now and then a wild one, as a busy machine gives. */
static double noise(uint64_t *state)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += (double)(random_next(state) >> 11) / 9007199254740992.0;
	return random_below(state, 20) ? sum : 6 * fabs(sum);
}

TEST(statistics, medians_and_their_intervals)
{
	double odd[] = {5, 1, 3}, even[] = {4, 1, 3, 2}, one[] = {7};
	double many[101];

	CHECK_BETWEEN(statistics_median(odd, 3), 3, 3);
	CHECK_BETWEEN(statistics_median(even, 4), 2.5, 2.5);
	CHECK(isnan(statistics_median(odd, 0)));
	CHECK(isnan(statistics_median_interval(one, 1, 0.95).low));
	for (int i = 0; i < 101; i++)
		many[i] = i;
	const struct interval a = statistics_median_interval(many, 101, 0.95);
	const struct interval b = statistics_median_interval(many, 101, 0.95);
	CHECK_BETWEEN(a.low, 36, 45); /* 50 +- 1.96 * sqrt(101) / 2 = 40 ... 60 */
	CHECK_BETWEEN(a.high, 55, 64);
	CHECK(a.low == b.low && a.high == b.high);
}

TEST(statistics, probabilities_are_the_published_ones)
{
	/* Mann and Whitney, 5 and 5: 2 of 252 orders have U = 0. Wilcoxon, 10 pairs: 2 of 1024. */
	double a[] = {1, 2, 3, 4, 5}, b[] = {6, 7, 8, 9, 10};
	double low[10], high[10];
	struct comparison c;

	CHECK_EQUAL(comparison_make(&c, a, 5, b, 5, false), 0);
	CHECK_BETWEEN(c.p, 2.0 / 252 - 1e-12, 2.0 / 252 + 1e-12);
	CHECK_BETWEEN(comparison_least_p(5, 5, false), 2.0 / 252 - 1e-12, 2.0 / 252 + 1e-12);
	/* the table of Mann and Whitney: at 5 % for 5 and 5, U <= 2 refutes */
	CHECK(2 * c.cumulative[2] <= 0.05 && 2 * c.cumulative[3] > 0.05);
	comparison_free(&c);
	for (int i = 0; i < 10; i++) {
		low[i] = 10 + i;
		high[i] = 10.5 + 1.01 * i;
	}
	CHECK_EQUAL(comparison_make(&c, low, 10, high, 10, true), 0);
	CHECK_BETWEEN(c.p, 2.0 / 1024 - 1e-12, 2.0 / 1024 + 1e-12);
	/* the table of Wilcoxon: at 5 % for 10 pairs, T <= 8 refutes */
	CHECK(2 * c.cumulative[8] <= 0.05 && 2 * c.cumulative[9] > 0.05);
	CHECK_BETWEEN(comparison_least_p(10, 10, true), 2.0 / 1024 - 1e-12, 2.0 / 1024 + 1e-12);
	comparison_free(&c);
}

TEST(statistics, the_normal_distribution_takes_over_without_a_step)
{
	double a[31], b[31];
	struct comparison exact, normal;

	for (int i = 0; i < 31; i++) {
		a[i] = 100 + (i * 7) % 31;
		b[i] = a[i] + 4 + i % 3;
	}
	CHECK_EQUAL(comparison_make(&exact, a, 30, b, 30, false), 0);
	CHECK_EQUAL(comparison_make(&normal, a, 31, b, 31, false), 0);
	CHECK_BETWEEN(normal.p / exact.p, 0.5, 1.5);
	comparison_free(&exact);
	comparison_free(&normal);
}

TEST(statistics, the_interval_leaves_out_1_exactly_when_the_test_refutes_it)
{
	uint64_t state = 7;

	for (int i = 0; i < 400; i++) {
		const bool paired = i % 2;
		const double effect = 1 + 0.02 * (double)random_below(&state, 5);
		struct comparison c;
		double a[12], b[12];

		for (int k = 0; k < 12; k++) {
			a[k] = 100 + 2 * noise(&state);
			b[k] = effect * (100 + 2 * noise(&state));
		}
		CHECK_EQUAL(comparison_make(&c, a, 12, b, 12, paired), 0);
		const struct interval interval = comparison_interval(&c, 0.05);
		CHECK_EQUAL(interval.low > 1 || interval.high < 1, c.p <= 0.05);
		CHECK(interval.low <= c.estimate && c.estimate <= interval.high);
		comparison_free(&c);
	}
}

TEST(statistics, samples_of_0_are_compared_by_difference)
{
	double none[] = {0, 0, 0, 0, 0}, some[] = {1, 1.1, 0.9, 1, 1.2};
	struct comparison c;

	CHECK_EQUAL(comparison_make(&c, none, 5, some, 5, false), 0);
	CHECK(!c.is_ratio);
	CHECK_BETWEEN(c.estimate, 0.99, 1.01);
	CHECK_BETWEEN(c.p, 0.007, 0.009);
	comparison_free(&c);
	CHECK_EQUAL(comparison_make(&c, none, 5, none, 5, false), 0);
	CHECK_BETWEEN(c.p, 1, 1);
	comparison_free(&c);
	CHECK_EQUAL(comparison_make(&c, none, 0, some, 5, false), 0);
	CHECK(isnan(c.estimate) && c.p == 1);
	comparison_free(&c);
}

TEST(statistics, too_few_samples_bound_nothing)
{
	double a[] = {1, 2}, b[] = {5, 6};
	struct comparison c;

	CHECK_EQUAL(comparison_make(&c, a, 2, b, 2, false), 0);
	const struct interval interval = comparison_interval(&c, 0.05);
	CHECK(interval.low == 0 && isinf(interval.high));
	comparison_free(&c);
}

TEST(statistics, holm_corrects_as_published)
{
	const double p[] = {0.01, 0.04, 0.03, 0.005};
	double adjusted[4], levels[4];

	CHECK_EQUAL(statistics_holm(p, 4, 0.05, adjusted, levels), 0);
	CHECK_BETWEEN(adjusted[3], 0.0199, 0.0201);
	CHECK_BETWEEN(adjusted[0], 0.0299, 0.0301);
	CHECK_BETWEEN(adjusted[2], 0.0599, 0.0601);
	CHECK_BETWEEN(adjusted[1], 0.0599, 0.0601);
	CHECK_BETWEEN(levels[3], 0.0124, 0.0126); /* 0.05 / 4 */
	CHECK_BETWEEN(levels[0], 0.0166, 0.0167); /* 0.05 / 3 */
	CHECK_BETWEEN(levels[2], 0.0249, 0.0251); /* 0.05 / 2: here it stopped */
	CHECK_BETWEEN(levels[1], 0.0249, 0.0251);
}
