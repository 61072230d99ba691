/*
 * What the BPF programs and their loader share: the records of threads, the totals, the knobs.
 * Written by BPF programs on any CPU; read by the loader through a memory map.
 */
#ifndef IOSTUDY_PARK_H
#define IOSTUDY_PARK_H

#include <stdint.h>

#include "probes/place.h"
#include "probes/probe.h"

enum {
	PARK_SYSCALLS = 512,         /* numbers of system calls that have a class */
	PARK_DOUBLINGS = 1 << 11,    /* of 64, up to 17 bits */
	PARK_KINDS = 8,              /* KIND_COUNT, made a mask */
	PARK_REQUESTS_MAX = 1 << 14, /* the subject's block requests in flight at once */
	PARK_FUNCTIONS = 64,         /* of the kernel, that tell why a submitter sleeps */
	SLEEP_FRAMES = 32,           /* of its stack that are looked at */
};

/* Where a thread sleeps, as the kernel alone can tell it. */
enum park_class {
	CLASS_NONE, /* on a CPU or ready for one */
	CLASS_DIRECT,
	CLASS_WAITER_RING, /* io_uring_enter, io_getevents: waits for what was submitted */
	CLASS_WAITER_POLL, /* epoll_wait, poll, select */
	CLASS_SUBMITTER,   /* io_uring_enter, where no signal wakes: inside a submission */
	CLASS_FAULT,
	CLASS_WORKER_BUSY,
	CLASS_WORKER_IDLE,
	CLASS_SQPOLL_BUSY, /* asleep where no signal wakes it: inside a submission */
	CLASS_SQPOLL_IDLE,
	CLASS_FUTEX,
	CLASS_SLEEP,
	CLASS_STOPPED,
	CLASS_OTHER,
	CLASS_COUNT
};

/* A thread's word: its state in the low byte (0: not known yet), above it where it sleeps and
 * whether that is inside a call that holds it. It changes by atomic exchange only. */
enum park_word {
	WORD_UNKNOWN = 0,
	WORD_STATE = 0xff, /* enum thread_state + 1 */
	WORD_DEAD = 0xff,
	WORD_CLASS_SHIFT = 8,
	WORD_IN_CALL = 1 << 16,
	WORD_SLOT_SHIFT = 24, /* of a sleep that is counted by itself */
};

/* The slots of such sleeps. */
enum {
	SLOT_NONE,
	SLOT_SUBMITTER,                                          /* + call * CAUSE_COUNT + cause */
	SLOT_FILES = SLOT_SUBMITTER + SLEEP_CALLS * CAUSE_COUNT, /* + place in files */
	SLOT_COUNT = 128,
};
_Static_assert(SLOT_FILES + WORKERS_FILES <= SLOT_COUNT, "a slot for each");

enum { NO_MARK = 0xffffffff };

/* What one thread, or all ended threads of a kind, did since attach. 64-bit words only: it is
 * summed. */
struct park_times {
	uint64_t state_ns[STATE_COUNT];
	uint64_t in_call_off_ns;      /* off the CPU inside a call or wait that holds it */
	uint64_t in_call_runnable_ns; /* ready inside it */
	uint64_t held_ns, called_ns;
	uint64_t parks;  /* into one of the three parked states */
	uint64_t sleeps; /* into any sleep */
	uint64_t voluntary, involuntary;
	uint64_t threads; /* ended: how many */
};

enum { PARK_TIMES_WORDS = sizeof(struct park_times) / 8 };

/* One thread's task storage. Its words after sequence change under the run queue's lock. */
struct park_thread {
	uint32_t word;
	uint32_t sequence; /* odd while times change */
	uint32_t claim;    /* the number of the reading that has taken this thread, or CLAIM_DEAD */
	uint32_t tid;      /* as the thread itself knows it */
	uint32_t mark;     /* its place in the table of marks, or NO_MARK */
	uint32_t settled;  /* its enum thread_kind + 1, by which it is counted; 0: not known yet */
	uint32_t last_class;  /* where it slept last */
	uint32_t posts;       /* results posted since the last run of task work ended */
	uint32_t short_write; /* its last write was short, and is about to be handed over */
	uint32_t unused;
	uint64_t number;        /* the how-manieth thread it is */
	uint64_t born_ns;       /* when it was first seen */
	uint64_t since_ns;      /* when word was set */
	uint64_t call_since_ns; /* hidden threads: when the transferring call began, or 0 */
	uint64_t posted_ns;     /* when the first of posts was */
	/* its sched_info.run_delay and last_arrival when it last left a CPU */
	uint64_t delay_before_ns, arrival_before_ns;
	uint64_t voluntary_before, involuntary_before; /* the kernel's counters at attach */
	/* watching: where it sleeps, and since when; 0: it does not, or nobody asks where */
	uint64_t place_since_ns, futex_ns;
	struct place_key place;
	int32_t place_fd;
	int32_t fold_kernel, fold_user; /* the stacks with which its last sleep began */
	uint32_t unused2;
	uint32_t told;          /* its enum thread_kind + 1, as found out by the loader; 0: not */
	uint64_t before_ns;     /* how long it had slept when it was seeded, at least */
	uint64_t io_ns, ran_ns; /* parked for I/O since it last waited on a futex; and running */
	uint64_t gave;          /* threads that it woke from where they wait most, since then */
	struct futex_waits waits;
	struct park_times times;
};

#define CLAIM_DEAD 0xffffffffu

/* What a reading says of a living thread. */
struct park_record {
	uint32_t tid, kind, word, mark;
	uint64_t number, now_ns, open_ns;      /* open: since word was set */
	struct worker_pool bounded, unbounded; /* of its rings; all 0: it has none */
	struct park_times times;
};

/* Several words that belong together are changed between begun and ended; who reads them reads
 * ended first and begun last, and again until both agree. */
struct park_gate {
	uint64_t begun, ended;
};

/* A function of the kernel: a stack that leads through it sleeps for that cause. */
struct park_function {
	uint64_t begin, end;
	uint64_t cause; /* enum sleep_cause */
};

/* Addresses of the kernel's functions by which native AIO is known; 0: not known. */
enum { SYMBOL_AIO_COMPLETE, SYMBOL_IOMAP_END, SYMBOL_BLKDEV_ASYNC_END, SYMBOL_COUNT };

/* What an operation of io_uring is, by its number. */
enum { OPERATION_OTHER, OPERATION_TRANSFER, OPERATION_WAITS };

/* What the first argument of a system call is. */
enum call_object { CALL_NOTHING, CALL_FD, CALL_FUTEX, CALL_FD_SECOND };

/* Set before loading. */
struct park_knobs {
	uint8_t classes[PARK_SYSCALLS];    /* enum park_class of a system call */
	uint8_t transfers[PARK_SYSCALLS];  /* those in which a library's thread serves a request */
	uint8_t doublings[PARK_DOUBLINGS]; /* how often n has doubled since 1 */
	uint8_t watch;                     /* many processes; where their threads sleep */
	uint8_t children;                  /* those that they fork are watched too */
	uint8_t folds;                     /* and with what stacks they sleep */
	uint8_t objects[PARK_SYSCALLS];    /* enum call_object */
	uint8_t marked;                    /* the subject's threads carry marks */
	uint8_t hidden;                    /* and those that do not are a library's */
	uint8_t disk;                      /* completions are the disk's */
	uint8_t check_context;             /* the two distances below are known */
	uint32_t peer_port;                /* network order */
	uint32_t peer;                     /* process at the other end, as this process sees it */
	long count_distance;   /* from runqueues to the preemption count, in each CPU's area */
	long current_distance; /* and to the running task */
	uint8_t operations[WORKERS_OPERATIONS];
	uint64_t symbols[SYMBOL_COUNT];
	uint64_t functions_known;
	struct park_function functions[PARK_FUNCTIONS]; /* by address, the unused ones last */
};

struct park_totals {
	/* set by the loader */
	uint32_t subject; /* thread group; 0: none yet */
	uint32_t wanted;  /* the process to look for, as this process sees it */
	uint32_t level;   /* of this process's pid namespace */
	uint32_t reading; /* its number */
	/* threads */
	uint64_t word;       /* occupancy: parked, in flight, time; see park_occupancy.bpf.h */
	uint64_t updated_ns; /* when word was set, within moments */
	uint64_t overflowed, contended;
	uint64_t storage_failed, torn, lost_wakeups, late_wakeups, lost_switches, late_switches;
	uint64_t unseen_completions, map_full, context_failed;
	uint64_t places_merged;   /* sleeps whose object was not told apart: the table was full */
	uint64_t processes_found; /* by the walks at attach */
	uint64_t processes_ended; /* watched ones that nobody named */
	uint32_t now[PARK_KINDS], most[PARK_KINDS]; /* threads of a kind */
	uint64_t births;                            /* threads so far */
	uint64_t births_before_reading;
	struct park_gate deaths;
	struct park_times dead[KIND_COUNT];
	struct park_times twice[2][KIND_COUNT]; /* died after the reading had taken them */
	uint64_t young[2];                      /* ended, and born since the reading began */
	/* completions */
	uint64_t parked_at_completion[PROBE_PARKED_MAX];
	uint64_t arrived_in[ARRIVED_COUNT], arrived_over[OVER_COUNT];
	uint64_t posted_in[POSTED_COUNT];
	uint64_t borrowed_ns[BORROWED_COUNT];
	uint64_t task_work_unclear;
	struct park_gate block;
	uint64_t block_most;                      /* open at once */
	uint64_t block_open, block_open_since_ns; /* how many, and the sum of their starts */
	uint64_t block_requests, block_bytes, block_area_ns;
	/* io_uring, while watching: submitted and not ended since attach (those from before end
	 * below 0), its extremes, and the sum of the begins less that of the ends */
	int64_t ring_open, ring_most, ring_least;
	uint64_t ring_begins_ns;
	/* occupancy */
	uint64_t occupancy_ns[PROBE_OCCUPANCY_AXIS][PROBE_OCCUPANCY_AXIS];
};

/* What workers.h tells, and the loss. */
struct park_workers {
	uint64_t submitted[WORKERS_OPERATIONS];
	uint64_t punted[WORKERS_OPERATIONS][PUNT_REASONS];
	struct sleep_count sleeps[SLOT_COUNT];
	struct worker_file files[WORKERS_FILES]; /* without their sleeps */
	uint32_t files_used, unused;
	uint64_t lost; /* stacks that could not be read */
};

#endif
