/* The page around the results, and what it says as a whole: see report_page.h. */
#include "analysis/report_page.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/format.h"
#include "analysis/report.h"
#include "analysis/text.h"
#include "analysis/verdict.h"

/* Laid into the program by the linker, of build/page/report.html. */
extern const char _binary_report_html_start[], _binary_report_html_end[];

const char *report_page_embedded(size_t *length)
{
	*length = (size_t)(_binary_report_html_end - _binary_report_html_start);
	return _binary_report_html_start;
}

json_t *report_page_name(const char *name)
{
	char safe[4000];

	return name ? json_string(format_name(safe, sizeof safe, name, 950, false)) : json_null();
}

static json_t *groups_json(const struct groups *g)
{
	json_t *all = json_array();
	char title[300], verdict[VERDICT_SIZE];

	for (size_t k = 0; k < g->group_count; k++) {
		group_title(g, &g->groups[k], title, sizeof title);
		verdict_group(g, k, verdict);
		json_array_append_new(all, json_pack("{s:o, s:o}", "title", report_page_name(title),
		                                     "verdict", report_page_name(verdict)));
	}
	return all;
}

static json_t *string_take(struct text *text)
{
	json_t *string = text->broken ? NULL : json_string(text->data ? text->data : "");

	text_free(text);
	return string;
}

/* What is prose in the document is prose here: the page sets its Markdown. */
static int prose_set(json_t *data, const struct groups *g, json_t *const *runs, size_t count)
{
	struct text environment = {0}, method = {0}, losses = {0}, twins = {0};

	report_environment(&environment, g);
	report_method(&method, g);
	report_losses(&losses, g);
	if (report_twins(&twins, runs, count) != 0)
		twins.broken = true;
	json_t *prose = json_pack("[o?, o?, o?, o?]", string_take(&environment),
	                          string_take(&method), string_take(&twins), string_take(&losses));
	return json_object_set_new(data, "prose", prose);
}

static json_t *states_json(void)
{
	json_t *states = json_array();

	for (size_t s = 0; s < VIEW_STATE_COUNT; s++)
		json_array_append_new(states, json_string(view_state_names[s]));
	return states;
}

/* The whole of the data. NULL: no memory. */
static json_t *page_data(json_t *const *runs, size_t count)
{
	struct groups g;
	char answer[VERDICT_SIZE], noise[VERDICT_SIZE], probe[240];

	if (groups_make(&g, runs, count) != 0)
		return NULL;
	verdict_answer(&g, answer);
	verdict_noise(&g, noise);
	probe_sentence(&g, probe, sizeof probe);
	json_t *data = json_pack("{s:s, s:o, s:o, s:o, s:I, s:I, s:I}", "schema", "iostudy/page/1",
	                         "answer", report_page_name(answer), "noise",
	                         report_page_name(noise), "probe", report_page_name(probe),
	                         "run_count", (json_int_t)(g.run_count - g.twins), "twin_count",
	                         (json_int_t)g.twins, "unreadable", (json_int_t)g.unreadable);
	int err = json_object_set_new(data, "states", states_json());
	err |= json_object_set_new(data, "quantiles", report_page_quantiles());
	err |= json_object_set_new(data, "groups", groups_json(&g));
	err |= json_object_set_new(data, "cells", report_page_cells(&g, runs));
	err |= json_object_set_new(data, "runs", report_page_runs(&g, runs));
	err |= json_object_set_new(data, "facts", report_page_facts(runs, count));
	err |= prose_set(data, &g, runs, count);
	groups_free(&g);
	if (err) {
		json_decref(data);
		return NULL;
	}
	return data;
}

/* The data as text in which no tag can begin or end: "<" occurs in strings alone, and there it may
 * stand as an escape. */
static char *data_text(const json_t *data)
{
	char *json = json_dumps(data, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(6));
	size_t tags = 0;

	if (!json)
		return NULL;
	for (const char *c = json; *c; c++)
		tags += *c == '<';
	char *text = malloc(strlen(json) + 5 * tags + 1), *to = text;
	for (const char *c = json; text && *c; c++)
		to = *c == '<' ? stpcpy(to, "\\u003c") : (*to = *c, to + 1);
	if (text)
		*to = '\0';
	free(json);
	return text;
}

char *report_page(json_t *const *runs, size_t count, const char *page, size_t page_length)
{
	const size_t mark_length = strlen(REPORT_PAGE_MARK);
	const char *mark = memmem(page, page_length, REPORT_PAGE_MARK, mark_length);
	json_t *data = mark ? page_data(runs, count) : NULL;
	char *text = data ? data_text(data) : NULL, *out = NULL;

	json_decref(data);
	if (text) {
		const size_t before = (size_t)(mark - page), length = strlen(text);
		const size_t after = page_length - before - mark_length;

		out = malloc(before + length + after + 1);
		if (out) {
			memcpy(out, page, before);
			memcpy(out + before, text, length);
			memcpy(out + before + length, mark + mark_length, after);
			out[before + length + after] = '\0';
		}
	}
	free(text);
	return out;
}
