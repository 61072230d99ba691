/* Latency in an open loop, in the document: see report.h. */
#include "analysis/report.h"

#include <math.h>

static bool is_open(const struct cell *cell)
{
	return cell->measured && cell->view.rate_per_s > 0;
}

void report_arrivals(struct text *out, const struct groups *g)
{
	char name[REPORT_NAME_SIZE];
	bool any = false;

	for (size_t i = 0; i < g->cell_count; i++) {
		const struct summary *s = &g->cells[i].summary;

		if (!is_open(&g->cells[i]))
			continue;
		if (!any)
			text_add(
			    out,
			    "## Latency by schedule\n\n"
			    "Requests arrived at moments that were set before, whatever became of "
			    "those before them: a wait for their turn counts from the scheduled "
			    "moment.\n\n"
			    "| run | rate | scheduled p50 | p99 | max | submitted p50 | p99 | "
			    "max | oldest open at the end |\n"
			    "|---|--:|--:|--:|--:|--:|--:|--:|--:|\n");
		any = true;
		text_add(out, "| %s | %s/s | %s", report_cell_name(name, g, &g->cells[i]),
		         format_count(g->cells[i].view.rate_per_s).text,
		         format_time(s->latency_scheduled_p50_ns).text);
		text_add(out, " | %s | %s | %s", format_time(s->latency_scheduled_p99_ns).text,
		         format_time(s->latency_scheduled_max_ns).text,
		         format_time(s->latency_p50_ns).text);
		text_add(out, " | %s | %s | %s |\n", format_time(s->latency_p99_ns).text,
		         format_time(s->latency_max_ns).text,
		         format_time(g->cells[i].view.unfinished_oldest_ns).text);
	}
	if (any)
		text_add(out, "\n");
}
