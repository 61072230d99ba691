/* The twins of a study's runs: what the harness and the probe cost. A part of the report. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/report.h"
#include "analysis/statistics.h"

struct twin_views {
	struct run_view *views;
	struct summary *summaries;
	size_t count;
};

static int views_make(struct twin_views *t, json_t *const *runs, size_t count)
{
	char why[RUN_WHY_SIZE];

	*t = (struct twin_views){.views = calloc(count + 1, sizeof *t->views),
	                         .summaries = calloc(count + 1, sizeof *t->summaries)};
	if (!t->views || !t->summaries)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		if (run_view_read(&t->views[t->count], runs[i], why) == 0 &&
		    t->views[t->count].status == VIEW_OK && t->views[t->count].cell) {
			summary_compute(&t->summaries[t->count], &t->views[t->count]);
			t->count++;
		}
	return 0;
}

static bool same(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

/* The run of which v is the twin, or SIZE_MAX. */
static size_t partner_find(const struct twin_views *t, const struct run_view *v)
{
	for (size_t i = 0; i < t->count; i++)
		if (!t->views[i].twin && same(t->views[i].study, v->study) &&
		    same(t->views[i].cell, v->cell) && same(t->views[i].host, v->host) &&
		    t->views[i].repeat == v->repeat)
			return i;
	return (size_t)-1;
}

static void line_add(struct text *out, const char *what, double *samples, size_t count, bool time)
{
	const struct interval interval = statistics_median_interval(samples, count, 0.95);
	const double median = statistics_median(samples, count);

	if (!count)
		return;
	text_add(out, "* %s: %s", what,
	         time ? format_time(median).text : format_ratio(median).text);
	if (!isnan(interval.low))
		text_add(out, " (%s to %s)",
		         time ? format_time(interval.low).text : format_ratio(interval.low).text,
		         time ? format_time(interval.high).text : format_ratio(interval.high).text);
	text_add(out, ", %zu %s.\n", count, count == 1 ? "run" : "runs");
}

/* Quotients of the runs with a probe and their twins without. */
static size_t quotients_take(const struct twin_views *t, size_t field, double *out)
{
	size_t n = 0;

	for (size_t i = 0; i < t->count; i++) {
		const size_t with = name_is(t->views[i].twin, "no-probe")
		                        ? partner_find(t, &t->views[i])
		                        : (size_t)-1;
		if (with == (size_t)-1)
			continue;
		out[n] = quotient(*summary_field(&t->summaries[with], field),
		                  *summary_field(&t->summaries[i], field));
		n += !isnan(out[n]);
	}
	return n;
}

static size_t floor_take(const struct twin_views *t, double *out)
{
	size_t n = 0;

	for (size_t i = 0; i < t->count; i++) {
		out[n] = t->summaries[i].cpu_ns_per_operation;
		n += name_is(t->views[i].twin, "null") && !isnan(out[n]);
	}
	return n;
}

static size_t field_find(const char *name)
{
	size_t i = 0;

	while (i < SUMMARY_FIELD_COUNT && strcmp(summary_field_name(i), name) != 0)
		i++;
	return i;
}

int report_twins(struct text *out, json_t *const *runs, size_t count)
{
	struct twin_views t;
	double *samples = calloc(count + 1, sizeof *samples);
	const int err = views_make(&t, runs, count) != 0 || !samples ? -ENOMEM : 0;
	bool any = false;

	for (size_t i = 0; i < t.count; i++)
		any |= t.views[i].twin != NULL;
	if (!err && any) {
		text_add(out, "## What the harness and the probe cost\n\n"
		              "From the twins of these runs, which stand in no table: the engine "
		              "`null`, which does nothing, and runs without a probe.\n\n");
		size_t n = floor_take(&t, samples);
		line_add(out, "CPU time of the harness itself for an operation", samples, n, true);
		n = quotients_take(&t, field_find("cpu_ns_per_operation"), samples);
		line_add(out, "CPU time for an operation, with the probe to without", samples, n,
		         false);
		n = quotients_take(&t, field_find("iops"), samples);
		line_add(out, "Operations a second, with the probe to without", samples, n, false);
		text_add(out, "\n");
	}
	free(samples);
	free(t.views);
	free(t.summaries);
	return err;
}
