/* What `iostudy study` was asked for, and the state of the work. */
#ifndef IOSTUDY_CLI_STUDY_H
#define IOSTUDY_CLI_STUDY_H

#include "bench/study.h"
#include "cli/study_places.h"
#include "cli/study_progress.h"

struct study_options {
	const char *file;      /* a path, or the name of a study that comes with the program */
	const char *output;    /* -o */
	const char *directory; /* where the files of the disk workloads are made */
	const char *shard;     /* "2/4", or NULL: all of it is run here */
	uint32_t shard_number, shards;
	bool dry_run, keep;
};

/* Reads argv. Ends the program on a mistake (status 2) and after --help (status 0). */
void study_options_parse(struct study_options *options, int argc, char **argv);

/* Prints what would be run, and how long it takes. An exit status. */
int study_dry_run(const struct study *study, const struct study_options *options);

/* Marks in done[], one for each run of the study, those that DIR holds already. 0, or -errno with
 * why: also when DIR holds runs of this study that its file plans no more. */
int study_resume(const struct study *study, const char *directory, bool *done,
                 char why[STUDY_WHY_SIZE]);

#endif
