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

const char *const run_status_names[RUN_STATUS_COUNT] = {"ok", "skipped", "failed", "interrupted"};
const char *const run_kind_names[RUN_KIND_COUNT] = {"application", "pool", "aio-helper", "io-wq",
                                                    "sqpoll"};
const char *const run_state_names[RUN_STATE_COUNT] = {
    "running", "runnable", "parked-direct", "parked-waiter", "parked-on-result",
    "idle",    "other",    "unseen"};

/* Where the reading stands: the first fault is kept, the rest is read as not measured. */
struct reader {
	char *why;
	bool failed;
	const char *place; /* the object that is read, for the message */
};

static const char *type_name(const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		return "an object";
	case JSON_ARRAY:
		return "an array";
	case JSON_STRING:
		return "a string";
	case JSON_TRUE:
	case JSON_FALSE:
		return "a boolean";
	case JSON_NULL:
		return "null";
	default:
		return "a number";
	}
}

static void reader_fail(struct reader *r, const char *key, const char *is, const char *wanted)
{
	if (r->failed)
		return;
	r->failed = true;
	snprintf(r->why, RUN_WHY_SIZE, "%s%s%s is %s, but should be %s", r->place,
	         *r->place ? "." : "", key, is, wanted);
}

/* The value, or NULL when it is missing or null. */
static const json_t *value_get(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_null(value) ? NULL : value;
}

static double number_get(struct reader *r, const json_t *object, const char *key)
{
	const json_t *value = value_get(object, key);

	if (!value)
		return NAN;
	if (!json_is_number(value)) {
		reader_fail(r, key, type_name(value), "a number or null");
		return NAN;
	}
	const double number = json_number_value(value);
	if (number < 0) {
		reader_fail(r, key, format_fixed(number, 0).text, "at least 0");
		return NAN;
	}
	return number;
}

static const char *string_get(struct reader *r, const json_t *object, const char *key)
{
	const json_t *value = value_get(object, key);

	if (value && !json_is_string(value)) {
		reader_fail(r, key, type_name(value), "a string or null");
		return NULL;
	}
	return json_string_value(value);
}

static enum run_boolean boolean_get(struct reader *r, const json_t *object, const char *key)
{
	const json_t *value = value_get(object, key);

	if (!value)
		return RUN_UNKNOWN;
	if (!json_is_boolean(value)) {
		reader_fail(r, key, type_name(value), "true, false or null");
		return RUN_UNKNOWN;
	}
	return json_is_true(value) ? RUN_TRUE : RUN_FALSE;
}

static const json_t *object_get(struct reader *r, const json_t *object, const char *key)
{
	const json_t *value = value_get(object, key);

	if (value && !json_is_object(value)) {
		reader_fail(r, key, type_name(value), "an object or null");
		return NULL;
	}
	return value;
}

static const json_t *array_get(struct reader *r, const json_t *object, const char *key)
{
	const json_t *value = value_get(object, key);

	if (value && !json_is_array(value)) {
		reader_fail(r, key, type_name(value), "an array or null");
		return NULL;
	}
	return value;
}

/* An object of counters, whose names are given in order. */
static void counters_get(struct reader *r, const json_t *parent, const char *key,
                         const char *const *names, double *out, size_t count)
{
	const json_t *object = object_get(r, parent, key);

	for (size_t i = 0; i < count; i++)
		out[i] = number_get(r, object, names[i]);
}

static const json_t *histogram_get(struct reader *r, const json_t *parent, const char *key)
{
	const json_t *histogram = object_get(r, parent, key), *bucket;
	const json_t *buckets = array_get(r, histogram, "buckets");
	double previous = -1;
	size_t i;

	if (!histogram)
		return NULL;
	number_get(r, histogram, "min");
	number_get(r, histogram, "max");
	if (json_array_size(buckets) > RUN_BUCKETS_MAX)
		reader_fail(r, key, "a histogram of too many buckets", "one of at most 131072");
	json_array_foreach ((json_t *)buckets, i, bucket) {
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

static void kind_read(struct reader *r, const json_t *object, struct run_kind *kind)
{
	static const char *const states[RUN_STATE_COUNT] = {
	    "running_ns",          "runnable_ns", "parked_direct_ns", "parked_waiter_ns",
	    "parked_on_result_ns", "idle_ns",     "other_ns",         "unseen_ns"};

	kind->present = true;
	kind->threads_now = number_get(r, object, "threads_now");
	kind->threads_max = number_get(r, object, "threads_max");
	kind->alive_ns = number_get(r, object, "alive_ns");
	for (size_t i = 0; i < RUN_STATE_COUNT; i++)
		kind->state_ns[i] = number_get(r, object, states[i]);
	kind->in_call_running_ns = number_get(r, object, "in_call_running_ns");
	kind->in_call_runnable_ns = number_get(r, object, "in_call_runnable_ns");
	kind->called_ns = number_get(r, object, "called_ns");
	kind->parks = number_get(r, object, "parks");
	kind->voluntary_switches = number_get(r, object, "voluntary_switches");
	kind->involuntary_switches = number_get(r, object, "involuntary_switches");
}

static void kinds_read(struct reader *r, const json_t *probe, struct run_probe *out)
{
	const json_t *kinds = array_get(r, probe, "kinds"), *object;
	size_t i;

	json_array_foreach ((json_t *)kinds, i, object) {
		const char *name = string_get(r, object, "kind");

		if (!json_is_object(object) || !name) {
			reader_fail(r, "kinds", "an array of something else", "kinds with a name");
			return;
		}
		for (size_t k = 0; k < RUN_KIND_COUNT; k++)
			if (strcmp(name, run_kind_names[k]) == 0)
				kind_read(r, object, &out->kinds[k]);
	}
}

static void completions_read(struct reader *r, const json_t *probe, struct run_probe *out)
{
	const json_t *parked = array_get(r, probe, "parked_at_completion"), *count;
	size_t i;

	out->completions = out->completions_nobody_parked = NAN;
	if (!parked)
		return;
	if (json_array_size(parked) > RUN_PARKED_MAX) {
		reader_fail(r, "parked_at_completion", "too long", "of at most 131072 counts");
		return;
	}
	out->completions = out->completions_nobody_parked = 0;
	json_array_foreach ((json_t *)parked, i, count) {
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

static void probe_read_json(struct reader *r, const json_t *probe, struct run_probe *out)
{
	static const char *const in[] = {"hardirq", "softirq", "task"};
	static const char *const over[] = {"idle", "subject", "other"};
	static const char *const posted[] = {"submitter", "worker", "sqpoll", "interrupt"};
	static const char *const borrowed[] = {"idle", "subject", "other", "task_work"};
	const char *self_test = string_get(r, probe, "self_test");

	out->name = string_get(r, probe, "probe");
	out->lost = number_get(r, probe, "lost");
	out->self_test_failed = self_test && strcmp(self_test, "failed") == 0;
	kinds_read(r, probe, out);
	completions_read(r, probe, out);
	const json_t *completions = object_get(r, probe, "completions");
	counters_get(r, completions, "arrived_in", in, out->arrived_in, RUN_ARRIVED_COUNT);
	counters_get(r, completions, "arrived_over", over, out->arrived_over, RUN_OVER_COUNT);
	counters_get(r, completions, "posted_in", posted, out->posted_in, RUN_POSTED_COUNT);
	counters_get(r, probe, "borrowed_ns", borrowed, out->borrowed_ns, RUN_BORROWED_COUNT);
	const json_t *block = object_get(r, probe, "block");
	out->block_requests = number_get(r, block, "requests");
	out->block_bytes = number_get(r, block, "bytes");
	out->block_in_flight_ns = number_get(r, block, "in_flight_ns");
	if (out->self_test_failed) { /* then nothing said of completions or the disk is believed */
		out->completions = out->completions_nobody_parked = NAN;
		out->block_requests = out->block_bytes = out->block_in_flight_ns = NAN;
		for (size_t i = 0; i < RUN_ARRIVED_COUNT; i++)
			out->arrived_in[i] = out->arrived_over[i] = NAN;
	}
}

static void plan_read(struct reader *r, const json_t *plan, struct run_view *v)
{
	v->engine = string_get(r, plan, "engine");
	v->workload = string_get(r, plan, "workload");
	v->wait = string_get(r, plan, "wait");
	v->cache = string_get(r, plan, "cache");
	v->transport = string_get(r, plan, "transport");
	v->file = string_get(r, plan, "file");
	v->depth = number_get(r, plan, "depth");
	v->batch = number_get(r, plan, "batch");
	v->threads = number_get(r, plan, "threads");
	v->pool = number_get(r, plan, "pool");
	v->block_bytes = number_get(r, plan, "block_bytes");
	v->rate_per_s = number_get(r, plan, "rate_per_s");
	v->repeat = number_get(r, plan, "repeat");
	v->delay_min_ns = number_get(r, plan, "delay_min_ns");
	v->delay_max_ns = number_get(r, plan, "delay_max_ns");
	v->duration_ns = number_get(r, plan, "duration_ns");
	v->warmup_ns = number_get(r, plan, "warmup_ns");
	v->direct = boolean_get(r, plan, "direct");
	v->synchronous = boolean_get(r, plan, "synchronous");
}

static void measured_read(struct reader *r, const json_t *measured, struct run_view *v)
{
	const json_t *errors = object_get(r, measured, "errors"), *count;
	const char *name;
	double most = 0;
	v->window_ns = number_get(r, measured, "window_ns");
	v->operations = number_get(r, measured, "operations");
	v->bytes = number_get(r, measured, "bytes");
	v->short_count = number_get(r, measured, "short");
	v->wrong = number_get(r, measured, "wrong");
	v->errors = errors ? 0 : NAN;
	json_object_foreach ((json_t *)errors, name, count) {
		const double times = number_get(r, errors, name);

		v->errors += isnan(times) ? 0 : times;
		if (times > most) {
			most = times;
			v->error_name = name;
		}
	}
	v->in_flight_ns = number_get(r, measured, "in_flight_ns");
	v->served_ns = number_get(r, measured, "served_ns");
	v->cpu_user_ns = number_get(r, measured, "cpu_user_ns");
	v->cpu_system_ns = number_get(r, measured, "cpu_system_ns");
	v->compute_units = number_get(r, measured, "compute_units");
	v->compute_units_per_s = number_get(r, measured, "compute_units_per_s");
	v->compute_units_per_s_alone = number_get(r, measured, "compute_units_per_s_alone");
	v->verified = boolean_get(r, measured, "verified");
	v->latency_submitted = histogram_get(r, measured, "latency_submitted_ns");
	v->latency_scheduled = histogram_get(r, measured, "latency_scheduled_ns");
}

static void environment_read(struct reader *r, const json_t *environment, struct run_view *v)
{
	const json_t *virtualised = value_get(environment, "virtualised");

	v->iostudy = string_get(r, environment, "iostudy");
	v->host = string_get(r, environment, "host");
	v->kernel = string_get(r, environment, "kernel");
	v->filesystem = string_get(r, environment, "filesystem");
	v->device = string_get(r, environment, "device");
	v->cpus = number_get(r, environment, "cpus");
	v->nr_requests = number_get(r, environment, "nr_requests");
	/* a boolean, or the name of what virtualises */
	v->virtualised = json_is_string(virtualised) ? RUN_TRUE
	                                             : boolean_get(r, environment, "virtualised");
	v->nowait_read = boolean_get(r, environment, "nowait_read");
}

static void status_read(struct reader *r, const json_t *run, struct run_view *v)
{
	const char *status = string_get(r, run, "status");

	for (size_t i = 0; status && i < RUN_STATUS_COUNT; i++)
		if (strcmp(status, run_status_names[i]) == 0) {
			v->status = (enum run_status)i;
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
		         run ? type_name(run) : "nothing");
		return -EINVAL;
	}
	status_read(&r, run, v);
	v->why = string_get(&r, run, "why");
	const json_t *environment = object_get(&r, run, "environment");
	const json_t *plan = object_get(&r, run, "plan");
	const json_t *measured = object_get(&r, run, "measured");
	const json_t *probes = array_get(&r, run, "probes");

	r.place = "environment";
	environment_read(&r, environment, v);
	r.place = "plan";
	plan_read(&r, plan, v);
	r.place = "measured";
	measured_read(&r, measured, v);
	r.place = "probes";
	json_array_foreach ((json_t *)probes, i, probe) {
		if (!json_is_object(probe))
			reader_fail(&r, "entry", type_name(probe), "an object");
		if (v->probe_count < RUN_PROBES_MAX)
			probe_read_json(&r, probe, &v->probes[v->probe_count++]);
	}
	return r.failed ? -EINVAL : 0;
}

bool run_has_failed(const struct run_view *v)
{
	return v->status == RUN_FAILED || v->wrong > 0 || v->errors > 0;
}

bool name_is(const char *name, const char *wanted)
{
	return name && strcmp(name, wanted) == 0;
}

const struct run_probe *run_headline(const struct run_view *v)
{
	return v->probe_count ? &v->probes[0] : NULL;
}
