/* See analysis_runs.h. */
#include "tests/analysis_runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/findings.h"
#include "analysis/summary.h"
#include "tests/test.h"

enum { PATH_SIZE = 200 };
static const double window_ns = 2e9;

/* One step down; makes what is missing. */
static json_t *step(json_t *at, const char *name, bool make)
{
	char *end;
	const size_t index = strtoul(name, &end, 10);
	json_t *next = json_is_array(at) && !*end ? json_array_get(at, index)
	                                          : json_object_get(at, name);

	if (make && !json_is_object(next) && !json_is_array(next) && json_is_object(at)) {
		next = json_object();
		json_object_set_new(at, name, next);
	}
	return next;
}

static json_t *walk(json_t *run, const char *path, char last[PATH_SIZE], bool make)
{
	char copy[PATH_SIZE], *rest = NULL, *name;
	json_t *at = run;

	snprintf(copy, sizeof copy, "%s", path);
	name = strtok_r(copy, ".", &rest);
	for (char *next; (next = strtok_r(NULL, ".", &rest)); name = next)
		at = step(at, name, make);
	snprintf(last, PATH_SIZE, "%s", name);
	return at;
}

void run_set(json_t *run, const char *path, json_t *value)
{
	char last[PATH_SIZE], *end;
	json_t *at = walk(run, path, last, true);
	const size_t index = strtoul(last, &end, 10);

	if (json_is_array(at) && !*end && index < json_array_size(at))
		json_array_set_new(at, index, value);
	else if (json_is_array(at))
		json_array_append_new(at, value);
	else
		json_object_set_new(at, last, value);
}

void run_number(json_t *run, const char *path, double value)
{
	run_set(run, path, json_from_number(value));
}

void run_delete(json_t *run, const char *path)
{
	char last[PATH_SIZE];

	json_object_del(walk(run, path, last, false), last);
}

const json_t *run_get(const json_t *run, const char *path)
{
	char last[PATH_SIZE];

	return step(walk((json_t *)run, path, last, false), last, false);
}

double run_get_number(const json_t *run, const char *path)
{
	const json_t *value = run_get(run, path);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

void run_threads(json_t *run, const char *kind, double threads, double direct, double waiter,
                 double in_call)
{
	json_t *kinds = (json_t *)run_get(run, "probes.0.kinds"), *old;
	const double rest = threads - direct - waiter - in_call;
	size_t i;

	json_array_foreach(
	    kinds, i, old) if (strcmp(json_string_value(json_object_get(old, "kind")), kind) == 0)
	    json_array_remove(kinds, i--);
	json_t *object = json_pack("{s:s}", "kind", kind);
	const struct {
		const char *name;
		double value;
	} fields[] = {
	    {"threads_now", threads},
	    {"threads_max", threads},
	    {"alive_ns", threads * window_ns},
	    {"running_ns", (in_call / 2 + (rest > 0 ? rest : 0)) * window_ns},
	    {"runnable_ns", in_call / 2 * window_ns},
	    {"parked_direct_ns", direct * window_ns},
	    {"parked_waiter_ns", waiter * window_ns},
	    {"parked_on_result_ns", 0},
	    {"idle_ns", 0},
	    {"other_ns", 0},
	    {"unseen_ns", 0},
	    {"in_call_running_ns", in_call / 2 * window_ns},
	    {"in_call_runnable_ns", in_call / 2 * window_ns},
	    {"called_ns", (direct > 0 ? direct + in_call : 0) * window_ns},
	    {"parks", 1000},
	    {"voluntary_switches", 1000},
	    {"involuntary_switches", 10},
	};
	for (size_t f = 0; f < sizeof fields / sizeof fields[0]; f++)
		json_object_set_new(object, fields[f].name,
		                    json_from_number(round(fields[f].value)));
	json_array_append_new(kinds, object);
}

static const char *const bare =
    "{ 'schema': 'iostudy/run/1', 'status': 'ok', 'why': null,"
    "  'environment': { 'iostudy': '0.1.0', 'host': 'test', 'kernel': '6.18.0', 'cpus': 2,"
    "    'virtualised': true, 'filesystem': 'ext4', 'device': 'vda', 'nr_requests': 256,"
    "    'nowait_read': true },"
    "  'plan': { 'depth': 32, 'batch': 8, 'threads': 1, 'pool': null, 'block_bytes': 4096,"
    "    'direct': true, 'cache': null, 'transport': null, 'delay_min_ns': null,"
    "    'delay_max_ns': null, 'file': './iostudy.data', 'rate_per_s': null,"
    "    'duration_ns': 2000000000, 'warmup_ns': 500000000, 'operations': null, 'seed': 1,"
    "    'repeat': 1, 'study': null, 'cell': null, 'twin': null, 'shard': null,"
    "    'synchronous': false },"
    "  'measured': { 'window_ns': 2000000000, 'operations': 169600, 'bytes': 694681600,"
    "    'short': 0, 'wrong': 0, 'errors': {}, 'verified': true, 'in_flight_ns': 64000000000,"
    "    'served_ns': 64000000000, 'cpu_user_ns': 300000000, 'cpu_system_ns': 700000000,"
    "    'compute_units': null, 'compute_units_per_s': null, 'compute_units_per_s_alone': null,"
    "    'latency_submitted_ns': { 'min': 101000, 'max': 2000000, 'buckets':"
    "      [[100000, 1000], [362000, 160000], [619000, 8000], [1900000, 600]] },"
    "    'latency_scheduled_ns': null },"
    "  'probes': [ { 'probe': 'bpf', 'lost': 0, 'self_test': 'ok', 'kinds': [],"
    "    'parked_at_completion': [169600], 'occupancy_ns': [[0, 32, 2000000000]],"
    "    'completions': { 'arrived_in': { 'hardirq': 169000, 'softirq': 600, 'task': 0 },"
    "      'arrived_over': { 'idle': 120000, 'subject': 848, 'other': 48752 },"
    "      'posted_in': { 'submitter': 169600, 'worker': 0, 'sqpoll': 0, 'interrupt': 0 } },"
    "    'borrowed_ns': { 'idle': 200000000, 'subject': 2000000, 'other': 90000000,"
    "      'task_work': 50000000 },"
    "    'block': { 'requests': 169600, 'bytes': 694681600, 'in_flight_ns': 63000000000 } } ],"
    "  'warnings': [] }";

json_t *run_bare(const char *engine, const char *workload, const char *wait)
{
	char text[4000];

	snprintf(text, sizeof text, "%s", bare);
	for (char *c = text; *c; c++)
		if (*c == '\'')
			*c = '"';
	json_t *run = json_loads(text, 0, NULL);
	run_set(run, "plan.engine", json_string(engine));
	run_set(run, "plan.workload", json_string(workload));
	run_set(run, "plan.wait", json_string(wait));
	run_threads(run, "application", 1, 0, 0, 0);
	return run;
}

json_t *run_no_thread(void)
{
	json_t *run = run_bare("uring", "disk-randread", "compute");

	run_number(run, "measured.compute_units", 1540000);
	run_number(run, "measured.compute_units_per_s", 770000);
	run_number(run, "measured.compute_units_per_s_alone", 1000000);
	return run;
}

json_t *run_one_waiter(void)
{
	json_t *run = run_bare("uring", "disk-randread", "park");

	run_threads(run, "application", 1, 0, 0.74, 0.19);
	run_set(run, "probes.0.parked_at_completion", json_pack("[i,i]", 40000, 129600));
	return run;
}

json_t *run_thread_per_io(void)
{
	json_t *run = run_bare("blocking", "disk-randread", "park");

	run_set(run, "plan.synchronous", json_true());
	run_number(run, "plan.threads", 32);
	run_threads(run, "application", 32, 26, 0, 5.9);
	run_set(run, "probes.0.parked_at_completion", json_pack("[i,i]", 0, 169600));
	return run;
}

json_t *run_pool(void)
{
	json_t *run = run_bare("pool", "disk-randread", "park");

	run_number(run, "plan.pool", 32);
	run_number(run, "measured.in_flight_ns", 40 * window_ns);
	run_number(run, "plan.depth", 40);
	run_threads(run, "application", 1, 0, 0.8, 0.1);
	run_threads(run, "pool", 32, 25, 0, 6.8);
	run_set(run, "probes.0.parked_at_completion", json_pack("[i,i]", 0, 169600));
	return run;
}

json_t *run_posix_aio(void)
{
	json_t *run = run_bare("posix-aio", "disk-randread", "park");

	run_number(run, "plan.depth", 16);
	run_number(run, "measured.in_flight_ns", 16 * window_ns);
	run_set(run, "measured.served_ns", json_null());
	run_threads(run, "application", 1, 0, 0.96, 0.03);
	run_threads(run, "aio-helper", 1, 0.95, 0, 0.05);
	run_set(run, "probes.0.parked_at_completion", json_pack("[i,i,i]", 0, 0, 169600));
	return run;
}

json_t *run_spinning(void)
{
	json_t *run = run_bare("uring", "disk-randread", "spin");

	run_number(run, "measured.cpu_user_ns", 1900000000);
	run_number(run, "measured.cpu_system_ns", 90000000);
	return run;
}

json_t *run_page_cache(void)
{
	json_t *run = run_bare("blocking", "disk-randread", "park");

	run_set(run, "plan.synchronous", json_true());
	run_number(run, "plan.threads", 32);
	run_set(run, "plan.direct", json_false());
	run_set(run, "plan.cache", json_string("hot"));
	run_threads(run, "application", 32, 0, 0, 31.5);
	run_number(run, "probes.0.block.requests", 41);
	run_number(run, "probes.0.block.bytes", 41 * 4096);
	run_set(run, "probes.0.parked_at_completion", json_pack("[i]", 41));
	run_number(run, "probes.0.completions.arrived_in.hardirq", 41);
	run_number(run, "probes.0.completions.arrived_in.softirq", 0);
	return run;
}

json_t *run_socket(void)
{
	json_t *run = run_bare("epoll", "socket-delay", "park");

	run_number(run, "plan.depth", 64);
	run_set(run, "plan.transport", json_string("tcp"));
	run_set(run, "plan.file", json_null());
	run_set(run, "environment.filesystem", json_null());
	run_number(run, "plan.delay_min_ns", 20e6);
	run_number(run, "plan.delay_max_ns", 20e6);
	run_number(run, "measured.operations", 6400);
	run_number(run, "measured.in_flight_ns", 64 * window_ns);
	run_number(run, "measured.served_ns", 64 * window_ns);
	run_threads(run, "application", 1, 0, 0.98, 0.01);
	run_set(run, "probes.0.parked_at_completion", json_pack("[i,i]", 5, 6395));
	run_number(run, "probes.0.completions.arrived_in.hardirq", 0);
	run_number(run, "probes.0.completions.arrived_in.softirq", 6390);
	run_number(run, "probes.0.completions.arrived_in.task", 10);
	run_set(run, "probes.0.block", json_null());
	run_set(run, "measured.latency_submitted_ns",
	        json_loads("{\"min\":20000000,\"max\":21000000,\"buckets\":[[20000000,6400]]}", 0,
	                   NULL));
	return run;
}

json_t *run_nothing_ends(void)
{
	json_t *run = run_socket();

	run_number(run, "plan.delay_min_ns", 10e9);
	run_number(run, "plan.delay_max_ns", 10e9);
	run_number(run, "measured.operations", 0);
	run_number(run, "measured.bytes", 0);
	run_set(run, "measured.latency_submitted_ns",
	        json_pack("{s:n,s:n,s:[]}", "min", "max", "buckets"));
	run_set(run, "probes.0.parked_at_completion", json_array());
	run_number(run, "probes.0.completions.arrived_in.softirq", 0);
	run_number(run, "probes.0.completions.arrived_in.task", 0);
	return run;
}

json_t *run_punted(void)
{
	json_t *run = run_bare("uring-async", "disk-randread", "park");

	run_threads(run, "application", 1, 0, 0.5, 0.1);
	run_threads(run, "io-wq", 4, 0, 0, 1);
	run_set(run, "probes.0.io_uring",
	        json_pack("{s:i, s:i, s:[{s:s, s:s, s:i}], s:i, s:i, s:[], s:i, s:i, s:i, s:i}",
	                  "submitted", 1000, "punted", 1000, "punted_by", "operation", "READ",
	                  "reason", "forced", "count", 1000, "workers_parked_ns", 0,
	                  "workers_parks", 0, "workers_parked_by", "workers_max", 4,
	                  "workers_limit", 8, "workers_unbounded", 4, "workers_unbounded_limit",
	                  9000));
	run_set(run, "probes.0.submitter_sleeps", json_array());
	return run;
}

json_t *run_blocked(void)
{
	json_t *run = run_bare("libaio", "disk-randread", "park");

	run_threads(run, "application", 1, 0.9, 0, 0);
	run_set(run, "plan.direct", json_false());
	run_set(run, "measured.operations", json_integer(2000));
	run_set(run, "probes.0.submitter_sleeps",
	        json_pack("[{s:s, s:s, s:i, s:I}]", "call", "io_submit", "cause", "buffered-read",
	                  "count", 2000, "parked_ns", (json_int_t)1800000000));
	return run;
}

json_t *run_failed(void)
{
	json_t *run = run_one_waiter();

	run_set(run, "status", json_string("failed"));
	run_set(run, "why", json_string("slot 3: the block at 4096 carries another index"));
	run_number(run, "measured.wrong", 1);
	return run;
}

json_t *run_skipped(void)
{
	json_t *run = run_bare("epoll", "disk-randread", "park");

	run_set(run, "status", json_string("skipped"));
	run_set(run, "why",
	        json_string("epoll: a regular file is always ready and cannot be "
	                    "waited for"));
	run_set(run, "measured", json_null());
	run_set(run, "probes", json_array());
	return run;
}

bool run_conclude(json_t *run)
{
	char why[RUN_WHY_SIZE] = "";
	const bool done = summary_add(run, why) == 0 && findings_add(run, why) == 0;

	CHECK_MESSAGE(done, "%s", why);
	return done;
}

const json_t *run_finding(const json_t *run, const char *tag)
{
	const json_t *finding;
	size_t i;

	json_array_foreach(json_object_get(run, "findings"), i,
	                   finding) if (strcmp(json_string_value(json_object_get(finding, "tag")),
	                                       tag) == 0) return finding;
	return NULL;
}

void runs_digest(struct digest *digest, json_t *const *runs, size_t count)
{
	*digest = (struct digest){.for_page = true};
	for (size_t i = 0; i < count; i++)
		CHECK_EQUAL(digest_add(digest, runs[i]), 0);
	CHECK_EQUAL(digest_finish(digest), 0);
}
