/* Findings, states and completions of the document: see report.h. */
#include "analysis/report.h"

#include <math.h>
#include <string.h>

static const char *string_of(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value ? value : "";
}

static void evidence_add(struct text *out, const json_t *evidence)
{
	char escaped[REPORT_NAME_SIZE];
	const char *name;
	const json_t *value;
	bool first = true;

	json_object_foreach((json_t *)evidence, name, value)
	{
		const size_t length = strlen(name);
		const double number = json_number_value(value);

		if (!json_is_number(value))
			continue;
		text_add(out, "%s%s %s", first ? " Evidence: " : ", ", report_escape(escaped, name),
		         length > 3 && strcmp(name + length - 3, "_ns") == 0
		             ? format_time(number).text
		         : number == floor(number) ? format_count(number).text
		                                   : format_fixed(number, 4).text);
		first = false;
	}
	if (!first)
		text_add(out, ".");
}

static void class_add(struct text *out, const struct groups *g, const char *class)
{
	char escaped[REPORT_NAME_SIZE];

	for (size_t c = 0; c < g->cell_count; c++) {
		const json_t *findings = json_object_get(g->cells[c].run, "findings"), *finding;
		size_t i;

		if (!g->cells[c].measured || !json_is_array(findings))
			continue;
		json_array_foreach((json_t *)findings, i, finding)
		{
			if (strcmp(string_of(finding, "class"), class) != 0)
				continue;
			text_add(out, "* **%s** (%s, ",
			         report_escape(escaped, string_of(finding, "tag")), class);
			text_add(out, "%s; ", report_cell_name(escaped, g, &g->cells[c]));
			text_add(out,
			         "%s): ", report_escape(escaped, string_of(finding, "confidence")));
			text_add(out, "%s", report_escape(escaped, string_of(finding, "text")));
			evidence_add(out, json_object_get(finding, "evidence"));
			if (*string_of(finding, "advice"))
				text_add(out, " *Try*: %s",
				         report_escape(escaped, string_of(finding, "advice")));
			text_add(out, "\n");
		}
	}
}

void report_findings(struct text *out, const struct groups *g)
{
	text_add(out, "## Findings\n\n");
	class_add(out, g, "answer");
	class_add(out, g, "problem");
	class_add(out, g, "limit");
	text_add(out, "\n");
}

void report_states(struct text *out, const struct groups *g)
{
	char name[REPORT_NAME_SIZE];

	text_add(out,
	         "## What the threads did\n\nThreads in each state, on average over the window; "
	         "their sum is the threads alive.\n\n| run | kind | at most |");
	for (size_t s = 0; s < VIEW_STATE_COUNT; s++)
		text_add(out, " %s |", view_state_names[s]);
	text_add(out, " in the call: running | ready | parks |\n|---|---|--:|");
	for (size_t s = 0; s < VIEW_STATE_COUNT + 3; s++)
		text_add(out, "--:|");
	text_add(out, "\n");
	for (size_t i = 0; i < g->cell_count; i++) {
		const struct run_view *v = &g->cells[i].view;
		const struct view_probe *probe = view_headline(v);

		for (size_t k = 0; probe && g->cells[i].measured && k < VIEW_KIND_COUNT; k++) {
			const struct view_kind *kind = &probe->kinds[k];
			if (!kind->present)
				continue;
			text_add(out, "| %s | %s | %s |", report_cell_name(name, g, &g->cells[i]),
			         view_kind_names[k], format_count(kind->threads_max).text);
			for (size_t s = 0; s < VIEW_STATE_COUNT; s++)
				text_add(out, " %s |",
				         format_mean(probe_mean(probe, v, kind->state_ns[s])).text);
			text_add(out, " %s | %s | %s |\n",
			         format_mean(probe_mean(probe, v, kind->in_call_running_ns)).text,
			         format_mean(probe_mean(probe, v, kind->in_call_runnable_ns)).text,
			         format_count(kind->parks).text);
		}
	}
	text_add(out, "\n");
}

static void shares_add(struct text *out, const double *counts, size_t count)
{
	double all = 0;

	for (size_t i = 0; i < count; i++)
		all += counts[i];
	for (size_t i = 0; i < count; i++)
		text_add(out, " %s |", format_percent(quotient(counts[i], all)).text);
}

void report_completions(struct text *out, const struct groups *g)
{
	char name[REPORT_NAME_SIZE];

	text_add(out,
	         "## Where completions arrived, and whom they borrowed\n\n"
	         "The device's half of a completion arrives in an interrupt over whoever runs "
	         "there; the other half posts the result.\n\n"
	         "| run | hard interrupt | soft interrupt | task | over an idle CPU | over the "
	         "subject | over others | posted by submitter | worker | SQPOLL | interrupt | "
	         "borrowed per request | nobody parked at | CPU per request | speed kept |\n"
	         "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n");
	for (size_t i = 0; i < g->cell_count; i++) {
		const struct cell *cell = &g->cells[i];
		const struct view_probe *probe = view_headline(&cell->view);

		if (!probe || !cell->measured)
			continue;
		text_add(out, "| %s |", report_cell_name(name, g, cell));
		shares_add(out, probe->arrived_in, VIEW_ARRIVED_COUNT);
		shares_add(out, probe->arrived_over, VIEW_OVER_COUNT);
		shares_add(out, probe->posted_in, VIEW_POSTED_COUNT);
		text_add(out, " %s | %s | %s | %s |\n",
		         format_time(cell->summary.borrowed_ns_per_operation).text,
		         format_percent(cell->summary.nobody_parked_share).text,
		         format_time(cell->summary.cpu_ns_per_operation).text,
		         format_percent(cell->summary.compute_speed_ratio).text);
	}
	text_add(out, "\n");
}
