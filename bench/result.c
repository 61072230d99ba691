/* Writes a run as JSON: see result.h. What was not measured is null, never 0. */
#include "bench/result.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bench/json_text.h"
#include "bench/workload.h"

static json_t *number(uint64_t value)
{
	return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

static json_t *number_if(bool known, uint64_t value)
{
	return known ? number(value) : json_null();
}

static json_t *number_known(int64_t value)
{
	return value < 0 ? json_null() : json_integer(value);
}

static json_t *text_known(const char *text)
{
	return *text ? json_text(text) : json_null();
}

static json_t *answer(enum environment_answer answer)
{
	return answer == ANSWER_UNKNOWN ? json_null() : json_boolean(answer == ANSWER_YES);
}

json_t *result_environment(const struct environment *e)
{
	if (!e)
		return json_null();
	return json_pack(
	    "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
	    "s:o}",
	    "iostudy", text_known(e->iostudy), "host", text_known(e->host), "kernel",
	    text_known(e->kernel), "machine", text_known(e->machine), "cpus", number_known(e->cpus),
	    "cpus_allowed", number_known(e->cpus_allowed), "cpu_model", text_known(e->cpu_model),
	    "memory_bytes", number_known(e->memory_bytes), "virtualised",
	    text_known(e->virtualised), "clocksource", text_known(e->clocksource), "filesystem",
	    text_known(e->filesystem), "device", text_known(e->device), "scheduler",
	    text_known(e->scheduler), "rotational", answer(e->rotational), "nr_requests",
	    number_known(e->nr_requests), "io_poll", answer(e->io_poll), "nowait_read",
	    answer(e->nowait_read), "in_memory", json_boolean(e->in_memory));
}

static json_t *errors_to_json(const struct witness_sums *sums)
{
	json_t *errors = json_object();

	for (uint32_t i = 1; i < WITNESS_ERRNO_MAX; i++) {
		const char *name = sums->errors[i] ? strerrorname_np((int)i) : NULL;

		if (name)
			json_object_set_new(errors, name, number(sums->errors[i]));
	}
	return errors;
}

static json_t *latency_to_json(const struct histogram *latency, uint64_t min_ns, uint64_t max_ns)
{
	json_t *buckets = json_array();
	uint64_t total = 0;

	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		const uint64_t count = latency->counts[i];

		total += count;
		if (count)
			json_array_append_new(
			    buckets,
			    json_pack("[o, o]", number(histogram_lowest(i)), number(count)));
	}
	return json_pack("{s:o, s:o, s:o}", "min", number_if(total, min_ns), "max",
	                 number_if(total, max_ns), "buckets", buckets);
}

static json_t *readback_to_json(const struct run_result *r)
{
	if (!r->was_read_back)
		return json_null();
	return json_pack("{s:o, s:o, s:o}", "written_blocks", number(r->readback.written),
	                 "checked_blocks", number(r->readback.checked), "wrong_blocks",
	                 number(r->readback.wrong));
}

static json_t *measured_to_json(const struct run_result *r)
{
	const struct witness_sums *m = &r->measured;
	const struct workload_ops *workload = workload_find(r->plan.workload);
	const bool compute = r->plan.wait == WAIT_COMPUTE;
	const double seconds = (double)r->window_ns / 1e9;
	const bool open = r->plan.rate_per_s;
	bool verified;

	if (!r->window_ns || !workload)
		return json_null();
	verified = !(workload->need & ENGINE_FILES) || r->plan.file_verified;
	if (engine_find(r->plan.engine)->caps & ENGINE_NO_IO)
		verified = false;
	return json_pack(
	    "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
	    "s:o, s:o}",
	    "window_ns", number(r->window_ns), "operations", number(m->operations), "bytes",
	    number(m->bytes), "short", number(m->shorts), "wrong", number(m->wrong), "failed",
	    number(m->failed), "errors", errors_to_json(m), "verified", verified, "read_back",
	    readback_to_json(r), "in_flight_ns", number(m->in_flight_ns), "served_ns",
	    number_if(r->served_known, r->served_ns), "cpu_user_ns",
	    number_if(r->cpu_known, r->cpu_user_ns), "cpu_system_ns",
	    number_if(r->cpu_known, r->cpu_system_ns), "compute_units",
	    number_if(compute, m->compute_units), "compute_units_per_s",
	    compute ? json_real((double)m->compute_units / seconds) : json_null(),
	    "compute_units_per_s_alone",
	    compute && m->alone_per_s > 0 ? json_real(m->alone_per_s) : json_null(),
	    "latency_submitted_ns",
	    latency_to_json(&m->latency, m->latency_min_ns, m->latency_max_ns),
	    "latency_scheduled_ns",
	    open ? latency_to_json(&m->latency_scheduled, m->scheduled_min_ns, m->scheduled_max_ns)
		 : json_null(),
	    "unfinished_oldest_ns", number_if(open, m->unfinished_ns));
}

static json_t *kind_to_json(enum thread_kind kind, const struct probe_kind *k, uint32_t measures)
{
	const bool in_call = measures & PROBE_IN_CALL, switches = measures & PROBE_SWITCHES;
	json_t *object = json_pack("{s:s, s:o, s:o, s:o}", "kind", thread_kind_names[kind],
	                           "threads_now", number(k->threads_now), "threads_max",
	                           number(k->threads_max), "alive_ns", number(k->alive_ns));
	char name[64];

	if (!object)
		return NULL;
	for (uint32_t state = 0; state < STATE_COUNT; state++) {
		snprintf(name, sizeof name, "%s_ns", thread_state_names[state]);
		json_object_set_new(object, name, number(k->state_ns[state]));
	}
	json_object_set_new(object, "in_call_running_ns",
	                    number_if(in_call, k->in_call_running_ns));
	json_object_set_new(object, "in_call_runnable_ns",
	                    number_if(in_call, k->in_call_runnable_ns));
	json_object_set_new(object, "called_ns", number_if(in_call, k->called_ns));
	json_object_set_new(object, "parks", number_if(measures & PROBE_PARKS, k->parks));
	json_object_set_new(object, "voluntary_switches",
	                    number_if(switches, k->voluntary_switches));
	json_object_set_new(object, "involuntary_switches",
	                    number_if(switches, k->involuntary_switches));
	return object;
}

static json_t *kinds_to_json(const struct probe_reading *r)
{
	json_t *kinds = json_array();

	for (uint32_t kind = 0; kind < KIND_COUNT; kind++)
		if (r->kinds[kind].threads_max || r->kinds[kind].alive_ns)
			json_array_append_new(kinds,
			                      kind_to_json(kind, &r->kinds[kind], r->measures));
	return kinds;
}

static json_t *parked_to_json(const struct probe_reading *r)
{
	json_t *counts = json_array();
	uint32_t used = PROBE_PARKED_MAX;

	while (used && !r->parked_at_completion[used - 1])
		used--;
	for (uint32_t i = 0; i < used; i++)
		json_array_append_new(counts, number(r->parked_at_completion[i]));
	return counts;
}

static json_t *occupancy_to_json(const struct probe_reading *r)
{
	json_t *cells = json_array();

	for (uint32_t parked = 0; parked < PROBE_OCCUPANCY_AXIS; parked++)
		for (uint32_t in_flight = 0; in_flight < PROBE_OCCUPANCY_AXIS; in_flight++)
			if (r->occupancy_ns[parked][in_flight])
				json_array_append_new(
				    cells,
				    json_pack("[o, o, o]", number(probe_occupancy_lowest(parked)),
				              number(probe_occupancy_lowest(in_flight)),
				              number(r->occupancy_ns[parked][in_flight])));
	return cells;
}

static json_t *completions_to_json(const struct probe_reading *r)
{
	const bool posted = r->measures & PROBE_POSTED, arrived = r->measures & PROBE_ARRIVED;

	if (!(r->measures & (PROBE_COMPLETIONS | PROBE_ARRIVED | PROBE_POSTED)))
		return json_null();
	return json_pack(
	    "{s:o, s:{s:o, s:o, s:o}, s:{s:o, s:o, s:o}, s:{s:o, s:o, s:o, s:o}}", "unseen",
	    number_if(r->measures & PROBE_COMPLETIONS, r->completions_unseen), "arrived_in",
	    "hardirq", number_if(arrived, r->arrived_in[ARRIVED_HARDIRQ]), "softirq",
	    number_if(arrived, r->arrived_in[ARRIVED_SOFTIRQ]), "task",
	    number_if(arrived, r->arrived_in[ARRIVED_TASK]), "arrived_over", "idle",
	    number_if(arrived, r->arrived_over[OVER_IDLE]), "subject",
	    number_if(arrived, r->arrived_over[OVER_SUBJECT]), "other",
	    number_if(arrived, r->arrived_over[OVER_OTHER]), "posted_in", "submitter",
	    number_if(posted, r->posted_in[POSTED_SUBMITTER]), "worker",
	    number_if(posted, r->posted_in[POSTED_WORKER]), "sqpoll",
	    number_if(posted, r->posted_in[POSTED_SQPOLL]), "interrupt",
	    number_if(posted, r->posted_in[POSTED_INTERRUPT]));
}

static json_t *borrowed_to_json(const struct probe_reading *r)
{
	const bool known = r->measures & PROBE_BORROWED, work = r->measures & PROBE_TASK_WORK;

	if (!known && !work)
		return json_null();
	return json_pack("{s:o, s:o, s:o, s:o}", "idle",
	                 number_if(known, r->borrowed_ns[BORROWED_IDLE]), "subject",
	                 number_if(known, r->borrowed_ns[BORROWED_SUBJECT]), "other",
	                 number_if(known, r->borrowed_ns[BORROWED_OTHER]), "task_work",
	                 number_if(work, r->borrowed_ns[BORROWED_TASK_WORK]));
}

static json_t *block_to_json(const struct probe_reading *r)
{
	if (!(r->measures & PROBE_BLOCK))
		return json_null();
	return json_pack("{s:o, s:o, s:o}", "requests", number(r->block_requests), "bytes",
	                 number(r->block_bytes), "in_flight_ns", number(r->block_in_flight_ns));
}

/* How many samples it took, how many that is in a second, and how far parked can be off. */
static void add_quality(json_t *probe, const struct probe_reading *r)
{
	const bool samples = r->measures & PROBE_SAMPLES;
	const bool known = samples || r->measures & PROBE_EDGE;

	json_object_set_new(probe, "samples", number_if(samples, r->samples.count));
	json_object_set_new(probe, "samples_per_s",
	                    samples && r->time_ns
	                        ? json_real((double)r->samples.count / (double)r->time_ns * 1e9)
	                        : json_null());
	json_object_set_new(probe, "parked_error_ns", number_if(known, probe_parked_error_ns(r)));
}

json_t *result_probe(const char *probe, enum probe_self_test self_test,
                     const struct probe_reading *r)
{
	static const char *const self_tests[] = {NULL, "ok", "failed"};
	json_t *entry = json_pack(
	    "{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "probe", probe,
	    "window_ns", number(r->time_ns), "lost", number(r->lost), "self_test",
	    self_tests[self_test] ? json_string(self_tests[self_test]) : json_null(), "kinds",
	    kinds_to_json(r), "parked_at_completion",
	    r->measures & PROBE_COMPLETIONS ? parked_to_json(r) : json_null(), "occupancy_ns",
	    r->measures & PROBE_OCCUPANCY ? occupancy_to_json(r) : json_null(), "completions",
	    completions_to_json(r), "borrowed_ns", borrowed_to_json(r), "block", block_to_json(r),
	    "io_uring", result_io_uring(r), "submitter_sleeps", result_submitter_sleeps(r));

	if (entry)
		add_quality(entry, r);
	return entry;
}

/* What of the CPUs the window lost to others. */
static json_t *with_conditions(json_t *measured, const struct run_result *r)
{
	if (!json_is_object(measured))
		return measured;
	json_object_set_new(
	    measured, "steal_ns",
	    number_if(r->steal_share >= 0, (uint64_t)(r->steal_share * (double)r->window_ns)));
	json_object_set_new(measured, "others_cpu_ns", number_known(r->others_cpu_ns));
	json_object_set_new(measured, "iowait_ns", number_known(r->iowait_ns));
	return measured;
}

static json_t *probes_to_json(const struct run_result *result)
{
	json_t *entries = json_array();

	for (uint32_t i = 0; i < result->probe_count && result->window_ns; i++) {
		const struct run_probe *probe = &result->probes[i];

		if (probe->reading)
			json_array_append_new(
			    entries, result_probe(probe->name, probe->self_test, probe->reading));
	}
	return entries;
}

json_t *result_to_json(const struct run_result *result, const struct environment *environment)
{
	json_t *warnings = json_array();

	for (uint32_t i = 0; i < result->warning_count; i++)
		json_array_append_new(warnings, json_text(result->warnings[i]));
	return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "schema", "iostudy/run/1",
	                 "status", run_outcome_names[result->status], "why",
	                 result->status == OUTCOME_OK ? json_null() : json_text(result->why),
	                 "environment", result_environment(environment), "plan",
	                 plan_to_json(&result->plan), "measured",
	                 with_conditions(measured_to_json(result), result), "probes",
	                 probes_to_json(result), "warnings", warnings);
}
