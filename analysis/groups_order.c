/* The order of a study's cells, whose runs were shuffled: see groups.h. */
#include "analysis/groups_order.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int names_compare(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int numbers_compare(double a, double b)
{
	if (isnan(a) || isnan(b))
		return !isnan(a) - !isnan(b);
	return (a > b) - (a < b);
}

/* Reads come first: of them is most to be told. */
static int workload_rank(const char *workload)
{
	if (!workload || strncmp(workload, "disk-", 5) != 0)
		return 2;
	return strstr(workload, "read") ? 0 : 1;
}

/* What was asked first, then who did it. */
static int cells_compare(const void *left, const void *right)
{
	const struct cell *p = *(const struct cell *const *)left;
	const struct cell *q = *(const struct cell *const *)right;
	const struct run_view *a = &p->view, *b = &q->view;
	const int steps[] = {
	    names_compare(a->host, b->host),
	    workload_rank(a->workload) - workload_rank(b->workload),
	    names_compare(a->workload, b->workload),
	    names_compare(a->filesystem, b->filesystem),
	    (b->direct == VIEW_TRUE) - (a->direct == VIEW_TRUE),
	    names_compare(a->cache, b->cache),
	    numbers_compare(a->depth, b->depth),
	    numbers_compare(a->files, b->files),
	    strcmp(p->settings, q->settings),
	    name_is(b->wait, "park") - name_is(a->wait, "park"),
	    names_compare(a->wait, b->wait),
	    names_compare(a->engine, b->engine),
	    numbers_compare(a->threads, b->threads),
	    numbers_compare(a->pool, b->pool),
	};

	for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
		if (steps[i])
			return steps[i];
	return (p > q) - (p < q);
}

/* Where none is of a study the order is that of who named the runs one by one. */
static bool is_shuffled(const struct groups *g)
{
	for (size_t c = 0; c < g->cell_count; c++)
		if (g->cells[c].view.study)
			return true;
	return false;
}

static void cells_move(struct groups *g, struct cell **order, struct cell *cells)
{
	for (size_t c = 0; c < g->cell_count; c++) {
		g->moved[order[c] - g->cells] = c;
		cells[c] = *order[c];
	}
	for (size_t i = 0; i < g->run_count; i++)
		if (g->cell_of[i] != SIZE_MAX)
			g->cell_of[i] = g->moved[g->cell_of[i]];
	free(g->cells);
	g->cells = cells;
	g->cell_room = g->cell_count;
}

int groups_order(struct groups *g)
{
	if (!is_shuffled(g))
		return 0;
	struct cell **order = calloc(g->cell_count, sizeof order[0]);
	struct cell *cells = calloc(g->cell_count, sizeof cells[0]);
	g->moved = calloc(g->cell_count, sizeof g->moved[0]);
	if (!order || !cells || !g->moved) {
		free(order);
		free(cells);
		return -ENOMEM;
	}
	for (size_t c = 0; c < g->cell_count; c++)
		order[c] = &g->cells[c];
	qsort(order, g->cell_count, sizeof order[0], cells_compare);
	cells_move(g, order, cells);
	free(order);
	return 0;
}
