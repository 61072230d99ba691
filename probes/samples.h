/*
 * Watching without BPF: threads that are looked at again and again in /proc, each as often as a
 * small share of a CPU allows.
 *
 * The scheduler's own sums say how long a thread ran and waited for a CPU since it was looked at
 * last, and how often it came onto one: if not at all, it slept where it sleeps, exactly. Else what
 * is left is taken for sleep at the place where it sleeps now, as a sample is; and counts as doubt
 * where that could make a difference.
 */
#ifndef IOSTUDY_SAMPLES_H
#define IOSTUDY_SAMPLES_H

#include "probes/look.h"
#include "probes/ticker.h"
#include "probes/watch.h"

enum { SAMPLES_PLACES = 1 << 14 }; /* a power of two */

/* A thread, accounted for up to time_ns. */
struct sampled {
	uint32_t tid, tid_inside;
	uint64_t number, born_ns;
	uint64_t time_ns, running_ns, waiting_ns;
	uint64_t turns;    /* on a CPU, when it was looked at last */
	uint64_t since_ns; /* it is awake, or asleep there */
	bool looked, asleep, gone;
	enum thread_kind kind;
	uint64_t state_ns[STATE_COUNT], futex_ns;
	struct look look; /* its place is the last one in which it was seen to sleep */
	bool placed;      /* it was seen to sleep */
};

struct sampled_process {
	pid_t pid, pid_inside;
	struct process_sum sum;
	struct sampled *threads; /* by tid */
	uint32_t count, next;    /* of them; the next one to be looked at */
	bool gone;
};

struct sampled_place {
	bool used;
	struct watch_place place;
	char function[LOOK_FUNCTION_SIZE];
};

struct samples {
	struct ticker ticker;
	bool children, begun;
	struct look_calls calls;
	uint32_t random;
	struct sampled_process *processes;
	size_t process_count, process_room;
	size_t at;        /* the process whose threads are being looked at */
	uint64_t full_ns; /* when every thread had been looked at, by one call */
	uint64_t births, living;
	uint64_t merged, processes_ended;
	struct probe_reading sum;
	struct sampled_place *places; /* [SAMPLES_PLACES], by their keys */
	size_t place_count;
};

/* Threads and processes as /proc lists them now: takes up the new, lets go of the ended; with
 * children, the processes that watched ones have forked. 0 or -ENOMEM. */
int samples_list(struct samples *s);

/* A process by its number; -ESRCH: there is none. */
int samples_add(struct samples *s, pid_t pid, bool named);

/* Looks at a thread, and accounts for the time since it was looked at last. */
void samples_look(struct samples *s, const struct sampled_process *process, struct sampled *thread);

/* Adds to the time of a place; function: of the kernel's, or empty. */
void samples_charge(struct samples *s, const struct look *look, pid_t pid, uint64_t ns);

#endif
