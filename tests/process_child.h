/*
 * The side of process.h that runs in the new process, between fork and exec.
 */
#ifndef IOSTUDY_TESTS_PROCESS_CHILD_H
#define IOSTUDY_TESTS_PROCESS_CHILD_H

#include "tests/process.h"

/* Ends of pipes for a child; -1 where there is none. */
struct process_pipes {
	int in, out, err;
	int failure; /* closed by exec; what went wrong is written there */
};

/* Becomes the program. Does not return: on failure a sentence goes to pipes->failure. */
void process_become(const struct process *p, const struct process_pipes *pipes)
    __attribute__((noreturn));

#endif
