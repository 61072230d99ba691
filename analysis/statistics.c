/* Medians and comparisons: see statistics.h. */
#include "analysis/statistics.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
	RESAMPLES = 2000,
	EXACT_STEPS_MAX = 900, /* beyond, the normal distribution is as good */
};

static int number_compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void numbers_sort(double *numbers, size_t count)
{
	if (count)
		qsort(numbers, count, sizeof numbers[0], number_compare);
}

static double sorted_median(const double *sorted, size_t count)
{
	if (!count)
		return NAN;
	return count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

double statistics_median(double *samples, size_t count)
{
	numbers_sort(samples, count);
	return sorted_median(samples, count);
}

/* splitmix64 */
static uint64_t random_step(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15ull;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

struct interval statistics_median_interval(const double *samples, size_t count, double confidence)
{
	struct interval interval = {NAN, NAN};
	double *medians = calloc(RESAMPLES, sizeof *medians);
	double *drawn = calloc(count + 1, sizeof *drawn);
	uint64_t state = 1;

	if (count >= 2 && medians && drawn) {
		for (size_t i = 0; i < RESAMPLES; i++) {
			for (size_t k = 0; k < count; k++)
				drawn[k] = samples[random_step(&state) % count];
			medians[i] = statistics_median(drawn, count);
		}
		numbers_sort(medians, RESAMPLES);
		const double tail = (1 - confidence) / 2;
		interval.low = medians[(size_t)(tail * (RESAMPLES - 1))];
		interval.high = medians[(size_t)ceil((1 - tail) * (RESAMPLES - 1))];
	}
	free(medians);
	free(drawn);
	return interval;
}

/* --- how likely so few steps lie on one side when there is no difference ------------------- */

/* cumulative[u] for u = 0 ... steps, from the number of ways in which u comes about. */
static void accumulate(double *ways, size_t steps)
{
	double all = 0, sum = 0;

	for (size_t u = 0; u <= steps; u++)
		all += ways[u];
	for (size_t u = 0; u <= steps; u++) {
		sum += ways[u];
		ways[u] = sum / all;
	}
}

/* Far from exact numbers: the normal distribution of that mean and variance. */
static void cumulate_normal(double *cumulative, size_t steps, double variance)
{
	for (size_t u = 0; u <= steps; u++) {
		const double z = ((double)u + 0.5 - (double)steps / 2) / sqrt(variance);

		cumulative[u] = erfc(-z / sqrt(2)) / 2;
	}
}

/* Mann and Whitney: u comes about in as many ways as there are sums u of at most n parts, each of
 * 1 to m. */
static int cumulate_unpaired(double *cumulative, size_t n, size_t m)
{
	const size_t steps = n * m, row = steps + 1;

	if (steps > EXACT_STEPS_MAX) {
		cumulate_normal(cumulative, steps, (double)steps * (double)(n + m + 1) / 12);
		return 0;
	}
	double *ways = calloc((n + 1) * row, sizeof *ways);
	if (!ways)
		return -ENOMEM;
	ways[0] = 1;
	for (size_t part = 1; part <= m; part++)
		for (size_t used = 1; used <= n; used++)
			for (size_t u = part; u <= steps; u++)
				ways[used * row + u] += ways[(used - 1) * row + u - part];
	for (size_t u = 0; u <= steps; u++) {
		cumulative[u] = 0;
		for (size_t used = 0; used <= n; used++)
			cumulative[u] += ways[used * row + u];
	}
	free(ways);
	accumulate(cumulative, steps);
	return 0;
}

/* Wilcoxon: u is the sum of some of the ranks 1 to n. */
static void cumulate_paired(double *cumulative, size_t n)
{
	const size_t steps = n * (n + 1) / 2;

	if (steps > EXACT_STEPS_MAX) {
		cumulate_normal(cumulative, steps, (double)steps * (double)(2 * n + 1) / 12);
		return;
	}
	memset(cumulative, 0, (steps + 1) * sizeof *cumulative);
	cumulative[0] = 1;
	for (size_t rank = 1; rank <= n; rank++)
		for (size_t u = steps; u >= rank; u--)
			cumulative[u] += cumulative[u - rank];
	accumulate(cumulative, steps);
}

/* --- comparisons --------------------------------------------------------------------------- */

static bool all_positive(const double *samples, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!(samples[i] > 0))
			return false;
	return true;
}

static double step(const struct comparison *c, double a, double b)
{
	return c->is_ratio ? log(b / a) : b - a;
}

/* All differences of a sample of b and one of a. */
static void steps_unpaired(struct comparison *c, const double *a, size_t count_a, const double *b,
                           size_t count_b)
{
	for (size_t i = 0; i < count_a; i++)
		for (size_t k = 0; k < count_b; k++)
			c->steps[i * count_b + k] = step(c, a[i], b[k]);
}

/* The means of any two differences of pairs, and of each with itself. */
static void steps_paired(struct comparison *c, const double *a, const double *b, size_t count)
{
	size_t at = 0;

	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k <= i; k++)
			c->steps[at++] = (step(c, a[i], b[i]) + step(c, a[k], b[k])) / 2;
}

/* How many steps lie on the side of which there are fewer, those at 0 with them. */
static size_t steps_on_a_side(const struct comparison *c)
{
	size_t up = 0, down = 0;

	for (size_t i = 0; i < c->step_count; i++) {
		up += c->steps[i] >= 0;
		down += c->steps[i] <= 0;
	}
	return up < down ? up : down;
}

int comparison_make(struct comparison *c, const double *a, size_t count_a, const double *b,
                    size_t count_b, bool paired)
{
	*c = (struct comparison){.estimate = NAN, .p = 1};
	if (count_a > STATISTICS_SAMPLES_MAX)
		count_a = STATISTICS_SAMPLES_MAX;
	if (count_b > STATISTICS_SAMPLES_MAX)
		count_b = STATISTICS_SAMPLES_MAX;
	if (!count_a || !count_b)
		return 0;
	c->is_ratio = all_positive(a, count_a) && all_positive(b, count_b);
	c->step_count = paired ? count_a * (count_a + 1) / 2 : count_a * count_b;
	c->steps = calloc(c->step_count, sizeof *c->steps);
	c->cumulative = calloc(c->step_count + 1, sizeof *c->cumulative);
	if (!c->steps || !c->cumulative)
		goto fail;
	if (paired) {
		steps_paired(c, a, b, count_a);
		cumulate_paired(c->cumulative, count_a);
	} else {
		steps_unpaired(c, a, count_a, b, count_b);
		if (cumulate_unpaired(c->cumulative, count_a, count_b) != 0)
			goto fail;
	}
	c->estimate = statistics_median(c->steps, c->step_count);
	c->p = fmin(1, 2 * c->cumulative[steps_on_a_side(c)]);
	if (c->is_ratio)
		c->estimate = exp(c->estimate);
	return 0;
fail:
	comparison_free(c);
	return -ENOMEM;
}

void comparison_free(struct comparison *c)
{
	free(c->steps);
	free(c->cumulative);
	c->steps = c->cumulative = NULL;
	c->step_count = 0;
}

struct interval comparison_interval(const struct comparison *c, double alpha)
{
	struct interval interval = {-INFINITY, INFINITY};
	size_t refuted = 0;

	while (refuted < (c->step_count + 1) / 2 && 2 * c->cumulative[refuted] <= alpha)
		refuted++;
	if (refuted) {
		interval.low = c->steps[refuted - 1];
		interval.high = c->steps[c->step_count - refuted];
	}
	if (c->is_ratio) {
		interval.low = exp(interval.low);
		interval.high = exp(interval.high);
	}
	return interval;
}

double comparison_least_p(size_t count_a, size_t count_b, bool paired)
{
	double ways = 1;

	if (!count_a || !count_b)
		return 1;
	for (size_t i = 1; i <= count_a; i++)
		ways *= paired ? 2 : (double)(count_b + i) / (double)i;
	return fmin(1, 2 / ways);
}

/* The places of p in rising order. */
struct place {
	double p;
	size_t at;
};

static int place_compare(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->p != y->p)
		return x->p < y->p ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

int statistics_holm(const double *p, size_t count, double alpha, double *adjusted, double *levels)
{
	struct place *order = calloc(count + 1, sizeof *order);
	double most = 0, level = count ? alpha / (double)count : alpha;

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		order[i] = (struct place){p[i], i};
	qsort(order, count, sizeof *order, place_compare);
	for (size_t rank = 0; rank < count; rank++) {
		const double factor = (double)(count - rank);

		most = fmax(most, fmin(1, order[rank].p * factor));
		adjusted[order[rank].at] = most;
		/* what is not refuted has the level at which the first of them was tried */
		if (rank == 0 || adjusted[order[rank - 1].at] <= alpha)
			level = alpha / factor;
		levels[order[rank].at] = level;
	}
	free(order);
	return 0;
}
