/* Runs taken one at a time: see digest.h. */
#include "analysis/digest.h"

#include <errno.h>
#include <math.h>

#include "analysis/report_page.h"

/* What the page tells of each run, and of latency. */
static int page_add(struct digest *d, const json_t *run, const struct summary *summary)
{
	const size_t cell = d->groups.cell_of[d->groups.run_count - 1];

	if (cell == SIZE_MAX)
		return 0;
	if (!d->rows)
		d->rows = json_array();
	if (json_array_append_new(d->rows, report_page_run(run, cell)) != 0)
		return -ENOMEM;
	return isnan(summary->latency_p50_ns) ? 0 : curves_add(&d->curves, cell, run);
}

int digest_add(struct digest *d, json_t *run)
{
	char why[RUN_WHY_SIZE];
	struct summary summary;
	struct run_view view;

	if (run_view_read(&view, run, why) != 0) {
		d->groups.unreadable++;
		return 0;
	}
	summary_compute(&summary, &view);
	if (groups_add(&d->groups, run, &view, &summary) != 0 ||
	    expectations_add(&d->tests, &view, &summary, run) != 0 ||
	    twins_add(&d->twins, &view, &summary) != 0)
		return -ENOMEM;
	return d->for_page ? page_add(d, run, &summary) : 0;
}

/* The cells were sorted: what is kept by their numbers follows. */
static int cells_follow(struct digest *d)
{
	const size_t *moved = d->groups.moved;
	json_t *row;
	size_t i;

	json_array_foreach(
	    d->rows, i,
	    row) if (json_array_set_new(row, 0,
	                                json_integer((json_int_t)moved[json_integer_value(
					    json_array_get(row, 0))])) != 0) return -ENOMEM;
	return curves_move(&d->curves, moved, d->groups.cell_count);
}

int digest_finish(struct digest *d)
{
	const int err = groups_finish(&d->groups);

	curves_finish(&d->curves);
	return err || !d->groups.moved ? err : cells_follow(d);
}

void digest_free(struct digest *d)
{
	groups_free(&d->groups);
	expectations_free(&d->tests);
	twins_free(&d->twins);
	curves_free(&d->curves);
	json_decref(d->rows);
	*d = (struct digest){.rows = NULL};
}
