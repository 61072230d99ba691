/* An observation as one JSON object (schema iostudy/watch/1), without what analysis adds. */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "bench/json_text.h"
#include "bench/observe.h"
#include "bench/result.h"

enum { LISTED_MAX = 100 };

static const struct watch_process *process_find(const struct observation *o, uint32_t process)
{
	for (size_t i = 0; i < o->now.process_count; i++)
		if (o->now.processes[i].process == process)
			return &o->now.processes[i];
	return NULL;
}

/* A thread of the process, for what it alone knows: its numbers inside and out. */
static const struct census_record *thread_find(const struct observation *o, uint32_t process)
{
	for (size_t i = 0; i < o->now.thread_count; i++)
		if (o->now.threads[i].process == process)
			return &o->now.threads[i];
	for (size_t i = 0; i < o->begin.thread_count; i++)
		if (o->begin.threads[i].process == process)
			return &o->begin.threads[i];
	return NULL;
}

static json_t *target_json(const struct observation *o, uint32_t process, json_t *pid,
                           json_t *command, bool named, uint32_t children)
{
	const struct watch_process *sums = process_find(o, process);
	const struct census_record *thread = thread_find(o, process);

	return json_pack(
	    "{s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:b}", "pid", pid, "pid_inside",
	    thread ? json_count(thread->pid_inside) : json_null(), "command", command, "named",
	    named, "threads_now", json_count(sums ? sums->sum.threads_now : 0), "threads_max",
	    sums ? json_count(sums->sum.threads_max) : json_null(), "children_not_watched",
	    json_count(children), "ended", !sums || !sums->sum.threads_now);
}

static bool is_named(const struct observation *o, uint32_t process)
{
	for (size_t i = 0; i < o->target_count; i++)
		if (o->targets[i].process == process)
			return true;
	return false;
}

static json_t *targets_json(const struct observation *o)
{
	json_t *list = json_array();

	for (size_t i = 0; i < o->target_count; i++) {
		const struct observe_target *t = &o->targets[i];
		const struct watch_process *sums = process_find(o, t->process);
		const uint32_t forked = sums ? sums->sum.children : 0;

		json_array_append_new(list, target_json(o, t->process, json_count((uint64_t)t->pid),
		                                        json_text(t->command), true,
		                                        t->children + forked));
	}
	for (size_t i = 0; i < o->now.process_count && i < LISTED_MAX; i++) {
		const uint32_t process = o->now.processes[i].process;
		const struct census_record *thread = thread_find(o, process);
		char name[17] = "";

		if (!thread || is_named(o, process))
			continue;
		memcpy(name, thread->name, sizeof thread->name);
		json_array_append_new(list, target_json(o, process, json_count(thread->pid),
		                                        json_text(name), false, 0));
	}
	return list;
}

static json_t *in_flight_json(const struct observation *o)
{
	const struct probe_reading *w = o->window;
	json_t *disk = json_null(), *ring = result_io_uring(w);

	if (w->measures & PROBE_BLOCK)
		disk = json_pack(
		    "{s:f, s:o, s:o, s:o}", "mean",
		    w->time_ns ? (double)w->block_in_flight_ns / (double)w->time_ns : 0.0, "max",
		    json_count(o->now.block_most), "requests", json_count(w->block_requests),
		    "bytes", json_count(w->block_bytes));
	if (json_is_object(ring))
		observe_rings_json(o, ring);
	return json_pack("{s:o, s:o, s:o}", "disk", disk, "io_uring", ring, "posix_aio",
	                 observe_aio_json(o));
}

static json_t *lost_json(const struct observation *o)
{
	return json_pack("{s:o, s:o, s:o}", "events", json_count(o->window->lost), "places_merged",
	                 json_count(o->now.merged), "places_left_out", json_count(0));
}

static json_t *cost_json(const struct observation *o)
{
	const uint64_t events = o->cost.events - o->cost_begin.events;
	const uint64_t run_ns = o->cost.run_ns - o->cost_begin.run_ns;
	const double window = (double)o->window->time_ns;
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return json_pack(
	    "{s:o, s:o, s:o, s:o, s:o, s:o}", "cpu_percent",
	    o->cost.known && window > 0 ? json_real(100.0 * (double)run_ns / window) : json_null(),
	    "ns_per_event",
	    o->cost.known && events ? json_real((double)run_ns / (double)events) : json_null(),
	    "events", o->cost.known ? json_count(events) : json_null(), "own_cpu_percent",
	    window > 0 ? json_real(100.0 * (double)o->own_cpu_ns / window) : json_null(),
	    "memory_bytes", o->cost.memory_bytes ? json_count(o->cost.memory_bytes) : json_null(),
	    "own_memory_bytes", json_count((uint64_t)usage.ru_maxrss * 1024));
}

static json_t *iowait_json(const struct observation *o)
{
	uint32_t count = 0;

	if (*o->without_bpf)
		return json_null();
	for (size_t i = 0; i < o->now.thread_count; i++)
		count += o->now.threads[i].iowait && o->now.threads[i].place_since;
	return json_count(count);
}

static json_t *warnings_json(const struct observation *o)
{
	json_t *list = json_array();
	char line[2 * OBSERVE_WHY_SIZE];

	if (!*o->without_bpf)
		return list;
	snprintf(line, sizeof line, "threads were not counted but sampled in /proc: %s",
	         o->without_bpf);
	json_array_append_new(list, json_text(line));
	if (o->now.unreadable) {
		snprintf(line, sizeof line,
		         "in which system calls %llu threads sleep may not be read: they are "
		         "another user's, or no children of this process where "
		         "kernel.yama.ptrace_scope is above 0",
		         (unsigned long long)o->now.unreadable);
		json_array_append_new(list, json_text(line));
	}
	return list;
}

json_t *observe_json(struct observation *o, const char *status, const char *why, json_t *plan)
{
	struct environment environment;

	environment_read(&environment, ".");
	return json_pack(
	    "{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:[o], s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
	    "s:o, s:o, s:o, s:o}",
	    "schema", "iostudy/watch/1", "status", status, "why",
	    why ? json_text(why) : json_null(), "environment", result_environment(&environment),
	    "plan", plan, "targets", targets_json(o), "processes_ended",
	    json_count(o->now.processes_ended), "window_ns", json_count(o->window->time_ns),
	    "probes", result_probe(watch_probe(&o->watch), o->watch.probe.self_test, o->window),
	    "places", observe_places_json(o), "crews", observe_crews_json(o), "sync_waits",
	    observe_sync_waits_json(o), "workers", observe_workers_json(o), "ready",
	    observe_ready_json(o), "threads_iowait_now", iowait_json(o), "in_flight",
	    in_flight_json(o), "submitter_sleeps", result_submitter_sleeps(o->window), "lost",
	    lost_json(o), "cost", cost_json(o), "warnings", warnings_json(o));
}
