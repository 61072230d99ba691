/* The twins of a study's runs: what the harness and the probe cost. A part of the report. */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/twins.h"
#include "analysis/report.h"
#include "analysis/statistics.h"

/* FNV-1a over a string and its end. */
static uint64_t key_mix(uint64_t key, const char *text)
{
	do
		key = (key ^ (unsigned char)*text) * 0x100000001b3ull;
	while (*text++);
	return key;
}

/* The same for a run and its twins. */
static uint64_t key_of(const struct run_view *v)
{
	uint64_t key = 0xcbf29ce484222325ull;

	key = key_mix(key, v->study ? v->study : "");
	key = key_mix(key, v->cell);
	key = key_mix(key, v->host ? v->host : "");
	return key ^ (uint64_t)(isnan(v->repeat) ? 0 : v->repeat) << 40;
}

int twins_add(struct twins *twins, const struct run_view *v, const struct summary *summary)
{
	if (v->status != VIEW_OK || !v->cell)
		return 0;
	if (twins->count == twins->room) {
		const size_t room = twins->room ? 2 * twins->room : 64;
		struct twin *all = realloc(twins->all, room * sizeof *all);
		if (!all)
			return -ENOMEM;
		twins->all = all;
		twins->room = room;
	}
	twins->all[twins->count++] = (struct twin){
	    .key = key_of(v),
	    .kind = !v->twin                       ? TWIN_OF_NONE
	            : name_is(v->twin, "null")     ? TWIN_OF_NULL
	            : name_is(v->twin, "no-probe") ? TWIN_OF_NO_PROBE
	                                           : TWIN_OF_OTHER,
	    .cpu_ns_per_operation = summary->cpu_ns_per_operation,
	    .iops = summary->iops,
	};
	return 0;
}

void twins_free(struct twins *twins)
{
	free(twins->all);
	*twins = (struct twins){NULL};
}

/* The run of which it is the twin, or NULL. */
static const struct twin *partner_find(const struct twins *twins, const struct twin *of)
{
	for (size_t i = 0; i < twins->count; i++)
		if (twins->all[i].kind == TWIN_OF_NONE && twins->all[i].key == of->key)
			return &twins->all[i];
	return NULL;
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

/* Of CPU time or of rates: the runs with a probe to their twins without. */
static size_t quotients_take(const struct twins *twins, bool of_rates, double *out)
{
	size_t n = 0;

	for (size_t i = 0; i < twins->count; i++) {
		const struct twin *without = &twins->all[i];
		const struct twin *with = without->kind == TWIN_OF_NO_PROBE
		                              ? partner_find(twins, without)
		                              : NULL;

		if (!with)
			continue;
		out[n] = of_rates
		             ? quotient(with->iops, without->iops)
		             : quotient(with->cpu_ns_per_operation, without->cpu_ns_per_operation);
		n += !isnan(out[n]);
	}
	return n;
}

static size_t floor_take(const struct twins *twins, double *out)
{
	size_t n = 0;

	for (size_t i = 0; i < twins->count; i++) {
		out[n] = twins->all[i].cpu_ns_per_operation;
		n += twins->all[i].kind == TWIN_OF_NULL && !isnan(out[n]);
	}
	return n;
}

int report_twins(struct text *out, const struct twins *twins)
{
	double *samples = calloc(twins->count + 1, sizeof *samples);
	bool any = false;

	if (!samples)
		return -ENOMEM;
	for (size_t i = 0; i < twins->count; i++)
		any |= twins->all[i].kind != TWIN_OF_NONE;
	if (any) {
		text_add(out, "## What the harness and the probe cost\n\n"
		              "From the twins of these runs, which stand in no table: the engine "
		              "`null`, which does nothing, and runs without a probe.\n\n");
		size_t n = floor_take(twins, samples);
		line_add(out, "CPU time of the harness itself for an operation", samples, n, true);
		n = quotients_take(twins, false, samples);
		line_add(out, "CPU time for an operation, with the probe to without", samples, n,
		         false);
		n = quotients_take(twins, true, samples);
		line_add(out, "Operations a second, with the probe to without", samples, n, false);
		text_add(out, "\n");
	}
	free(samples);
	return 0;
}
