/* The document's frame, its tables and its bars: see report.h. */
#include "analysis/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/text.h"
#include "analysis/verdict.h"

enum { BAR_COLUMNS = 40 };

char *report_escape(char out[REPORT_NAME_SIZE], const char *name)
{
	char safe[REPORT_NAME_SIZE / 2];
	size_t at = 0;

	format_name(safe, sizeof safe, name, 500, false);
	for (const char *c = safe; *c && at + 8 < REPORT_NAME_SIZE; c++) {
		const char *entity = *c == '<'   ? "&lt;"
		                     : *c == '>' ? "&gt;"
		                     : *c == '&' ? "&amp;"
		                                 : NULL;

		if (entity) {
			memcpy(out + at, entity, strlen(entity));
			at += strlen(entity);
			continue;
		}
		if (strchr("\\`*_[]#|~", *c))
			out[at++] = '\\';
		out[at++] = *c;
	}
	out[at] = '\0';
	return out;
}

char *report_cell_name(char out[REPORT_NAME_SIZE], const struct groups *g, const struct cell *cell)
{
	char name[150], engine[40], workload[40], wait[20], table[30] = "";

	if (g->group_count > 1)
		snprintf(table, sizeof table, " (table %zu)", cell->group + 1);
	snprintf(name, sizeof name, "%s %s %s%s",
	         format_name(engine, sizeof engine, cell->view.engine, 30, false),
	         format_name(workload, sizeof workload, cell->view.workload, 30, false),
	         format_name(wait, sizeof wait, cell->view.wait, 12, false), table);
	return report_escape(out, name);
}

static void no_figures(struct text *out, const struct cell *cell)
{
	char why[REPORT_NAME_SIZE];
	const struct run_view *v = &cell->view;

	text_add(out, "%s: %s", v->status == VIEW_SKIPPED ? "skipped" : "**failed**",
	         report_escape(why, v->why          ? v->why
	                            : v->wrong > 0  ? "requests brought wrong data"
	                            : v->errors > 0 ? "requests failed"
	                                            : "no reason was kept"));
}

static void results_row(struct text *out, const struct cell *cell)
{
	const struct summary *s = &cell->summary;
	char engine[REPORT_NAME_SIZE], workload[REPORT_NAME_SIZE], wait[REPORT_NAME_SIZE];

	text_add(out, "| %s | %s | %s | %s |", report_escape(engine, cell->view.engine),
	         report_escape(workload, cell->view.workload), report_escape(wait, cell->view.wait),
	         format_count(cell->view.depth).text);
	if (!cell->measured) {
		text_add(out, " ");
		no_figures(out, cell);
		text_add(out, " | | | | | | | |\n");
		return;
	}
	text_add(out, " %s | %s | %s | %s | %s | %s", format_mean(s->in_flight_mean).text,
	         format_mean(s->served_mean).text, format_mean(s->threads_parked_mean).text,
	         format_mean(s->threads_held_mean).text, format_ratio(s->held_per_served).text,
	         format_count(s->iops).text);
	if (cell->measured > 1)
		text_add(out, " ± %s", format_count(cell->iops_deviation).text);
	text_add(out, " | %s | %s |\n", format_time(s->latency_p50_ns).text,
	         format_time(s->latency_p99_ns).text);
}

/* Tables of one study may differ in nothing but depth. */
static void title_make(const struct groups *g, size_t k, char out[300])
{
	const double depth = g->cells[g->groups[k].first].view.depth;
	bool differs = false;

	group_title(g, &g->groups[k], out, 300);
	for (size_t i = 0; g->many_engines && !differs && i < g->cell_count; i++)
		differs = g->cells[i].view.depth != g->cells[0].view.depth;
	if (differs)
		snprintf(out + strlen(out), 300 - strlen(out), ", depth %s",
		         format_count(depth).text);
}

static void report_results(struct text *out, const struct groups *g)
{
	char title[300], escaped[REPORT_NAME_SIZE], verdict[VERDICT_SIZE];

	text_add(out, "## Results\n\n");
	for (size_t k = 0; k < g->group_count; k++) {
		title_make(g, k, title);
		text_add(out, "### ");
		if (g->group_count > 1)
			text_add(out, "Table %zu: ", k + 1);
		text_add(out, "%s\n\n", report_escape(escaped, title));
		text_add(
		    out,
		    "| engine | workload | --wait | asked | in flight | served | parked | held "
		    "| held/served | per s | p50 | p99 |\n"
		    "|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n");
		for (size_t i = 0; i < g->cell_count; i++)
			if (g->cells[i].group == k)
				results_row(out, &g->cells[i]);
		verdict_group(g, k, verdict);
		if (*verdict)
			text_add(out, "\n%s\n", report_escape(escaped, verdict));
		text_add(out, "\n");
	}
	verdict_noise(g, verdict);
	if (*verdict)
		text_add(out, "%s\n\n", report_escape(escaped, verdict));
	text_add(out,
	         "*Parked*: off the CPU until I/O completes. *Held*: parked, or running or ready "
	         "inside that same call or wait. *Served*: the requests on which the kernel or "
	         "the peer works, without those that wait for a worker. *Held/served*: threads "
	         "held for each request being served. `-`: not measured.\n\n");
}

static void bar(struct text *out, const char *engine, const char *what, double value, double most)
{
	char bar[BAR_COLUMNS + 1];
	const double share = quotient(value, most);
	size_t length = isnan(share) ? 0 : (size_t)(share * BAR_COLUMNS + 0.5);

	if (length > BAR_COLUMNS)
		length = BAR_COLUMNS;
	memset(bar, '#', length);
	bar[length] = '\0';
	/* little is not nothing */
	text_cell(out, 22, engine);
	text_cell(out, 10, what);
	text_cell(out, BAR_COLUMNS + 1, !length && value > 0 ? "." : bar);
	text_add(out, "%s\n", format_mean(value).text);
}

/* A line of three backquotes would end the block. */
static void backquotes_away(char *line)
{
	while ((line = strchr(line, '`')))
		*line = '\'';
}

void report_bars(struct text *out, const struct groups *g)
{
	char title[300], name[100], engine[40], wait[20];

	text_add(out, "## Requests in flight against threads\n\n");
	for (size_t k = 0; k < g->group_count; k++) {
		double most = 0;

		for (size_t i = 0; i < g->cell_count; i++) {
			const struct summary *s = &g->cells[i].summary;
			if (g->cells[i].group != k || !g->cells[i].measured)
				continue;
			most = fmax(most, fmax(s->in_flight_mean, s->threads_held_mean));
		}
		title_make(g, k, title);
		backquotes_away(title);
		text_add(out, "```text\n%s\n", title);
		for (size_t i = 0; i < g->cell_count; i++) {
			const struct cell *cell = &g->cells[i];
			if (cell->group != k || !cell->measured)
				continue;
			snprintf(name, sizeof name, "%s %s",
			         format_name(engine, sizeof engine, cell->view.engine, 13, true),
			         format_name(wait, sizeof wait, cell->view.wait, 7, true));
			backquotes_away(name);
			bar(out, name, "in flight", cell->summary.in_flight_mean, most);
			bar(out, "", "parked", cell->summary.threads_parked_mean, most);
			bar(out, "", "held", cell->summary.threads_held_mean, most);
		}
		text_add(out, "```\n\n");
	}
}

char *report_markdown(const struct digest *digest)
{
	const struct groups *g = &digest->groups;
	struct text out = {0};
	char answer[VERDICT_SIZE], escaped[REPORT_NAME_SIZE], sentence[240];

	verdict_answer(g, answer);
	probe_sentence(g, sentence, sizeof sentence);
	text_add(&out,
	         "# Which threads waited for the I/O?\n\n**%s**\n\n%s %zu runs in %zu cells.\n\n",
	         report_escape(escaped, answer), sentence, g->run_count - g->twins, g->cell_count);
	if (g->unreadable)
		text_add(&out, "%zu runs could not be read and are left out.\n\n", g->unreadable);
	report_results(&out, g);
	report_bars(&out, g);
	report_findings(&out, g);
	report_states(&out, g);
	report_probes(&out, g);
	report_completions(&out, g);
	report_arrivals(&out, g);
	report_workers(&out, g);
	if (report_expectations(&out, &digest->tests) != 0 ||
	    report_twins(&out, &digest->twins) != 0)
		out.broken = true;
	report_environment(&out, g);
	report_method(&out, g);
	report_losses(&out, g);
	if (out.broken)
		text_free(&out);
	return out.data;
}
