/*
 * What is asked: the contract of a workload.
 *
 * A workload is a small state machine per slot. It fills the slot's request and is told the
 * result; it neither submits nor waits, so it is the same for every engine.
 */
#ifndef IOSTUDY_WORKLOAD_H
#define IOSTUDY_WORKLOAD_H

#include <stddef.h>
#include <stdint.h>

#include "bench/plan.h"
#include "bench/server.h"
#include "engines/engine.h"

enum workload_answer {
	WORK_SUBMIT, /* the slot's request is filled: hand it to the engine */
	WORK_WAIT,   /* it goes on when it is posted (workload_post) */
	WORK_DONE,   /* the operation has ended well */
	WORK_FAILED, /* it failed: the result's errno says why */
	WORK_WRONG,  /* what came back is not what was asked for: w->why says what */
};

/* What a disk workload does to its files. */
enum workload_does {
	WORK_READS = 1 << 0,
	WORK_WRITES = 1 << 1,
	WORK_IN_ORDER = 1 << 2, /* block after block */
	WORK_SYNCS = 1 << 3,    /* fsync after every write, unless told otherwise */
};

struct workload;

struct workload_ops {
	const char *name;
	const char *summary;        /* one line for `iostudy list` */
	size_t size;                /* bytes of the workload's own state, zeroed before open */
	uint32_t need;              /* ENGINE_FILES, ENGINE_SOCKETS, ENGINE_TIMERS */
	uint32_t does;              /* enum workload_does: to files */
	const struct service *peer; /* ENGINE_SOCKETS: what the other end serves */

	/* Service slots of a thread, which lie behind those of its operations: the two sides of
	 * a connection that operations share. They belong to no operation: each is begun by a
	 * post, and rests with WORK_WAIT. NULL: none. */
	uint32_t (*services)(const struct plan *plan, uint32_t thread);
	bool shares; /* operations share requests: what is in flight is with the peer */
	/* Prepares the slots: memory, descriptors. 0, or -errno with w->why; nothing stays then. */
	int (*open)(struct workload *w);
	/* Begins an operation in a free slot. now_ns: CLOCK_MONOTONIC. */
	enum workload_answer (*next)(struct workload *w, uint32_t slot, uint64_t now_ns);
	/* Goes on with it: the request came back with this result. */
	enum workload_answer (*step)(struct workload *w, uint32_t slot, int32_t result);
	/* Brings back what waits in an engine for a peer (shutdown), so that it can be closed. */
	void (*stop)(struct workload *w); /* may be NULL */
	void (*close)(struct workload *w);
};

/* One thread's share of a workload. */
struct workload {
	const struct workload_ops *ops;
	const struct plan *plan;
	struct io_req *requests;  /* [slots + services] */
	uint32_t slots, services; /* of operations, and behind them */
	uint32_t thread, threads; /* which share this is, of how many */
	bool checked; /* what comes back is checked; not where the engine performs nothing */
	void *state;
	/* for the engine: see engine_config */
	void *memory;
	size_t memory_bytes;
	const int *fds;
	uint32_t fd_count;
	/* what the operations moved; read by the loop after each step */
	uint64_t bytes, shorts;
	/* a ring of posts: at most one for each slot at a time */
	struct io_done *posted; /* [slots + services] */
	uint32_t posted_at, posted_count;
	char why[PLAN_WHY_SIZE];
};

/* Brings back a slot that waits: its step is called soon, with this result. */
void workload_post(struct workload *w, uint32_t slot, int32_t result);

/* For the loop: the oldest post; there must be one. */
struct io_done workload_take_post(struct workload *w);

/* Makes thread's share of plan->workload, with its slots. 0, or -errno with w->why. */
int workload_open(struct workload *w, const struct plan *plan, uint32_t thread, uint32_t slots);
void workload_close(struct workload *w);

extern const struct workload_ops disk_randread, disk_seqread, disk_randwrite, disk_seqwrite,
    disk_randrw, disk_fsync, socket_delay, socket_echo, socket_multiplex, timer_delay;
extern const struct workload_ops *const workload_table[]; /* all of them; ends with NULL */
const struct workload_ops *workload_find(const char *name);

#endif
