/*
 * Watching programs that are not ours: the BPF probe over one or several processes, and a census
 * of their threads; or samples of /proc, for who may not use BPF.
 *
 * The totals (struct probe_reading) are exact from the moment of attaching, by samples estimates,
 * and hold the threads that have ended; the census names the living ones one by one.
 */
#ifndef IOSTUDY_WATCH_H
#define IOSTUDY_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probes/place.h"
#include "probes/probe.h"

struct watch_place {
	struct place_key key;
	struct place_sum sum; /* by samples without its sleeps, which are not counted */
	const char *function; /* of the kernel, in which threads sleep there, where the probe itself
	                         knows it; or NULL */
};

struct watch_process {
	uint32_t process; /* as the kernel numbers it, as in census_record.process */
	struct process_sum sum;
};

/* What the probe itself takes: of all its programs since attach. */
struct watch_cost {
	bool known; /* the kernel keeps run statistics for us */
	uint64_t events, run_ns;
	uint64_t memory_bytes; /* of its maps; 0: not known */
};

/* Each thread, place and process; sums since attach. */
struct watch_census {
	uint64_t time_ns; /* when it began */
	struct census_record *threads;
	size_t thread_count, thread_room;
	struct watch_place *places;
	size_t place_count, place_room;
	struct watch_process *processes;
	size_t process_count, process_room;
	uint64_t merged;          /* sleeps whose object was not told apart */
	uint64_t processes_ended; /* of those that nobody named */
	uint64_t block_most;      /* requests of the disk in flight at once */
	/* of io_uring since attach: in flight at time_ns, the most and the least; and the sum of
	 * the moments of beginning less that of those of ending */
	int64_t ring_open, ring_most, ring_least;
	uint64_t ring_begins_ns;
	uint64_t unreadable; /* by samples: threads whose system calls this user may not read */
};

struct watch_ops;

struct watch {
	const struct watch_ops *ops; /* NULL: it is not open */
	struct probe probe;          /* by BPF */
	int statistics; /* the descriptor that keeps the kernel's run statistics on, or -1 */
	void *state;    /* by samples */
};

/* Opens the BPF probe for watching. children: what watched processes fork is watched too. folds:
 * stacks are taken. test_directory as in struct probe_config. 0, or -errno with why. */
int watch_open(struct watch *w, bool children, bool folds, const char *test_directory,
               char why[PROBE_WHY_SIZE]);

/* The same by samples of /proc. */
int watch_open_samples(struct watch *w, bool children, char why[PROBE_WHY_SIZE]);

/* The probe by which it counts: "bpf", or "proc" for samples. */
const char *watch_probe(const struct watch *w);

/* Names a process, before watch_begin. *process: its number in the kernel. 0, or -ESRCH. */
int watch_add(struct watch *w, pid_t pid, uint32_t *process);

/* From now on the named processes count, and their children where those are watched, the living
 * ones included. 0 or -errno. */
int watch_begin(struct watch *w);

/* Tells that a thread (census_record.number) is of another kind than it seems. */
void watch_tell(struct watch *w, uint64_t number, enum thread_kind kind);

/* How many threads live: cheap, and off by who is just born or ends. */
uint64_t watch_living(const struct watch *w);

/* How many threads there have been: a census is worth its while when it has grown. */
uint64_t watch_births(const struct watch *w);

/* Requests of io_uring that began since watch_begin, less those that ended; 0: not counted. *mark
 * changes with each of them. */
int64_t watch_ring_open(const struct watch *w, uint64_t *mark);

/* What is told next is of now. A census and a reading in a row are of one moment, as far as looking
 * costs time. */
void watch_fresh(struct watch *w);

/* The totals; -ESRCH when no thread lives, with the reading filled. */
int watch_read(struct watch *w, struct probe_reading *reading);

/* Fills a census, all zero before its first use; its memory is used again. 0 or -errno. */
int watch_census(struct watch *w, struct watch_census *census);
void watch_census_free(struct watch_census *census);

/* The time asleep by stacks since attach, of a watch opened with folds. */
struct watch_fold {
	struct fold_key key;
	uint64_t asleep_ns;
	uint32_t kernel_frames, user_frames;
	uint64_t kernel[FOLD_FRAMES], user[FOLD_FRAMES]; /* the innermost first */
};

/* A new array, free it; open sleeps count up to the last census. 0 or -errno. */
int watch_folds(const struct watch *w, struct watch_fold **folds, size_t *count);

void watch_cost(const struct watch *w, struct watch_cost *cost);
void watch_close(struct watch *w);

#endif
