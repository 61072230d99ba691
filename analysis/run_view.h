/*
 * One run as plain numbers: what analysis reads of the JSON object of a run.
 *
 * A number that is missing or null is NaN: not measured. Strings belong to the JSON object, which
 * must outlive the view. A field of the wrong type or below zero makes the run unreadable, with a
 * sentence that names it; fields that are not known here are passed over.
 */
#ifndef IOSTUDY_RUN_VIEW_H
#define IOSTUDY_RUN_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#define RUN_SCHEMA "iostudy/run/1"

enum {
	RUN_WHY_SIZE = 320,
	RUN_PROBES_MAX = 4,        /* entries of probes that are read */
	RUN_BUCKETS_MAX = 1 << 17, /* buckets of a histogram that are read */
	RUN_PARKED_MAX = 1 << 17,  /* entries of parked_at_completion that are read */
};

enum run_status { RUN_OK, RUN_SKIPPED, RUN_FAILED, RUN_INTERRUPTED, RUN_STATUS_COUNT };

enum run_kind_index {
	RUN_APPLICATION,
	RUN_POOL,
	RUN_AIO_HELPER,
	RUN_IO_WQ,
	RUN_SQPOLL,
	RUN_KIND_COUNT
};

enum run_state {
	RUN_RUNNING,
	RUN_RUNNABLE,
	RUN_PARKED_DIRECT,
	RUN_PARKED_WAITER,
	RUN_PARKED_ON_RESULT,
	RUN_IDLE,
	RUN_OTHER,
	RUN_UNSEEN,
	RUN_STATE_COUNT
};

enum run_boolean { RUN_FALSE, RUN_TRUE, RUN_UNKNOWN };

/* One kind of thread. A kind that the probe does not list has no threads: present is false. */
struct run_kind {
	bool present;
	double threads_now, threads_max, alive_ns;
	double state_ns[RUN_STATE_COUNT];
	double in_call_running_ns, in_call_runnable_ns, called_ns;
	double parks, voluntary_switches, involuntary_switches;
};

enum { RUN_IN_HARDIRQ, RUN_IN_SOFTIRQ, RUN_IN_TASK, RUN_ARRIVED_COUNT };
enum { RUN_OVER_IDLE, RUN_OVER_SUBJECT, RUN_OVER_OTHER, RUN_OVER_COUNT };
enum { RUN_BY_SUBMITTER, RUN_BY_WORKER, RUN_BY_SQPOLL, RUN_BY_INTERRUPT, RUN_POSTED_COUNT };
enum { RUN_FROM_IDLE, RUN_FROM_SUBJECT, RUN_FROM_OTHER, RUN_TASK_WORK, RUN_BORROWED_COUNT };

struct run_probe {
	const char *name; /* bpf, perf, schedstat, proc */
	double lost;
	bool self_test_failed;
	struct run_kind kinds[RUN_KIND_COUNT];
	double completions;               /* how many parked_at_completion counts */
	double completions_nobody_parked; /* of them, those that found no thread parked */
	double arrived_in[RUN_ARRIVED_COUNT], arrived_over[RUN_OVER_COUNT];
	double posted_in[RUN_POSTED_COUNT], borrowed_ns[RUN_BORROWED_COUNT];
	double block_requests, block_bytes, block_in_flight_ns;
};

struct run_view {
	enum run_status status;
	const char *why;

	const char *iostudy, *host, *kernel, *filesystem, *device;
	double cpus, nr_requests;
	enum run_boolean virtualised, nowait_read;

	const char *engine, *workload, *wait, *cache, *transport, *file;
	double depth, batch, threads, pool, block_bytes, rate_per_s, repeat;
	double delay_min_ns, delay_max_ns, duration_ns, warmup_ns;
	enum run_boolean direct, synchronous;

	double window_ns, operations, bytes, short_count, wrong, errors;
	const char *error_name; /* of the error that came most often, or NULL */
	double in_flight_ns, served_ns, cpu_user_ns, cpu_system_ns;
	double compute_units, compute_units_per_s, compute_units_per_s_alone;
	enum run_boolean verified;
	const json_t *latency_submitted, *latency_scheduled; /* checked; NULL when not measured */

	struct run_probe probes[RUN_PROBES_MAX];
	size_t probe_count; /* the first gives the headline */
};

extern const char *const run_status_names[RUN_STATUS_COUNT];
extern const char *const run_kind_names[RUN_KIND_COUNT];   /* as in JSON: aio-helper */
extern const char *const run_state_names[RUN_STATE_COUNT]; /* as on the screen: parked-direct */

/* Reads run into view. 0, or -EINVAL with why: which field, what it is and what it should be. */
int run_view_read(struct run_view *view, const json_t *run, char why[RUN_WHY_SIZE]);

/* Data was wrong, requests failed, or the run did: it has no rate and no finding. */
bool run_has_failed(const struct run_view *view);

/* A name that is there, and is this one. */
bool name_is(const char *name, const char *wanted);

/* The first probe, or NULL when none was attached. */
const struct run_probe *run_headline(const struct run_view *view);

#endif
