/*
 * What stands under the tables: verdicts, findings, details of single runs, what to try next.
 */
#include "analysis/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/verdict.h"

enum { TAG_COLUMNS = 12, ADVICE_MAX = 5, DETAILS_MAX = 4, WARNINGS_MAX = 12 };
enum { MANY_CELLS = 16 }; /* more than that: nobody reads a finding for each */

static const char *string_of(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value ? value : "";
}

/* How a cell is called beside its finding: by what tells it from the others. */
static void cell_name(const struct groups *g, const struct cell *cell, char *out, size_t size)
{
	const struct run_view *v = &cell->view;
	char engine[40], workload[40], wait[20];

	format_name(engine, sizeof engine, v->engine, 24, true);
	format_name(workload, sizeof workload, v->workload, 24, true);
	format_name(wait, sizeof wait, v->wait, 12, true);
	if (g->many_engines && g->group_count > 1)
		snprintf(out, size, "%s, %s", engine, workload);
	else if (g->many_engines)
		snprintf(out, size, "%s", engine);
	else
		snprintf(out, size, "%s %s", workload, v->wait ? wait : "");
}

/* Verdicts are written in ASCII: "+-" becomes what it means, in the same two bytes. */
static void plus_minus(char *verdict, const struct text_style *style)
{
	for (char *at = verdict; !style->ascii && (at = strstr(at, "+-")); at += 2)
		memcpy(at, "±", 2);
}

void text_verdicts(struct text *out, const struct groups *g, const struct text_style *style)
{
	char verdict[VERDICT_SIZE];

	for (size_t k = 0; k < g->group_count; k++) {
		char line[VERDICT_SIZE + 64], workload[40];

		verdict_group(g, k, verdict);
		if (!*verdict)
			continue;
		plus_minus(verdict, style);
		snprintf(line, sizeof line, "%s%s%s",
		         g->group_count > 1
		             ? format_name(workload, sizeof workload,
		                           g->cells[g->groups[k].first].view.workload, 24, true)
		             : "",
		         g->group_count > 1 ? ": " : "", verdict);
		text_wrap(out, 0, 2, TEXT_COLUMNS, line);
	}
	verdict_noise(g, verdict);
	plus_minus(verdict, style);
	if (*verdict)
		text_wrap(out, 0, 2, TEXT_COLUMNS, verdict);
}

static void finding_print(struct text *out, const json_t *finding, const char *where,
                          const struct text_style *style)
{
	const char *confidence = string_of(finding, "confidence");
	const char *class = string_of(finding, "class");
	char tag[40], text[2400], line[2600];

	format_name(tag, sizeof tag, string_of(finding, "tag"), 20, true);
	format_name(text, sizeof text, string_of(finding, "text"), 2000, style->ascii);
	snprintf(line, sizeof line, "%s%s%s%s", where, *where ? ": " : "",
	         strcmp(confidence, "sure") == 0     ? ""
	         : strcmp(confidence, "likely") == 0 ? "likely, not certain: "
	                                             : "cannot be told for certain: ",
	         text);
	if (style->colour)
		text_add(out, "\033[%sm",
		         strcmp(class, "answer") == 0    ? "1;32"
		         : strcmp(class, "problem") == 0 ? "1;33"
		                                         : "1");
	const size_t columns = text_columns(tag);
	text_cell(out, TAG_COLUMNS - 1, tag);
	text_add(out, "%s ", style->colour ? "\033[0m" : "");
	text_wrap(out, columns < TAG_COLUMNS ? TAG_COLUMNS : columns + 1, TAG_COLUMNS, TEXT_COLUMNS,
	          line);
}

/* The finding of that tag in this cell, or NULL. */
static const json_t *cell_finding(const struct cell *cell, const char *tag)
{
	const json_t *findings = json_object_get(cell->run, "findings"), *finding;
	size_t i;

	if (!cell->measured || !json_is_array(findings))
		return NULL;
	json_array_foreach((json_t *)findings, i,
	                   finding) if (strcmp(string_of(finding, "tag"), tag) == 0) return finding;
	return NULL;
}

/* The same sentence but for its numbers. */
static bool alike(const json_t *a, const json_t *b)
{
	static const char numbers[] = "0123456789.,";
	const char *x = string_of(a, "text"), *y = string_of(b, "text");

	for (size_t i = 0; i < 30; i++, x++, y++) {
		x += strspn(x, numbers);
		y += strspn(y, numbers);
		if (*x != *y)
			return false;
		if (!*x)
			break;
	}
	return true;
}

/* Whether two cells share a finding that is then said once: a limit whoever they are, an answer or
 * a problem when they are one engine's. */
static bool shares(const struct groups *g, const char *tag, size_t a, size_t b)
{
	const json_t *one = cell_finding(&g->cells[a], tag),
		     *other = cell_finding(&g->cells[b], tag);

	return one && other && alike(one, other) &&
	       (strcmp(string_of(one, "class"), "limit") == 0 ||
	        name_is(g->cells[a].view.engine, g->cells[b].view.engine));
}

/* Says it once, of all the cells that share it. */
static void shared_print(struct text *out, const struct groups *g, const char *tag, size_t first,
                         const struct text_style *style)
{
	const json_t *said = cell_finding(&g->cells[first], tag);
	const size_t most = strcmp(string_of(said, "class"), "limit") == 0 ? 4 : 1;
	char where[400] = "", name[100];
	size_t named = 0, more = 0;

	for (size_t i = first; i < g->cell_count; i++) {
		const size_t length = strlen(where);

		if (!shares(g, tag, first, i))
			continue;
		cell_name(g, &g->cells[i], name, sizeof name);
		if (strstr(where, name))
			continue;
		if (named == most) {
			more++;
			continue;
		}
		snprintf(where + length, sizeof where - length, "%s%s", named ? "; " : "", name);
		named++;
	}
	if (more) {
		const size_t length = strlen(where);
		snprintf(where + length, sizeof where - length, "; and %zu more", more);
	}
	finding_print(out, said, g->cell_count > 1 ? where : "", style);
}

static bool said_before(const struct groups *g, const char *tag, size_t cell)
{
	for (size_t i = 0; i < cell; i++)
		if (shares(g, tag, i, cell))
			return true;
	return false;
}

/* Returns how many were printed. */
static size_t class_print(struct text *out, const struct groups *g, const char *class,
                          const struct text_style *style)
{
	const bool limit = strcmp(class, "limit") == 0;
	const bool merge = limit || g->cell_count > MANY_CELLS;
	size_t printed = 0;

	for (size_t c = 0; c < g->cell_count; c++) {
		const json_t *findings = json_object_get(g->cells[c].run, "findings"), *finding;
		char where[100] = "";
		size_t i;

		if (!g->cells[c].measured || !json_is_array(findings))
			continue;
		if (g->cell_count > 1)
			cell_name(g, &g->cells[c], where, sizeof where);
		json_array_foreach((json_t *)findings, i, finding)
		{
			const char *tag = string_of(finding, "tag");

			if (strcmp(string_of(finding, "class"), class) != 0 ||
			    (merge && said_before(g, tag, c)))
				continue;
			if (!printed++ && strcmp(class, "answer") != 0)
				text_add(out, "%s:\n", limit ? "Limits" : "Problems");
			if (merge)
				shared_print(out, g, tag, c, style);
			else
				finding_print(out, finding, where, style);
		}
	}
	return printed;
}

static bool warns_of(const struct cell *cell, const char *text)
{
	const json_t *warnings = json_object_get(cell->run, "warnings"), *warning;
	size_t i;

	json_array_foreach((json_t *)warnings, i,
	                   warning) if (name_is(json_string_value(warning), text)) return true;
	return false;
}

/* Once for all the runs that say the same. */
static void warning_print(struct text *out, const struct groups *g, size_t cell,
                          const char *warning, const struct text_style *style)
{
	char where[100], text[700], line[860];
	size_t also = 0;

	for (size_t c = 0; c < g->cell_count; c++) {
		if (c == cell || !warns_of(&g->cells[c], warning))
			continue;
		if (c < cell)
			return;
		also++;
	}
	cell_name(g, &g->cells[cell], where, sizeof where);
	format_name(text, sizeof text, warning, 600, style->ascii);
	if (also && also + 1 == g->cell_count)
		snprintf(line, sizeof line, "all runs: %s", text);
	else if (also)
		snprintf(line, sizeof line, "%s, and %zu more: %s", where, also, text);
	else
		snprintf(line, sizeof line, "%s: %s", where, text);
	text_cell(out, TAG_COLUMNS, "note");
	text_wrap(out, TAG_COLUMNS, TAG_COLUMNS, TEXT_COLUMNS, line);
}

static void warnings_print(struct text *out, const struct groups *g, const struct text_style *style)
{
	for (size_t c = 0; c < g->cell_count; c++) {
		const json_t *warnings = json_object_get(g->cells[c].run, "warnings"), *warning;
		size_t i;

		json_array_foreach((json_t *)warnings, i,
		                   warning) if (json_is_string(warning) && i < WARNINGS_MAX)
		    warning_print(out, g, c, json_string_value(warning), style);
	}
}

void text_findings(struct text *out, const struct groups *g, const struct text_style *style)
{
	class_print(out, g, "answer", style);
	class_print(out, g, "problem", style);
	class_print(out, g, "limit", style);
	warnings_print(out, g, style);
}

/* What is proposed has been done already. */
static bool advice_is_taken(const struct groups *g, const char *advice)
{
	for (size_t i = 0; i < g->cell_count; i++)
		if (name_is(g->cells[i].view.wait, "compute") &&
		    strncmp(advice, "--wait compute", strlen("--wait compute")) == 0)
			return true;
	return false;
}

static bool has_measured(const struct groups *g)
{
	for (size_t i = 0; i < g->cell_count; i++)
		if (g->cells[i].measured)
			return true;
	return false;
}

/* Each piece of advice once, those of problems first. */
void text_next(struct text *out, const struct groups *g, const struct text_style *style)
{
	static const char *const classes[] = {"problem", "limit", "answer"};
	const char *said[ADVICE_MAX];
	char text[700];
	size_t count = 0;

	for (size_t k = 0; k < 3; k++)
		for (size_t c = 0; c < g->cell_count; c++) {
			const json_t *findings = json_object_get(g->cells[c].run, "findings"),
				     *finding;
			size_t i, s;

			if (!g->cells[c].measured || !json_is_array(findings))
				continue;
			json_array_foreach((json_t *)findings, i, finding)
			{
				const char *advice = string_of(finding, "advice");

				if (!*advice || count == ADVICE_MAX || advice_is_taken(g, advice) ||
				    strcmp(string_of(finding, "class"), classes[k]) != 0)
					continue;
				for (s = 0; s < count && strcmp(said[s], advice) != 0; s++)
					;
				if (s == count)
					said[count++] = advice;
			}
		}
	if (!g->many_engines && has_measured(g) && count < ADVICE_MAX)
		said[count++] =
		    "--engine basic runs the same work through other engines side by side.";
	if (count)
		text_add(out, "Try next:\n");
	for (size_t i = 0; i < count; i++) {
		text_add(out, "  ");
		text_wrap(out, 2, 4, TEXT_COLUMNS,
		          format_name(text, sizeof text, said[i], 600, style->ascii));
	}
}

char *text_render_groups(const struct groups *groups, const struct text_style *style)
{
	struct text out = {0};

	if (groups->cell_count) {
		text_headline(&out, groups, style);
		text_tables(&out, groups, style);
		text_probes(&out, groups, style);
		text_verdicts(&out, groups, style);
		text_findings(&out, groups, style);
		if (!style->brief && !groups->many_engines && groups->cell_count <= DETAILS_MAX)
			text_details(&out, groups, style);
		if (!style->brief)
			text_next(&out, groups, style);
	}
	if (groups->unreadable)
		text_add(&out, "%zu runs could not be read and are left out.\n",
		         groups->unreadable);
	text_add(&out, "%s", ""); /* no run gives an empty text, not none */
	if (out.broken)
		text_free(&out);
	return out.data;
}

char *text_render(json_t *const *runs, size_t count, const struct text_style *style)
{
	struct groups groups;

	if (groups_make(&groups, runs, count) != 0)
		return NULL;
	char *text = text_render_groups(&groups, style);
	groups_free(&groups);
	return text;
}
