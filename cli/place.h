/*
 * Where runs happen: a directory, or a file that the user named. It has the environment that
 * stands in every result, and the file of the disk workloads, made when the first of them needs
 * it. Carries runs out there, and makes finished objects of them.
 */
#ifndef IOSTUDY_CLI_PLACE_H
#define IOSTUDY_CLI_PLACE_H

#include <stdbool.h>

#include <jansson.h>

#include "bench/environment.h"
#include "bench/file.h"
#include "bench/run.h"

struct place {
	const char *directory; /* where the probe's self-test may write */
	bool keep;             /* the file is not removed at the end */
	bool quiet;            /* nothing is told on stderr when the file is made */
	const char *script;    /* the path of a bpftrace script to run beside each run, or NULL */
	struct environment environment;
	struct file_lease lease;
	struct plan asked; /* what the file was last prepared for, completed */
	uint64_t asked_bytes;
	int prepared;            /* 1: it is ready; 0: not yet; -errno: it cannot be, with why */
	char why[PLAN_WHY_SIZE]; /* also for whoever cannot even open the place */
};

/* Looks at the place: at file when the user named one, else at directory. Both must outlive it. */
void place_open(struct place *place, const char *directory, const char *file);

/* Removes the file if it is ours, unless it is kept. */
void place_close(struct place *place);

/* Carries a plan out here. Always fills the result, which run_result_free frees: also when the
 * file cannot be made, or a signal came before. */
void place_execute(struct place *place, const struct plan *plan, const char *probe,
                   struct run_result *result);

/* The finished object of a run, with its summary and findings; NULL, told on stderr, when memory
 * is short. */
json_t *place_conclude(const struct place *place, const struct run_result *result);

#endif
