/*
 * The JSON object of a run, checked and turned into numbers. Everything here may come from a file
 * that somebody edited: nothing is trusted, and a wrong type is named.
 */
#include "analysis/run_view.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/format.h"
#include "analysis/reader.h"

const char *const view_status_names[VIEW_STATUS_COUNT] = {"ok", "skipped", "failed", "interrupted"};
const char *const view_kind_names[VIEW_KIND_COUNT] = {"application", "pool",   "aio-helper",
                                                      "io-wq",       "sqpoll", "helper"};
const char *const view_state_names[VIEW_STATE_COUNT] = {
    "running",          "runnable", "parked-direct", "parked-waiter",
    "parked-on-result", "idle",     "other",         "unseen"};

static const json_t *histogram_get(struct reader *r, const json_t *parent, const char *key)
{
	const json_t *histogram = reader_object(r, parent, key), *bucket;
	const json_t *buckets = reader_array(r, histogram, "buckets");
	double previous = -1;
	size_t i;

	if (!histogram)
		return NULL;
	reader_number(r, histogram, "min");
	reader_number(r, histogram, "max");
	if (json_array_size(buckets) > VIEW_BUCKETS_MAX)
		reader_fail(r, key, "a histogram of too many buckets", "one of at most 131072");
	json_array_foreach((json_t *)buckets, i, bucket)
	{
		const double lower = json_number_value(json_array_get(bucket, 0));
		const json_t *number = json_array_get(bucket, 1);

		if (json_array_size(bucket) != 2 || !json_is_number(json_array_get(bucket, 0)) ||
		    !json_is_number(number) || lower <= previous || json_number_value(number) < 0) {
			reader_fail(r, key, "a histogram with a wrong bucket",
			            "pairs of a rising lower bound and a count");
			return NULL;
		}
		previous = lower;
	}
	return r->failed || !json_array_size(buckets) ? NULL : histogram;
}

static void kind_read(struct reader *r, const json_t *object, struct view_kind *kind)
{
	static const char *const states[VIEW_STATE_COUNT] = {
	    "running_ns",          "runnable_ns", "parked_direct_ns", "parked_waiter_ns",
	    "parked_on_result_ns", "idle_ns",     "other_ns",         "unseen_ns"};

	kind->present = true;
	kind->threads_now = reader_number(r, object, "threads_now");
	kind->threads_max = reader_number(r, object, "threads_max");
	kind->alive_ns = reader_number(r, object, "alive_ns");
	for (size_t i = 0; i < VIEW_STATE_COUNT; i++)
		kind->state_ns[i] = reader_number(r, object, states[i]);
	kind->in_call_running_ns = reader_number(r, object, "in_call_running_ns");
	kind->in_call_runnable_ns = reader_number(r, object, "in_call_runnable_ns");
	kind->called_ns = reader_number(r, object, "called_ns");
	kind->parks = reader_number(r, object, "parks");
	kind->voluntary_switches = reader_number(r, object, "voluntary_switches");
	kind->involuntary_switches = reader_number(r, object, "involuntary_switches");
}

static void kinds_read(struct reader *r, const json_t *probe, struct view_probe *out)
{
	const json_t *kinds = reader_array(r, probe, "kinds"), *object;
	size_t i;

	json_array_foreach((json_t *)kinds, i, object)
	{
		const char *name = reader_string(r, object, "kind");

		if (!json_is_object(object) || !name) {
			reader_fail(r, "kinds", "an array of something else", "kinds with a name");
			return;
		}
		for (size_t k = 0; k < VIEW_KIND_COUNT; k++)
			if (strcmp(name, view_kind_names[k]) == 0)
				kind_read(r, object, &out->kinds[k]);
	}
}

static void completions_read(struct reader *r, const json_t *probe, struct view_probe *out)
{
	const json_t *parked = reader_array(r, probe, "parked_at_completion"), *count;
	size_t i;

	out->completions = out->completions_nobody_parked = NAN;
	if (!parked)
		return;
	if (json_array_size(parked) > VIEW_PARKED_MAX) {
		reader_fail(r, "parked_at_completion", "too long", "of at most 131072 counts");
		return;
	}
	out->completions = out->completions_nobody_parked = 0;
	json_array_foreach((json_t *)parked, i, count)
	{
		if (!json_is_number(count) || json_number_value(count) < 0) {
			reader_fail(r, "parked_at_completion", "an array of something else",
			            "an array of counts");
			return;
		}
		out->completions += json_number_value(count);
		if (i == 0)
			out->completions_nobody_parked = json_number_value(count);
	}
}

static void probe_read_json(struct reader *r, const json_t *probe, struct view_probe *out)
{
	static const char *const in[] = {"hardirq", "softirq", "task"};
	static const char *const over[] = {"idle", "subject", "other"};
	static const char *const posted[] = {"submitter", "worker", "sqpoll", "interrupt"};
	static const char *const borrowed[] = {"idle", "subject", "other", "task_work"};
	const char *self_test = reader_string(r, probe, "self_test");

	out->name = reader_string(r, probe, "probe");
	out->window_ns = reader_number(r, probe, "window_ns");
	out->lost = reader_number(r, probe, "lost");
	out->samples = reader_number(r, probe, "samples");
	out->samples_per_s = reader_number(r, probe, "samples_per_s");
	out->parked_error_ns = reader_number(r, probe, "parked_error_ns");
	out->self_test_failed = self_test && strcmp(self_test, "failed") == 0;
	kinds_read(r, probe, out);
	completions_read(r, probe, out);
	const json_t *completions = reader_object(r, probe, "completions");
	out->completions_unseen = reader_number(r, completions, "unseen");
	reader_counters(r, completions, "arrived_in", in, out->arrived_in, VIEW_ARRIVED_COUNT);
	reader_counters(r, completions, "arrived_over", over, out->arrived_over, VIEW_OVER_COUNT);
	reader_counters(r, completions, "posted_in", posted, out->posted_in, VIEW_POSTED_COUNT);
	reader_counters(r, probe, "borrowed_ns", borrowed, out->borrowed_ns, VIEW_BORROWED_COUNT);
	view_workers_read(r, probe, &out->workers, &out->sleeps);
	const json_t *block = reader_object(r, probe, "block");
	out->block_requests = reader_number(r, block, "requests");
	out->block_bytes = reader_number(r, block, "bytes");
	out->block_in_flight_ns = reader_number(r, block, "in_flight_ns");
	if (out->self_test_failed) { /* then nothing said of completions or the disk is believed */
		out->completions = out->completions_nobody_parked = NAN;
		out->block_requests = out->block_bytes = out->block_in_flight_ns = NAN;
		for (size_t i = 0; i < VIEW_ARRIVED_COUNT; i++)
			out->arrived_in[i] = out->arrived_over[i] = NAN;
	}
}

static void plan_read(struct reader *r, const json_t *plan, struct run_view *v)
{
	v->study = reader_string(r, plan, "study");
	v->cell = reader_string(r, plan, "cell");
	v->twin = reader_string(r, plan, "twin");
	v->engine = reader_string(r, plan, "engine");
	v->workload = reader_string(r, plan, "workload");
	v->wait = reader_string(r, plan, "wait");
	v->cache = reader_string(r, plan, "cache");
	v->transport = reader_string(r, plan, "transport");
	v->peer = reader_string(r, plan, "peer");
	v->arrival = reader_string(r, plan, "arrival");
	v->file = reader_string(r, plan, "file");
	v->depth = reader_number(r, plan, "depth");
	v->batch = reader_number(r, plan, "batch");
	v->threads = reader_number(r, plan, "threads");
	v->pool = reader_number(r, plan, "pool");
	v->block_bytes = reader_number(r, plan, "block_bytes");
	v->files = reader_number(r, plan, "files");
	v->fsync_every = reader_number(r, plan, "fsync_every");
	v->read_percent = reader_number(r, plan, "read_percent");
	v->connections = reader_number(r, plan, "connections");
	v->rate_per_s = reader_number(r, plan, "rate_per_s");
	v->repeat = reader_number(r, plan, "repeat");
	v->delay_min_ns = reader_number(r, plan, "delay_min_ns");
	v->delay_max_ns = reader_number(r, plan, "delay_max_ns");
	v->duration_ns = reader_number(r, plan, "duration_ns");
	v->warmup_ns = reader_number(r, plan, "warmup_ns");
	v->direct = reader_boolean(r, plan, "direct");
	v->synchronous = reader_boolean(r, plan, "synchronous");
}

static void measured_read(struct reader *r, const json_t *measured, struct run_view *v)
{
	const json_t *errors = reader_object(r, measured, "errors"), *count;
	const char *name;
	double most = 0;
	v->window_ns = reader_number(r, measured, "window_ns");
	v->operations = reader_number(r, measured, "operations");
	v->bytes = reader_number(r, measured, "bytes");
	v->short_count = reader_number(r, measured, "short");
	v->wrong = reader_number(r, measured, "wrong");
	v->errors = errors ? 0 : NAN;
	const double failed = reader_number(r, measured, "failed");
	json_object_foreach((json_t *)errors, name, count)
	{
		const double times = reader_number(r, errors, name);

		v->errors += isnan(times) ? 0 : times;
		if (times > most) {
			most = times;
			v->error_name = name;
		}
	}
	if (failed > 0 && !(v->errors > failed))
		v->errors = failed;
	v->in_flight_ns = reader_number(r, measured, "in_flight_ns");
	v->served_ns = reader_number(r, measured, "served_ns");
	v->cpu_user_ns = reader_number(r, measured, "cpu_user_ns");
	v->cpu_system_ns = reader_number(r, measured, "cpu_system_ns");
	v->steal_ns = reader_number(r, measured, "steal_ns");
	v->others_cpu_ns = reader_number(r, measured, "others_cpu_ns");
	v->iowait_ns = reader_number(r, measured, "iowait_ns");
	v->compute_units = reader_number(r, measured, "compute_units");
	v->compute_units_per_s = reader_number(r, measured, "compute_units_per_s");
	v->compute_units_per_s_alone = reader_number(r, measured, "compute_units_per_s_alone");
	v->verified = reader_boolean(r, measured, "verified");
	const json_t *read_back = reader_object(r, measured, "read_back");
	v->written_blocks = reader_number(r, read_back, "written_blocks");
	v->checked_blocks = reader_number(r, read_back, "checked_blocks");
	v->latency_submitted = histogram_get(r, measured, "latency_submitted_ns");
	v->unfinished_oldest_ns = reader_number(r, measured, "unfinished_oldest_ns");
	v->latency_scheduled = histogram_get(r, measured, "latency_scheduled_ns");
}

static void environment_read(struct reader *r, const json_t *environment, struct run_view *v)
{
	const json_t *virtualised = reader_value(environment, "virtualised");

	v->iostudy = reader_string(r, environment, "iostudy");
	v->host = reader_string(r, environment, "host");
	v->kernel = reader_string(r, environment, "kernel");
	v->filesystem = reader_string(r, environment, "filesystem");
	v->device = reader_string(r, environment, "device");
	v->cpus = reader_number(r, environment, "cpus");
	v->nr_requests = reader_number(r, environment, "nr_requests");
	/* a boolean, or the name of what virtualises */
	if (json_is_string(virtualised)) {
		v->virtualiser = json_string_value(virtualised);
		v->virtualised = name_is(v->virtualiser, "none") ? VIEW_FALSE : VIEW_TRUE;
	} else {
		v->virtualised = reader_boolean(r, environment, "virtualised");
	}
	v->in_memory = reader_boolean(r, environment, "in_memory");
	v->nowait_read = reader_boolean(r, environment, "nowait_read");
}

static void status_read(struct reader *r, const json_t *run, struct run_view *v)
{
	const char *status = reader_string(r, run, "status");

	for (size_t i = 0; status && i < VIEW_STATUS_COUNT; i++)
		if (strcmp(status, view_status_names[i]) == 0) {
			v->status = (enum view_status)i;
			return;
		}
	if (!status)
		reader_fail(r, "status", "missing", "ok, skipped, failed or interrupted");
	else {
		char name[80], quoted[96];
		snprintf(quoted, sizeof quoted, "\"%s\"",
		         format_name(name, sizeof name, status, 40, true));
		reader_fail(r, "status", quoted, "ok, skipped, failed or interrupted");
	}
}

int run_view_read(struct run_view *v, const json_t *run, char why[RUN_WHY_SIZE])
{
	struct reader r = {.why = why, .place = ""};
	const json_t *probe;
	size_t i;

	*v = (struct run_view){0};
	why[0] = '\0';
	if (!json_is_object(run)) {
		snprintf(why, RUN_WHY_SIZE, "a run is an object, and this is %s",
		         run ? reader_type_name(run) : "nothing");
		return -EINVAL;
	}
	status_read(&r, run, v);
	v->why = reader_string(&r, run, "why");
	const json_t *environment = reader_object(&r, run, "environment");
	const json_t *plan = reader_object(&r, run, "plan");
	const json_t *measured = reader_object(&r, run, "measured");
	const json_t *probes = reader_array(&r, run, "probes");

	r.place = "environment";
	environment_read(&r, environment, v);
	r.place = "plan";
	plan_read(&r, plan, v);
	r.place = "measured";
	measured_read(&r, measured, v);
	r.place = "probes";
	json_array_foreach((json_t *)probes, i, probe)
	{
		if (!json_is_object(probe))
			reader_fail(&r, "entry", reader_type_name(probe), "an object");
		if (v->probe_count < VIEW_PROBES_MAX)
			probe_read_json(&r, probe, &v->probes[v->probe_count++]);
	}
	return r.failed ? -EINVAL : 0;
}

bool view_has_failed(const struct run_view *v)
{
	return v->status == VIEW_FAILED || v->wrong > 0 || v->errors > 0;
}

bool name_is(const char *name, const char *wanted)
{
	return name && strcmp(name, wanted) == 0;
}

const struct view_probe *view_headline(const struct run_view *v)
{
	return v->probe_count ? &v->probes[0] : NULL;
}
