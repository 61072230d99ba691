/*
 * The probes of a run: one, or several that watch the same subject side by side.
 */
#ifndef IOSTUDY_RUN_PROBES_H
#define IOSTUDY_RUN_PROBES_H

#include <stdbool.h>

#include "bench/run.h"

struct run_probes {
	struct probe probes[RUN_PROBES_MAX];
	uint32_t count;
	struct probe_tables tables; /* those that the subject gets, probes or not */
	struct probe_tables own;    /* where no probe brings its own */
	struct probe_config config;
	/* "auto": those of the table from here on have not been tried yet; else NULL */
	const struct probe_ops *const *untried;
	struct {
		const char *name;
		char why[PROBE_WHY_SIZE];
	} refused[RUN_PROBES_MAX]; /* by "auto" */
	uint32_t refused_count;
	struct run_result *result;
};

/* Opens what names asks for, before the subject exists: "none"; "a,b", each of which is required;
 * or "auto": bpf, else the two best of the others that open, and the result's warnings say why not
 * better. 0; or -errno: the result says why the run cannot be. */
int run_probes_open(struct run_probes *p, const char *names, const struct probe_config *config,
                    struct run_result *result);

/* From now on the threads of the subject are counted. "auto" puts another probe in the place of one
 * that cannot. As run_probes_open. */
int run_probes_attach(struct run_probes *p, pid_t subject);

void run_probes_close(struct run_probes *p);

#endif
