/*
 * A crew: who makes the calls of a case, numbered from 0. Threads that block, or coroutines on one
 * thread; the code of a call is the same for both. Both are bodies of a measured process
 * (measure.h) or the greater part of one.
 */
#ifndef IOSTUDY_CREW_H
#define IOSTUDY_CREW_H

#include "bench/scenario/board.h"
#include "bench/scenario/caller.h"

struct crew {
	struct board_side *side;
	uint32_t count; /* of calls */
	/* Makes call number id, and notes it on the board. */
	void (*call)(struct board_side *side, struct caller *caller, uint32_t id);
};

/* By threads that block: so many, each of which takes the next call until there is none; 0: one for
 * each call. 0, or -errno. They end with the process. */
int crew_by_threads(const struct crew *crew, uint32_t threads);

/* By a coroutine for each call, on this thread, over an engine that serves need. 0, or -errno. */
int crew_by_coroutines(const struct crew *crew, const char *engine, uint32_t need);

#endif
