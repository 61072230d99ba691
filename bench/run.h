/*
 * One run: starts peer, probe and subject, reads both at the window's edges, and ends all of
 * them again, whatever happens.
 */
#ifndef IOSTUDY_RUN_H
#define IOSTUDY_RUN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "bench/plan.h"
#include "bench/readback.h"
#include "bench/witness.h"
#include "probes/probe.h"

enum run_outcome { OUTCOME_OK, OUTCOME_SKIPPED, OUTCOME_FAILED, OUTCOME_INTERRUPTED };
extern const char *const run_outcome_names[]; /* as in JSON */

enum { RUN_WARNINGS = 12, RUN_PROBES_MAX = 4 };

struct run_options {
	const char *probe;     /* "auto": the best that is allowed; "none"; or names: "bpf,proc" */
	const char *directory; /* where the probe's self-test may write for a moment, or NULL */
	const volatile sig_atomic_t *signal; /* not 0: end now, with what was measured */
	const char *script; /* the path of a bpftrace script to run beside, or NULL */
};

struct run_probe {
	const char *name;
	enum probe_self_test self_test;
	struct probe_reading *reading; /* the window's; NULL: the run ended before it */
};

struct run_result {
	enum run_outcome status;
	char why[PLAN_WHY_SIZE]; /* unless ok */
	bool probe_missing;      /* skipped since the probe that was asked for is not to be had */
	struct plan plan;        /* completed */

	/* The window; nothing below means anything when it is 0 ns. */
	uint64_t window_ns;
	uint64_t reading_ns; /* how long the threads' counters took to read, at both edges */
	struct witness_sums measured; /* what happened in it; latencies' min and max of it */
	bool served_known;
	uint64_t served_ns;
	bool cpu_known;
	uint64_t cpu_user_ns, cpu_system_ns;
	int64_t
	    others_cpu_ns;  /* that all CPUs worked for others, peer and interrupts included; -1 */
	int64_t iowait_ns;  /* that idle CPUs counted as waiting for I/O, anybody's; -1 */
	double steal_share; /* the CPU time that the hypervisor took, as a share of the window; or
	                       -1 */

	bool was_read_back; /* the run wrote, and its files were looked at afterwards */
	struct readback readback;

	struct run_probe probes[RUN_PROBES_MAX]; /* the first gives the headline */
	uint32_t probe_count;

	char *script_output; /* what the script said; NULL: none ran */

	char warnings[RUN_WARNINGS][PLAN_WHY_SIZE];
	uint32_t warning_count;
};

/* Carries a plan out. The file of a disk workload is prepared already (file_prepare). Always
 * fills the result; the caller frees it with run_result_free. */
void run_execute(const struct plan *plan, const struct run_options *options,
                 struct run_result *result);

void run_result_free(struct run_result *result);

/* For the parts of a run: how it has ended and why; and what its reader is to know. */
void run_end(struct run_result *result, enum run_outcome status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void run_warn(struct run_result *result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
