/*
 * What io_uring hands to its worker threads and why, what they hold while they sleep, and where a
 * submitter sleeps though it waits for no completion. Of any process; counters that only grow.
 *
 * Punted is not parked: a request that a worker starts may sleep in no thread at all.
 * Read by BPF programs too: only types of fixed size.
 */
#ifndef IOSTUDY_WORKERS_H
#define IOSTUDY_WORKERS_H

#include <stdint.h>

enum {
	WORKERS_OPERATIONS = 64, /* of io_uring; all beyond count as the last */
	WORKERS_FILES = 64,      /* files in workers' hands that are told apart */
	WORKERS_NAME_SIZE = 32,  /* of a file's name, cut short to fit */
};

/* Why a request went to a worker. Of several reasons that hold the first one counts, so that
 * each hand-over has exactly one. */
enum punt_reason {
	PUNT_FSYNC_CLASS,  /* the operation always waits: fsync, fallocate, openat, statx ... */
	PUNT_FORCED,       /* the program asked for it: IOSQE_ASYNC or IOSQE_IO_DRAIN */
	PUNT_SHORT_WRITE,  /* a part was written without waiting, the worker does the rest */
	PUNT_NO_NOWAIT,    /* the file, file system or device knows no NOWAIT (FMODE_NOWAIT) */
	PUNT_HASHED_WRITE, /* a buffered write, one at a time for each file */
	PUNT_WOULD_BLOCK,  /* the file knows NOWAIT, and this transfer would have waited */
	PUNT_OTHER,
	PUNT_REASONS
};

/* Inside which call a submitter slept, and for what. SQPOLL: the kernel's thread that submits. */
enum sleep_call { SLEEP_URING_ENTER, SLEEP_IO_SUBMIT, SLEEP_SQPOLL, SLEEP_CALLS };
enum sleep_cause {
	CAUSE_TAGS,          /* a free request of the device: nr_requests are in use */
	CAUSE_WRITEBACK,     /* throttled for, or waiting on, the writing back of dirty pages */
	CAUSE_LOCK,          /* an inode's or another lock of the kernel */
	CAUSE_FAULT,         /* a page of the program, a buffer above all */
	CAUSE_BUFFERED_READ, /* data that was not in the page cache */
	CAUSE_JOURNAL,       /* the file system's journal, or its metadata */
	CAUSE_TRANSFER,      /* the end of the transfer itself, a synchronous one */
	CAUSE_MEMORY,        /* free memory */
	CAUSE_OTHER,
	CAUSE_UNKNOWN, /* the kernel's symbols cannot be read */
	CAUSE_COUNT
};

struct sleep_count {
	uint64_t count; /* those that began since attach */
	uint64_t parked_ns;
};

/* One class of workers: how many there are, and how many the kernel allows (0: not known). */
struct worker_pool {
	uint32_t now, limit;
};

/* What a worker had in hand while it slept. [0] holds all that could not be told apart. */
struct worker_file {
	uint32_t operation;
	uint32_t mode; /* st_mode of the file; 0: the request has none, or the entry is unused */
	uint64_t device, inode;
	char name[WORKERS_NAME_SIZE]; /* its last part, cut to fit; empty: it has none */
	struct sleep_count sleeps;
};

struct workers_reading {
	uint64_t submitted[WORKERS_OPERATIONS];
	uint64_t punted[WORKERS_OPERATIONS][PUNT_REASONS]; /* hand-overs */
	struct sleep_count submitter[SLEEP_CALLS][CAUSE_COUNT];
	struct worker_file files[WORKERS_FILES];
	/* Of all owners of rings together, not counters. Bounded workers serve files and devices,
	 * unbounded ones what may wait without bound: sockets, and whatever IOSQE_ASYNC sends off
	 * before the kernel has looked at its file. */
	struct worker_pool bounded, unbounded;
};

#ifndef __bpf__
extern const char *const punt_reason_names[PUNT_REASONS]; /* as in JSON: no-nowait ... */
extern const char *const sleep_call_names[SLEEP_CALLS];   /* io_uring_enter ... */
extern const char *const sleep_cause_names[CAUSE_COUNT];  /* tags ... */

/* IORING_OP_ without its head: READ_FIXED. */
const char *workers_operation_name(uint32_t operation);

/* window = to - from. */
void workers_difference(struct workers_reading *window, const struct workers_reading *from,
                        const struct workers_reading *to);
#endif

#endif
