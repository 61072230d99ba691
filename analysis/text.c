/*
 * The head and the tables of the screen.
 */
#include "analysis/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/verdict.h"

enum { COLUMN_FIRST = 15, COLUMN_SECOND = 7 };

static const struct {
	const char *above, *below;
	int width;
} columns[] = {
    {"in", "flight", 7},    {"", "served", 7}, {"threads", "parked", 7}, {"for I/O", "held", 8},
    {"held/", "served", 7}, {"", "per s", 8},  {"latency", "p50", 7},    {"", "p99", 7},
};
enum { COLUMN_COUNT = sizeof columns / sizeof columns[0] };

const char *engine_label(const char *engine)
{
	static const char *const labels[][2] = {
	    {"uring", "io_uring"},
	    {"uring-defer", "io_uring (DEFER_TASKRUN)"},
	    {"uring-sqpoll", "io_uring (SQPOLL)"},
	    {"uring-iopoll", "io_uring (IOPOLL)"},
	    {"uring-async", "io_uring (IOSQE_ASYNC)"},
	    {"posix-aio", "POSIX AIO"},
	    {"posix-aio-signal", "POSIX AIO with signals"},
	    {"libaio", "libaio"},
	    {"blocking", "Blocking calls"},
	    {"pool", "A pool of threads"},
	    {"epoll-offload", "epoll with a pool"},
	    {"port", "A completion port"},
	};

	for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++)
		if (name_is(engine, labels[i][0]))
			return labels[i][1];
	return engine ? engine : "An unnamed engine";
}

static const char *probe_quality(const char *name)
{
	if (name_is(name, "bpf"))
		return "BPF: exact";
	if (name_is(name, "perf"))
		return "perf: exact switches, blind to system calls";
	if (name_is(name, "schedstat"))
		return "schedstat: exact totals, no moments";
	if (name_is(name, "proc"))
		return "samples of /proc: estimates";
	return "another probe";
}

void probe_sentence(const struct groups *g, char *out, size_t size)
{
	const char *first = NULL;
	bool mixed = false, none = false;
	double lost = 0;

	for (size_t i = 0; i < g->cell_count; i++) {
		const struct view_probe *probe = view_headline(&g->cells[i].view);

		if (!g->cells[i].measured)
			continue;
		none |= !probe;
		if (!probe)
			continue;
		mixed |= first && !name_is(probe->name, first);
		first = first ? first : probe->name ? probe->name : "";
		lost += probe->lost > 0 ? probe->lost : 0;
	}
	if (!first)
		snprintf(out, size, "No probe: threads were not counted.");
	else
		snprintf(out, size, "Threads counted by %s%s%s, %s %s lost.", probe_quality(first),
		         mixed ? ", and by another probe in some runs" : "",
		         none ? ", in some runs not at all" : "", format_count(lost).text,
		         lost == 1 ? "event" : "events");
}

static double common_depth(const struct groups *g)
{
	double depth = g->cell_count ? g->cells[0].view.depth : NAN;

	for (size_t i = 1; i < g->cell_count; i++)
		if (g->cells[i].view.depth != depth)
			return NAN;
	return depth;
}

/* The engines of the cells, counted once each. */
static size_t engines_count(const struct groups *g)
{
	size_t count = 0;

	for (size_t i = 0; i < g->cell_count; i++) {
		size_t before = 0;

		while (before < i &&
		       !name_is(g->cells[before].view.engine, g->cells[i].view.engine))
			before++;
		count += before == i;
	}
	return count;
}

static void headline_file(struct text *out, const struct groups *g, const struct text_style *style)
{
	char file[80], filesystem[40], device[40];

	for (size_t i = 0; i < g->cell_count; i++) {
		const struct run_view *v = &g->cells[i].view;
		const bool memory = name_is(v->filesystem, "tmpfs") ||
		                    name_is(v->filesystem, "ramfs");
		if (!v->file || (!v->filesystem && !v->device))
			continue;
		text_add(out, "File %s", format_name(file, sizeof file, v->file, 40, style->ascii));
		if (v->filesystem)
			text_add(
			    out, " on %s",
			    format_name(filesystem, sizeof filesystem, v->filesystem, 12, true));
		else
			text_add(out, ", a device");
		if (v->device && !memory)
			text_add(out, " (%s)",
			         format_name(device, sizeof device, v->device, 12, true));
		if (memory)
			text_add(out,
			         ", which is memory.\nName a place on a disk with --directory.\n");
		else if (name_is(v->filesystem, "overlay"))
			text_add(
			    out,
			    ", a container's layer.\nIo_uring reads there through worker threads; "
			    "name a disk with --directory.\n");
		else
			text_add(out, ".\n");
		return;
	}
}

void text_headline(struct text *out, const struct groups *g, const struct text_style *style)
{
	char sentence[240], line[400], name[60];
	const double depth = common_depth(g);
	int at;

	headline_file(out, g, style);
	if (g->many_engines)
		at = snprintf(line, sizeof line, "%zu engines", engines_count(g));
	else
		at = snprintf(
		    line, sizeof line, "%s",
		    format_name(name, sizeof name,
		                engine_label(g->cell_count ? g->cells[0].view.engine : NULL), 40,
		                style->ascii));
	if (!isnan(depth))
		at += snprintf(line + at, sizeof line - (size_t)at, ", %s %s wanted in flight",
		               format_count(depth).text, depth == 1 ? "request" : "requests");
	snprintf(line + at, sizeof line - (size_t)at, ".");
	text_wrap(out, 0, 0, TEXT_COLUMNS, line);
	probe_sentence(g, sentence, sizeof sentence);
	text_wrap(out, 0, 0, TEXT_COLUMNS, sentence);
}

void group_title(const struct groups *g, const struct group *group, char *out, size_t size)
{
	const struct run_view *v = &g->cells[group->first].view;
	char workload[40], wait[20], transport[20];
	int at = 0;

	out[0] = '\0';
#define ADD(...) (at < (int)size ? at += snprintf(out + at, size - (size_t)at, __VA_ARGS__) : 0)
	if (g->many_engines) {
		for (size_t i = 0; i < g->cell_count && v->synchronous == VIEW_TRUE; i++)
			if (&g->groups[g->cells[i].group] == group &&
			    g->cells[i].view.synchronous != VIEW_TRUE)
				v = &g->cells[i].view; /* its --wait names the group */
		ADD("%s", format_name(workload, sizeof workload, v->workload, 30, true));
		if (v->wait)
			ADD(", --wait %s", format_name(wait, sizeof wait, v->wait, 10, true));
	} else {
		ADD("%s wanted in flight", format_count(v->depth).text);
	}
	const bool disk = v->workload && strncmp(v->workload, "disk-", 5) == 0;
	if (v->block_bytes > 0 && (disk || name_is(v->workload, "socket-echo")))
		ADD(", %s%s%s", format_bytes(v->block_bytes).text,
		    v->direct == VIEW_TRUE    ? " direct"
		    : v->direct == VIEW_FALSE ? " buffered"
		                              : "",
		    name_is(v->cache, "hot")    ? " (hot)"
		    : name_is(v->cache, "cold") ? " (cold)"
		                                : "");
	for (size_t i = 0; i < g->cell_count; i++) {
		char filesystem[40];

		if (v->filesystem && g->cells[i].view.filesystem && disk &&
		    strcmp(v->filesystem, g->cells[i].view.filesystem) != 0) {
			ADD(", on %s",
			    format_name(filesystem, sizeof filesystem, v->filesystem, 30, true));
			break;
		}
	}
	if (v->files > 1)
		ADD(", %s files", format_count(v->files).text);
	if (!isnan(v->read_percent))
		ADD(", %s %% reads", format_fixed(v->read_percent, 0).text);
	if (v->fsync_every > 1)
		ADD(", fsync every %s writes", format_count(v->fsync_every).text);
	else if (v->fsync_every == 1)
		ADD(", fsync every write");
	if (v->connections > 0)
		ADD(", %s connections", format_count(v->connections).text);
	if (v->transport)
		ADD(", %s", format_name(transport, sizeof transport, v->transport, 10, true));
	if (v->delay_max_ns > 0 && v->delay_min_ns == v->delay_max_ns)
		ADD(", answered after %s", format_time(v->delay_max_ns).text);
	else if (v->delay_max_ns > 0)
		ADD(", answered after %s to %s", format_time(v->delay_min_ns).text,
		    format_time(v->delay_max_ns).text);
	if (v->rate_per_s > 0)
		ADD(", %s per s asked%s", format_count(v->rate_per_s).text,
		    name_is(v->arrival, "poisson") ? " (Poisson)" : "");
#undef ADD
}

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
                                const struct text_style *style)
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
	text_wrap(out, COLUMN_FIRST + COLUMN_SECOND + 2, COLUMN_FIRST + COLUMN_SECOND + 2,
	          TEXT_COLUMNS, line);
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
	char name[80];

	format_name(name, sizeof name, g->many_engines ? cell->view.engine : cell->view.workload,
	            COLUMN_FIRST - 1, style->ascii);
	text_cell(out, COLUMN_FIRST, name);
	if (g->many_engines)
		cell_figure(out, COLUMN_SECOND, format_count(cell->view.depth), cell->view.depth);
	else
		text_cell(
		    out, COLUMN_SECOND,
		    format_name(name, sizeof name, cell->view.wait, COLUMN_SECOND, style->ascii));
	if (!cell->measured) {
		row_without_figures(out, g, cell, style);
		return;
	}
	for (size_t i = 0; i < COLUMN_COUNT; i++)
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
