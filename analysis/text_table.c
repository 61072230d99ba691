/*
 * The tables of the screen: a row is a cell, with its figures or the reason why it has none.
 */
#include "analysis/text.h"

#include <stdio.h>
#include <string.h>

enum { COLUMN_FIRST = 15, COLUMN_SECOND = 7, NAME_COLUMNS = 16 };

static const struct {
	const char *above, *below;
	int width;
} columns[] = {
    {"in", "flight", 7},    {"", "served", 7}, {"threads", "parked", 7}, {"for I/O", "held", 8},
    {"held/", "served", 7}, {"", "per s", 8},  {"latency", "p50", 7},    {"", "p99", 7},
};
enum { COLUMN_COUNT = sizeof columns / sizeof columns[0] };

static void table_head(struct text *out, const struct groups *g, const struct text_style *style)
{
	text_add(out, "%*s", COLUMN_FIRST + COLUMN_SECOND, "");
	for (size_t i = 0; i + 1 < COLUMN_COUNT; i++) /* nothing stands above the last */
		text_cell(out, -columns[i].width, columns[i].above);
	text_add(out, "\n%s", style->colour ? "\033[1m" : "");
	text_cell(out, COLUMN_FIRST, g->many_engines ? "engine" : "workload");
	text_cell(out, g->many_engines ? -COLUMN_SECOND : COLUMN_SECOND,
	          g->many_engines ? "asked" : "--wait");
	for (size_t i = 0; i < COLUMN_COUNT; i++)
		text_cell(out, -columns[i].width, columns[i].below);
	text_add(out, "%s\n", style->colour ? "\033[0m" : "");
}

/* The first cell of the same engine that has no figures for the very same reason. */
static const struct cell *same_reason(const struct groups *g, const struct cell *cell)
{
	const struct cell *first = g->cells;

	while (first < cell &&
	       (first->measured || !name_is(first->view.engine, cell->view.engine) ||
	        first->view.status != cell->view.status ||
	        !name_is(first->view.why, cell->view.why)))
		first++;
	return first;
}

/* Why a cell has no figures. */
static void row_without_figures(struct text *out, const struct groups *g, const struct cell *cell,
                                const struct text_style *style, int shift)
{
	const struct run_view *v = &cell->view;
	const struct cell *first = v->why && g->many_engines ? same_reason(g, cell) : cell;
	const enum { RED, PLAIN } paint = v->status == VIEW_SKIPPED ? PLAIN : RED;
	char why[700], name[40], line[900];

	if (first != cell)
		snprintf(why, sizeof why, "as with %s",
		         format_name(name, sizeof name, first->view.workload, 30, true));
	else if (v->why)
		format_name(why, sizeof why, v->why, 600, style->ascii);
	else if (v->wrong > 0)
		snprintf(why, sizeof why, "%s requests brought wrong data",
		         format_count(v->wrong).text);
	else if (v->errors > 0)
		snprintf(why, sizeof why, "%s requests failed (%s)", format_count(v->errors).text,
		         format_name(name, sizeof name, v->error_name, 20, true));
	else
		snprintf(why, sizeof why, "no reason was kept");
	snprintf(line, sizeof line, "%s: %s", v->status == VIEW_SKIPPED ? "skipped" : "failed",
	         why);
	text_add(out, "  %s", paint == RED && style->colour ? "\033[31m" : "");
	text_wrap(out, (size_t)(COLUMN_FIRST + COLUMN_SECOND + 2 + shift),
	          COLUMN_FIRST + COLUMN_SECOND + 2, TEXT_COLUMNS, line);
	if (paint == RED && style->colour)
		text_add(out, "\033[0m");
}

/* A figure in its column, in a shorter form where it would touch its neighbour. */
static void cell_figure(struct text *out, int width, struct number figure, double value)
{
	if (strlen(figure.text) >= (size_t)width)
		figure = format_compact(value);
	text_cell(out, -width, figure.text);
}

/* The first two columns. A long name takes the room that the second leaves it, and a little of the
 * third: returns how much. */
static int row_lead(struct text *out, const struct groups *g, const struct cell *cell,
                    const struct text_style *style)
{
	char name[80];
	int shift;

	format_name(name, sizeof name, g->many_engines ? cell->view.engine : cell->view.workload,
	            NAME_COLUMNS, style->ascii);
	shift = (int)text_columns(name) - COLUMN_FIRST;
	if (g->many_engines) {
		shift = shift > 0 ? shift : 0;
		text_cell(out, COLUMN_FIRST + shift, name);
		cell_figure(out, COLUMN_SECOND - shift, format_count(cell->view.depth),
		            cell->view.depth);
		return 0;
	}
	shift = shift >= 0 ? shift + 1 : 0;
	text_cell(out, COLUMN_FIRST + shift, name);
	text_cell(out, COLUMN_SECOND,
	          format_name(name, sizeof name, cell->view.wait, COLUMN_SECOND, style->ascii));
	return shift;
}

static void table_row(struct text *out, const struct groups *g, const struct cell *cell,
                      const struct text_style *style)
{
	const struct summary *s = &cell->summary;
	const double values[COLUMN_COUNT] = {
	    s->in_flight_mean,  s->served_mean, s->threads_parked_mean, s->threads_held_mean,
	    s->held_per_served, s->iops,        s->latency_p50_ns,      s->latency_p99_ns};
	const struct number figures[COLUMN_COUNT] = {
	    format_mean(s->in_flight_mean),      format_mean(s->served_mean),
	    format_mean(s->threads_parked_mean), format_mean(s->threads_held_mean),
	    format_ratio(s->held_per_served),    format_count(s->iops),
	    format_time(s->latency_p50_ns),      format_time(s->latency_p99_ns)};
	const int shift = row_lead(out, g, cell, style);

	if (!cell->measured) {
		row_without_figures(out, g, cell, style, shift);
		return;
	}
	cell_figure(out, columns[0].width - shift, figures[0], values[0]);
	for (size_t i = 1; i < COLUMN_COUNT; i++)
		cell_figure(out, columns[i].width, figures[i], values[i]);
	text_add(out, "\n");
}

/* What a row cannot show: how its repeats differed, which of them failed, that it was cut short. */
static void row_notes(struct text *out, const struct groups *g, const struct cell *cell,
                      const struct text_style *style)
{
	char name[40], note[300];
	int at = snprintf(note, sizeof note, "%s:",
	                  format_name(name, sizeof name,
	                              g->many_engines ? cell->view.engine : cell->view.workload, 20,
	                              style->ascii));
	const int start = at;

	if (cell->measured && cell->measured < cell->runs)
		at += snprintf(note + at, sizeof note - (size_t)at,
		               " %zu of %zu runs gave no figures.", cell->runs - cell->measured,
		               cell->runs);
	if (cell->measured > 1)
		at += snprintf(note + at, sizeof note - (size_t)at,
		               " median of %zu runs, %s %s %s per s.", cell->measured,
		               format_count(cell->summary.iops).text, style->ascii ? "+-" : "±",
		               format_count(cell->iops_deviation).text);
	if (cell->view.status == VIEW_INTERRUPTED)
		at += snprintf(note + at, sizeof note - (size_t)at,
		               " interrupted: the figures are those of %s.",
		               format_time(cell->view.window_ns).text);
	if (at > start) {
		text_add(out, "  ");
		text_wrap(out, 2, 4, TEXT_COLUMNS, note);
	}
}

void text_tables(struct text *out, const struct groups *g, const struct text_style *style)
{
	/* engines through several workloads make one table, with a part for each of these */
	const bool one_table = g->many_engines && g->group_count > 1;
	char title[300];

	if (one_table)
		table_head(out, g, style);
	for (size_t k = 0; k < g->group_count; k++) {
		const struct group *group = &g->groups[k];

		if (k)
			text_add(out, "\n");
		if (g->many_engines || g->group_count > 1) {
			group_title(g, group, title, sizeof title);
			text_wrap(out, 0, 2, TEXT_COLUMNS, title);
		}
		if (!one_table)
			table_head(out, g, style);
		for (size_t i = 0; i < g->cell_count; i++)
			if (g->cells[i].group == k)
				table_row(out, g, &g->cells[i], style);
		for (size_t i = 0; i < g->cell_count; i++)
			if (g->cells[i].group == k)
				row_notes(out, g, &g->cells[i], style);
	}
	text_add(out,
	         "  parked: off the CPU until I/O completes.  held: parked, or running or ready\n"
	         "  inside that call.  held/served: threads held for each request being served.\n");
}
