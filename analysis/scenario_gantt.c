/* The calls of a case as a chart in text: a row for a thread, a box for a call. */
#include "analysis/scenario_view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_SHOWN = 12, LABEL_COLUMNS = 12, COLUMNS_MAX = 200 };

/* Columns of a row that are inside a call; a box shows its own beginning. */
struct row {
	uint32_t thread, calls;
	uint16_t depth[COLUMNS_MAX]; /* calls at once */
	bool begins[COLUMNS_MAX];
};

struct chart {
	struct row rows[ROWS_SHOWN];
	size_t row_count, columns;
	size_t left_out; /* threads without a row */
	double end_ns;
};

static double at(const json_t *call, size_t i)
{
	return json_number_value(json_array_get(call, i));
}

static struct row *row_of(struct chart *c, uint32_t thread)
{
	for (size_t i = 0; i < c->row_count; i++)
		if (c->rows[i].thread == thread)
			return &c->rows[i];
	if (c->row_count == ROWS_SHOWN)
		return NULL;
	c->rows[c->row_count].thread = thread;
	return &c->rows[c->row_count++];
}

static void add_call(struct chart *c, const json_t *call)
{
	struct row *row = row_of(c, (uint32_t)at(call, 2));
	const double scale = (double)c->columns / c->end_ns;
	size_t from = (size_t)(at(call, 0) * scale), to = (size_t)(at(call, 1) * scale);

	if (!row)
		return;
	if (from >= c->columns)
		from = c->columns - 1;
	if (to >= c->columns)
		to = c->columns - 1;
	row->calls++;
	row->begins[from] = true;
	for (size_t i = from; i <= to; i++)
		row->depth[i] += row->depth[i] < UINT16_MAX;
}

static int by_start(const void *a, const void *b)
{
	const double x = at(*(const json_t *const *)a, 0), y = at(*(const json_t *const *)b, 0);

	return (x > y) - (x < y);
}

/* Boxes of one thread that follow each other are [==][==]; calls that overlap are a number. */
static char mark_of(const struct row *row, size_t i, bool one_at_a_time)
{
	if (!row->depth[i])
		return ' ';
	if (!one_at_a_time)
		return row->depth[i] > 9 ? '#' : (char)('0' + row->depth[i]);
	return row->begins[i] ? '[' : '=';
}

/* Its calls follow each other: they share a column at most where one ends and another begins. */
static bool follows(const struct row *row, size_t columns)
{
	for (size_t i = 0; i < columns; i++)
		if (row->depth[i] > 2)
			return false;
	return true;
}

static void add_rows(struct text *out, const struct chart *c, bool by_thread)
{
	for (size_t r = 0; r < c->row_count; r++) {
		const struct row *row = &c->rows[r];
		const bool one = by_thread && follows(row, c->columns);
		char line[COLUMNS_MAX + 1];

		for (size_t i = 0; i < c->columns; i++)
			line[i] = mark_of(row, i, one);
		line[c->columns] = 0;
		if (by_thread)
			text_add(out, "  thread %-3u |%s|\n", row->thread, line);
		else
			text_add(out, "  in flight  |%s|\n", line);
	}
	if (c->left_out)
		text_add(out, "  and %zu more threads\n", c->left_out);
	text_add(out, "  %*s0%*s\n", LABEL_COLUMNS - 2, "", (int)c->columns,
	         format_time(c->end_ns).text);
}

static size_t threads_of(const json_t *const *calls, size_t count)
{
	size_t most = 0;
	bool *seen = calloc(1 << 17, sizeof *seen);

	for (size_t i = 0; seen && i < count; i++) {
		const size_t thread = (size_t)at(calls[i], 2) & ((1 << 17) - 1);

		most += !seen[thread];
		seen[thread] = true;
	}
	free(seen);
	return most;
}

void scenario_gantt(struct text *out, const json_t *result, size_t columns)
{
	const json_t *list = json_object_get(result, "calls");
	const char *from = json_string_value(json_object_get(result, "calls_from"));
	const size_t count = json_array_size(list);
	const json_t **calls = calloc(count + 1, sizeof *calls);
	struct chart *c = calloc(1, sizeof *c);

	if (!calls || !c || !count || columns < LABEL_COLUMNS + 10) {
		free(calls);
		free(c);
		return;
	}
	c->columns = columns - LABEL_COLUMNS - 3;
	if (c->columns > COLUMNS_MAX)
		c->columns = COLUMNS_MAX;
	for (size_t i = 0; i < count; i++) {
		calls[i] = json_array_get(list, i);
		c->end_ns = fmax(c->end_ns, at(calls[i], 1));
	}
	qsort(calls, count, sizeof *calls, by_start);
	for (size_t i = 0; i < count && c->end_ns > 0; i++)
		add_call(c, calls[i]);
	c->left_out = threads_of(calls, count) - c->row_count;
	add_rows(out, c, strcmp(from ? from : "", "load") != 0);
	free(calls);
	free(c);
}
