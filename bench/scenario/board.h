/*
 * The board: what the processes of a case share. Who works there notes each call on it: when it
 * began and ended, and on which thread. Calls are noted by any process and thread at once.
 */
#ifndef IOSTUDY_BOARD_H
#define IOSTUDY_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/histogram.h"
#include "bench/scenario/scenario.h"
#include "probes/threads.h"

enum {
	BOARD_BOXES = 20000, /* calls of which the box is kept */
	BOARD_FAILURES = 12, /* different reasons that are told apart */
	BOARD_REASON_SIZE = 100,
};

/* One call on the chart. */
struct board_box {
	uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC; end 0: it never ended */
	uint64_t latency_ns;
	uint32_t row; /* of its thread */
	bool failed;
};

struct board_failure {
	char reason[BOARD_REASON_SIZE];
	uint64_t count;
};

struct board {
	/* futex words */
	uint32_t ready;    /* the measured process is prepared */
	uint32_t go;       /* set by the parent: begin */
	uint32_t finished; /* the work is done */
	uint32_t broken;   /* it cannot be: why says so */
	uint32_t stop;     /* set by the parent: end */
	int32_t refused;   /* with broken: it cannot be done here, which is no failure */
	char why[SCENARIO_WHY_SIZE];

	uint64_t begin_ns, end_ns;  /* of the work; noted by who does it */
	uint64_t calls, failed;     /* that ended */
	uint64_t in_flight_ns;      /* of the calls that ended */
	uint32_t rows;              /* threads that have a row */
	char names[KIND_COUNT][16]; /* that the threads of a kind have taken */
	uint32_t lock;              /* of failures */
	struct board_failure failures[BOARD_FAILURES];
	struct histogram latency; /* of the calls that succeeded */
	uint64_t latency_max_ns;
	uint64_t boxes; /* asked for; those beyond BOARD_BOXES are dropped */
	struct board_box box[BOARD_BOXES];
};

/* What a process of a case works with. */
struct board_side {
	const struct scenario_run *run;
	const void *own;           /* of the case: see measure.h */
	void *shared;              /* of the case, seen by all its processes */
	struct board *board;       /* shared */
	struct thread_mark *marks; /* shared; [THREADS_MAX] */
	uint32_t *in_flight;       /* shared: calls in flight now, for the probe */
};

/* In the measured process, once, when all is prepared: waits for the word to begin, and notes
 * when that was. */
void board_ready(struct board_side *side);

/* Notes that it cannot be done. refused: not here, which is no failure. */
void board_break(struct board_side *side, bool refused, const char *why);

/* A thread of the measured process begins: it claims its mark and its row, and takes the name (at
 * most 15 characters). Its mark is NULL where more threads begin than can be marked. */
void board_thread_begin(struct board_side *side, enum thread_kind kind, const char *name);
/* Its work is done: it counts itself in resting, and stays, idle, until all figures are taken,
 * since a thread that ends just then could be missed. */
void board_rest(struct board_side *side, uint32_t *resting);
/* Waits, idle, until so many rest. */
void board_await(const uint32_t *resting, uint32_t count);
struct thread_mark *board_mark(void);      /* of the calling thread, or NULL */
void board_doing(enum thread_doing doing); /* of the calling thread, from now */

/* A call: from its beginning to its end, in which thread doing is what its mark says. */
uint64_t board_call_begin(struct board_side *side); /* now, CLOCK_MONOTONIC */
/* reason: NULL, or why it failed, of which each is counted. since_ns: the moment from which its
 * latency counts (that of its beginning, or the one at which it was scheduled). */
void board_call_end(struct board_side *side, uint64_t start_ns, uint64_t since_ns,
                    const char *reason);

#endif
