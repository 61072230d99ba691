/*
 * Several probes of one run side by side: what each says of the threads, and how far off it can be.
 */
#include "analysis/report.h"
#include "analysis/text.h"

#include <math.h>
#include <stdio.h>

enum { SIDE_BY_SIDE_MAX = 12, COLUMN_RUN = 30, COLUMN_PROBE = 11 };

static const struct {
	const char *name;
	int width;
} columns[] = {{"parked", 8}, {"off by", 8}, {"held", 8}, {"lost", 7}, {"samples", 8}};
enum { COLUMN_COUNT = sizeof columns / sizeof columns[0] };

/* One figure says nothing beside itself, unless it is an estimate. */
static bool is_compared(const struct cell *cell)
{
	return cell->measured && (cell->view.probe_count > 1 ||
	                          (cell->view.probe_count && cell->view.probes[0].samples > 0));
}

static size_t compared_count(const struct groups *g)
{
	size_t count = 0;

	for (size_t i = 0; i < g->cell_count; i++)
		count += is_compared(&g->cells[i]);
	return count;
}

static void figures_make(struct number figures[COLUMN_COUNT], const struct run_view *v,
                         const struct view_probe *probe)
{
	figures[0] = format_mean(probe_mean(probe, v, probe_parked_ns(probe)));
	figures[1] = format_mean(probe_mean(probe, v, probe->parked_error_ns));
	figures[2] = format_mean(probe_mean(probe, v, probe_held_ns(probe)));
	figures[3] = format_count(probe->lost);
	figures[4] = format_count(probe->samples);
}

/* At what rate the estimates were sampled: of the first run, the others' are alike. */
static void rate_line(struct text *out, const struct run_view *v)
{
	char line[160], name[20];

	for (size_t i = 0; i < v->probe_count; i++) {
		if (!(v->probes[i].samples > 0))
			continue;
		snprintf(line, sizeof line,
		         "%s: samples of single threads, %s a second in the first of these runs.",
		         format_name(name, sizeof name, v->probes[i].name, 10, true),
		         format_count(v->probes[i].samples_per_s).text);
		text_add(out, "  ");
		text_wrap(out, 2, 2, TEXT_COLUMNS, line);
	}
}

void text_probes(struct text *out, const struct groups *g, const struct text_style *style)
{
	const size_t compared = compared_count(g);
	const struct cell *first = NULL;

	if (!compared || compared > SIDE_BY_SIDE_MAX)
		return;
	text_add(out, "\n");
	text_cell(out, COLUMN_RUN, "Probes on the same run");
	text_cell(out, COLUMN_PROBE, "");
	for (size_t c = 0; c < COLUMN_COUNT; c++)
		text_cell(out, -columns[c].width, columns[c].name);
	text_add(out, "\n");
	for (size_t i = 0; i < g->cell_count; i++) {
		const struct run_view *v = &g->cells[i].view;
		char engine[40], workload[40], title[100], name[20];

		if (!is_compared(&g->cells[i]))
			continue;
		first = first ? first : &g->cells[i];
		snprintf(title, sizeof title, "%s %s",
		         format_name(engine, sizeof engine,
		                     g->many_engines ? v->engine : v->workload, 16, style->ascii),
		         format_name(workload, sizeof workload,
		                     g->many_engines ? v->workload : v->wait, 12, style->ascii));
		for (size_t p = 0; p < v->probe_count; p++) {
			struct number figures[COLUMN_COUNT];

			figures_make(figures, v, &v->probes[p]);
			text_cell(out, COLUMN_RUN, p ? "" : title);
			text_cell(out, COLUMN_PROBE,
			          format_name(name, sizeof name, v->probes[p].name,
			                      COLUMN_PROBE - 1, true));
			for (size_t c = 0; c < COLUMN_COUNT; c++)
				text_cell(out, -columns[c].width, figures[c].text);
			text_add(out, "\n");
		}
	}
	text_add(out, "  ");
	text_wrap(
	    out, 2, 2, TEXT_COLUMNS,
	    "off by: how far parked can be off by the way it was obtained, lost events apart.");
	rate_line(out, &first->view);
}

void report_probes(struct text *out, const struct groups *g)
{
	char name[REPORT_NAME_SIZE], probe[REPORT_NAME_SIZE];

	if (!compared_count(g))
		return;
	text_add(out, "## The probes side by side\n\nAll of one run watched the same threads. *Off "
	              "by*: how far parked can be off by the way it was obtained, lost events "
	              "apart.\n\n"
	              "| run | probe | threads parked | off by | held | lost | samples | a second "
	              "|\n|---|---|--:|--:|--:|--:|--:|--:|\n");
	for (size_t i = 0; i < g->cell_count; i++) {
		const struct run_view *v = &g->cells[i].view;

		for (size_t p = 0; is_compared(&g->cells[i]) && p < v->probe_count; p++) {
			struct number figures[COLUMN_COUNT];

			figures_make(figures, v, &v->probes[p]);
			text_add(out, "| %s | %s |", report_cell_name(name, g, &g->cells[i]),
			         report_escape(probe, v->probes[p].name));
			for (size_t c = 0; c < COLUMN_COUNT; c++)
				text_add(out, " %s |", figures[c].text);
			text_add(out, " %s |\n", format_count(v->probes[p].samples_per_s).text);
		}
	}
	text_add(out, "\n");
}
