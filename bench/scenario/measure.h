/*
 * Carries one case out: the measured process, fresh for each, with the probe on it; where another
 * process makes the load, that one too; and what came of it as one object.
 */
#ifndef IOSTUDY_MEASURE_H
#define IOSTUDY_MEASURE_H

#include "bench/peer.h"
#include "bench/scenario/board.h"

/* What is to be carried out. */
struct measure_work {
	const struct scenario_mode *mode;
	const void *own;     /* handed to both, as it is at this moment */
	size_t shared_bytes; /* of memory that both and measured see, zeroed */
	/* In the measured process, on its first thread, which has its mark: prepares, calls
	 * board_ready, works. Returns when done; with load, it serves until it is ended. -errno
	 * with board->why. */
	int (*body)(struct board_side *side);
	/* In a process of its own, once the body is ready: makes the load and returns. NULL: the
	 * body does it itself. */
	int (*load)(struct board_side *side);
	uint64_t limit_ns; /* ends the case as failed after so long; 0: 10 minutes */
	/* New objects, or NULL. setting: what of the plan this case has, beside the parameters.
	 * published: in place of the mode's. */
	json_t *setting, *published;
	/* Adds to the object's "measured" and "series" what the scenario alone knows, after the
	 * work; and says in because (one sentence, from these numbers) why it came out so. */
	void (*conclude)(const struct board_side *side, const struct measure_work *work,
	                 json_t *measured, json_t *series, char because[SCENARIO_WHY_SIZE]);
};

/* Carries it out and hands its object to run->result. Takes setting and published. 0; -EINTR after
 * a signal; or what run->result returned. A case that failed is an object that says so. */
int measure_case(struct scenario_run *run, struct measure_work *work);

/* Starts a service of ours (echo, delay) in a process of its own; ended by peer_stop. 0, or
 * -errno with run->why. */
int measure_peer(struct scenario_run *run, struct peer *peer, const struct service *service,
                 struct address *address);

#endif
