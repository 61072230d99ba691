/* Environment, method and losses of the document: see report.h. */
#include "analysis/report.h"

#include <string.h>

static bool same(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

static bool same_place(const struct run_view *a, const struct run_view *b)
{
	return same(a->host, b->host) && same(a->kernel, b->kernel) &&
	       same(a->filesystem, b->filesystem) && same(a->device, b->device) &&
	       same(a->iostudy, b->iostudy);
}

/* The machine itself: "Intel ..., 23 GiB". */
static void machine_add(struct text *out, const json_t *run)
{
	const json_t *environment = json_object_get(run, "environment");
	const char *model = json_string_value(json_object_get(environment, "cpu_model"));
	const json_t *memory = json_object_get(environment, "memory_bytes");
	char escaped[REPORT_NAME_SIZE];

	if (model)
		text_add(out, " (%s)", report_escape(escaped, model));
	if (json_is_number(memory))
		text_add(out, ", %s GiB of memory",
		         format_fixed(json_number_value(memory) / (1 << 30), 1).text);
}

static void environment_line(struct text *out, const struct cell *cell)
{
	const struct run_view *v = &cell->view;
	char host[REPORT_NAME_SIZE], kernel[REPORT_NAME_SIZE], filesystem[REPORT_NAME_SIZE];
	char device[REPORT_NAME_SIZE], version[REPORT_NAME_SIZE];

	text_add(out, "* host %s, Linux %s, %s CPUs%s", report_escape(host, v->host),
	         report_escape(kernel, v->kernel), format_count(v->cpus).text,
	         v->virtualised == VIEW_TRUE ? ", a virtual machine" : "");
	machine_add(out, cell->run);
	text_add(out, "; ");
	text_add(out, "file system %s on %s, nr\\_requests %s, RWF\\_NOWAIT reads %s; iostudy %s\n",
	         report_escape(filesystem, v->filesystem), report_escape(device, v->device),
	         format_count(v->nr_requests).text,
	         v->nowait_read == VIEW_TRUE    ? "possible"
	         : v->nowait_read == VIEW_FALSE ? "refused"
	                                        : "unknown",
	         report_escape(version, v->iostudy));
}

void report_environment(struct text *out, const struct groups *g)
{
	text_add(out, "## Environment\n\n");
	for (size_t i = 0; i < g->cell_count; i++) {
		size_t before = 0;

		while (before < i && !same_place(&g->cells[before].view, &g->cells[i].view))
			before++;
		if (before == i)
			environment_line(out, &g->cells[i]);
	}
	text_add(out, "\n");
}

void report_method(struct text *out, const struct groups *g)
{
	const struct run_view *v = g->cell_count ? &g->cells[0].view : NULL;

	text_add(
	    out,
	    "## Method\n\n"
	    "Each run is a fresh process that holds an engine and a workload and nothing else; "
	    "its peer, where it has one, is another process. ");
	if (v)
		text_add(out, "Warm-up %s, asked window %s (of the first run). ",
		         format_time(v->warmup_ns).text, format_time(v->duration_ns).text);
	text_add(
	    out,
	    "All figures are differences between two readings at the edges of the window.\n\n"
	    "* *In flight*: the time of all requests between acceptance and completion, as far "
	    "as it lies in the window, divided by the window. Requests in flight at either edge "
	    "count with their part.\n"
	    "* *Parked* and *held*: the time of all threads in those states, divided by the "
	    "window. The bpf probe follows each switch of each thread in the kernel, and knows "
	    "the call in which a thread sleeps. perf follows each switch too, but no call. "
	    "schedstat reads exact totals per thread at the edges; it sees no moments. Both take "
	    "the states from marks that our own threads keep. proc samples.\n"
	    "* *Latency*: from submission to completion; a percentile is the lower bound of the "
	    "bucket of the histogram in which it lies.\n"
	    "* A run whose requests failed or whose data was wrong has no figures here.\n\n");
}

void report_losses(struct text *out, const struct groups *g)
{
	char name[REPORT_NAME_SIZE], warning[REPORT_NAME_SIZE];
	bool any = false;

	text_add(out, "## Losses and doubts\n\n");
	for (size_t i = 0; i < g->cell_count; i++) {
		const struct cell *cell = &g->cells[i];
		const struct view_probe *probe = view_headline(&cell->view);
		const json_t *warnings = json_object_get(cell->run, "warnings"), *text;
		size_t k;

		if (cell->measured && !probe) {
			text_add(out, "* %s: no probe; threads were not counted.\n",
			         report_cell_name(name, g, cell));
			any = true;
		} else if (cell->measured && probe->lost > 0) {
			text_add(out, "* %s: %s %s lost.\n", report_cell_name(name, g, cell),
			         format_count(probe->lost).text,
			         probe->lost == 1 ? "event" : "events");
			any = true;
		}
		if (!json_is_array(warnings))
			continue;
		json_array_foreach((json_t *)warnings, k, text)
		{
			if (!json_is_string(text) || k >= 16)
				continue;
			text_add(out, "* %s: %s\n", report_cell_name(name, g, cell),
			         report_escape(warning, json_string_value(text)));
			any = true;
		}
	}
	if (!any)
		text_add(out, "No event was lost, and no run raised a doubt.\n");
}
