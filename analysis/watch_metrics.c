/*
 * A watch as OpenMetrics text (the exposition format, version 1.0.0), for Prometheus and its like.
 * Counters count from the moment of attaching.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/watch.h"

/* The beginning of a family; unit: of its name, or NULL. */
static void family(struct text *out, const char *name, const char *type, const char *unit,
                   const char *help)
{
	text_add(out, "# TYPE %s %s\n", name, type);
	if (unit)
		text_add(out, "# UNIT %s %s\n", name, unit);
	text_add(out, "# HELP %s %s\n", name, help);
}

/* In a label's value a backslash, a quote and a line's end are escaped; control characters, which
 * a name may hold, become dots. */
static void label(struct text *out, const char *between, const char *name, const char *value)
{
	text_add(out, "%s%s=\"", between, name);
	for (const char *c = value; *c; c++) {
		if (*c == '\\' || *c == '"')
			text_add(out, "\\%c", *c);
		else if (*c == '\n')
			text_add(out, "\\n");
		else
			text_add(out, "%c", (unsigned char)*c < ' ' || *c == 0x7f ? '.' : *c);
	}
	text_add(out, "\"");
}

static void value(struct text *out, double number)
{
	text_add(out,
	         isnan(number)             ? " NaN\n"
	         : number == floor(number) ? " %.0f\n"
	                                   : " %.9g\n",
	         number);
}

static void plain(struct text *out, const char *name, double number)
{
	if (isnan(number))
		return; /* not measured */
	text_add(out, "%s", name);
	value(out, number);
}

static void add_threads(struct text *out, const json_t *kinds)
{
	const json_t *kind;
	size_t i;

	family(out, "iostudy_threads", "gauge", NULL, "Threads that live now.");
	json_array_foreach(kinds, i, kind)
	{
		text_add(out, "iostudy_threads");
		label(out, "{", "kind", watch_string(kind, "kind"));
		text_add(out, "}");
		value(out, watch_number(kind, "threads_now"));
	}
	family(out, "iostudy_parks", "counter", NULL, "Times that threads went to sleep.");
	json_array_foreach(kinds, i, kind)
	{
		if (isnan(watch_number(kind, "parks")))
			continue;
		text_add(out, "iostudy_parks_total");
		label(out, "{", "kind", watch_string(kind, "kind"));
		text_add(out, "}");
		value(out, watch_number(kind, "parks"));
	}
}

static void add_states(struct text *out, const json_t *kinds)
{
	const json_t *kind;
	size_t i;

	family(out, "iostudy_thread_seconds", "counter", "seconds",
	       "Time of all threads in each state; parked-direct and parked-waiter wait for I/O.");
	json_array_foreach(kinds, i, kind)
	{
		for (size_t s = 0; s < VIEW_STATE_COUNT; s++) {
			char key[40];

			snprintf(key, sizeof key, "%s_ns", view_state_names[s]);
			for (char *c = key; *c; c++)
				*c = *c == '-' || *c == ' ' ? '_' : *c;
			if (isnan(watch_number(kind, key)))
				continue;
			text_add(out, "iostudy_thread_seconds_total");
			label(out, "{", "kind", watch_string(kind, "kind"));
			label(out, ",", "state", view_state_names[s]);
			text_add(out, "}");
			value(out, watch_number(kind, key) / 1e9);
		}
	}
}

/* Files tell places apart; what sockets and pipes are called comes and goes. */
static const char *name_of(const json_t *object)
{
	const char *type = watch_string(object, "type");

	return strcmp(type, "file") == 0 || strcmp(type, "device") == 0 || strcmp(type, "fifo") == 0
	           ? watch_string(object, "name")
	           : "";
}

static void add_places(struct text *out, const json_t *places)
{
	const json_t *place;
	size_t i;

	family(out, "iostudy_place_threads", "gauge", NULL,
	       "Threads that sleep now, by what they wait in.");
	json_array_foreach(places, i, place)
	{
		const json_t *object = json_object_get(place, "object");

		text_add(out, "iostudy_place_threads");
		label(out, "{", "kind", watch_string(place, "kind"));
		label(out, ",", "state", watch_string(place, "state"));
		label(out, ",", "syscall", watch_string(place, "syscall"));
		label(out, ",", "function", watch_string(place, "function"));
		label(out, ",", "object", watch_string(object, "type"));
		label(out, ",", "operation", watch_string(place, "operation"));
		label(out, ",", "name", name_of(object));
		text_add(out, "}");
		value(out, watch_number(place, "threads_now"));
	}
}

static void add_disk(struct text *out, const json_t *disk, double window_ns)
{
	const double in_flight_s = watch_number(disk, "mean") * window_ns / 1e9;

	family(out, "iostudy_disk_requests", "counter", NULL, "Requests of the block layer.");
	plain(out, "iostudy_disk_requests_total", watch_number(disk, "requests"));
	family(out, "iostudy_disk_bytes", "counter", "bytes", "Bytes of these requests.");
	plain(out, "iostudy_disk_bytes_total", watch_number(disk, "bytes"));
	family(out, "iostudy_disk_in_flight_seconds", "counter", "seconds",
	       "Time of all these requests; its rate is the mean number in flight.");
	plain(out, "iostudy_disk_in_flight_seconds_total", in_flight_s);
}

static void add_ring(struct text *out, const json_t *ring)
{
	const json_t *entry;
	size_t i;

	family(out, "iostudy_io_uring_submitted", "counter", NULL, "Requests of io_uring.");
	plain(out, "iostudy_io_uring_submitted_total", watch_number(ring, "submitted"));
	family(out, "iostudy_io_uring_punted", "counter", NULL,
	       "Those that went to a worker thread, by what they are and why.");
	json_array_foreach(json_object_get(ring, "punted_by"), i, entry)
	{
		text_add(out, "iostudy_io_uring_punted_total");
		label(out, "{", "operation", watch_string(entry, "operation"));
		label(out, ",", "reason", watch_string(entry, "reason"));
		text_add(out, "}");
		value(out, watch_number(entry, "count"));
	}
}

static void add_findings(struct text *out, const json_t *findings)
{
	const json_t *finding;
	size_t i;

	family(out, "iostudy_finding", "gauge", NULL, "1 for each finding of the window so far.");
	json_array_foreach(findings, i, finding)
	{
		text_add(out, "iostudy_finding");
		label(out, "{", "tag", watch_string(finding, "tag"));
		label(out, ",", "class", watch_string(finding, "class"));
		label(out, ",", "severity", watch_string(finding, "severity"));
		label(out, ",", "confidence", watch_string(finding, "confidence"));
		text_add(out, "} 1\n");
	}
}

char *watch_metrics(const json_t *watch)
{
	const json_t *probe = json_array_get(json_object_get(watch, "probes"), 0);
	const json_t *in_flight = json_object_get(watch, "in_flight");
	const double window_ns = watch_number(watch, "window_ns");
	struct text out = {0};

	family(&out, "iostudy_watched_seconds", "counter", "seconds", "Time since attaching.");
	plain(&out, "iostudy_watched_seconds_total", window_ns / 1e9);
	add_threads(&out, json_object_get(probe, "kinds"));
	add_states(&out, json_object_get(probe, "kinds"));
	add_places(&out, json_object_get(watch, "places"));
	add_disk(&out, json_object_get(in_flight, "disk"), window_ns);
	add_ring(&out, json_object_get(in_flight, "io_uring"));
	add_findings(&out, json_object_get(watch, "findings"));
	family(&out, "iostudy_lost_events", "counter", NULL, "Events that the probe has lost.");
	plain(&out, "iostudy_lost_events_total",
	      watch_number(json_object_get(watch, "lost"), "events"));
	family(&out, "iostudy_probe_cpu_ratio", "gauge", "ratio",
	       "The share of one CPU that the probe itself takes.");
	plain(&out, "iostudy_probe_cpu_ratio",
	      watch_number(json_object_get(watch, "cost"), "cpu_percent") / 100);
	text_add(&out, "# EOF\n");
	if (out.broken)
		text_free(&out);
	return out.data;
}
