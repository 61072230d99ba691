/* Tests an expectation on runs: see expectations.h. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/expectation_figures.h"
#include "analysis/expectations.h"
#include "analysis/format.h"
#include "analysis/statistics.h"

static const double confidence = 0.95;

const char *const expectation_verdict_names[] = {"cannot be tested here", "agrees", "contradicts",
                                                 "cannot be told"};

static bool place_is(const struct run_view *v, enum expectation_place place)
{
	const bool memory = v->in_memory == VIEW_TRUE;
	const bool refuses = v->nowait_read == VIEW_FALSE;
	const bool zram = v->device && strncmp(v->device, "zram", 4) == 0;

	switch (place) {
	case PLACE_DISK:
		return !memory && !refuses && !name_is(v->filesystem, "overlay");
	case PLACE_EXT4:
		return name_is(v->filesystem, "ext4");
	case PLACE_REFUSES:
		return refuses && !zram;
	case PLACE_ZRAM:
		return zram;
	case PLACE_MEMORY:
		return memory;
	default:
		return true;
	}
}

static bool is_one_of(const struct expectation_runs *r, const struct run_view *v)
{
	return !v->twin && (!r->engine || name_is(v->engine, r->engine)) &&
	       !name_is(v->engine, "null") && (!r->workload || name_is(v->workload, r->workload)) &&
	       (!r->wait || name_is(v->wait, r->wait)) &&
	       (!r->cache || name_is(v->cache, r->cache)) &&
	       (r->direct == EXPECT_ANY || v->direct == (enum view_boolean)r->direct) &&
	       !(v->depth < r->depth_low) && (!r->depth_high || v->depth <= r->depth_high) &&
	       (!r->files || isnan(v->files) || v->files == r->files) &&
	       (!r->beyond_queue || v->depth > v->nr_requests) && place_is(v, r->place);
}

static bool can_tell(const struct expectation *e, const struct run_view *v)
{
	return !view_has_failed(v) && v->status != VIEW_INTERRUPTED &&
	       (v->status != VIEW_SKIPPED || e->measure == figure_refused);
}

static int tally_add(struct expectation_tally *tally, double figure)
{
	tally->runs++;
	if (isnan(figure))
		return 0;
	if (tally->count == tally->room) {
		const size_t room = tally->room ? 2 * tally->room : 16;
		double *figures = realloc(tally->figures, room * sizeof *figures);
		if (!figures)
			return -ENOMEM;
		tally->figures = figures;
		tally->room = room;
	}
	tally->figures[tally->count++] = figure;
	return 0;
}

static size_t expectations_count(void)
{
	size_t count = 0;

	while (expectations[count].number)
		count++;
	return count;
}

int expectations_add(struct expectation_tests *tests, const struct run_view *view,
                     const struct summary *summary, const json_t *run)
{
	int err = 0;

	if (!tests->tallies)
		tests->tallies = calloc(2 * expectations_count(), sizeof *tests->tallies);
	if (!tests->tallies)
		return -ENOMEM;
	for (size_t i = 0; !err && expectations[i].number; i++) {
		const struct expectation *e = &expectations[i];
		const struct expectation_runs *which[] = {&e->runs, e->against};

		for (size_t k = 0; !err && k < 2 && !e->untestable; k++) {
			struct expectation_tally *tally = &tests->tallies[2 * i + k];

			if (!which[k] || !is_one_of(which[k], view))
				continue;
			if (can_tell(e, view))
				err = tally_add(tally, e->measure(view, summary, run));
			else if (view->status == VIEW_SKIPPED && view->why)
				format_name(tally->why, sizeof tally->why, view->why, 180, false);
		}
	}
	return err;
}

void expectations_free(struct expectation_tests *tests)
{
	for (size_t i = 0; tests->tallies && i < 2 * expectations_count(); i++)
		free(tests->tallies[i].figures);
	free(tests->tallies);
	*tests = (struct expectation_tests){NULL};
}

/* "run uring disk-randread --wait compute --direct 1, depth 16 to 64, on a disk". */
static void runs_describe(const struct expectation_runs *r, char *out, size_t size)
{
	static const char *const places[] = {"",          ", on a disk",
	                                     ", on ext4", ", where RWF_NOWAIT is refused",
	                                     ", on zram", ", on tmpfs"};
	char depth[60] = "", files[30] = "";

	if (r->depth_high == r->depth_low && r->depth_high)
		snprintf(depth, sizeof depth, ", depth %.0f", r->depth_low);
	else if (r->depth_high)
		snprintf(depth, sizeof depth, ", depth %.0f to %.0f", r->depth_low, r->depth_high);
	if (r->files > 1)
		snprintf(files, sizeof files, ", %.0f files", r->files);
	snprintf(out, size, "%s %s%s%s%s%s%s%s%s%s", r->engine ? r->engine : "any engine",
	         r->workload ? r->workload : "", r->wait ? " --wait " : "", r->wait ? r->wait : "",
	         r->direct == 0   ? " --direct 0"
	         : r->direct == 1 ? " --direct 1"
	                          : "",
	         r->cache ? " --cache " : "", r->cache ? r->cache : "", depth, files,
	         r->beyond_queue ? ", more than nr_requests" : places[r->place]);
}

static void say_untested(const struct expectation *e, const struct expectation_runs *which,
                         const struct expectation_tally *tally, struct expectation_result *result)
{
	char runs[200];

	result->verdict = VERDICT_UNTESTED;
	runs_describe(which, runs, sizeof runs);
	if (e->untestable)
		snprintf(result->why, sizeof result->why, "%s", e->untestable);
	else if (!result->runs && *tally->why)
		snprintf(result->why, sizeof result->why, "such runs were skipped: %s", tally->why);
	else if (!result->runs)
		snprintf(result->why, sizeof result->why, "there is no run that measured: %s",
		         runs);
	else
		snprintf(
		    result->why, sizeof result->why,
		    "%zu %s, but none that measured it: another probe than bpf, or a busy machine",
		    result->runs, result->runs == 1 ? "run" : "runs");
}

/* Against the limits: the interval where there is one, else the figure. */
static void decide(const struct expectation *e, struct expectation_result *result)
{
	const bool one = isnan(result->low);
	const double low = one ? result->figure : result->low;
	const double high = one ? result->figure : result->high;

	if (low >= e->low && high <= e->high)
		result->verdict = VERDICT_AGREES;
	else if (high < e->low || low > e->high)
		result->verdict = VERDICT_CONTRADICTS;
	else {
		result->verdict = VERDICT_UNDECIDED;
		snprintf(result->why, sizeof result->why,
		         "the interval crosses a limit of what is expected; more repeats");
	}
}

static int test_ratio(const struct expectation *e, const struct expectation_tally *of,
                      const struct expectation_tally *against, struct expectation_result *result)
{
	struct comparison c;

	if (!against->count) {
		result->runs = against->runs;
		say_untested(e, e->against, against, result);
		return 0;
	}
	if (comparison_make(&c, against->figures, against->count, of->figures, of->count, false) !=
	    0)
		return -ENOMEM;
	const struct interval interval = comparison_interval(&c, 1 - confidence);
	result->figure = c.estimate;
	result->low = interval.low;
	result->high = interval.high;
	comparison_free(&c);
	decide(e, result);
	return 0;
}

int expectation_test(const struct expectation *e, const struct expectation_tests *tests,
                     struct expectation_result *result)
{
	static const struct expectation_tally none[2];
	const struct expectation_tally *of = tests->tallies
	                                         ? &tests->tallies[2 * (e - expectations)]
	                                         : none;

	*result = (struct expectation_result){.figure = NAN, .low = NAN, .high = NAN};
	result->runs = of->runs;
	result->measured = of->count;
	if (!of->count) {
		say_untested(e, &e->runs, of, result);
		return 0;
	}
	if (e->against)
		return test_ratio(e, of, of + 1, result);
	const struct interval interval = statistics_median_interval(of->figures, of->count,
	                                                            confidence);
	result->figure = statistics_median(of->figures, of->count);
	result->low = interval.low;
	result->high = interval.high;
	decide(e, result);
	return 0;
}
