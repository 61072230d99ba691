/*
 * A carrier: one thread, one engine, and coroutines that are suspended while their I/O is in
 * flight there. The code in a coroutine reads as if it blocked; the thread does not.
 */
#ifndef IOSTUDY_CARRIER_H
#define IOSTUDY_CARRIER_H

#include "bench/scenario/coroutine.h"
#include "bench/scenario/handover.h"
#include "engines/engine.h"
#include "probes/threads.h"

struct carrier {
	struct engine engine;
	struct coroutines coroutines;
	struct io_req *requests; /* [count]: one for each coroutine */
	int32_t *results;        /* [count] */
	struct handover ready;
	uint32_t alive;
	uint32_t *woken; /* [count]: a ring of those that others have woken */
	uint32_t woken_at, woken_count;
	struct thread_mark *mark; /* of the thread, or NULL */
	bool stop;                /* set by a coroutine: carrier_run returns, whoever is left */
};

/* Opens count coroutines over an engine that serves need; on the thread that will run them. 0, or
 * -errno with why. */
int carrier_open(struct carrier *c, const struct engine_ops *ops, uint32_t count, uint32_t need,
                 char why[COROUTINE_WHY_SIZE]);
void carrier_close(struct carrier *c);

/* Starts coroutine index: body(argument) runs until its first wait. From outside. */
void carrier_start(struct carrier *c, uint32_t index, void (*body)(void *), void *argument);

/* From inside a coroutine: does the request and returns its result; others run meanwhile. */
int32_t carrier_do(struct carrier *c, struct io_req request);

/* From inside: rests until another coroutine wakes it, and returns what that one hands over. Who is
 * woken rests, and goes on soon, not at once. */
int32_t carrier_rest(struct carrier *c);
void carrier_wake(struct carrier *c, uint32_t index, int32_t result);

/* Runs until all coroutines have ended, or one has set stop. 0, or -errno: the engine broke. */
int carrier_run(struct carrier *c);

#endif
