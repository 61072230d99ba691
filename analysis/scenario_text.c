/* The screen of a scenario: published numbers beside ours. See scenario_view.h. */
#include "analysis/scenario_view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MODE_COLUMNS = 18 };

void scenario_setting(struct text *out, const json_t *result)
{
	const json_t *setting = json_object_get(json_object_get(result, "plan"), "setting");
	const char *between = "", *key;
	const json_t *value;
	char name[40], shown[80];

	json_object_foreach((json_t *)setting, key, value)
	{
		const size_t length = strlen(key);
		const bool time = length > 3 && strcmp(key + length - 3, "_ns") == 0;
		const bool size = length > 6 && strcmp(key + length - 6, "_bytes") == 0;

		snprintf(name, sizeof name, "%.*s", (int)(length - (time ? 3 : size ? 6 : 0)), key);
		text_add(out, "%s%s ", between, name);
		if (json_is_string(value))
			text_add(
			    out, "%s",
			    format_name(shown, sizeof shown, json_string_value(value), 30, true));
		else if (time)
			text_add(out, "%s", format_time(json_number_value(value)).text);
		else if (size)
			text_add(out, "%s", format_bytes(json_number_value(value)).text);
		else
			text_add(out, "%s", format_count(json_number_value(value)).text);
		between = ", ";
	}
}

static void add_head(struct text *out)
{
	static const char *const heads[] = {"total", "total",   "p50",    "p99",
	                                    "good",  "threads", "parked", "/call"};

	text_cell(out, MODE_COLUMNS, "");
	text_cell(out, -8, "publish.");
	text_cell(out, -8, "ours");
	text_cell(out, -(4 * 8 + 7 + 7), "held\n");
	text_cell(out, MODE_COLUMNS, "mode");
	for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
		text_cell(out, i < 6 ? -8 : -7, heads[i]);
	text_add(out, "\n");
}

static void add_row(struct text *out, const json_t *result)
{
	char name[80], why[500];
	const char *status = json_string_value(json_object_get(result, "status"));

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
	text_cell(out, -8,
	          format_time(scenario_number_at(result, "summary", "latency_p50_ns")).text);
	text_cell(out, -8,
	          format_time(scenario_number_at(result, "summary", "latency_p99_ns")).text);
	text_cell(out, -8,
	          format_percent(scenario_number_at(result, "summary", "success_share")).text);
	text_cell(out, -8,
	          format_count(scenario_number_at(result, "measured", "threads_max")).text);
	text_cell(out, -8,
	          format_mean(scenario_number_at(result, "summary", "threads_parked_mean")).text);
	text_cell(out, -9,
	          format_ratio(scenario_number_at(result, "summary", "held_per_in_flight")).text);
	text_add(out, "\n");
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
	json_array_foreach((json_t *)json_object_get(result, "findings"), i, finding)
	{
		const char *tag = json_string_value(json_object_get(finding, "tag"));
		const char *says = json_string_value(json_object_get(finding, "text"));

		text_add(out, "  %s  ", format_name(name, sizeof name, tag, 24, true));
		text_wrap(out, strlen(name) + 4, 4, TEXT_COLUMNS,
		          format_name(text, sizeof text, says, sizeof text - 1, true));
	}
}

static bool same_setting(const json_t *a, const json_t *b)
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
		if (same_setting(results[i], results[index]))
			return false;
	return true;
}

static void add_table(struct text *out, json_t *const *results, size_t count, size_t first)
{
	char name[80];

	text_add(out, "%s%s: ", out->length ? "\n" : "",
	         format_name(name, sizeof name,
	                     scenario_string_at(results[first], "plan", "scenario"), 40, true));
	scenario_setting(out, results[first]);
	text_add(out, "\n\n");
	add_head(out);
	for (size_t i = first; i < count; i++)
		if (same_setting(results[i], results[first]))
			add_row(out, results[i]);
	text_add(out, "  held per call: threads parked, or running or ready inside the call or "
	              "wait, for\n  each call in flight.\n");
	for (size_t i = first; i < count; i++)
		if (same_setting(results[i], results[first]))
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
