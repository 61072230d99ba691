/* Cases of scenarios as a part of a document in Markdown: see scenario_view.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/report.h"
#include "analysis/scenario_view.h"

enum { GANTT_COLUMNS = 100, STEPS_MAX = 12, LINES_MAX = 24 };

static const char *mode_of(const json_t *result)
{
	return scenario_string_at(result, "plan", "mode");
}

static bool same_scenario(const json_t *a, const json_t *b)
{
	return strcmp(scenario_string_at(a, "plan", "scenario"),
	              scenario_string_at(b, "plan", "scenario")) == 0;
}

static void add_row(struct text *out, const json_t *result)
{
	char name[REPORT_NAME_SIZE];
	const char *why = json_string_value(json_object_get(result, "why"));
	const char *status = json_string_value(json_object_get(result, "status"));

	text_add(out, "| %s | ", report_escape(name, mode_of(result)));
	scenario_published(out, result);
	if (!json_is_object(json_object_get(result, "measured"))) {
		text_add(out, " | %s: ", report_escape(name, status));
		text_add(out, "%s | | | | | | | |\n", report_escape(name, why));
		return;
	}
	text_add(out, " | %s | %s | %s | %s",
	         format_time(scenario_number_at(result, "measured", "total_ns")).text,
	         format_time(scenario_number_at(result, "summary", "latency_p50_ns")).text,
	         format_time(scenario_number_at(result, "summary", "latency_p99_ns")).text,
	         format_percent(scenario_number_at(result, "summary", "success_share")).text);
	text_add(out, " | %s | %s | %s | %s |\n",
	         format_count(scenario_number_at(result, "measured", "threads_max")).text,
	         format_mean(scenario_number_at(result, "summary", "threads_parked_mean")).text,
	         format_ratio(scenario_number_at(result, "summary", "held_per_in_flight")).text,
	         format_bytes(scenario_number_at(result, "measured", "memory_max_bytes")).text);
}

/* A line of three backquotes would end the block; names in it are ASCII. */
static void add_gantt(struct text *out, const json_t *result)
{
	if (!json_array_size(json_object_get(result, "calls")))
		return;
	text_add(out, "\n```text\n");
	scenario_gantt(out, result, GANTT_COLUMNS);
	text_add(out, "```\n");
}

static void add_case(struct text *out, const json_t *result)
{
	const char *because = json_string_value(json_object_get(result, "because"));
	const json_t *findings = json_object_get(result, "findings"), *finding;
	const json_t *failures = json_object_get(json_object_get(result, "measured"), "failures");
	const json_t *count;
	char escaped[REPORT_NAME_SIZE];
	const char *key;
	size_t i;

	if (!json_is_object(json_object_get(result, "measured")))
		return;
	text_add(out, "\n**%s**: ", report_escape(escaped, mode_of(result)));
	text_add(out, "%s\n",
	         report_escape(escaped,
	                       because ? because : scenario_string_at(result, "plan", "summary")));
	add_gantt(out, result);
	json_object_foreach((json_t *)failures, key, count)
	    text_add(out, "\n* failed: %s, %s", format_count(json_number_value(count)).text,
	             report_escape(escaped, key));
	json_array_foreach((json_t *)findings, i, finding)
	{
		const char *tag = json_string_value(json_object_get(finding, "tag"));
		const char *says = json_string_value(json_object_get(finding, "text"));

		text_add(out, "\n* **%s**: ", report_escape(escaped, tag ? tag : "?"));
		text_add(out, "%s", report_escape(escaped, says ? says : ""));
	}
	text_add(out, "\n");
}

static void add_setting(struct text *out, json_t *const *results, size_t count, size_t first)
{
	text_add(out, "\n### ");
	scenario_setting(out, results[first]);
	text_add(out, "\n\n| mode | published | total | p50 | p99 | good | threads | parked | "
	              "held per call | memory |\n"
	              "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|\n");
	for (size_t i = first; i < count; i++)
		if (scenario_same_setting(results[i], results[first]))
			add_row(out, results[i]);
	for (size_t i = first; i < count; i++)
		if (scenario_same_setting(results[i], results[first]))
			add_case(out, results[i]);
}

/* The whole numbers of a setting that can grow: calls, users, files. */
static const char *step_name(const json_t *result)
{
	static const char *const names[] = {"calls", "users", "files"};
	const json_t *setting = json_object_get(json_object_get(result, "plan"), "setting");

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (json_is_number(json_object_get(setting, names[i])))
			return names[i];
	return NULL;
}

static double step_of(const json_t *result, const char *name)
{
	const json_t *setting = json_object_get(json_object_get(result, "plan"), "setting");

	return name ? json_number_value(json_object_get(setting, name)) : NAN;
}

/* The modes of one scenario in one form are the lines of a table over the steps. */
struct steps {
	const char *name;
	double at[STEPS_MAX];
	size_t count;
	const json_t *line[LINES_MAX];
	size_t lines;
};

static const json_t *setting_of(const json_t *result, const char *key)
{
	return json_object_get(json_object_get(json_object_get(result, "plan"), "setting"), key);
}

static const char *form_of(const json_t *result)
{
	const char *form = json_string_value(setting_of(result, "form"));

	return form ? form : "";
}

/* A form or a delay that differs is another experiment. */
static bool same_series(const json_t *a, const json_t *b)
{
	return same_scenario(a, b) && strcmp(form_of(a), form_of(b)) == 0 &&
	       json_number_value(setting_of(a, "delay_ns")) ==
	           json_number_value(setting_of(b, "delay_ns"));
}

static void steps_add(struct steps *s, const json_t *result)
{
	const double at = step_of(result, s->name);
	size_t i = 0;

	while (i < s->count && s->at[i] < at)
		i++;
	if ((i == s->count || s->at[i] != at) && s->count < STEPS_MAX) {
		memmove(&s->at[i + 1], &s->at[i], (s->count - i) * sizeof s->at[0]);
		s->at[i] = at;
		s->count++;
	}
	for (i = 0; i < s->lines; i++)
		if (strcmp(mode_of(s->line[i]), mode_of(result)) == 0)
			return;
	if (s->lines < LINES_MAX)
		s->line[s->lines++] = result;
}

static const json_t *step_find(json_t *const *results, size_t count, const struct steps *s,
                               size_t line, size_t step)
{
	for (size_t i = 0; i < count; i++)
		if (same_series(results[i], s->line[line]) &&
		    strcmp(mode_of(results[i]), mode_of(s->line[line])) == 0 &&
		    step_of(results[i], s->name) == s->at[step])
			return results[i];
	return NULL;
}

static void steps_table(struct text *out, json_t *const *results, size_t count,
                        const struct steps *s, const char *what, const char *part,
                        const char *field)
{
	const double delay_ns = json_number_value(setting_of(s->line[0], "delay_ns"));
	char name[REPORT_NAME_SIZE];

	text_add(out, "\n%s against %s", what, s->name);
	if (*form_of(s->line[0]))
		text_add(out, ", %s", report_escape(name, form_of(s->line[0])));
	if (delay_ns > 0)
		text_add(out, ", delay %s", format_time(delay_ns).text);
	text_add(out, ":\n\n| mode |");
	for (size_t i = 0; i < s->count; i++)
		text_add(out, " %s |", format_count(s->at[i]).text);
	text_add(out, "\n|---|");
	for (size_t i = 0; i < s->count; i++)
		text_add(out, "--:|");
	for (size_t line = 0; line < s->lines; line++) {
		text_add(out, "\n| %s |", report_escape(name, mode_of(s->line[line])));
		for (size_t i = 0; i < s->count; i++) {
			const json_t *result = step_find(results, count, s, line, i);
			const double value = result ? scenario_number_at(result, part, field) : NAN;

			text_add(out, " %s |",
			         strstr(field, "_ns")      ? format_time(value).text
			         : strstr(field, "_bytes") ? format_bytes(value).text
			                                   : format_count(value).text);
		}
	}
	text_add(out, "\n");
}

static void add_steps(struct text *out, json_t *const *results, size_t count, size_t first)
{
	struct steps s = {.name = step_name(results[first])};

	if (!s.name)
		return;
	for (size_t i = first; i < count; i++)
		if (same_series(results[i], results[first]) && step_name(results[i]))
			steps_add(&s, results[i]);
	if (s.count < 2)
		return;
	steps_table(out, results, count, &s, "Total time", "measured", "total_ns");
	steps_table(out, results, count, &s, "Threads", "measured", "threads_max");
	steps_table(out, results, count, &s, "Latency, 99th percentile,", "summary",
	            "latency_p99_ns");
	steps_table(out, results, count, &s, "Memory", "measured", "memory_max_bytes");
}

static bool is_first(json_t *const *results, size_t index,
                     bool (*same)(const json_t *a, const json_t *b))
{
	for (size_t i = 0; i < index; i++)
		if (same(results[i], results[index]))
			return false;
	return true;
}

void scenario_markdown(struct text *out, json_t *const *results, size_t count)
{
	char name[REPORT_NAME_SIZE];

	for (size_t i = 0; i < count; i++) {
		if (!is_first(results, i, same_scenario))
			continue;
		text_add(out, "%s## %s\n", i ? "\n" : "",
		         report_escape(name, scenario_string_at(results[i], "plan", "scenario")));
		for (size_t k = i; k < count; k++)
			if (same_scenario(results[k], results[i]) &&
			    is_first(results, k, same_series))
				add_steps(out, results, count, k);
		for (size_t k = i; k < count; k++)
			if (same_scenario(results[k], results[i]) &&
			    is_first(results, k, scenario_same_setting))
				add_setting(out, results, count, k);
	}
}
