/*
 * The load: users who come at set moments, whatever became of those before them (an open loop), and
 * each make requests of HTTP/1.1 over a connection of their own. Each request is a call on the
 * board; the latency of a user's first counts from the moment at which it was to come.
 */
#ifndef IOSTUDY_LOAD_H
#define IOSTUDY_LOAD_H

#include "bench/address.h"
#include "bench/scenario/board.h"

struct load {
	struct address server;
	char target[64];     /* "/delay/500" */
	uint32_t users;      /* at most LOAD_USERS_MAX */
	uint32_t requests;   /* of each, one after the other */
	uint64_t silence_ns; /* before the first */
	uint64_t ramp_ns;    /* over which they come, evenly; 0: all at once */
	uint64_t timeout_ns; /* of a request: it has failed, and its user goes */
};

enum { LOAD_USERS_MAX = 50000 };

/* Whether the limits of descriptors and ports allow so many users. 0, or -EMFILE with why: the
 * limit, its value and the remedy. */
int load_check(uint32_t users, char why[SCENARIO_WHY_SIZE]);

/* Makes it, on one thread. 0 when all users have gone; or -errno: it cannot be made. */
int load_make(struct board_side *side, const struct load *load);

#endif
