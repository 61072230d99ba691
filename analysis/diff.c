/* Runs sorted into the cells of two sides, and compared: see diff.h. */
#include "analysis/diff.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/diff_cells.h"
#include "analysis/statistics.h"

const char *const diff_usual_metrics[] = {"iops",
                                          "cpu_ns_per_operation",
                                          "latency_p50_ns",
                                          "latency_p99_ns",
                                          "in_flight_mean",
                                          "threads_held_mean",
                                          NULL};

int diff_metric_find(const char *name)
{
	for (size_t i = 0; i < SUMMARY_FIELD_COUNT; i++)
		if (strcmp(name, summary_field_name(i)) == 0)
			return (int)i;
	return -1;
}

/* Samples of one metric of one side, without those that were not measured. */
static size_t samples_take(const struct diff_samples *s, size_t metric, double *out)
{
	size_t n = 0;

	for (size_t i = 0; i < s->count; i++) {
		const double value = s->values[i * SUMMARY_FIELD_COUNT + metric];
		if (!isnan(value))
			out[n++] = value;
	}
	return n;
}

/* Pairs of the same repeat, in the order in which they came. */
static size_t pairs_take(const struct diff_cell *cell, size_t metric, double *a, double *b)
{
	const struct diff_samples *x = &cell->samples[DIFF_A], *y = &cell->samples[DIFF_B];
	size_t i = 0, k = 0, n = 0;

	while (i < x->count && k < y->count) {
		if (x->repeats[i] != y->repeats[k]) {
			x->repeats[i] < y->repeats[k] ? i++ : k++;
			continue;
		}
		a[n] = x->values[i++ * SUMMARY_FIELD_COUNT + metric];
		b[n] = y->values[k++ * SUMMARY_FIELD_COUNT + metric];
		n += !isnan(a[n]) && !isnan(b[n]);
	}
	return n;
}

/* The comparison of one metric of a cell; the interval follows when all are there. */
static int compare(struct diff *d, size_t cell_index, size_t metric, struct comparison *c)
{
	const struct diff_cell *cell = &d->cells[cell_index];
	const bool paired = d->options.paired;
	double *a = calloc(cell->samples[DIFF_A].count + 1, sizeof *a);
	double *b = calloc(cell->samples[DIFF_B].count + 1, sizeof *b);
	struct diff_comparison *to = &d->comparisons[d->comparison_count];
	int err = a && b ? 0 : -ENOMEM;

	if (!err) {
		*to = (struct diff_comparison){.cell = cell_index, .metric = metric};
		if (paired) {
			to->counts[DIFF_A] = to->counts[DIFF_B] = pairs_take(cell, metric, a, b);
		} else {
			to->counts[DIFF_A] = samples_take(&cell->samples[DIFF_A], metric, a);
			to->counts[DIFF_B] = samples_take(&cell->samples[DIFF_B], metric, b);
		}
	}
	if (!err && to->counts[DIFF_A] && to->counts[DIFF_B]) {
		err = comparison_make(c, a, to->counts[DIFF_A], b, to->counts[DIFF_B], paired);
		to->medians[DIFF_A] = statistics_median(a, to->counts[DIFF_A]);
		to->medians[DIFF_B] = statistics_median(b, to->counts[DIFF_B]);
		to->is_ratio = c->is_ratio;
		to->estimate = c->estimate;
		to->p = c->p;
		d->least_p = fmin(
		    d->least_p, comparison_least_p(to->counts[DIFF_A], to->counts[DIFF_B], paired));
		d->comparison_count++;
	}
	free(a);
	free(b);
	return err;
}

static void answer(struct diff *d, struct diff_comparison *to, const struct comparison *c)
{
	const struct interval interval = comparison_interval(c, to->level);
	const double equal = to->is_ratio ? 1 : 0;

	to->low = interval.low;
	to->high = interval.high;
	if (to->adjusted <= 1 - d->options.confidence)
		to->answer = to->estimate > equal ? DIFF_MORE : DIFF_LESS;
	d->different += to->answer != DIFF_NOT_ENOUGH;
}

/* Holm's correction over all of them, and with it the interval of each. */
static int correct(struct diff *d, const struct comparison *all)
{
	const size_t count = d->comparison_count;
	double *numbers = calloc(3 * count + 1, sizeof *numbers);
	double *p = numbers, *adjusted = numbers + count, *levels = numbers + 2 * count;
	int err;

	if (!numbers)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		p[i] = d->comparisons[i].p;
	err = statistics_holm(p, count, 1 - d->options.confidence, adjusted, levels);
	for (size_t i = 0; !err && i < count; i++) {
		d->comparisons[i].adjusted = adjusted[i];
		d->comparisons[i].level = levels[i];
		answer(d, &d->comparisons[i], &all[i]);
	}
	free(numbers);
	return err;
}

int diff_conclude(struct diff *d)
{
	const size_t most = d->cell_count * d->options.metric_count + 1;
	struct comparison *all = calloc(most, sizeof *all);
	int err = 0;

	d->comparisons = calloc(most, sizeof *d->comparisons);
	d->least_p = 1;
	if (!all || !d->comparisons)
		err = -ENOMEM;
	for (size_t i = 0; !err && i < d->cell_count; i++) {
		diff_cell_sort(&d->cells[i]);
		d->unmatched += !d->cells[i].samples[DIFF_A].count ||
		                !d->cells[i].samples[DIFF_B].count;
		for (size_t m = 0; !err && m < d->options.metric_count; m++)
			err = compare(d, i, d->options.metrics[m], &all[d->comparison_count]);
	}
	if (!err)
		err = correct(d, all);
	for (size_t i = 0; all && i < d->comparison_count; i++)
		comparison_free(&all[i]);
	free(all);
	if (!err)
		err = diff_cells_name(d);
	diff_environments_compare(d);
	return err;
}

bool diff_is_across(const struct diff *d)
{
	for (size_t i = 0; i < d->difference_count; i++)
		if (d->differences[i].matters)
			return true;
	return false;
}

void diff_free(struct diff *d)
{
	for (size_t i = 0; i < d->cell_count; i++) {
		json_decref(d->cells[i].plan);
		for (int side = 0; side < DIFF_SIDES; side++) {
			free(d->cells[i].samples[side].values);
			free(d->cells[i].samples[side].repeats);
		}
	}
	free(d->cells);
	free(d->comparisons);
	json_decref(d->environments[DIFF_A]);
	json_decref(d->environments[DIFF_B]);
	*d = (struct diff){.cells = NULL};
}
