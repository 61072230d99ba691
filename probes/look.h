/*
 * What a thread that is not ours does now, as /proc shows it to this user: asleep, in which call,
 * on what object and in which function of the kernel.
 */
#ifndef IOSTUDY_LOOK_H
#define IOSTUDY_LOOK_H

#include "probes/park.h"
#include "probes/task.h"

enum { LOOK_FUNCTION_SIZE = 48 };

/* What system calls mean, by their numbers. */
struct look_calls {
	uint8_t classes[PARK_SYSCALLS], objects[PARK_SYSCALLS];
};

struct look {
	struct task_stat stat;
	enum thread_kind kind;
	bool asleep;                       /* then what follows means something */
	bool readable;                     /* this user may read its system call */
	struct place_key place;            /* with its state and class */
	int32_t fd;                        /* by which the object was reached, or -1 */
	uint64_t argument[2];              /* of its system call: the first two */
	char function[LOOK_FUNCTION_SIZE]; /* of the kernel; or empty */
};

void look_calls_fill(struct look_calls *calls);

/* before: where the thread slept when it was looked at last, or NULL: a call that goes on after a
 * stop no longer says which it was. 0, or -ESRCH: it has ended. */
int look_at(const struct look_calls *calls, pid_t pid, uint32_t tid, const struct place_key *before,
            struct look *look);

/* The last part of the name behind a descriptor; empty: it cannot be read. */
void look_name(pid_t pid, int32_t fd, char name[PLACE_NAME_SIZE]);

#endif
