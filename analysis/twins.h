/*
 * The twins of a study's runs, and the runs that they belong to: the engine `null`, which is the
 * harness's floor, and runs without a probe, which tell its cost.
 */
#ifndef IOSTUDY_TWINS_H
#define IOSTUDY_TWINS_H

#include <stdint.h>

#include "analysis/summary.h"

struct twin {
	uint64_t key; /* the same for a run and its twins */
	enum { TWIN_OF_NONE, TWIN_OF_NULL, TWIN_OF_NO_PROBE, TWIN_OF_OTHER } kind;
	double cpu_ns_per_operation, iops;
};

/* All zero before the first run. */
struct twins {
	struct twin *all;
	size_t count, room;
};

/* Takes a run, if it is of a study and went well. 0 or -ENOMEM. */
int twins_add(struct twins *twins, const struct run_view *view, const struct summary *summary);
void twins_free(struct twins *twins);

#endif
