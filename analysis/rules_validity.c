/*
 * The rules that tell what the figures of a run can bear, and what they cannot.
 */
#include "analysis/rules.h"

#include <math.h>
#include <string.h>

static bool in_memory(const struct facts *f)
{
	return f->run.in_memory == VIEW_TRUE || name_is(f->run.filesystem, "tmpfs") ||
	       name_is(f->run.filesystem, "ramfs");
}

/* How much of the work the block layer saw, in bytes where they are known: read-ahead and merging
 * make one request of many operations. NaN when unknown. */
static double reached_disk(const struct facts *f)
{
	const double bytes = quotient(f->probe->block_bytes, f->run.bytes);

	return isnan(bytes) ? quotient(f->probe->block_requests, f->run.operations) : bytes;
}

bool facts_page_cache(const struct facts *f)
{
	if (!f->disk)
		return false;
	const double reached = reached_disk(f);
	if (in_memory(f))
		return true;
	if (!isnan(reached))
		return f->run.operations >= 1 && reached < 0.05;
	return name_is(f->run.cache, "hot") && f->run.direct != VIEW_TRUE;
}

void rule_page_cache(const struct facts *f, struct finding *out)
{
	const bool known = !isnan(reached_disk(f));

	if (!facts_page_cache(f))
		return;
	out->raised = RAISED;
	out->severity = name_is(f->run.cache, "hot") ? "info" : "warn";
	out->confidence = in_memory(f) || (known && f->lost_threads == 0) ? "sure" : "likely";
	if (in_memory(f))
		finding_say(out, "The file lies on %s, which is memory%s: this is not disk I/O.",
		            f->run.filesystem ? f->run.filesystem : "a file system",
		            f->run.direct == VIEW_TRUE ? " and takes O_DIRECT without heeding it"
		                                       : "");
	else if (known)
		finding_say(out,
		            "%s %s made %s block requests (%s in bytes reached the disk): the page "
		            "cache %s. This is not disk I/O.",
		            format_count(f->run.operations).text, facts_requests(f),
		            format_count(f->probe->block_requests).text,
		            format_percent(reached_disk(f)).text,
		            f->writes ? "took them, and threads of the kernel's own write them to "
		                        "the disk later"
		                      : "served them, inside the call");
	else
		finding_say(
		    out, "The file was read into the page cache first (--cache hot): this is not "
			 "disk I/O. No probe counted block requests.");
	finding_say(out,
	            " Nothing is in flight for longer than the copy, and nobody waits for a disk.");
	if (in_memory(f))
		finding_advise(out, "Name a place on a disk: --directory DIR.");
	else if (f->writes)
		finding_advise(out, "--direct 1 writes to the disk; --workload disk-fsync waits "
		                    "until the data is there.");
	else
		finding_advise(
		    out, "--direct 1 reads from the disk; --cache cold drops this file's pages "
			 "first.");
	finding_show(out, "operations", f->run.operations);
	finding_show(out, "block_requests", f->probe->block_requests);
	finding_show(out, "block_bytes", f->probe->block_bytes);
	finding_show(out, "bytes", f->run.bytes);
}

/* Says why, where that can be told. */
static void depth_reason(const struct facts *f, struct finding *out)
{
	const double lanes = f->run.pool > 0 && name_is(f->run.engine, "pool") ? f->run.pool
	                                                                       : f->run.threads;
	const struct view_kind *poller = &f->probe->kinds[VIEW_SQPOLL];

	if (f->run.synchronous == VIEW_TRUE && lanes < f->run.depth) {
		finding_say(out,
		            " The engine makes a blocking call, one for each thread: %s of them "
		            "cannot have more in flight.",
		            format_count(lanes).text);
		finding_advise(out, "--threads %s, or an engine that does not block (uring).",
		               format_fixed(f->run.depth, 0).text);
	} else if (facts_page_cache(f)) {
		finding_say(out, " The page cache answered at once.");
	} else if (f->run.window_ns < 10 * f->summary.latency_p50_ns) {
		finding_say(out, " The window was too short to fill the queue: a request took %s.",
		            format_time(f->summary.latency_p50_ns).text);
		finding_advise(out, "Raise --runtime, and --warmup to at least the latency.");
	} else if (f->summary.cpu_mean >= 0.9 * f->run.cpus) {
		finding_say(out, " The CPUs were the limit: %s of %s were busy with it.",
		            format_fixed(f->summary.cpu_mean, 2).text,
		            format_count(f->run.cpus).text);
		finding_advise(
		    out, "A greater --batch saves system calls; a lower --depth loses nothing "
			 "here.");
	} else if (facts_cpu_per_thread(f) >= 0.9 && !name_is(f->run.wait, "spin")) {
		finding_say(out,
		            " The submitting thread was the limit: it was busy for %s of the time.",
		            format_percent(facts_cpu_per_thread(f)).text);
		finding_advise(
		    out, name_is(f->run.wait, "compute")
			     ? "Its computing delays the next requests; more --threads share it."
			     : "A greater --batch saves system calls; more --threads share it.");
	} else if (f->run.depth > f->run.nr_requests && f->disk) {
		finding_say(out, " The device takes %s at once (nr_requests).",
		            format_count(f->run.nr_requests).text);
	} else if (poller->present) {
		finding_say(
		    out,
		    " All requests go through one thread, io_uring's submission poller: it ran for "
		    "%s of the time.",
		    format_percent(probe_mean(f->probe, &f->run, poller->state_ns[VIEW_RUNNING]))
			.text);
		finding_advise(out, "A CPU of its own for the poller, or an engine without one "
		                    "(uring).");
	} else {
		finding_say(out, " Why cannot be told from these figures.");
	}
}

void rule_depth_not_reached(const struct facts *f, struct finding *out)
{
	const struct summary *s = &f->summary;

	/* with a rate, arrivals decide how many are in flight */
	if (f->run.rate_per_s > 0 || !(f->run.depth >= 1) ||
	    !(s->in_flight_mean < 0.9 * f->run.depth) || name_is(f->run.engine, "null"))
		return;
	out->raised = RAISED;
	out->severity = "warn";
	out->confidence = "sure";
	finding_say(out, "Asked for %s requests in flight, achieved %s.",
	            format_count(f->run.depth).text, format_amount(s->in_flight_mean).text);
	depth_reason(f, out);
	finding_show(out, "depth", f->run.depth);
	finding_show(out, "in_flight_mean", s->in_flight_mean);
	finding_show(out, "threads", f->run.threads);
	finding_show(out, "cpu_mean", s->cpu_mean);
}

/* Whether the other end of the sockets is on this machine, reached without a network card. */
static bool peer_is_near(const struct facts *f)
{
	const char *peer = f->run.peer;

	return !peer || strncmp(peer, "127.", 4) == 0 || strncmp(peer, "[::1]", 5) == 0;
}

void rule_no_interrupt(const struct facts *f, struct finding *out)
{
	const double *in = f->probe->arrived_in;
	const double all = in[VIEW_IN_HARDIRQ] + in[VIEW_IN_SOFTIRQ] + in[VIEW_IN_TASK];

	if (f->disk && facts_page_cache(f)) {
		if (!(f->run.operations >= 1) || all > 0.05 * f->run.operations)
			return;
		finding_say(out,
		            "No device interrupt ended these %s: the data was in memory and was "
		            "copied inside the call.",
		            facts_requests(f));
	} else if (f->socket && peer_is_near(f) && all >= 1 && in[VIEW_IN_HARDIRQ] <= 0.001 * all) {
		finding_say(
		    out,
		    "No device interrupt brought these answers: over this machine's own %s, %s of "
		    "%s arrivals came in a soft interrupt that the sender's system call raised, %s "
		    "in its task. Between machines a network card interrupts.",
		    name_is(f->run.transport, "unix") ? "Unix sockets" : "loopback",
		    format_count(in[VIEW_IN_SOFTIRQ]).text, format_count(all).text,
		    format_count(in[VIEW_IN_TASK]).text);
	} else if (f->disk && all >= 1 && in[VIEW_IN_TASK] >= 0.999 * all) {
		finding_say(
		    out,
		    "No device interrupt ended these %s: %s of %s completions were found by "
		    "a thread that looked (a polled queue, or a device that works inside "
		    "the call).",
		    facts_requests(f), format_count(in[VIEW_IN_TASK]).text, format_count(all).text);
	} else {
		return;
	}
	out->raised = RAISED;
	out->severity = "info";
	out->confidence = all >= 1 && f->lost_threads <= 0.001 * all ? "sure" : "likely";
	finding_show(out, "hardirq", in[VIEW_IN_HARDIRQ]);
	finding_show(out, "softirq", in[VIEW_IN_SOFTIRQ]);
	finding_show(out, "task", in[VIEW_IN_TASK]);
}

void rule_too_short(const struct facts *f, struct finding *out)
{
	const bool few = f->run.operations < 100;
	const bool brief = f->run.window_ns < 100e6;
	const bool coarse = f->has_probe && name_is(f->probe->name, "proc") &&
	                    f->run.window_ns < 1e9;
	/* whoever waits for slow requests sees few end, and knows the threads all the same */
	const bool busy = f->run.in_flight_ns >= 1e9 && !brief && !coarse;

	if (!few && !brief && !coarse)
		return;
	out->raised = RAISED;
	out->severity = busy ? "info" : "warn";
	out->confidence = "sure";
	finding_say(out, "%s %s ended in a window of %s: ", format_count(f->run.operations).text,
	            f->run.operations == 1 ? "request" : "requests",
	            format_time(f->run.window_ns).text);
	if (busy)
		finding_say(out,
		            "too few for a rate or a latency. The threads per request are those of "
		            "%s s of requests in flight, and hold.",
		            format_fixed(f->run.in_flight_ns / 1e9, 1).text);
	else if (coarse)
		finding_say(out, "the proc probe samples, and needs a second or more.");
	else
		finding_say(out, "%s",
		            f->run.in_flight_ns > 0
		                ? "too little for figures to rely on."
		                : "nothing was in flight, so there is no ratio.");
	finding_advise(out, "Raise --runtime%s.", few ? " or --operations" : "");
	finding_show(out, "operations", f->run.operations);
	finding_show(out, "window_ns", f->run.window_ns);
	finding_show(out, "in_flight_ns", f->run.in_flight_ns);
}
