/*
 * The places of a study's runs: directories, files of the user's, and file systems that are made
 * for it; each opened when the first run needs it.
 */
#ifndef IOSTUDY_CLI_STUDY_PLACES_H
#define IOSTUDY_CLI_STUDY_PLACES_H

#include "bench/filesystem.h"
#include "bench/study.h"
#include "cli/place.h"

enum { STUDY_PLACES_MAX = 32 };

struct study_place {
	char path[PLAN_PATH_SIZE]; /* a directory, or the user's file */
	uint32_t files;            /* which are made there */
	struct place place;
};

struct study_filesystem {
	char name[32], directory[PLAN_PATH_SIZE];
	struct filesystem made;
	char why[PLAN_WHY_SIZE]; /* why it cannot be had here; empty: it can */
};

struct study_places {
	const struct study *study;
	const char *directory; /* of cells that name none */
	const char *output;    /* file systems are mounted below it */
	bool keep, quiet;
	struct study_place *places[STUDY_PLACES_MAX];
	struct study_filesystem *filesystems[STUDY_PLACES_MAX];
	uint32_t place_count, filesystem_count;
};

/* The place of a run, and its file's path in the plan. NULL with why: it cannot be had here. */
struct place *study_place_get(struct study_places *places, const struct study_run *run,
                              struct plan *plan, char why[PLAN_WHY_SIZE]);

/* Removes the files, and unmounts the file systems. */
void study_places_close(struct study_places *places);

#endif
