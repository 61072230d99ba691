/* The screen of a scenario: published numbers beside ours. See scenario_view.h. */
#include "analysis/scenario_view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MODE_COLUMNS = 19 };

static bool ends_with(const char *key, const char *end)
{
	const size_t length = strlen(key), part = strlen(end);

	return length > part && strcmp(key + length - part, end) == 0;
}

/* "delay_ns": 1000000000 becomes "delay 1.00s". */
static void add_value(struct text *out, const char *key, const json_t *value)
{
	const bool time = ends_with(key, "_ns"), size = ends_with(key, "_bytes");
	const bool share = ends_with(key, "_share");
	const double number = json_number_value(value);
	char name[60], shown[80];

	snprintf(name, sizeof name, "%.*s",
	         (int)(strlen(key) - (time            ? 3
	                              : size || share ? 6
	                                              : 0)),
	         key);
	for (char *c = name; *c; c++)
		if (*c == '_')
			*c = ' ';
	text_add(out, "%s %s", name,
	         json_is_string(value)
	             ? format_name(shown, sizeof shown, json_string_value(value), 30, true)
	         : time  ? format_time(number).text
	         : size  ? format_bytes(number).text
	         : share ? format_percent(number).text
	                 : format_count(number).text);
}

static void add_values(struct text *out, const json_t *values)
{
	const char *between = "", *key;
	const json_t *value;

	json_object_foreach((json_t *)values, key, value)
	{
		text_add(out, "%s", between);
		add_value(out, key, value);
		between = ", ";
	}
}

void scenario_setting(struct text *out, const json_t *result)
{
	const double scale = scenario_number_at(result, "plan", "time_scale");

	add_values(out, json_object_get(json_object_get(result, "plan"), "setting"));
	if (scale != 1 && !isnan(scale))
		text_add(out, " (times are shrunk: --time-scale %s)", format_ratio(scale).text);
}

void scenario_published(struct text *out, const json_t *result)
{
	add_values(out, json_object_get(result, "published"));
}

static void add_head(struct text *out)
{
	static const char *const heads[] = {"total", "total",   "p50",    "p99",
	                                    "good",  "threads", "parked", "/call"};

	text_cell(out, MODE_COLUMNS, "");
	text_cell(out, -8, "publish.");
	text_cell(out, -8, "ours");
	text_cell(out, -(3 * 8 + 7 + 7 + 7), "held\n");
	text_cell(out, MODE_COLUMNS, "mode");
	for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
		text_cell(out, i == 4 || i > 5 ? -7 : -8, heads[i]);
	text_add(out, "\n");
}

static void add_row(struct text *out, const json_t *result)
{
	char name[80], why[500];
	const char *status = json_string_value(json_object_get(result, "status"));
	static const char *const latencies[] = {"latency_p50_ns", "latency_p99_ns"};

	text_cell(out, MODE_COLUMNS,
	          format_name(name, sizeof name, scenario_string_at(result, "plan", "mode"),
	                      MODE_COLUMNS - 1, true));
	text_cell(out, -8, format_time(scenario_number_at(result, "published", "total_ns")).text);
	if (!json_is_object(json_object_get(result, "measured"))) {
		text_add(out, "  %s: ", status ? status : "?");
		text_wrap(out, MODE_COLUMNS + 12 + strlen(status ? status : "?"), MODE_COLUMNS + 10,
		          TEXT_COLUMNS,
		          format_name(why, sizeof why,
		                      json_string_value(json_object_get(result, "why")),
		                      sizeof why - 1, true));
		return;
	}
	text_cell(out, -8, format_time(scenario_number_at(result, "measured", "total_ns")).text);
	for (size_t i = 0; i < 2; i++)
		text_cell(out, -8,
		          format_time(scenario_number_at(result, "summary", latencies[i])).text);
	text_cell(out, -7,
	          format_percent(scenario_number_at(result, "summary", "success_share")).text);
	text_cell(out, -8,
	          format_count(scenario_number_at(result, "measured", "threads_max")).text);
	const double parked = scenario_number_at(result, "summary", "threads_parked_mean");
	const double held = scenario_number_at(result, "summary", "held_per_in_flight");
	text_cell(out, -7, format_mean(parked).text);
	text_cell(out, -7, format_ratio(held).text);
	text_add(out, "\n");
}

/* What was published, why calls failed, and what a call costs in memory. */
static void add_more(struct text *out, const json_t *result)
{
	const json_t *published = json_object_get(result, "published"), *count;
	const json_t *failures = json_object_get(json_object_get(result, "measured"), "failures");
	const double memory = scenario_number_at(result, "measured", "memory_per_call_bytes");
	char reason[160];
	const char *key;

	if (json_object_size(published)) {
		struct text line = {0};

		scenario_published(&line, result);
		text_add(out, "  published: ");
		text_wrap(out, 13, 4, TEXT_COLUMNS, line.data ? line.data : "");
		text_free(&line);
	}
	json_object_foreach((json_t *)failures, key, count)
	    text_add(out, "  failed: %s, %s\n", format_count(json_number_value(count)).text,
	             format_name(reason, sizeof reason, key, 60, true));
	if (!isnan(memory))
		text_add(out, "  memory for each call: %s\n", format_bytes(memory).text);
}

/* The chart, the reason and the findings of one case. */
static void add_case(struct text *out, const json_t *result)
{
	const char *because = json_string_value(json_object_get(result, "because"));
	const json_t *finding;
	char name[80], text[1200];
	size_t i;

	if (!json_is_object(json_object_get(result, "measured")))
		return;
	text_add(
	    out, "\n%s: ",
	    format_name(name, sizeof name, scenario_string_at(result, "plan", "mode"), 40, true));
	text_wrap(out, strlen(name) + 2, 2, TEXT_COLUMNS,
	          format_name(text, sizeof text,
	                      because ? because : scenario_string_at(result, "plan", "summary"),
	                      sizeof text - 1, true));
	scenario_gantt(out, result, TEXT_COLUMNS);
	add_more(out, result);
	json_array_foreach((json_t *)json_object_get(result, "findings"), i, finding)
	{
		const char *tag = json_string_value(json_object_get(finding, "tag"));
		const char *says = json_string_value(json_object_get(finding, "text"));

		text_add(out, "  %s  ", format_name(name, sizeof name, tag, 24, true));
		text_wrap(out, strlen(name) + 4, 4, TEXT_COLUMNS,
		          format_name(text, sizeof text, says, sizeof text - 1, true));
	}
}

bool scenario_same_setting(const json_t *a, const json_t *b)
{
	return json_equal(json_object_get(json_object_get(a, "plan"), "setting"),
	                  json_object_get(json_object_get(b, "plan"), "setting")) &&
	       strcmp(scenario_string_at(a, "plan", "scenario"),
	              scenario_string_at(b, "plan", "scenario")) == 0;
}

/* The first result of its setting begins the table of all with that setting. */
static bool is_first(json_t *const *results, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (scenario_same_setting(results[i], results[index]))
			return false;
	return true;
}

static void add_table(struct text *out, json_t *const *results, size_t count, size_t first)
{
	struct text setting = {0};
	char name[80];

	text_add(&setting, "%s: ",
	         format_name(name, sizeof name,
	                     scenario_string_at(results[first], "plan", "scenario"), 40, true));
	scenario_setting(&setting, results[first]);
	text_add(out, "%s", out->length ? "\n" : "");
	text_wrap(out, 0, 2, TEXT_COLUMNS, setting.data ? setting.data : "");
	text_add(out, "\n");
	text_free(&setting);
	add_head(out);
	for (size_t i = first; i < count; i++)
		if (scenario_same_setting(results[i], results[first]))
			add_row(out, results[i]);
	text_add(out,
	         "  held per call: threads parked, or running or ready inside its call or wait,\n  "
	         "for each call in flight.\n");
	for (size_t i = first; i < count; i++)
		if (scenario_same_setting(results[i], results[first]))
			add_case(out, results[i]);
}

char *scenario_render(json_t *const *results, size_t count, const struct text_style *style)
{
	struct text out = {0};

	(void)style;
	for (size_t i = 0; i < count; i++)
		if (is_first(results, i))
			add_table(&out, results, count, i);
	if (out.broken)
		text_free(&out);
	return out.data;
}
