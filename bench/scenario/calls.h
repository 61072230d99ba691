/*
 * blocking-calls: what its ways have in common. N calls to a service that takes its time; a call
 * is a request over a connection of its own or over one that others share, or a timer.
 */
#ifndef IOSTUDY_CALLS_H
#define IOSTUDY_CALLS_H

#include <pthread.h>

#include "bench/address.h"
#include "bench/scenario/board.h"
#include "bench/scenario/caller.h"

enum calls_form { FORM_SOCKET, FORM_SHARED, FORM_TIMER, FORM_COUNT };
extern const char *const calls_form_names[]; /* ends with NULL */

/* One case, handed to the measured process. */
struct calls {
	const char *engine; /* of coroutines, or NULL */
	uint32_t threads;   /* of a pool; 0: one for each call */
	enum calls_form form;
	uint32_t count, connections; /* connections: of FORM_SHARED */
	uint64_t delay_ns, seed;
	struct address service;
};

enum { CALLS_POOL_MAX = 16 };

/* What a pool's thread at a completion port was woken for. */
struct calls_borrowed {
	uint64_t time_ns;
	uint32_t times;
};

/* What the measured process says of itself. */
struct calls_shared {
	struct calls_borrowed borrowed[CALLS_POOL_MAX];
	uint64_t memory_before_bytes; /* resident, before anything was prepared */
	uint64_t stack_bytes;         /* of coroutines: ever written */
};

/* Makes call number id, and notes it on the board. */
void call_make(struct board_side *side, struct caller *caller, const struct calls *calls,
               uint32_t id);

/* The bodies. By threads that block: a pool, or one for each call. */
int calls_by_threads(struct board_side *side);
/* By a pool that makes a hidden thread for each. */
int calls_by_hidden_threads(struct board_side *side);
/* By a pool at a completion port, of at most CALLS_POOL_MAX threads. */
int calls_by_port(struct board_side *side);
/* By coroutines on one thread; over connections of their own, or shared ones. */
int calls_by_coroutines(struct board_side *side);
int calls_by_shared_connections(struct board_side *side);

uint64_t calls_resident_bytes(void); /* of this process */

/* Starts a thread with a small stack, which ends with the process. 0, or -errno after board_break,
 * which names the limits; index and count: which of how many. */
int calls_thread_start(struct board_side *side, void *(*body)(void *), void *argument,
                       uint32_t index, uint32_t count);

#endif
