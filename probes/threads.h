/*
 * The threads of a subject as they describe themselves: one mark per thread, in memory shared
 * with the probe. It tells whose thread it is and what it does now, so that a futex wait for a
 * result is told from an idle one, and how long it was held in calls and waits.
 *
 * Read by BPF programs too: only types of fixed size, no padding left to the compiler.
 */
#ifndef IOSTUDY_THREADS_H
#define IOSTUDY_THREADS_H

#include <stdint.h>

enum thread_kind {
	KIND_APPLICATION,
	KIND_POOL,
	KIND_AIO_HELPER, /* a thread of the C library's POSIX AIO */
	KIND_IO_WQ,      /* io_uring's worker */
	KIND_SQPOLL,     /* io_uring's submission poller */
	KIND_HELPER,     /* made by another library behind its caller's back, for its calls */
	KIND_COUNT
};

/* Every thread is at each moment in exactly one of these. */
enum thread_state {
	STATE_RUNNING,
	STATE_RUNNABLE,
	STATE_PARKED_DIRECT,
	STATE_PARKED_WAITER,
	STATE_PARKED_ON_RESULT,
	STATE_IDLE,
	STATE_OTHER,
	STATE_UNSEEN,
	STATE_COUNT
};

/* What a thread is doing, by its own word. CALL, WAIT and RESULT hold it (see "held"). */
enum thread_doing {
	DOING_NOTHING, /* on: computing, or looking without waiting */
	DOING_SUBMIT,  /* inside a submission that is not meant to wait */
	DOING_CALL,    /* inside the call that performs a transfer */
	DOING_WAIT,    /* waits for one of several requests in flight elsewhere */
	DOING_RESULT,  /* waits for the one result of an I/O in flight elsewhere */
	DOING_IDLE,    /* waits for work */
	DOING_COUNT
};

enum {
	THREADS_MAX = 1 << 15, /* marks in a table; a power of two */
	THREADS_PROBE_MAX =
	    64, /* places looked at for one tid, beginning at tid modulo THREADS_MAX */
};
#define THREAD_MARK_CLAIMED 0xffffffffu /* instead of a tid while a mark is being claimed */

/* One thread's mark, a cache line. Written by its thread alone; sequence is odd meanwhile. */
struct thread_mark {
	uint32_t tid; /* 0: free. Claimed by compare-and-exchange, never given back */
	uint32_t sequence;
	uint8_t kind;  /* enum thread_kind */
	uint8_t doing; /* enum thread_doing */
	uint8_t ended; /* by then since_ns is when */
	uint8_t unused[5];
	uint64_t since_ns;  /* when doing began, CLOCK_MONOTONIC */
	uint64_t held_ns;   /* time spent in CALL, WAIT and RESULT, those that have ended */
	uint64_t served_ns; /* the part of held_ns spent in CALL */
	uint64_t result_ns; /* the part of held_ns spent in RESULT */
	uint64_t idle_ns;   /* time spent in IDLE */
	uint64_t unused2;
};

#ifndef __bpf__
_Static_assert(sizeof(struct thread_mark) == 64, "one cache line");

/* Claims the mark of the calling thread. NULL when THREADS_PROBE_MAX places are taken. */
struct thread_mark *thread_mark_claim(struct thread_mark *table, enum thread_kind kind);

/* From now on the thread does this. now_ns: CLOCK_MONOTONIC. */
void thread_mark_set(struct thread_mark *mark, enum thread_doing doing, uint64_t now_ns);

/* The thread is about to end. */
void thread_mark_end(struct thread_mark *mark, uint64_t now_ns);

/* A consistent copy of a mark that its thread may be writing, with its times counted up to
 * now_ns. */
struct thread_mark thread_mark_read(const struct thread_mark *mark, uint64_t now_ns);
#endif

#endif
