/* Tests an expectation on runs: see expectations.h. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/expectation_figures.h"
#include "analysis/expectations.h"
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

/* What can be told without reading the whole run, of which there may be thousands. */
static bool may_be(const struct expectation_runs *r, const json_t *run)
{
	const json_t *plan = json_object_get(run, "plan");
	const char *engine = json_string_value(json_object_get(plan, "engine"));
	const char *workload = json_string_value(json_object_get(plan, "workload"));

	return (!r->engine || name_is(engine, r->engine)) &&
	       (!r->workload || name_is(workload, r->workload));
}

/* The figures of the runs that test it. runs: how many there were, measured or not. */
static size_t figures_take(const struct expectation *e, const struct expectation_runs *which,
                           json_t *const *runs, size_t count, double *figures, size_t *found)
{
	char why[RUN_WHY_SIZE];
	struct summary summary;
	struct run_view view;
	size_t n = 0;

	*found = 0;
	for (size_t i = 0; i < count; i++) {
		if (!may_be(which, runs[i]) || run_view_read(&view, runs[i], why) != 0 ||
		    !is_one_of(which, &view) || view_has_failed(&view) ||
		    view.status == VIEW_INTERRUPTED ||
		    (view.status == VIEW_SKIPPED && e->measure != figure_refused))
			continue;
		++*found;
		summary_compute(&summary, &view);
		const double figure = e->measure(&view, &summary, runs[i]);
		if (!isnan(figure))
			figures[n++] = figure;
	}
	return n;
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
                         struct expectation_result *result)
{
	char runs[200];

	result->verdict = VERDICT_UNTESTED;
	runs_describe(which, runs, sizeof runs);
	if (e->untestable)
		snprintf(result->why, sizeof result->why, "%s", e->untestable);
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

static int test_ratio(const struct expectation *e, json_t *const *runs, size_t count,
                      double *figures, struct expectation_result *result)
{
	double *others = figures + count;
	struct comparison c;
	size_t found, n;

	n = figures_take(e, e->against, runs, count, others, &found);
	if (!n) {
		result->runs = found;
		say_untested(e, e->against, result);
		return 0;
	}
	if (comparison_make(&c, others, n, figures, result->measured, false) != 0)
		return -ENOMEM;
	const struct interval interval = comparison_interval(&c, 1 - confidence);
	result->figure = c.estimate;
	result->low = interval.low;
	result->high = interval.high;
	comparison_free(&c);
	decide(e, result);
	return 0;
}

int expectation_test(const struct expectation *e, json_t *const *runs, size_t count,
                     struct expectation_result *result)
{
	double *figures = calloc(2 * count + 1, sizeof *figures);
	int err = 0;

	*result = (struct expectation_result){.figure = NAN, .low = NAN, .high = NAN};
	if (!figures)
		return -ENOMEM;
	if (!e->untestable)
		result->measured = figures_take(e, &e->runs, runs, count, figures, &result->runs);
	if (!result->measured) {
		say_untested(e, &e->runs, result);
	} else if (e->against) {
		err = test_ratio(e, runs, count, figures, result);
	} else {
		const struct interval interval = statistics_median_interval(
		    figures, result->measured, confidence);
		result->figure = statistics_median(figures, result->measured);
		result->low = interval.low;
		result->high = interval.high;
		decide(e, result);
	}
	free(figures);
	return err;
}
