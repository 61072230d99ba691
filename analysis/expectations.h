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

/* What the runs told of each expectation, in their order; all zero before the first run. */
struct expectation_tests {
	struct expectation_tally {
		double *figures;
		size_t count, room;
		size_t runs;   /* that test it, whether they measured it or not */
		char why[200]; /* why such a run was skipped; empty: none was */
	} * tallies;           /* two for each: of its runs, and of those it is held against */
};

/* Takes a run, whose view and summary these are. 0 or -ENOMEM. */
int expectations_add(struct expectation_tests *tests, const struct run_view *view,
                     const struct summary *summary, const json_t *run);
void expectations_free(struct expectation_tests *tests);

/* Tests one of expectations[] on the runs taken. 0 or -ENOMEM. */
int expectation_test(const struct expectation *expectation, const struct expectation_tests *tests,
                     struct expectation_result *result);

#endif
