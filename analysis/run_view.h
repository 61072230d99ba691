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

#include "analysis/view_workers.h"

#define RUN_SCHEMA "iostudy/run/1"

enum {
	RUN_WHY_SIZE = 400,
	VIEW_PROBES_MAX = 4,        /* entries of probes that are read */
	VIEW_BUCKETS_MAX = 1 << 17, /* buckets of a histogram that are read */
	VIEW_PARKED_MAX = 1 << 17,  /* entries of parked_at_completion that are read */
};

enum view_status { VIEW_OK, VIEW_SKIPPED, VIEW_FAILED, VIEW_INTERRUPTED, VIEW_STATUS_COUNT };

enum view_kind_index {
	VIEW_APPLICATION,
	VIEW_POOL,
	VIEW_AIO_HELPER,
	VIEW_IO_WQ,
	VIEW_SQPOLL,
	VIEW_HELPER,
	VIEW_KIND_COUNT
};

enum view_state {
	VIEW_RUNNING,
	VIEW_RUNNABLE,
	VIEW_PARKED_DIRECT,
	VIEW_PARKED_WAITER,
	VIEW_PARKED_ON_RESULT,
	VIEW_IDLE,
	VIEW_OTHER,
	VIEW_UNSEEN,
	VIEW_STATE_COUNT
};

enum view_boolean { VIEW_FALSE, VIEW_TRUE, VIEW_UNKNOWN };

/* One kind of thread. A kind that the probe does not list has no threads: present is false. */
struct view_kind {
	bool present;
	double threads_now, threads_max, alive_ns;
	double state_ns[VIEW_STATE_COUNT];
	double in_call_running_ns, in_call_runnable_ns, called_ns;
	double parks, voluntary_switches, involuntary_switches;
};

enum { VIEW_IN_HARDIRQ, VIEW_IN_SOFTIRQ, VIEW_IN_TASK, VIEW_ARRIVED_COUNT };
enum { VIEW_OVER_IDLE, VIEW_OVER_SUBJECT, VIEW_OVER_OTHER, VIEW_OVER_COUNT };
enum { VIEW_BY_SUBMITTER, VIEW_BY_WORKER, VIEW_BY_SQPOLL, VIEW_BY_INTERRUPT, VIEW_POSTED_COUNT };
enum { VIEW_FROM_IDLE, VIEW_FROM_SUBJECT, VIEW_FROM_OTHER, VIEW_TASK_WORK, VIEW_BORROWED_COUNT };

struct view_probe {
	const char *name; /* bpf, perf, schedstat, proc */
	double window_ns; /* its own; NaN: that of the run */
	double lost;
	double samples, samples_per_s; /* of a probe that estimates; else NaN */
	double parked_error_ns;        /* how far parked can be off, lost events apart */
	bool self_test_failed;
	struct view_kind kinds[VIEW_KIND_COUNT];
	double completions;               /* how many parked_at_completion counts */
	double completions_nobody_parked; /* of them, those that found no thread parked */
	double completions_unseen;        /* others that are known to have come; NaN: not known */
	double arrived_in[VIEW_ARRIVED_COUNT], arrived_over[VIEW_OVER_COUNT];
	double posted_in[VIEW_POSTED_COUNT], borrowed_ns[VIEW_BORROWED_COUNT];
	double block_requests, block_bytes, block_in_flight_ns;
	struct view_workers workers;
	struct view_sleeps sleeps;
};

struct run_view {
	enum view_status status;
	const char *why;

	const char *iostudy, *host, *kernel, *filesystem, *device;
	double cpus, nr_requests;
	enum view_boolean virtualised, nowait_read, in_memory;
	const char *virtualiser; /* kvm ... */

	const char *study, *cell, *twin; /* twin: "null", "no-probe", or NULL: a run of its own */
	const char *engine, *workload, *wait, *cache, *transport, *arrival, *peer, *file;
	double depth, batch, threads, pool, connections, block_bytes, rate_per_s, repeat;
	double files, fsync_every, read_percent;
	double delay_min_ns, delay_max_ns, duration_ns, warmup_ns;
	enum view_boolean direct, synchronous;

	double window_ns, operations, bytes, short_count, wrong, errors; /* errors: all failures */
	const char *error_name;      /* of the error that came most often, or NULL */
	double unfinished_oldest_ns; /* of an open loop */
	double in_flight_ns, served_ns, cpu_user_ns, cpu_system_ns;
	double steal_ns, others_cpu_ns; /* what the window lost to a hypervisor, and to others */
	double iowait_ns;               /* that idle CPUs counted as waiting for I/O */
	double compute_units, compute_units_per_s, compute_units_per_s_alone;
	enum view_boolean verified;
	double written_blocks, checked_blocks; /* of what was read back after the run */
	const json_t *latency_submitted, *latency_scheduled; /* checked; NULL when not measured */

	struct view_probe probes[VIEW_PROBES_MAX];
	size_t probe_count; /* the first gives the headline */
};

extern const char *const view_status_names[VIEW_STATUS_COUNT];
extern const char *const view_kind_names[VIEW_KIND_COUNT];   /* as in JSON: aio-helper */
extern const char *const view_state_names[VIEW_STATE_COUNT]; /* as on the screen: parked-direct */

/* Reads run into view. 0, or -EINVAL with why: which field, what it is and what it should be. */
int run_view_read(struct run_view *view, const json_t *run, char why[RUN_WHY_SIZE]);

/* Data was wrong, requests failed, or the run did: it has no rate and no finding. */
bool view_has_failed(const struct run_view *view);

/* A name that is there, and is this one. */
bool name_is(const char *name, const char *wanted);

/* The first probe, or NULL when none was attached. */
const struct view_probe *view_headline(const struct run_view *view);

#endif
