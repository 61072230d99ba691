/* The summary of a watch: see watch.h. Counts first, then places, then what follows from them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/watch.h"

enum { PLACES_SHOWN = 12, TARGETS_SHOWN = 6, PLACE_COLUMNS = 32, OBJECT_COLUMNS = 40 };

static void add_target(struct text *out, const json_t *target)
{
	const double inside = watch_number(target, "pid_inside");
	const double pid = watch_number(target, "pid");
	const double children = watch_number(target, "children_not_watched");
	char name[80];

	text_add(out, "%s, process %.0f",
	         format_name(name, sizeof name, watch_string(target, "command"), 30, true), pid);
	if (inside > 0 && inside != pid)
		text_add(out, " (%.0f inside its namespace)", inside);
	if (json_is_true(json_object_get(target, "ended")))
		text_add(out, ": ended");
	else
		text_add(out, ": %s threads",
		         format_count(watch_number(target, "threads_now")).text);
	if (children > 0)
		text_add(out, "; %s children are not watched: add -f", format_count(children).text);
	text_add(out, "\n");
}

static void add_targets(struct text *out, const json_t *watch)
{
	const json_t *targets = json_object_get(watch, "targets");
	const size_t count = json_array_size(targets);

	for (size_t i = 0; i < count && i < TARGETS_SHOWN; i++)
		add_target(out, json_array_get(targets, i));
	if (count > TARGETS_SHOWN)
		text_add(out, "and %zu more processes\n", count - TARGETS_SHOWN);
	if (watch_number(watch, "processes_ended") > 0)
		text_add(out, "%s processes ended meanwhile\n",
		         format_count(watch_number(watch, "processes_ended")).text);
}

static void add_probe(struct text *out, const struct watch_facts *f)
{
	const json_t *probe = json_array_get(json_object_get(f->watch, "probes"), 0);
	const double error = watch_number(probe, "parked_error_ns") / f->window_ns - f->unseen;

	if (!f->sampled) {
		text_add(out, "%s watched. Threads counted by BPF, %s events lost.\n\n",
		         format_time(f->window_ns).text, format_count(f->lost).text);
		return;
	}
	text_add(out,
	         "%s watched. Threads sampled in /proc, by %s looks: estimates.\n"
	         "Parked can be off by %s, and by what is unseen; %s threads ended between "
	         "looks.\n\n",
	         format_time(f->window_ns).text, format_count(watch_number(probe, "samples")).text,
	         format_mean(error > 0 ? error : 0).text, format_count(f->lost).text);
}

static void add_kinds(struct text *out, const struct watch_facts *f)
{
	static const char *const kinds[] = {"application", "pool", "aio-helper", "io-wq", "sqpoll"};
	static const char *const columns[] = {"running_ns",       "runnable_ns", "parked_direct_ns",
	                                      "parked_waiter_ns", "idle_ns",     "unseen_ns",
	                                      "other_ns"};

	text_add(out, "threads, mean over the window%45s\n", "parked for I/O");
	text_add(
	    out,
	    "kind           now    max running  ready in call waiting    idle  unseen   other\n");
	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
		const json_t *kind = watch_kind(f, kinds[k]);

		if (!kind)
			continue;
		text_cell(out, 11, kinds[k]);
		text_cell(out, -7, format_count(watch_number(kind, "threads_now")).text);
		text_cell(out, -7, format_count(watch_number(kind, "threads_max")).text);
		for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
			text_cell(out, c == 1 ? -7 : -8,
			          format_mean(watch_number(kind, columns[c]) / f->window_ns).text);
		text_add(out, "\n");
	}
	text_add(out,
	         "in call: in the call that transfers. waiting: for one of several in flight.\n"
	         "unseen: in a futex, epoll or poll; whether I/O is behind it cannot be told.\n\n");
}

static void place_name(const json_t *place, char *out, size_t size)
{
	const char *call = watch_string(place, "syscall");
	const char *operation = watch_string(place, "operation");
	const char *function = watch_string(place, "function");

	if (*operation)
		snprintf(out, size, "io_uring %s", operation);
	else
		snprintf(out, size, "%s", *call ? call : "outside of calls");
	if (*function)
		snprintf(out + strlen(out), size - strlen(out), " (%s)", function);
}

static void add_place(struct text *out, const struct watch_facts *f, const json_t *place)
{
	const json_t *object = json_object_get(place, "object");
	const double longest = watch_number(place, "longest_ns");
	char where[200], safe[400], name[400], what[200] = "";

	place_name(place, where, sizeof where);
	if (json_is_string(json_object_get(object, "name")))
		snprintf(what, sizeof what, "  %s %s", watch_string(object, "type"),
		         format_name(name, sizeof name, watch_string(object, "name"),
		                     OBJECT_COLUMNS, true));
	else if (object && watch_number(object, "count") > 1)
		snprintf(what, sizeof what, "  %s of type %s",
		         format_count(watch_number(object, "count")).text,
		         watch_string(object, "type"));
	else if (json_is_object(object))
		snprintf(what, sizeof what, "  %s", watch_string(object, "type"));
	text_cell(out, -7, format_mean(watch_number(place, "parked_ns") / f->window_ns).text);
	text_cell(out, -7, format_count(watch_number(place, "threads_now")).text);
	text_cell(out, -7, format_count(watch_number(place, "whole_window")).text);
	text_cell(out, -9, longest > 0 ? format_time(longest).text : "-");
	text_add(out, "  ");
	text_cell(out, 15, watch_string(place, "state"));
	text_cell(out, PLACE_COLUMNS, format_name(safe, sizeof safe, where, PLACE_COLUMNS, true));
	text_add(out, "\n");
	if (*what)
		text_add(out, "%22s%s%s, %s\n", "", "of", what, watch_string(place, "kind"));
}

static void add_places(struct text *out, const struct watch_facts *f)
{
	const json_t *places = json_object_get(f->watch, "places");
	const size_t count = json_array_size(places);

	if (!count)
		return;
	text_add(out, "   mean    now  whole  longest  where threads slept\n");
	for (size_t i = 0; i < count && i < PLACES_SHOWN; i++)
		add_place(out, f, json_array_get(places, i));
	if (count > PLACES_SHOWN)
		text_add(out, "  and %zu more places: --json has them\n", count - PLACES_SHOWN);
	text_add(out,
	         "whole: asleep there through the whole window. longest: already, at least\n\n");
}

static void add_in_flight(struct text *out, const struct watch_facts *f)
{
	const json_t *in_flight = json_object_get(f->watch, "in_flight");
	const json_t *disk = json_object_get(in_flight, "disk");
	const json_t *ring = json_object_get(in_flight, "io_uring");

	if (json_is_object(disk))
		text_add(out, "on the disk: %s requests at a time, %s at most, %s in all (%s)\n",
		         format_mean(f->disk_mean).text,
		         format_count(watch_number(disk, "max")).text,
		         format_count(f->disk_requests).text,
		         format_bytes(watch_number(disk, "bytes")).text);
	if (f->submitted > 0 || watch_number(ring, "mean") >= 0.005)
		text_add(out,
		         "io_uring: %s requests at a time, %s at most; %s submitted, %s handed to "
		         "workers\n",
		         format_mean(watch_number(ring, "mean")).text,
		         format_count(watch_number(ring, "max")).text,
		         format_count(f->submitted).text, format_count(f->punted).text);
}

static void add_finding(struct text *out, const json_t *finding)
{
	const char *advice = watch_string(finding, "advice");
	const char *confidence = watch_string(finding, "confidence");
	char tag[80];

	snprintf(tag, sizeof tag, "%s%s", watch_string(finding, "tag"),
	         strcmp(confidence, "likely") == 0        ? " (likely)"
	         : strcmp(confidence, "cannot-tell") == 0 ? " (cannot tell: too short a window)"
	                                                  : "");
	text_add(out, "\n%s\n  ", tag);
	text_wrap(out, 2, 2, TEXT_COLUMNS, watch_string(finding, "text"));
	if (*advice) {
		text_add(out, "  ");
		text_wrap(out, 2, 2, TEXT_COLUMNS, advice);
	}
}

static void add_list(struct text *out, const char *title, const json_t *list)
{
	struct text line = {0};
	const json_t *one;
	size_t i;

	if (!json_array_size(list))
		return;
	text_add(&line, "%s", title);
	json_array_foreach(list, i, one)
	{
		text_add(&line, "%s %s", i ? ";" : "", json_string_value(one));
	}
	text_add(&line, ".");
	if (line.data)
		text_wrap(out, 0, 2, TEXT_COLUMNS, line.data);
	out->broken |= line.broken;
	text_free(&line);
}

static void add_cost(struct text *out, const json_t *watch)
{
	const json_t *cost = json_object_get(watch, "cost");

	if (!json_is_number(json_object_get(cost, "cpu_percent"))) {
		text_add(out, "cost: %s %% of a CPU in iostudy itself\n",
		         format_fixed(watch_number(cost, "own_cpu_percent"), 2).text);
		return;
	}
	text_add(out,
	         "cost: %s %% of a CPU in the probe, %s ns for each of %s events;\n"
	         "  %s %% in iostudy itself; %s of kernel memory\n",
	         format_fixed(watch_number(cost, "cpu_percent"), 2).text,
	         format_fixed(watch_number(cost, "ns_per_event"), 0).text,
	         format_count(watch_number(cost, "events")).text,
	         format_fixed(watch_number(cost, "own_cpu_percent"), 2).text,
	         format_bytes(watch_number(cost, "memory_bytes")).text);
}

char *watch_text(const json_t *watch, const struct text_style *style)
{
	struct watch_facts facts;
	struct text out = {0};
	const json_t *finding;
	size_t i;

	(void)style;
	watch_facts_gather(&facts, watch);
	add_targets(&out, watch);
	add_probe(&out, &facts);
	add_kinds(&out, &facts);
	add_places(&out, &facts);
	watch_text_pools(&out, watch);
	add_in_flight(&out, &facts);
	watch_text_ready(&out, watch);
	watch_text_workers(&out, watch);
	watch_text_sleeps(&out, &facts);
	json_array_foreach(json_object_get(watch, "findings"), i, finding)
	    add_finding(&out, finding);
	text_add(&out, "\n");
	add_list(&out, "Looked for and not found:", json_object_get(watch, "checked"));
	add_list(&out, "Cannot tell:", json_object_get(watch, "cannot_tell"));
	add_list(&out, "Not visible:", json_object_get(watch, "not_visible"));
	add_cost(&out, watch);
	if (out.broken) {
		text_free(&out);
		return NULL;
	}
	return out.data;
}
