/* Runs as tidy CSV: one row for each run and metric. A part of the report. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/report.h"

/* Of the plan and the environment, what tells runs apart. */
static const struct column {
	const char *object, *key;
} columns[] = {
    {"plan", "study"},         {"plan", "cell"},
    {"plan", "twin"},          {"plan", "shard"},
    {"plan", "repeat"},        {"plan", "engine"},
    {"plan", "workload"},      {"plan", "wait"},
    {"plan", "depth"},         {"plan", "batch"},
    {"plan", "threads"},       {"plan", "pool"},
    {"plan", "block_bytes"},   {"plan", "size_bytes"},
    {"plan", "direct"},        {"plan", "cache"},
    {"plan", "files"},         {"plan", "fsync_every"},
    {"plan", "read_percent"},  {"plan", "transport"},
    {"plan", "delay_min_ns"},  {"plan", "delay_max_ns"},
    {"plan", "rate_per_s"},    {"plan", "duration_ns"},
    {"plan", "operations"},    {"plan", "seed"},
    {"environment", "host"},   {"environment", "kernel"},
    {"environment", "cpus"},   {"environment", "filesystem"},
    {"environment", "device"}, {"environment", "iostudy"},
    {NULL, "status"},          {NULL, "why"},
};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

/* Beside those of the summary. */
static const char *const measured[] = {
    "window_ns", "operations",    "bytes",     "short",       "wrong",
    "failed",    "in_flight_ns",  "served_ns", "cpu_user_ns", "cpu_system_ns",
    "steal_ns",  "others_cpu_ns", "iowait_ns", NULL};

/* RFC 4180: in quotes where it must be, with quotes doubled. Controls cannot break a row. */
static void field_add(struct text *out, const char *value)
{
	const bool quoted = strpbrk(value, ",\"\r\n") != NULL;

	if (!quoted) {
		text_add(out, "%s", value);
		return;
	}
	text_add(out, "\"");
	for (; *value; value++)
		text_add(out, *value == '"' ? "\"\"" : "%c", *value);
	text_add(out, "\"");
}

static void value_add(struct text *out, const json_t *value)
{
	char number[40];

	if (json_is_string(value))
		field_add(out, json_string_value(value));
	else if (json_is_integer(value))
		text_add(out, "%lld", (long long)json_integer_value(value));
	else if (json_is_real(value)) {
		snprintf(number, sizeof number, "%.10g", json_real_value(value));
		text_add(out, "%s", number);
	} else if (json_is_boolean(value))
		text_add(out, "%d", json_is_true(value));
}

static void row_add(struct text *out, const char *prefix, const char *metric, const json_t *value)
{
	text_add(out, "%s", prefix);
	field_add(out, metric);
	text_add(out, ",");
	value_add(out, value);
	text_add(out, "\r\n");
}

/* "perf.threads_parked_mean": what each of several probes counted on the same run, and how far off
 * it can be. */
static void probes_add(struct text *out, const char *prefix, const json_t *run)
{
	char why[RUN_WHY_SIZE], metric[120], name[80];
	struct run_view view;

	if (run_view_read(&view, run, why) != 0)
		return;
	for (size_t p = 0; p < view.probe_count; p++) {
		const struct view_probe *probe = &view.probes[p];
		const struct {
			const char *name;
			double value;
		} rows[] = {
		    {"threads_parked_mean", probe_mean(probe, &view, probe_parked_ns(probe))},
		    {"threads_held_mean", probe_mean(probe, &view, probe_held_ns(probe))},
		    {"parked_error_ns", probe->parked_error_ns},
		    {"lost", probe->lost},
		};

		for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
			json_t *value = json_from_number(rows[i].value);

			snprintf(metric, sizeof metric, "%s.%s",
			         format_name(name, sizeof name, probe->name, 30, false),
			         rows[i].name);
			if (json_is_number(value))
				row_add(out, prefix, metric, value);
			json_decref(value);
		}
	}
}

void report_csv_head(struct text *out)
{
	for (size_t i = 0; i < COLUMNS; i++)
		text_add(out, "%s,", columns[i].key);
	text_add(out, "metric,value\r\n");
}

void report_csv_run(struct text *out, const json_t *run)
{
	const json_t *summary = json_object_get(run, "summary");
	const json_t *figures = json_object_get(run, "measured");
	struct text prefix = {0};
	bool any = false;

	for (size_t i = 0; i < COLUMNS; i++) {
		const json_t *object = columns[i].object ? json_object_get(run, columns[i].object)
		                                         : run;
		value_add(&prefix, json_object_get(object, columns[i].key));
		text_add(&prefix, ",");
	}
	out->broken |= prefix.broken;
	for (size_t i = 0; prefix.data && measured[i]; i++) {
		const json_t *value = json_object_get(figures, measured[i]);
		if (!json_is_number(value))
			continue;
		row_add(out, prefix.data, measured[i], value);
		any = true;
	}
	for (size_t i = 0; prefix.data && i < SUMMARY_FIELD_COUNT; i++) {
		const json_t *value = json_object_get(summary, summary_field_name(i));
		if (!json_is_number(value))
			continue;
		row_add(out, prefix.data, summary_field_name(i), value);
		any = true;
	}
	if (prefix.data)
		probes_add(out, prefix.data, run);
	if (!any && prefix.data) /* what was skipped keeps its reason */
		row_add(out, prefix.data, "", NULL);
	text_free(&prefix);
}
