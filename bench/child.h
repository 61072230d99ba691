/*
 * Processes of a run (the subject, the peer): each in a process group of its own, so that a
 * terminal's signals reach only the parent, and each ends when the parent does.
 */
#ifndef IOSTUDY_CHILD_H
#define IOSTUDY_CHILD_H

#include <stdint.h>
#include <sys/types.h>

/* fork(2). In the child: signals as at the start of a program, the name set (prctl), and
 * SIGKILL when the parent dies. The pid, 0 in the child, or -errno. */
pid_t child_fork(const char *name);

/* What to say beside an error of child_fork: the limits that it may have met, or nothing. */
const char *child_limits(int err);

/* In the child: closes every descriptor but 0, 1, 2 and these. */
void child_close_others(const int *keep, unsigned count);

/* Waits at most grace_ns for the child's end, then kills it; takes its status. */
int child_end(pid_t pid, uint64_t grace_ns);

/* Whether the child has ended; its status then in *status (it stays to be taken). */
int child_has_ended(pid_t pid, int *status);

#endif
