/*
 * One thread as /proc/PID/task/TID shows it to whoever owns the process.
 */
#ifndef IOSTUDY_TASK_H
#define IOSTUDY_TASK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { TASK_LINE_SIZE = 4096 };

struct task_stat {
	char name[16];       /* as much of it as fits; not terminated if it does not */
	char state;          /* R: running or ready for a CPU; S, D, T ... as in proc(5) */
	int32_t parent;      /* of its process */
	bool worker, sqpoll; /* the kernel made it for io_uring; the latter: its poller */
	uint64_t born_ns;    /* CLOCK_MONOTONIC, to a clock tick of 10 ms */
	uint64_t cpu_ns;     /* user and system time, each to a clock tick */
};

uint64_t task_clock_ns(void); /* CLOCK_MONOTONIC */

/* Reads a small file of a thread. 0 or -errno. */
int task_line(pid_t pid, uint32_t tid, const char *name, char line[TASK_LINE_SIZE]);

/* 0; -ESRCH: the thread has ended; -EPROTO: that is no line of stat. */
int task_stat_read(pid_t pid, uint32_t tid, struct task_stat *stat);
int task_stat_parse(const char *line, struct task_stat *stat);

/* The scheduler's own sums: its time on a CPU, and of waiting for one while it was ready, both as
 * of a few ms ago for who runs now; and how often it came onto one. */
struct task_turns {
	uint64_t running_ns, waiting_ns, count;
};

/* 0 or -errno. */
int task_turns_read(pid_t pid, uint32_t tid, struct task_turns *turns);

/* The first two of them. 0 or -errno. */
int task_schedstat_read(pid_t pid, uint32_t tid, uint64_t *running_ns, uint64_t *waiting_ns);

/* How often it left a CPU, to sleep and otherwise. 0 or -errno. */
int task_switches_read(pid_t pid, uint32_t tid, uint64_t *voluntary, uint64_t *involuntary);

/* The threads of a process: at most max. How many, or -ESRCH or another -errno. */
int task_list(pid_t pid, uint32_t *tids, uint32_t max);

/* A table of THREADS_MAX tids: the place of that tid, taken for it if it has none; or -ENOSPC. A
 * place is never given back. */
int task_place(uint32_t *tids, uint32_t tid);

#endif
