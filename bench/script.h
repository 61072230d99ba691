/*
 * A bpftrace script beside a run: attached to the subject before it begins, ended with its window.
 * What it says is kept with the result.
 */
#ifndef IOSTUDY_SCRIPT_H
#define IOSTUDY_SCRIPT_H

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

#include "bench/plan.h"

enum { SCRIPT_OUTPUT_MAX = 1 << 18 }; /* bytes of what it says that are kept */

struct script {
	pid_t pid;           /* of bpftrace; 0: none runs */
	int output, message; /* its standard output and error: files in memory */
};

/* Starts bpftrace with the script at path, which takes a process id and says "watching process"
 * once it is attached, and waits for that. 0, or -errno with why: bpftrace is not installed, it
 * refuses (its own words), it did not begin in time; -EINTR: *stop became a signal. */
int script_start(struct script *script, const char *path, pid_t process,
                 const volatile sig_atomic_t *stop, char why[PLAN_WHY_SIZE]);

/* Asks it to report and end, waits at most a minute, ends it in any case, and then says so. What it
 * said, to be freed; NULL where none ran or memory is short. May be called again. */
char *script_end(struct script *script);

#endif
