/*
 * An edge of the window: all counters of subject and probe at one moment. What happened in the
 * window is the difference of two edges.
 */
#ifndef IOSTUDY_EDGE_H
#define IOSTUDY_EDGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bench/run_probes.h"

struct edge {
	struct witness_sums sums;
	uint64_t marked_ns; /* time that the subject's threads spent in calls, by their marks */
	bool has_pool;      /* some of them are a pool's */
	bool cpu_known;
	uint64_t cpu_ns; /* of all threads of the subject, hidden ones included */
	uint64_t user_ticks, system_ticks;
	int64_t steal_ns, busy_ns, iowait_ns;
	struct probe_reading readings[RUN_PROBES_MAX];
};

/* Reads everything now. 0, or -errno of witness_read or of a probe. */
int edge_read(struct edge *edge, pid_t subject, const struct witness *witness,
              struct run_probes *probes);

/* Writes into the result what happened between two edges. */
void edge_difference(struct run_result *result, const struct edge *from, const struct edge *to);

#endif
