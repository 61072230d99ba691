/* The page around the results, and what it says as a whole: see report_page.h. */
#include "analysis/report_page.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/format.h"
#include "analysis/report.h"
#include "analysis/text.h"
#include "analysis/verdict.h"

enum { PIECE_BYTES = 1 << 18 };

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
static int prose_set(json_t *data, const struct digest *d)
{
	struct text environment = {0}, probes = {0}, method = {0}, losses = {0}, twins = {0};

	report_environment(&environment, &d->groups);
	report_probes(&probes, &d->groups);
	report_method(&method, &d->groups);
	report_losses(&losses, &d->groups);
	if (report_twins(&twins, &d->twins) != 0)
		twins.broken = true;
	json_t *prose = json_pack("[o?, o?, o?, o?, o?]", string_take(&environment),
	                          string_take(&method), string_take(&probes), string_take(&twins),
	                          string_take(&losses));
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
static json_t *page_data(const struct digest *d)
{
	const struct groups *g = &d->groups;
	char answer[VERDICT_SIZE], noise[VERDICT_SIZE], probe[240];

	verdict_answer(g, answer);
	verdict_noise(g, noise);
	probe_sentence(g, probe, sizeof probe);
	json_t *data = json_pack("{s:s, s:o, s:o, s:o, s:I, s:I, s:I}", "schema", "iostudy/page/1",
	                         "answer", report_page_name(answer), "noise",
	                         report_page_name(noise), "probe", report_page_name(probe),
	                         "run_count", (json_int_t)(g->run_count - g->twins), "twin_count",
	                         (json_int_t)g->twins, "unreadable", (json_int_t)g->unreadable);
	int err = json_object_set_new(data, "states", states_json());
	err |= json_object_set_new(data, "quantiles", report_page_quantiles());
	err |= json_object_set_new(data, "groups", groups_json(g));
	err |= json_object_set_new(data, "figures", report_page_figures());
	err |= json_object_set_new(data, "cells", report_page_cells(d));
	err |= json_object_set_new(data, "runs", report_page_runs(d));
	err |= json_object_set_new(data, "facts", report_page_facts(&d->tests));
	err |= prose_set(data, d);
	if (err) {
		json_decref(data);
		return NULL;
	}
	return data;
}

/* A browser takes quadratic time for one long element: further ones follow it. */
static void piece_add(struct text *out, const char *from, const char *to, size_t *room)
{
	while (from < to) {
		const size_t left = (size_t)(to - from), length = left < *room ? left : *room;

		text_add(out, "%.*s", (int)length, from);
		from += length;
		*room -= length;
		if (!*room) {
			text_add(out, "</script>\n<script type=\"application/json\">");
			*room = PIECE_BYTES;
		}
	}
}

/* The data as text in which no tag can begin or end: "<" occurs in strings alone, and there it may
 * stand as an escape. */
static void data_add(struct text *out, const json_t *data)
{
	char *json = json_dumps(data, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(6));
	size_t room = PIECE_BYTES;

	if (!json)
		out->broken = true;
	for (const char *from = json; from && *from;) {
		const char *to = strchrnul(from, '<');

		piece_add(out, from, to, &room);
		if (*to)
			text_add(out, "\\u003c");
		from = to + (*to != '\0');
	}
	free(json);
}

char *report_page(const struct digest *digest, const char *page, size_t page_length)
{
	const char *mark = memmem(page, page_length, REPORT_PAGE_MARK, strlen(REPORT_PAGE_MARK));
	json_t *data = mark ? page_data(digest) : NULL;
	struct text out = {.broken = !data};

	text_add(&out, "%.*s", mark ? (int)(mark - page) : 0, page);
	data_add(&out, data);
	if (mark) {
		mark += strlen(REPORT_PAGE_MARK);
		text_add(&out, "%.*s", (int)(page + page_length - mark), mark);
	}
	json_decref(data);
	if (out.broken)
		text_free(&out);
	return out.data;
}
