/*
 * The threads of a subject, for probes that know how long each one ran and how long it waited for
 * a CPU, but not where it slept: its mark divides the time that it was off the CPU. Exact for a
 * thread that is either in calls or computes; by shares where it was idle as well.
 */
#ifndef IOSTUDY_ROSTER_H
#define IOSTUDY_ROSTER_H

#include "probes/probe.h"
#include "probes/task.h"

/* What a thread has done in all, up to time_ns. Only growth counts. */
struct roster_times {
	uint64_t time_ns, born_ns; /* CLOCK_MONOTONIC */
	uint64_t running_ns, waiting_ns;
	uint64_t voluntary, involuntary; /* switches */
	struct task_stat stat;
};

struct roster_thread {
	uint32_t reading; /* the last one that saw it; 0: none yet */
	uint64_t time_ns, running_ns, waiting_ns, voluntary, involuntary;
	struct thread_mark mark;
};

struct roster {
	uint32_t number; /* of readings, that at attach included */
	uint32_t awake;  /* threads of this reading that ran or were ready */
	uint32_t now[KIND_COUNT];
	struct probe_reading sum;
	uint32_t tids[THREADS_MAX]; /* task_place */
	struct roster_thread threads[THREADS_MAX];
};

/* A reading: begin, add each living thread, end. The first one is the attach: from then on all
 * counts, and threads that come later count from their birth. */
void roster_begin(struct roster *r);
void roster_add(struct probe *p, struct roster *r, uint32_t place, const struct roster_times *t);

/* Counts the threads; those that were there at the last reading and are gone count as lost, for
 * what they did since is not known. */
void roster_end(struct roster *r);

/* The place is free for another thread of the same tid. */
void roster_forget(struct roster *r, uint32_t place);

/* The mark of a thread that was born then, or NULL: one that ended earlier was of another thread of
 * the same tid. */
const struct thread_mark *roster_mark(const struct probe *p, uint32_t tid, uint64_t born_ns);

/* Whose a thread without a mark is, and what its sleep counts as when nothing tells where. */
enum thread_kind roster_kind_unmarked(const struct probe *p, const struct task_stat *stat,
                                      enum thread_state *off);

#endif
