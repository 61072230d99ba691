/*
 * Watching programs that are not ours: where their threads sleep, and each thread as it is now.
 * Shared with the BPF programs: only types of fixed size, no padding left to the compiler.
 */
#ifndef IOSTUDY_PLACE_H
#define IOSTUDY_PLACE_H

#include <stdint.h>

#include "probes/threads.h"

enum {
	PLACES_MAX = 1 << 14,    /* places that are told apart; beyond, objects are not */
	PROCESSES_MAX = 1 << 14, /* living processes watched at once */
	CENSUS_FRAMES = 16,      /* of a sleeper's kernel stack, the innermost first */
	PLACE_NAME_SIZE = 32,
	FOLD_FRAMES = 64, /* of a stack that is kept */
	FOLDS_MAX = 1 << 14,
	FOLD_LOST = -1, /* a stack for which there was no room, or none that can be walked */
	PLACE_NO_CALL = 0xffff, /* outside a system call: a fault, or a thread of the kernel's */
};

/* What a sleeping thread's call works on. */
enum object_type {
	OBJECT_NONE, /* nothing that the call names, or not known */
	OBJECT_FILE,
	OBJECT_DEVICE,
	OBJECT_SOCKET,
	OBJECT_PIPE,
	OBJECT_FIFO,
	OBJECT_EPOLL,
	OBJECT_RING,
	OBJECT_EVENTFD,
	OBJECT_FUTEX,
	OBJECT_OTHER,
	OBJECT_COUNT
};

/* Where threads of one process sleep: in what state, call and object. */
struct place_key {
	uint64_t inode;    /* of the object; 0: none, or not told apart */
	uint32_t device;   /* of its file system, as the kernel numbers it */
	uint32_t process;  /* as the kernel itself numbers it */
	uint16_t call;     /* its number, or PLACE_NO_CALL */
	uint8_t kind;      /* enum thread_kind */
	uint8_t state;     /* enum thread_state */
	uint8_t class;     /* enum park_class */
	uint8_t object;    /* enum object_type */
	uint8_t operation; /* of io_uring, in a worker's hand */
	uint8_t lock;      /* 1: a futex that is a lock, as libraries mark one that is waited for */
};

/* Sleeps with the same stacks, by what they wait in: inode and device are left out. A stack is its
 * number in the table + 1; 0: asleep since before attach; FOLD_LOST. */
struct fold_key {
	struct place_key place;
	int32_t kernel, user;
};

struct place_sum {
	uint64_t asleep_ns;
	uint64_t sleeps;            /* that have ended */
	char name[PLACE_NAME_SIZE]; /* the last part of its file's name, cut to fit; or empty */
};

/* The waits of one thread on futexes that are no locks, those that have ended. A place here is a
 * futex's address / 8, so that the words of one condition variable count as one. */
struct futex_waits {
	uint64_t count;
	uint64_t place, at_place;    /* where it waits most; and how often since that was so */
	uint64_t given;              /* ended by a thread of its process that waits elsewhere */
	uint64_t passed_on;          /* ended by one that waits at the same place */
	uint64_t giver;              /* the thread (its number) that ends most of them */
	uint64_t asked;              /* before which it woke a thread from its place; of a pool's
	                                thread not where it waits most, for work */
	uint64_t by_io;              /* of these, ended by a thread that had been parked for I/O */
	uint64_t by_io_ns;           /* the time of these */
	uint64_t io_waker;           /* who ended the last of these */
	struct place_key io_place;   /* and where that one had been parked */
	uint32_t votes, giver_votes; /* by which place and giver are found */
};

enum worker_bound { BOUND_UNKNOWN, BOUND_IN_TIME, BOUND_BY_NOTHING };

/* A process that is watched. */
struct process_sum {
	uint32_t threads_now, threads_max;
	uint32_t children; /* forked and not watched */
	uint32_t named;    /* the user named it: kept when it has ended */
	uint64_t block_open;
};

/* A thread as it is now. pid and tid are those that this process sees, the inside ones those that
 * the thread itself sees. */
struct census_record {
	uint32_t process, pid, pid_inside, tid, tid_inside;
	uint32_t word; /* enum park_word */
	uint32_t kind;
	int32_t fd;                /* by which the object was reached, or -1 */
	uint64_t number;           /* the how-manieth thread it is */
	uint64_t now_ns, since_ns; /* of this record, and since when it is in its state */
	uint64_t born_ns;          /* when it was first seen */
	uint64_t segment;          /* the address of its thread control block */
	uint64_t argument[3];      /* of its system call: the first three */
	uint64_t stack_pointer;    /* the program's own, in that call */
	uint64_t before_ns;        /* asleep since before attach: for so long at least by then */
	uint64_t state_ns[STATE_COUNT], parks;
	uint64_t futex_ns;      /* the part asleep on a futex, of sleeps that have ended */
	struct place_key place; /* of its sleep, when it sleeps */
	struct futex_waits waits;
	uint32_t owner;        /* of an io_uring worker: the thread that owns it, by our pids */
	uint8_t iowait, bound; /* it sleeps as iowait; of a worker: enum worker_bound */
	uint8_t unused[2];
	uint32_t place_since; /* not 0: place means something */
	int32_t frames;       /* how many of stack are filled */
	char name[16];
	uint64_t stack[CENSUS_FRAMES];
};

#endif
