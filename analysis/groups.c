/*
 * Runs sorted into cells and groups, in the order in which they came.
 */
#include "analysis/groups.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/format.h"
#include "analysis/groups_order.h"

static bool same(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

static bool measured(const struct run_view *v)
{
	return !view_has_failed(v) && v->status != VIEW_SKIPPED;
}

/* What was asked, so that only equal things are compared. */
static void settings_key(const struct run_view *v, char key[GROUP_KEY_SIZE])
{
	char cache[40], transport[40], filesystem[40], arrival[40], peer[120];

	snprintf(key, GROUP_KEY_SIZE, "%s %s %s %s %s %s %s %s %s %d %s %s %s %s %s %s",
	         format_name(filesystem, sizeof filesystem, v->filesystem, 30, true),
	         format_fixed(v->files, 0).text, format_fixed(v->fsync_every, 0).text,
	         format_fixed(v->read_percent, 0).text, format_fixed(v->depth, 0).text,
	         format_fixed(v->batch, 0).text, format_fixed(v->block_bytes, 0).text,
	         format_fixed(v->rate_per_s, 3).text, format_fixed(v->connections, 0).text,
	         (int)v->direct, format_fixed(v->delay_min_ns, 0).text,
	         format_fixed(v->delay_max_ns, 0).text,
	         format_name(cache, sizeof cache, v->cache, 30, true),
	         format_name(transport, sizeof transport, v->transport, 30, true),
	         format_name(arrival, sizeof arrival, v->arrival, 30, true),
	         format_name(peer, sizeof peer, v->peer, 100, true));
}

/* Threads and pool belong to the engine: they part cells, but not groups. */
static bool cell_holds(const struct cell *cell, const struct run_view *v, const char *settings)
{
	const struct run_view *of = &cell->view;

	return same(of->engine, v->engine) && same(of->workload, v->workload) &&
	       same(of->wait, v->wait) && same(of->host, v->host) &&
	       (of->threads == v->threads || isnan(v->threads)) &&
	       (of->pool == v->pool || isnan(v->pool)) && strcmp(cell->settings, settings) == 0;
}

/* An engine that blocks in submission parks whatever --wait says: unless others were asked to park
 * as well it goes with those that were not. */
static bool wait_is_free(const struct groups *g, const struct cell *cell)
{
	if (cell->view.synchronous != VIEW_TRUE)
		return false;
	for (size_t i = 0; i < g->cell_count; i++)
		if (g->cells[i].view.synchronous != VIEW_TRUE &&
		    same(g->cells[i].view.wait, cell->view.wait) &&
		    same(g->cells[i].view.workload, cell->view.workload) &&
		    strcmp(g->cells[i].settings, cell->settings) == 0)
			return false;
	return true;
}

/* Whether the two may stand in one table. */
static bool cells_agree(const struct groups *g, const struct cell *a, const struct cell *b)
{
	if (!same(a->view.host, b->view.host))
		return false;
	if (g->many_engines)
		return same(a->view.workload, b->view.workload) &&
		       strcmp(a->settings, b->settings) == 0 &&
		       (same(a->view.wait, b->view.wait) || a->wait_is_free || b->wait_is_free);
	return (a->view.depth == b->view.depth || isnan(b->view.depth)) &&
	       !(same(a->view.workload, b->view.workload) && same(a->view.wait, b->view.wait));
}

static int number_compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double samples_median(double *samples, size_t count)
{
	if (!count)
		return NAN;
	qsort(samples, count, sizeof samples[0], number_compare);
	return count % 2 ? samples[count / 2] : (samples[count / 2 - 1] + samples[count / 2]) / 2;
}

static double samples_deviation(const double *samples, size_t count)
{
	double sum = 0, squares = 0;

	if (count < 2)
		return NAN;
	for (size_t i = 0; i < count; i++)
		sum += samples[i];
	for (size_t i = 0; i < count; i++)
		squares += (samples[i] - sum / (double)count) * (samples[i] - sum / (double)count);
	return sqrt(squares / (double)(count - 1));
}

/* The medians of one cell over the summaries of its runs, which stand at these places. */
static void cell_finish(struct cell *cell, struct summary *summaries, const size_t *places,
                        double *samples)
{
	for (size_t field = 0; field < SUMMARY_FIELD_COUNT; field++) {
		size_t n = 0;

		for (size_t i = 0; i < cell->runs; i++) {
			const double value = *summary_field(&summaries[places[i]], field);
			if (!isnan(value))
				samples[n++] = value;
		}
		double *to = summary_field(&cell->summary, field);
		*to = samples_median(samples, n);
		if (to == &cell->summary.iops)
			cell->iops_deviation = samples_deviation(samples, n);
		else if (to == &cell->summary.threads_held_mean)
			cell->held_deviation = samples_deviation(samples, n);
		else if (to == &cell->summary.cpu_ns_per_operation)
			cell->cpu_deviation = samples_deviation(samples, n);
	}
}

/* Sorts the numbers of the runs by their cells, and finishes each cell. */
static void cells_finish(struct groups *g, size_t *places, double *samples)
{
	size_t at = 0;

	for (size_t c = 0; c < g->cell_count; c++) {
		g->cells[c].group = at; /* until groups are made: where its runs begin */
		at += g->cells[c].runs;
	}
	for (size_t i = 0; i < g->run_count; i++)
		if (g->cell_of[i] != SIZE_MAX)
			places[g->cells[g->cell_of[i]].group++] = i;
	for (size_t c = 0; c < g->cell_count; c++)
		cell_finish(&g->cells[c], g->summaries,
		            places + g->cells[c].group - g->cells[c].runs, samples);
}

/* That run speaks for the cell. */
static void cell_take(struct cell *cell, json_t *run, const struct run_view *view)
{
	json_decref(cell->run);
	cell->run = json_incref(run);
	cell->view = *view;
}

/* Puts a run into a cell, for which there is room. */
static size_t cell_find(struct groups *g, json_t *run, const struct run_view *view)
{
	char settings[GROUP_KEY_SIZE];
	size_t c = 0;

	settings_key(view, settings);
	while (c < g->cell_count && !cell_holds(&g->cells[c], view, settings))
		c++;
	struct cell *cell = &g->cells[c];
	if (c == g->cell_count) {
		*cell = (struct cell){.run = NULL};
		cell_take(cell, run, view);
		memcpy(cell->settings, settings, sizeof settings);
		g->cell_count++;
	} else if (!cell->measured && measured(view)) {
		cell_take(cell, run, view);
	}
	cell->runs++;
	cell->measured += measured(view);
	g->repeated |= cell->measured > 1;
	g->many_engines |= !same(view->engine, g->cells[0].view.engine);
	return c;
}

static void groups_assign(struct groups *g, bool *refused)
{
	for (size_t i = 0; i < g->cell_count; i++)
		g->cells[i].wait_is_free = wait_is_free(g, &g->cells[i]);
	for (size_t i = 0; i < g->cell_count; i++) {
		size_t group = 0;

		memset(refused, 0, g->group_count * sizeof refused[0]);
		for (size_t j = 0; j < i; j++)
			if (!cells_agree(g, &g->cells[j], &g->cells[i]))
				refused[g->cells[j].group] = true;
		while (group < g->group_count && refused[group])
			group++;
		if (group == g->group_count)
			g->groups[g->group_count++] = (struct group){.first = i};
		g->groups[group].cells++;
		g->cells[i].group = group;
	}
}

static size_t room_after(size_t room)
{
	return room ? 2 * room : 64;
}

/* Room for one run more, which may be a cell of its own. */
static int room_make(struct groups *g)
{
	if (g->run_count == g->run_room) {
		const size_t room = room_after(g->run_room);
		size_t *cell_of = realloc(g->cell_of, room * sizeof *cell_of);
		if (cell_of)
			g->cell_of = cell_of;
		struct summary *summaries = realloc(g->summaries, room * sizeof *summaries);
		if (summaries)
			g->summaries = summaries;
		if (!cell_of || !summaries)
			return -ENOMEM;
		g->run_room = room;
	}
	if (g->cell_count == g->cell_room) {
		const size_t room = room_after(g->cell_room);
		struct cell *cells = realloc(g->cells, room * sizeof *cells);
		if (!cells)
			return -ENOMEM;
		g->cells = cells;
		g->cell_room = room;
	}
	return 0;
}

int groups_add(struct groups *g, json_t *run, const struct run_view *view,
               const struct summary *summary)
{
	if (room_make(g) != 0)
		return -ENOMEM;
	g->twins += view->twin != NULL;
	g->summaries[g->run_count] = *summary;
	g->cell_of[g->run_count] = view->twin ? SIZE_MAX : cell_find(g, run, view);
	g->run_count++;
	return 0;
}

int groups_finish(struct groups *g)
{
	const size_t runs = g->run_count + 1, cells = g->cell_count + 1;
	size_t *places = calloc(runs, sizeof places[0]);
	double *samples = calloc(runs, sizeof samples[0]);
	bool *refused = calloc(cells, sizeof refused[0]);

	g->groups = calloc(cells, sizeof g->groups[0]);
	const bool enough = g->groups && places && samples && refused && groups_order(g) == 0;
	if (enough) {
		cells_finish(g, places, samples);
		groups_assign(g, refused);
	}
	free(places);
	free(samples);
	free(refused);
	return enough ? 0 : -ENOMEM;
}

int groups_make(struct groups *g, json_t *const *runs, size_t count)
{
	char why[RUN_WHY_SIZE];
	struct summary summary;
	struct run_view view;
	int err = 0;

	*g = (struct groups){.run_count = 0};
	for (size_t i = 0; !err && i < count; i++) {
		if (run_view_read(&view, runs[i], why) != 0) {
			g->unreadable++;
			continue;
		}
		summary_compute(&summary, &view);
		err = groups_add(g, runs[i], &view, &summary);
	}
	if (!err)
		err = groups_finish(g);
	if (err)
		groups_free(g);
	return err;
}

void groups_free(struct groups *g)
{
	for (size_t c = 0; c < g->cell_count; c++)
		json_decref(g->cells[c].run);
	free(g->cells);
	free(g->groups);
	free(g->cell_of);
	free(g->summaries);
	free(g->moved);
	*g = (struct groups){0};
}
