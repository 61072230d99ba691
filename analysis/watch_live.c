/* The live view as text: see watch_live.h. */
#include "analysis/watch_live.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/watch.h"
#include "analysis/watch_live_rows.h"

enum { FOOT_LINES = 1, FINDINGS_SHOWN = 3 };

void live_view_free(struct live_view *v)
{
	json_decref(v->watch);
	json_decref(v->threads);
	json_decref(v->group);
	json_decref(v->thread);
}

void live_view_take(struct live_view *v, json_t *watch, json_t *threads)
{
	json_decref(v->paused ? watch : v->watch);
	json_decref(v->paused ? threads : v->threads);
	if (v->paused)
		return;
	v->watch = watch;
	v->threads = threads;
}

static void add_line(struct text *out, char how, const char *line, unsigned columns, bool ascii)
{
	char safe[LIVE_LINE_BYTES * 4];

	text_add(out, "%c%s\n", how, format_name(safe, sizeof safe, line, columns, ascii));
}

static void say_head(const struct live_view *v, char *out, size_t size)
{
	const json_t *targets = json_object_get(v->watch, "targets");
	const json_t *first = json_array_get(targets, 0);
	const size_t more = json_array_size(targets) > 1 ? json_array_size(targets) - 1 : 0;
	char others[40] = "";

	if (more)
		snprintf(others, sizeof others, " and %zu more", more);
	snprintf(out, size, "iostudy: %.40s, process %.0f%s   %s   %s events lost%s",
	         watch_string(first, "command"), watch_number(first, "pid"), others,
	         format_time(live_window_ns(v)).text,
	         format_count(watch_number(json_object_get(v->watch, "lost"), "events")).text,
	         v->paused ? "   PAUSED" : "");
}

static void say_disk(const struct live_view *v, char *out, size_t size)
{
	const json_t *in_flight = json_object_get(v->watch, "in_flight");
	const json_t *disk = json_object_get(in_flight, "disk");
	const json_t *ring = json_object_get(in_flight, "io_uring");

	snprintf(out, size, "on the disk: %s at a time, %s in all; io_uring: %s, %s to workers",
	         format_mean(watch_number(disk, "mean")).text,
	         format_count(watch_number(disk, "requests")).text,
	         format_count(watch_number(ring, "submitted")).text,
	         format_count(watch_number(ring, "punted")).text);
}

static void say_columns(const struct live_view *v, char *out, size_t size)
{
	char where[600] = "";

	switch (v->level) {
	case LIVE_GROUPS:
		snprintf(out, size,
		         "    now     mean  parked for I/O by kind; then where they sleep");
		break;
	case LIVE_THREADS:
		snprintf(out, size, "     tid %-15s %-16s %8s %8s  where", "name", "state", "since",
		         "parked");
		break;
	default:
		live_say_where(v->thread, where, sizeof where);
		snprintf(out, size, "%.0f %s: the kernel's stack in %s",
		         watch_number(v->thread, "tid"), watch_string(v->thread, "name"), where);
		break;
	}
}

/* Problems first, as they stand; others by their tags. How many lines. */
static unsigned add_findings(const struct live_view *v, struct text *out, unsigned columns,
                             unsigned most, bool ascii)
{
	const json_t *finding;
	unsigned shown = 0;
	size_t i;

	json_array_foreach(json_object_get(v->watch, "findings"), i, finding)
	{
		const bool problem = strcmp(watch_string(finding, "class"), "problem") == 0;
		char line[LIVE_LINE_BYTES];

		if (shown == most)
			break;
		snprintf(line, sizeof line, "%s (%s): %.900s", watch_string(finding, "tag"),
		         watch_string(finding, "confidence"), watch_string(finding, "text"));
		add_line(out, problem ? '!' : ' ', line, columns, ascii);
		shown++;
	}
	return shown;
}

static void add_help(struct text *out, unsigned columns, unsigned lines, bool ascii)
{
	static const char *const help[] = {
	    "now: threads that sleep there at this moment. mean: over the window.",
	    "parked-direct: inside the call that transfers. parked-waiter: waits for one of",
	    "several in flight. unseen: in a futex, epoll or poll; whether I/O is behind it",
	    "cannot be told. idle: a pool's thread without work.",
	    "",
	    "up, down, page up, page down, home, end   choose a row",
	    "Enter, right    its threads; of a thread its stack in the kernel",
	    "Esc, left       back",
	    "s               sort by now, or by the mean",
	    "p               pause and go on; the watch itself goes on",
	    "h, ?            this help",
	    "q               end: the summary follows",
	};

	for (unsigned i = 0; i < lines; i++)
		add_line(out, ' ', i < sizeof help / sizeof *help ? help[i] : "", columns, ascii);
}

/* Keeps the chosen row among the rows, and in sight. */
static void settle(struct live_view *v, size_t count, unsigned lines)
{
	size_t *selected = &v->selected[v->level], *first = &v->first[v->level];

	v->rows = lines;
	if (*selected >= count)
		*selected = count ? count - 1 : 0;
	if (*first > *selected)
		*first = *selected;
	if (lines && *selected >= *first + lines)
		*first = *selected - lines + 1;
}

static void add_rows(struct live_view *v, struct text *out, unsigned columns, unsigned lines,
                     bool ascii)
{
	struct live_rows rows;
	char line[LIVE_LINE_BYTES];

	live_rows_make(v, &rows);
	settle(v, rows.count, lines);
	for (unsigned i = 0; i < lines; i++) {
		const size_t at = v->first[v->level] + i;

		line[0] = 0;
		if (at < rows.count)
			live_say_row(v, &rows.all[at], line, sizeof line);
		else if (at == 0)
			snprintf(line, sizeof line, "nobody");
		add_line(out, at < rows.count && at == v->selected[v->level] ? '>' : ' ', line,
		         columns, ascii);
	}
	free(rows.all);
}

void live_view_draw(struct live_view *v, struct text *out, unsigned columns, unsigned lines,
                    bool ascii)
{
	struct text findings = {0};
	char line[LIVE_LINE_BYTES];
	unsigned used = 0, below;

	if (lines > 3) {
		say_head(v, line, sizeof line);
		add_line(out, 'h', line, columns, ascii);
		used++;
	}
	if (lines > 8) {
		say_disk(v, line, sizeof line);
		add_line(out, ' ', line, columns, ascii);
		used++;
	}
	if (lines > 2) {
		say_columns(v, line, sizeof line);
		add_line(out, 'h', line, columns, ascii);
		used++;
	}
	below = lines > 12 ? add_findings(v, &findings, columns, FINDINGS_SHOWN, ascii) : 0;
	if (lines > 1)
		below += FOOT_LINES;
	if (v->help)
		add_help(out, columns, lines - used - below, ascii);
	else
		add_rows(v, out, columns, lines - used - below, ascii);
	if (findings.data)
		text_add(out, "%s", findings.data);
	if (lines > 1)
		add_line(out, 'h',
		         v->level == LIVE_GROUPS
		             ? "q end  Enter deeper  s sort  p pause  h help"
		             : "q end  Esc back  Enter deeper  s sort  p pause  h help",
		         columns, ascii);
	text_free(&findings);
}

static void enter(struct live_view *v)
{
	struct live_rows rows;
	const size_t at = v->selected[v->level];

	live_rows_make(v, &rows);
	if (v->level != LIVE_STACK && at < rows.count) {
		json_t **kept = v->level == LIVE_GROUPS ? &v->group : &v->thread;

		json_decref(*kept);
		*kept = json_deep_copy(rows.all[at].about);
		v->level++;
		v->selected[v->level] = v->first[v->level] = 0;
	}
	free(rows.all);
}

static void move(struct live_view *v, long by)
{
	size_t *selected = &v->selected[v->level];

	if (by < 0 && (size_t)-by > *selected)
		*selected = 0;
	else
		*selected += (size_t)by; /* drawing keeps it among the rows */
}

void live_view_key(struct live_view *v, int key)
{
	const long page = v->rows > 1 ? (long)v->rows - 1 : 1;

	switch (key) {
	case LIVE_UP:
		move(v, -1);
		break;
	case LIVE_DOWN:
		move(v, 1);
		break;
	case LIVE_PAGE_UP:
		move(v, -page);
		break;
	case LIVE_PAGE_DOWN:
		move(v, page);
		break;
	case LIVE_HOME:
		v->selected[v->level] = 0;
		break;
	case LIVE_END:
		v->selected[v->level] = LIVE_ROWS_MAX;
		break;
	case LIVE_ENTER:
		enter(v);
		break;
	case LIVE_BACK:
		if (v->help)
			v->help = false;
		else if (v->level != LIVE_GROUPS)
			v->level--;
		break;
	case 'q':
		v->quit = true;
		break;
	case 'p':
		v->paused = !v->paused;
		break;
	case 's':
		v->by_now = !v->by_now;
		break;
	case 'h':
	case '?':
		v->help = !v->help;
		break;
	default:
		break;
	}
}
