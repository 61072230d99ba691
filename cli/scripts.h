/*
 * The files that come with the program, bpftrace scripts and studies: where they are, and what
 * each is for.
 */
#ifndef IOSTUDY_CLI_SCRIPTS_H
#define IOSTUDY_CLI_SCRIPTS_H

#include <jansson.h>

enum { SCRIPTS_MAX = 32, SCRIPT_PATH_SIZE = 4096, SCRIPT_WHY_SIZE = 400 };

struct script {
	char name[64];     /* parked.bt, quick.study */
	char summary[200]; /* its first line of comment */
};

struct scripts {
	char directory[SCRIPT_PATH_SIZE]; /* where they are; empty: not found */
	char looked[SCRIPT_PATH_SIZE];    /* where they were looked for, for the message */
	struct script list[SCRIPTS_MAX];  /* by name */
	unsigned count;
};

/* Writes what the script of a run said into a new file of the directory, and its name into the run.
 * 0 or -errno with why. A run without a script is left alone. */
int scripts_keep(const char *directory, json_t *run, char why[SCRIPT_WHY_SIZE]);

/* Looks beside the program that runs: in its installation's share/iostudy, or in the source tree
 * that it was built in. */
void scripts_find(struct scripts *scripts);
void studies_find(struct scripts *studies); /* in share/iostudy/studies, or in bench/studies */

#endif
