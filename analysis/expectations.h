/*
 * What is said of Linux, as data: what is expected, the runs that test it, and the rule that
 * decides. Nothing is assumed from a kernel's version: what these runs cannot test is said to be
 * untested, and why.
 */
#ifndef IOSTUDY_EXPECTATIONS_H
#define IOSTUDY_EXPECTATIONS_H

#include "analysis/run_view.h"
#include "analysis/summary.h"

/* The surroundings that a run must have had. */
enum expectation_place {
	PLACE_ANY,
	PLACE_DISK,    /* a file system on a device, which accepts RWF_NOWAIT */
	PLACE_EXT4,    /* ext4 on a device */
	PLACE_REFUSES, /* RWF_NOWAIT is refused: overlay, tmpfs ... */
	PLACE_ZRAM,
	PLACE_MEMORY,
};

enum { EXPECT_ANY = -1 };

/* Which runs test it. What is NULL or 0 is not asked for. */
struct expectation_runs {
	const char *engine, *workload, *wait, *cache;
	int direct; /* 0, 1 or EXPECT_ANY */
	double depth_low, depth_high, files;
	bool beyond_queue; /* more requests than nr_requests */
	enum expectation_place place;
};

struct expectation {
	const char *number; /* of the fact: "2", and a letter where it has parts */
	const char *says;   /* what is expected, one sentence */
	const char *figure; /* what is measured for it */
	struct expectation_runs runs;
	/* Not NULL: the figure is its median in these runs divided by that in those. */
	const struct expectation_runs *against;
	double (*measure)(const struct run_view *view, const struct summary *summary,
	                  const json_t *run); /* NaN: not measured there */
	double low, high;                     /* agrees when the figure is within */
	const char *untestable;               /* not NULL: why no run can test it */
};

extern const struct expectation expectations[]; /* ends with a number of NULL */

enum expectation_verdict {
	VERDICT_UNTESTED,
	VERDICT_AGREES,
	VERDICT_CONTRADICTS,
	VERDICT_UNDECIDED,
};
extern const char *const expectation_verdict_names[];

struct expectation_result {
	enum expectation_verdict verdict;
	size_t runs, measured;
	double figure, low, high; /* median, and its interval of 95 %; NaN for a single run */
	char why[300];            /* untested or undecided: why */
};

/* Tests one expectation on these runs. 0 or -ENOMEM. */
int expectation_test(const struct expectation *expectation, json_t *const *runs, size_t count,
                     struct expectation_result *result);

#endif
