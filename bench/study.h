/*
 * A study: the runs of a matrix that an INI file describes in the manner of fio's job files.
 *
 * Each section is a matrix of its own: all combinations of the lists that it, and [global] before
 * it, give to settings of `iostudy run`. One combination is a cell. In each repeat every cell is
 * run once, in an order shuffled from the seed, so that drift hits all alike. A batch is a section
 * in one repeat; to each batch belong two twins of one of its cells, drawn from the seed: the
 * engine `null`, which is the harness's floor, and the cell without a probe, which tells what the
 * probe costs.
 */
#ifndef IOSTUDY_STUDY_H
#define IOSTUDY_STUDY_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "bench/plan.h"

enum {
	STUDY_WHY_SIZE = 1000,
	STUDY_NAME_SIZE = 64,
	STUDY_CELL_SIZE = 800,
	STUDY_CELLS_MAX = 4096,
	STUDY_RUNS_MAX = 1 << 16,
	STUDY_REPEATS_MAX = 1000,
};

enum study_twin { TWIN_NONE, TWIN_NULL, TWIN_NO_PROBE, TWIN_COUNT };
extern const char *const study_twin_names[TWIN_COUNT]; /* as in JSON; of TWIN_NONE NULL */

struct study_cell {
	/* "SECTION engine=uring workload=disk-randread depth=32": all that was set, so that a
	 * study that was changed has other cells. Blanks within a value are %20. */
	char name[STUDY_CELL_SIZE];
	struct plan plan;               /* without its file, unless one was named */
	char probe[80];                 /* as --probe takes it */
	char directory[PLAN_PATH_SIZE]; /* empty: not said */
	char filesystem[32];            /* one to be made for it; empty: none */
	char impossible[PLAN_WHY_SIZE]; /* why its settings do not go together; empty: they do */
	uint32_t section;
};

/* One run: a cell, or one of the twins of a cell, in one repeat. */
struct study_run {
	uint32_t cell, repeat; /* repeat from 1 */
	enum study_twin twin;
	uint32_t batch; /* over all repeats, from 0 */
};

struct study {
	char name[STUDY_NAME_SIZE]; /* of its file, without .study */
	uint64_t seed;
	uint32_t repeats, sections;
	struct study_cell *cells;
	uint32_t cell_count;
	struct study_run *runs; /* in the order in which they are to be run */
	uint32_t run_count;
};

/* Reads a study and draws its order: the same file gives the same order everywhere. 0, or -errno
 * with why: file, line, setting, and the nearest valid one. Free it with study_free, also after
 * a failure. */
int study_read(struct study *study, const char *path, char why[STUDY_WHY_SIZE]);
void study_free(struct study *study);

/* The last step of study_read: the runs of the cells, in their order. */
int study_order(struct study *study, const char *path, char why[STUDY_WHY_SIZE]);

/* Whether a run belongs to part shard (from 1) of shards. A batch stays in one part, so that
 * engines are compared on one machine. */
bool study_is_in_shard(const struct study_run *run, uint32_t shard, uint32_t shards);

/* The plan of a run (its repeat and twin applied), and the probe that it asks for. */
const char *study_run_plan(const struct study *study, const struct study_run *run,
                           struct plan *plan);

/* How long a run takes by plan, in ns; 0 where a number of operations ends it. */
uint64_t study_run_ns(const struct study *study, const struct study_run *run);

/* Writes into the JSON object of a plan which run of which study it is. shard: "2/4", or NULL.
 * 0 or -ENOMEM. */
int study_label(const struct study *study, const struct study_run *run, const char *shard,
                json_t *plan);

/* The run that such an object names: its index, -ENOENT: none of this study as it is now, or
 * -EINVAL: it is of no study, or of another. */
int64_t study_find(const struct study *study, const json_t *plan);

#endif
