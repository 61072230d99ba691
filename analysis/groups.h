/*
 * Many runs sorted for comparison: repeats of the same thing become one cell, cells that differ
 * in one respect alone stand in one group, a table.
 */
#ifndef IOSTUDY_GROUPS_H
#define IOSTUDY_GROUPS_H

#include <stdint.h>

#include "analysis/run_view.h"
#include "analysis/summary.h"

enum { GROUP_KEY_SIZE = 600 };

/* One engine, one workload, one setting; the medians of its repeats. */
struct cell {
	json_t *run;            /* the first of them that measured something, else the first */
	struct run_view view;   /* of that run */
	struct summary summary; /* of each quantity the median */
	double iops_deviation, held_deviation, cpu_deviation; /* standard; NaN for one run */
	size_t runs, measured; /* runs of this cell, and those that gave figures */
	size_t group;
	bool wait_is_free;             /* it blocks in submission: its --wait says nothing */
	char settings[GROUP_KEY_SIZE]; /* what was asked, but engine, workload and --wait */
};

struct group {
	size_t first; /* its first cell */
	size_t cells; /* how many */
};

struct groups {
	struct cell *cells;
	struct group *groups;
	size_t *cell_of;           /* by the number of a run; SIZE_MAX: it stands in none */
	struct summary *summaries; /* by the number of a run */
	size_t *moved; /* of a study, whose cells are sorted at the end: where each went */
	size_t cell_count, cell_room, group_count, run_count, run_room;
	bool many_engines; /* then the cells of a group differ by engine, else by workload and wait
	                    */
	bool repeated;     /* some cell holds more than one run */
	size_t twins;      /* of a study: they tell of the harness and stand in no cell */
	size_t unreadable; /* runs that could not be read, and are left out */
};

/* 0 or -ENOMEM. */
int groups_make(struct groups *groups, json_t *const *runs, size_t count);

/* The same, a run at a time: it goes into a cell of *groups, all zero before the first. Of a cell's
 * runs one is kept; view and summary are of that run, and needed for the call only. */
int groups_add(struct groups *groups, json_t *run, const struct run_view *view,
               const struct summary *summary);
/* After the last: the order of the cells, their medians, and their groups. 0 or -ENOMEM. */
int groups_finish(struct groups *groups);
void groups_free(struct groups *groups);

#endif
