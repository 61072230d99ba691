/*
 * Finds what a program has left running: processes of its session, and orphans that came to us.
 */
#ifndef IOSTUDY_TESTS_PROCESS_LEFT_H
#define IOSTUDY_TESTS_PROCESS_LEFT_H

#include <stddef.h>
#include <sys/types.h>

enum { PROCESS_LEFT_MAX = 64 };

/* Our children from before the program ran: they are nobody's orphans. */
struct process_left {
	pid_t noted[PROCESS_LEFT_MAX];
	unsigned count;
};

void process_left_note(struct process_left *before);

/* Ends what the ended process session has left, and says how many lived on (a moment is given to
 * those already dying) and the name of one. Collects its dead children. */
unsigned process_left_end(const struct process_left *before, pid_t session, char *name,
                          size_t name_size);

#endif
