/*
 * The details of a run: where completions arrived and were posted, what they borrowed, and what
 * the requests cost beyond threads.
 */
#include "analysis/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { DETAIL_SIZE = 1600 };

static void add(char line[DETAIL_SIZE], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add(char line[DETAIL_SIZE], const char *format, ...)
{
	const size_t length = strlen(line);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line + length, DETAIL_SIZE - length, format, arguments);
	va_end(arguments);
}

/* "98 % in hard interrupts, 2 % in tasks": those parts of counts that are not 0. */
static bool add_parts(char line[DETAIL_SIZE], const char *before, const double *counts,
                      const char *const *names, size_t count)
{
	double all = 0;
	bool first = true;

	for (size_t i = 0; i < count; i++)
		all += counts[i];
	if (!(all > 0) || !isfinite(all))
		return false;
	for (size_t i = 0; i < count; i++) {
		if (!(counts[i] > 0))
			continue;
		add(line, "%s%s %s", first ? before : ", ", format_percent(counts[i] / all).text,
		    names[i]);
		first = false;
	}
	return true;
}

static void add_completions(char line[DETAIL_SIZE], const struct view_probe *probe,
                            const struct summary *s)
{
	static const char *const in[] = {"in hard interrupts", "in soft interrupts", "in a task"};
	static const char *const over[] = {"over an idle CPU", "over the subject",
	                                   "over other tasks"};
	static const char *const posted[] = {"by the submitter", "by a worker",
	                                     "by the SQPOLL thread", "by the interrupt"};

	if (add_parts(line, " Completions arrived ", probe->arrived_in, in, VIEW_ARRIVED_COUNT)) {
		add_parts(line, "; ", probe->arrived_over, over, VIEW_OVER_COUNT);
		add(line, ".");
	}
	if (add_parts(line, " Results were posted ", probe->posted_in, posted, VIEW_POSTED_COUNT))
		add(line, ".");
	if (!isnan(s->borrowed_ns_per_operation))
		add(line, " Interrupts borrowed %s of CPU per request.",
		    format_time(s->borrowed_ns_per_operation).text);
	if (probe->borrowed_ns[VIEW_TASK_WORK] > 0)
		add(line, " Task work took %s in all.",
		    format_time(probe->borrowed_ns[VIEW_TASK_WORK]).text);
	if (!isnan(s->nobody_parked_share))
		add(line, " Nobody was parked at %s of %s completions.",
		    format_percent(s->nobody_parked_share).text,
		    format_count(probe->completions).text);
}

static void add_cost(char line[DETAIL_SIZE], const struct run_view *v, const struct summary *s)
{
	if (!isnan(s->cpu_ns_per_operation))
		add(line, " CPU: %s per request, %s CPUs busy%s.",
		    format_time(s->cpu_ns_per_operation).text, format_fixed(s->cpu_mean, 2).text,
		    name_is(v->wait, "compute") ? ", computing included" : "");
	if (!isnan(s->parks_per_operation))
		add(line, " Parks: %s per request.", format_ratio(s->parks_per_operation).text);
	if (s->not_served_mean >= 0.05 * s->in_flight_mean && s->not_served_mean >= 0.1)
		add(line, " %s of the %s requests in flight waited for a worker to take them up.",
		    format_mean(s->not_served_mean).text, format_mean(s->in_flight_mean).text);
	if (!isnan(s->compute_speed_ratio))
		add(line, " Computing: %s units per s, %s without I/O, so it kept %s of its speed.",
		    format_count(v->compute_units_per_s).text,
		    format_count(v->compute_units_per_s_alone).text,
		    format_percent(s->compute_speed_ratio).text);
	if (!isnan(s->block_requests_per_operation))
		add(line, " Block requests: %s per operation.",
		    format_ratio(s->block_requests_per_operation).text);
	if (v->short_count > 0)
		add(line, " Short transfers: %s.", format_count(v->short_count).text);
	if (v->written_blocks >= 1)
		add(line, " Read back after the run: %s of %s blocks, each as it was written last.",
		    format_count(v->checked_blocks).text, format_count(v->written_blocks).text);
	if (!isnan(s->latency_scheduled_p99_ns))
		add(line,
		    " Counted from its scheduled moment a request took %s (p50), %s (p99), %s (max)"
		    "; from its submission %s (p50), %s (p99), %s (max).",
		    format_time(s->latency_scheduled_p50_ns).text,
		    format_time(s->latency_scheduled_p99_ns).text,
		    format_time(s->latency_scheduled_max_ns).text,
		    format_time(s->latency_p50_ns).text, format_time(s->latency_p99_ns).text,
		    format_time(s->latency_max_ns).text);
}

/* Threads by kind, where there is more than the application's one. */
static void add_kinds(char line[DETAIL_SIZE], const struct run_view *v,
                      const struct view_probe *probe)
{
	bool first = true;

	for (size_t k = 0; k < VIEW_KIND_COUNT; k++) {
		const struct view_kind *kind = &probe->kinds[k];

		if (!kind->present || !(kind->threads_max > 0))
			continue;
		add(line, "%s%s %s (%s parked)", first ? " Threads: " : ", ",
		    format_count(kind->threads_max).text, view_kind_names[k],
		    format_mean(probe_mean(probe, v, kind_parked_ns(kind))).text);
		first = false;
	}
	if (!first)
		add(line, ".");
}

void text_details(struct text *out, const struct groups *g, const struct text_style *style)
{
	for (size_t i = 0; i < g->cell_count; i++) {
		const struct cell *cell = &g->cells[i];
		const struct view_probe *probe = view_headline(&cell->view);
		char line[DETAIL_SIZE] = "", workload[40], wait[20];

		if (!cell->measured)
			continue;
		if (i == 0)
			text_add(out, "Details:\n");
		add(line, "%s%s%s:",
		    format_name(workload, sizeof workload,
		                g->many_engines ? cell->view.engine : cell->view.workload, 24,
		                style->ascii),
		    cell->view.wait ? " " : "",
		    cell->view.wait
		        ? format_name(wait, sizeof wait, cell->view.wait, 12, style->ascii)
		        : "");
		if (probe) {
			add_completions(line, probe, &cell->summary);
			add_kinds(line, &cell->view, probe);
			workers_sentence(probe, line, sizeof line);
		}
		add_cost(line, &cell->view, &cell->summary);
		text_add(out, "  ");
		text_wrap(out, 2, 4, TEXT_COLUMNS, line);
	}
}
