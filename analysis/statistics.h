/*
 * What repeats allow to say: medians with bootstrap intervals, and comparisons of two sets of
 * samples by ranks, whose probabilities are exact for small numbers and whatever the noise looks
 * like. All of it is deterministic.
 */
#ifndef IOSTUDY_STATISTICS_H
#define IOSTUDY_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>

enum { STATISTICS_SAMPLES_MAX = 1000 }; /* more of a kind are not looked at */

struct interval {
	double low, high; /* NaN: cannot be told */
};

/* Sorts the samples. The median, or NaN for none. */
double statistics_median(double *samples, size_t count);

/* The interval of the median at this confidence (0.95), by resampling the samples 2,000 times
 * with a fixed seed. NaN for fewer than two samples. With few it is too narrow: five cover about
 * nine tenths. Comparisons do not rest on it. */
struct interval statistics_median_interval(const double *samples, size_t count, double confidence);

/*
 * A against B. Unpaired it is the test of Mann and Whitney, paired (a[i] and b[i] belong together)
 * that of Wilcoxon; ties count for no difference. The estimate is that of Hodges and Lehmann, and
 * the interval is the test turned round: it holds the ratios that the samples do not refute. So
 * it leaves out 1 exactly when p is at most 1 - confidence.
 */
struct comparison {
	bool is_ratio;   /* b / a; else b - a, since some sample is not above 0 */
	double estimate; /* NaN: there are no samples */
	double p;        /* two-sided; 1 without samples */
	/* all ratios (as logarithms) or differences that samples suggest, sorted, and how likely
	 * so few of them lie on one side when there is no difference */
	double *steps, *cumulative;
	size_t step_count;
};

/* Makes a comparison; paired takes the first count_a of both. 0 or -ENOMEM. Free it. */
int comparison_make(struct comparison *comparison, const double *a, size_t count_a, const double *b,
                    size_t count_b, bool paired);
void comparison_free(struct comparison *comparison);

/* The interval of the ratio or difference at 1 - alpha. Its ends are 0 or minus infinity, and
 * infinity, when so few samples cannot bound it. */
struct interval comparison_interval(const struct comparison *comparison, double alpha);

/* The smallest p that samples of these sizes can reach. */
double comparison_least_p(size_t count_a, size_t count_b, bool paired);

/* Holm's correction of p[0 ... count) over all of them: adjusted[i] at most alpha refutes that
 * there is no difference, with a chance of alpha that any of the answers is wrong. levels[i] is
 * the alpha of that comparison's own interval, with which it agrees. 0 or -ENOMEM. */
int statistics_holm(const double *p, size_t count, double alpha, double *adjusted, double *levels);

#endif
