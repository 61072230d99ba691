/* The rows of the live view: see watch_live_rows.h. */
#include "analysis/watch_live_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/watch.h"

static void rows_add(struct live_rows *rows, struct live_row row)
{
	if (rows->count == rows->room) {
		const size_t room = rows->room ? 2 * rows->room : 64;
		struct live_row *grown = rows->room < LIVE_ROWS_MAX
		                             ? realloc(rows->all, room * sizeof row)
		                             : NULL;

		if (!grown)
			return;
		rows->all = grown;
		rows->room = room;
	}
	rows->all[rows->count++] = row;
}

static bool same(const json_t *a, const json_t *b, const char *name)
{
	return strcmp(watch_string(a, name), watch_string(b, name)) == 0;
}

/* Files tell places apart; sockets and their like are of one place whatever they are called. */
static bool same_object(const json_t *place, const json_t *thread)
{
	const json_t *a = json_object_get(place, "object"), *b = json_object_get(thread, "object");
	const char *type = watch_string(a, "type");
	const bool named = strcmp(type, "file") == 0 || strcmp(type, "device") == 0;

	return same(a, b, "type") && (!named || same(a, b, "name"));
}

static bool is_of(const json_t *group, const json_t *thread)
{
	if (!same(group, thread, "kind"))
		return false;
	return !json_object_get(group, "state") ||
	       (same(group, thread, "state") && same(group, thread, "syscall") &&
	        same(group, thread, "operation") && same_object(group, thread));
}

double live_window_ns(const struct live_view *v)
{
	return watch_number(v->watch, "window_ns");
}

/* Of a kind: how many of its threads sleep for I/O now, by the places. */
static double parked_now(const struct live_view *v, const json_t *kind)
{
	const json_t *place;
	double now = 0;
	size_t i;

	json_array_foreach(json_object_get(v->watch, "places"), i, place)
	{
		if (same(place, kind, "kind") &&
		    strncmp(watch_string(place, "state"), "parked", 6) == 0)
			now += watch_number(place, "threads_now");
	}
	return now;
}

static int compare_now(const void *left, const void *right)
{
	const struct live_row *a = left, *b = right;

	if (a->is_kind != b->is_kind)
		return a->is_kind ? -1 : 1;
	if (a->now != b->now)
		return a->now < b->now ? 1 : -1;
	return (a->mean < b->mean) - (a->mean > b->mean);
}

static int compare_mean(const void *left, const void *right)
{
	const struct live_row *a = left, *b = right;

	if (a->is_kind != b->is_kind)
		return a->is_kind ? -1 : 1;
	if (a->mean != b->mean)
		return a->mean < b->mean ? 1 : -1;
	return (a->now < b->now) - (a->now > b->now);
}

static void add_groups(const struct live_view *v, struct live_rows *rows)
{
	const json_t *probe = json_array_get(json_object_get(v->watch, "probes"), 0), *one;
	size_t i;

	json_array_foreach(json_object_get(probe, "kinds"), i, one)
	{
		const double parked_ns = watch_number(one, "parked_direct_ns") +
		                         watch_number(one, "parked_waiter_ns") +
		                         watch_number(one, "parked_on_result_ns");

		rows_add(rows, (struct live_row){.now = parked_now(v, one),
		                                 .mean = parked_ns / live_window_ns(v),
		                                 .about = one,
		                                 .is_kind = true});
	}
	json_array_foreach(json_object_get(v->watch, "places"), i, one) rows_add(
	    rows, (struct live_row){.now = watch_number(one, "threads_now"),
	                            .mean = watch_number(one, "parked_ns") / live_window_ns(v),
	                            .about = one});
}

static void add_threads(const struct live_view *v, struct live_rows *rows)
{
	const json_t *one;
	size_t i;

	json_array_foreach(v->threads, i, one)
	{
		if (is_of(v->group, one))
			rows_add(rows, (struct live_row){.now = watch_number(one, "since_ns"),
			                                 .mean = watch_number(one, "parked_ns"),
			                                 .about = one});
	}
}

static void add_frames(const struct live_view *v, struct live_rows *rows)
{
	const json_t *one;
	size_t i;

	json_array_foreach(json_object_get(v->thread, "stack"), i, one)
	    rows_add(rows, (struct live_row){.frame = json_string_value(one)});
}

void live_rows_make(const struct live_view *v, struct live_rows *rows)
{
	*rows = (struct live_rows){0};
	if (v->level == LIVE_STACK) {
		add_frames(v, rows);
		return;
	}
	if (v->level == LIVE_GROUPS)
		add_groups(v, rows);
	else
		add_threads(v, rows);
	if (rows->count)
		qsort(rows->all, rows->count, sizeof *rows->all,
		      v->by_now ? compare_now : compare_mean);
}

/* Where a place or a thread waits, in words. */
void live_say_where(const json_t *one, char *out, size_t size)
{
	const json_t *object = json_object_get(one, "object");
	const char *call = watch_string(one, "syscall"), *name = watch_string(object, "name");
	const char *operation = watch_string(one, "operation");
	const char *function = watch_string(one, "function");
	int at = snprintf(out, size, "%s%s", *operation ? "io_uring " : "",
	                  *operation ? operation
	                  : *call    ? call
	                             : "outside of calls");

	if (*function)
		at += snprintf(out + at, size - (size_t)at, " (%.60s)", function);
	if (*watch_string(object, "type"))
		at += snprintf(out + at, size - (size_t)at, " of %s", watch_string(object, "type"));
	if (*name)
		snprintf(out + at, size - (size_t)at, " %.400s", name);
}

void live_say_row(const struct live_view *v, const struct live_row *row, char *out, size_t size)
{
	char where[600];

	if (row->frame) {
		snprintf(out, size, "  %s", row->frame);
	} else if (row->is_kind) {
		snprintf(out, size, "%7s %8s  %-16s %s threads, %s at most",
		         format_count(row->now).text, format_mean(row->mean).text,
		         watch_string(row->about, "kind"),
		         format_count(watch_number(row->about, "threads_now")).text,
		         format_count(watch_number(row->about, "threads_max")).text);
	} else if (v->level == LIVE_GROUPS) {
		live_say_where(row->about, where, sizeof where);
		snprintf(out, size, "%7s %8s  %-16s %s", format_count(row->now).text,
		         format_mean(row->mean).text, watch_string(row->about, "state"), where);
	} else {
		live_say_where(row->about, where, sizeof where);
		snprintf(out, size, "%8.0f %-15.15s %-16s %8s %8s  %s",
		         watch_number(row->about, "tid"), watch_string(row->about, "name"),
		         watch_string(row->about, "state"), format_time(row->now).text,
		         format_time(row->mean).text,
		         strcmp(watch_string(row->about, "state"), "running") == 0 ? "" : where);
	}
}
