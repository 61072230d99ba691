/*
 * The kernel's records of context switches (perf_event_open(2)): a ring for each CPU, into which
 * the events of all watched threads write, read as one stream in the order of time.
 *
 * An event of a thread that others inherit cannot have a ring for all CPUs; so each thread has one
 * event for each CPU, and all of a CPU share a ring: threads times CPUs descriptors.
 */
#ifndef IOSTUDY_PERF_RINGS_H
#define IOSTUDY_PERF_RINGS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum perf_record_kind {
	RECORD_OUT,       /* it sleeps, or has ended */
	RECORD_PREEMPTED, /* it left its CPU, and is ready for one */
	RECORD_IN,
	RECORD_BIRTH,
	RECORD_END,
	RECORD_LOST
};

struct perf_record {
	enum perf_record_kind kind;
	uint32_t pid, tid;
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t lost;    /* RECORD_LOST: how many records did not fit */
};

struct perf_ring;

struct perf_rings {
	struct perf_ring *rings;
	uint32_t count; /* CPUs that are online */
	int *events;    /* descriptors, count for each thread */
	uint32_t event_count, event_room;
};

/* Makes the rings, as large as this user may. 0 or -errno; -EACCES and -EPERM: not allowed here. */
int perf_rings_open(struct perf_rings *r);

/* From now on the records of that thread, and of those that it makes later, are written. 0;
 * -ESRCH: it has ended; -EMFILE: it needs more descriptors than there may be; or another -errno. */
int perf_rings_add(struct perf_rings *r, uint32_t tid);

/* Takes the earliest record that is not later than until_ns, a moment that has passed. False: there
 * is none. Records of one thread come in their order, but one of this very moment may still be
 * under way, and comes with a later call. */
bool perf_rings_next(struct perf_rings *r, uint64_t until_ns, struct perf_record *record);

void perf_rings_close(struct perf_rings *r);

#endif
