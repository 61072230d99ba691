/*
 * Who is parked: the contract of a probe.
 *
 * A probe watches one process, the subject, and is read at the edges of the window. A reading is
 * a time, a loss count and counters that only grow; what happened in the window is the
 * difference of two readings. Nothing is estimated silently: what a probe cannot measure it
 * marks as not measured.
 */
#ifndef IOSTUDY_PROBE_H
#define IOSTUDY_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifndef __bpf__
#include <sys/types.h>
#endif

#include "probes/threads.h"
#include "probes/workers.h"

enum {
	PROBE_WHY_SIZE = 240,       /* bytes of a reason, its terminating zero included */
	PROBE_PARKED_MAX = 1 << 10, /* parked at completion: the last bucket is "this or more" */
	PROBE_OCCUPANCY_AXIS = 128, /* exact to 64, then four buckets per doubling */
	PROBE_LATE_BUCKETS = 40,    /* of the delays of samples */
};

/* What a reading holds beyond the times of the states. */
enum probe_measures {
	PROBE_IN_CALL = 1 << 0,     /* in_call_running_ns, in_call_runnable_ns */
	PROBE_PARKS = 1 << 1,       /* parks */
	PROBE_COMPLETIONS = 1 << 2, /* parked_at_completion */
	PROBE_POSTED = 1 << 3,      /* posted_in */
	PROBE_BORROWED = 1 << 4,    /* borrowed_ns of interrupts */
	PROBE_TASK_WORK = 1 << 5,   /* borrowed_ns of task work */
	PROBE_OCCUPANCY = 1 << 6,   /* occupancy_ns */
	PROBE_BLOCK = 1 << 7,       /* block_requests, block_bytes, block_in_flight_ns */
	PROBE_ARRIVED = 1 << 8,     /* arrived_in, arrived_over */
	PROBE_PUNTS = 1 << 9,       /* workers: submitted, punted */
	PROBE_SLEEPS = 1 << 10,     /* workers: submitter, files */
	PROBE_SWITCHES = 1 << 11,   /* voluntary_switches, involuntary_switches */
	PROBE_EDGE = 1 << 12,       /* edge_ns */
	PROBE_SAMPLES = 1 << 13,    /* samples */
};

/* One kind of thread: sums over its threads, those that ended included.
 *
 * Inside a call is what the thread's mark says; where a library hides its threads, what their
 * system calls say; an io-wq worker runs only to serve, so that all its time on a CPU or ready
 * for one is inside; an SQPOLL thread polls, and is never inside. */
struct probe_kind {
	uint32_t threads_now;
	uint32_t threads_max; /* most at once since attach; not a counter */
	uint64_t alive_ns;    /* the sum of state_ns */
	uint64_t state_ns[STATE_COUNT];
	uint64_t in_call_running_ns;  /* running inside a call or a wait that holds the thread */
	uint64_t in_call_runnable_ns; /* ready and waiting for a CPU inside it */
	uint64_t called_ns; /* the part of held time in DOING_CALL, or, where a library hides
	                                 its threads, in a transferring system call */
	uint64_t parks;     /* of those three parked states */
	uint64_t voluntary_switches, involuntary_switches;
};

enum { ARRIVED_HARDIRQ, ARRIVED_SOFTIRQ, ARRIVED_TASK, ARRIVED_COUNT };
enum { OVER_IDLE, OVER_SUBJECT, OVER_OTHER, OVER_COUNT };
enum { POSTED_SUBMITTER, POSTED_WORKER, POSTED_SQPOLL, POSTED_INTERRUPT, POSTED_COUNT };
/* Of interrupts: from entry to exit of each hard or soft interrupt in which a completion of the
 * subject arrived, the hard ones inside a soft one not counted twice. Of task work: from the first
 * result that a run posts to the end of the run; the kernel does not say when a run begins, so
 * that the work before the first result is missing: a lower bound. Not measured when results that
 * were posted outside of a run make its first one unclear. */
enum { BORROWED_IDLE, BORROWED_SUBJECT, BORROWED_OTHER, BORROWED_TASK_WORK, BORROWED_COUNT };

/* Looks at some threads at a time, each look a bunch of samples. The sums, from which the error of
 * a share follows, are over the looks. */
struct probe_samples {
	uint64_t count, parked;                          /* of threads seen; those seen parked */
	uint64_t count_squares, parked_squares, product; /* count^2, parked^2, count * parked */
	/* samples by their delay, from the moment meant to that of the look: [n] below 2^n ns */
	uint64_t late[PROBE_LATE_BUCKETS];
};

struct probe_reading {
	uint64_t time_ns;  /* CLOCK_MONOTONIC */
	uint64_t lost;     /* events that were not counted */
	uint32_t measures; /* enum probe_measures: the fields below that mean something */
	struct probe_kind kinds[KIND_COUNT];
	uint64_t parked_at_completion[PROBE_PARKED_MAX]; /* [n]: completions that found n parked */
	uint64_t completions_unseen; /* that came while nothing could be seen: in none of these */
	uint64_t arrived_in[ARRIVED_COUNT], arrived_over[OVER_COUNT];
	uint64_t posted_in[POSTED_COUNT];
	uint64_t borrowed_ns[BORROWED_COUNT];
	/* time in which so many threads were parked and so many requests in flight; the axes are
	 * probe_occupancy_bucket's */
	uint64_t occupancy_ns[PROBE_OCCUPANCY_AXIS][PROBE_OCCUPANCY_AXIS];
	uint64_t block_requests, block_bytes, block_in_flight_ns; /* the subject's, completed */
	struct workers_reading workers;
	struct probe_samples samples;
	uint64_t doubt_ns; /* a counter: by so much more parked can be off */
	uint64_t edge_ns;  /* not a counter: how far parked times can be off for this moment's sake;
	                      in  a window for that of both its edges */
};

#ifndef __bpf__
/* Where a completion is to be looked for. */
enum probe_source { SOURCE_NONE, SOURCE_DISK, SOURCE_TCP, SOURCE_UNIX };

/* The memory that a subject shares with its probes. */
struct probe_tables {
	struct thread_mark *marks; /* [THREADS_MAX]: written by the subject's threads */
	uint32_t *in_flight;       /* a gauge that the subject keeps (atomic), for the occupancy */
};

struct probe_config {
	enum probe_source source;
	uint16_t peer_port;  /* SOURCE_TCP: the port of the other end, host order */
	pid_t peer;          /* SOURCE_UNIX: the process at the other end */
	bool hidden_threads; /* a library serves by threads that carry no mark: their calls are
	                         followed by their system calls, and their kind is aio-helper */
	bool marked;         /* threads carry marks (our own subject); false: any program */
	bool watch;          /* many processes, and where their threads sleep: see watch.h */
	bool children;       /* and those that they fork */
	bool folds;          /* and with what stacks: see watch_folds */
	const char *test_directory; /* where the self-test may write a file of its own, or NULL */
	struct probe_tables tables; /* where the subject's threads write; or all NULL */
};

enum probe_self_test { SELF_TEST_NONE, SELF_TEST_OK, SELF_TEST_FAILED };

struct probe;

struct probe_ops {
	const char *name;    /* the option's value: bpf, perf, schedstat, proc */
	const char *summary; /* one line for `iostudy list` */
	size_t size;         /* bytes of the probe's own state, zeroed before open */
	int (*open)(struct probe *p, char why[PROBE_WHY_SIZE]);
	int (*attach)(struct probe *p, pid_t pid, char why[PROBE_WHY_SIZE]);
	int (*read)(struct probe *p, struct probe_reading *reading);
	void (*close)(struct probe *p);
};

struct probe {
	const struct probe_ops *ops;
	struct probe_config config;
	void *state;
	struct probe_tables tables;
	bool tables_are_own; /* plain shared memory, made for this probe alone */
	enum probe_self_test self_test;
	char self_test_why[PROBE_WHY_SIZE]; /* why it failed or was not made; else empty */
};

/* Shared memory for a subject, all zero. 0 or -ENOMEM. */
int probe_tables_make(struct probe_tables *tables);
void probe_tables_free(struct probe_tables *tables);

/* Opens a probe, before the subject exists: what is forked later inherits p->tables. A probe whose
 * programs need tables in the kernel (bpf) brings its own; any other takes those of the
 * configuration, or where there are none makes some. Runs the self-test. 0, or -errno with one
 * sentence in why: what is missing, and the one command that allows it. */
int probe_open(struct probe *p, const struct probe_ops *ops, const struct probe_config *config,
               char why[PROBE_WHY_SIZE]);

/* Whether only its own tables serve this probe: all other probes of the subject then use them. */
bool probe_brings_tables(const struct probe *p);

/* From now on p reads these, which live as long as it does. Not after probe_attach, and not for a
 * probe that brings its own. */
void probe_use_tables(struct probe *p, const struct probe_tables *tables);

/* From now on pid and all its threads are counted, those that exist already exactly as those to
 * come. 0 or -errno with why. */
int probe_attach(struct probe *p, pid_t pid, char why[PROBE_WHY_SIZE]);

/* Reads all counters. 0, or -ESRCH when the subject is gone (the reading then holds what it did to
 * its end), or another -errno. */
int probe_read(struct probe *p, struct probe_reading *reading);

/* Detaches. Nothing stays loaded. */
void probe_close(struct probe *p);

/* What happened between two readings; loss and measures included. */
void probe_difference(struct probe_reading *window, const struct probe_reading *from,
                      const struct probe_reading *to);

/* How far a window's parked time can be off by how it was obtained, its lost events apart: by what
 * is open at the edges; of samples by four standard errors, and by the looks' delay for each sleep.
 */
uint64_t probe_parked_error_ns(const struct probe_reading *window);

/* The bucket of a count on the occupancy's axes, and the lowest count of a bucket. */
uint32_t probe_occupancy_bucket(uint32_t count);
uint32_t probe_occupancy_lowest(uint32_t bucket);

extern const struct probe_ops *const probe_table[]; /* best first; ends with NULL */
const struct probe_ops *probe_find(const char *name);

extern const char *const thread_kind_names[KIND_COUNT];   /* as in JSON: application, ... */
extern const char *const thread_state_names[STATE_COUNT]; /* running, ..., parked_direct, ... */
#endif

#endif
