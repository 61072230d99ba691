/*
 * The facts of one run that the rules read, and how a rule writes its finding.
 */
#include "analysis/rules.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* See misstated_threads. Threads that hardly switch can be misstated for long. */
static double misstated_threads(const struct facts *f)
{
	double alive_ns = 0, switches = 0;

	for (size_t k = 0; k < VIEW_KIND_COUNT; k++) {
		const struct view_kind *kind = &f->probe->kinds[k];
		if (!kind->present)
			continue;
		alive_ns += kind->alive_ns;
		switches += kind->voluntary_switches + kind->involuntary_switches;
	}
	const double share = 10 * quotient(alive_ns, switches) / f->run.window_ns;
	return f->lost_threads * (share < 1 ? share : 1);
}

static bool begins_with(const char *text, const char *start)
{
	return text && strncmp(text, start, strlen(start)) == 0;
}

void facts_gather(struct facts *f, const struct run_view *view)
{
	struct view_probe none = {
	    .window_ns = NAN,
	    .completions = NAN,
	    .completions_nobody_parked = NAN,
	    .arrived_in = {NAN, NAN, NAN},
	    .arrived_over = {NAN, NAN, NAN},
	    .posted_in = {NAN, NAN, NAN, NAN},
	    .borrowed_ns = {NAN, NAN, NAN, NAN},
	    .block_requests = NAN,
	    .block_bytes = NAN,
	    .block_in_flight_ns = NAN,
	};

	*f = (struct facts){.run = *view};
	summary_compute(&f->summary, view);
	f->has_probe = view->probe_count > 0;
	if (!f->has_probe) {
		workers_none(&none.workers, &none.sleeps);
		f->run.probes[0] = none;
	}
	f->probe = &f->run.probes[0];
	f->exact = name_is(f->probe->name, "bpf");
	f->disk = begins_with(view->workload, "disk-");
	f->reads = f->disk && (strstr(view->workload, "read") || strstr(view->workload, "rw"));
	f->writes = f->disk && !strstr(view->workload, "read");
	f->socket = begins_with(view->workload, "socket-");
	f->lost_threads = f->probe->lost > 0 ? f->probe->lost : 0;
	f->misstated_threads = misstated_threads(f);
	for (size_t k = 0; k < VIEW_KIND_COUNT; k++) {
		f->held_ns[k] = f->has_probe ? kind_held_ns(&f->probe->kinds[k]) : NAN;
		f->parked_ns[k] = f->has_probe ? kind_parked_ns(&f->probe->kinds[k]) : NAN;
		f->held_mean[k] = probe_mean(f->probe, view, f->held_ns[k]);
		f->parked_mean[k] = probe_mean(f->probe, view, f->parked_ns[k]);
	}
}

const char *facts_confidence(const struct facts *f)
{
	return f->exact ? "sure" : "likely";
}

const char *facts_requests(const struct facts *f)
{
	if (!f->run.workload || f->socket)
		return "answers";
	if (f->disk)
		return f->writes && f->reads ? "requests" : f->writes ? "writes" : "reads";
	return begins_with(f->run.workload, "timer-") ? "timers" : "requests";
}

double facts_cpu_per_thread(const struct facts *f)
{
	const struct view_kind *application = &f->probe->kinds[VIEW_APPLICATION];
	const double threads = f->run.threads >= 1 ? f->run.threads : 1;
	const double running = probe_mean(f->probe, &f->run, application->state_ns[VIEW_RUNNING]);

	return (application->present && !isnan(running) ? running : f->summary.cpu_mean) / threads;
}

static void append(char *to, const char *format, va_list arguments)
{
	const size_t length = strlen(to);

	vsnprintf(to + length, FINDING_TEXT_SIZE - length, format, arguments);
}

void finding_say(struct finding *out, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	append(out->text, format, arguments);
	va_end(arguments);
}

void finding_advise(struct finding *out, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	append(out->advice, format, arguments);
	va_end(arguments);
}

void finding_show(struct finding *out, const char *name, double value)
{
	if (out->evidence_count == FINDING_EVIDENCE_MAX)
		return;
	out->evidence[out->evidence_count].name = name;
	out->evidence[out->evidence_count++].value = value;
}
