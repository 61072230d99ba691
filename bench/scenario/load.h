/*
 * The load: users who come at set moments, whatever became of those before them (an open loop), and
 * each make requests of HTTP/1.1 over a connection of their own. Each request is a call on the
 * board; the latency of a user's first counts from the moment at which it was to come. With a
 * window users ask again and again until it ends (a closed loop), and what is under way then has
 * as long as timeout_ns to be answered.
 */
#ifndef IOSTUDY_LOAD_H
#define IOSTUDY_LOAD_H

#include "bench/address.h"
#include "bench/scenario/board.h"

/* What only a load with a window, or one that looks at a page, tells; shared. */
struct load_tally {
	uint64_t in_window; /* requests that were answered with 200 before the window's end */
	uint64_t looks;     /* at the page that were answered with 200 */
	struct histogram page_latency;
};

struct load {
	struct address server;
	char target[64]; /* "/delay/500"; empty: a delay of the range, of the seed for each */
	uint64_t delay_min_ns, delay_max_ns; /* whole milliseconds */
	uint64_t seed;
	uint32_t users;           /* at most LOAD_USERS_MAX */
	uint32_t requests;        /* of each, one after the other */
	uint64_t silence_ns;      /* before the first */
	uint64_t ramp_ns;         /* over which they come, evenly; 0: all at once */
	uint64_t timeout_ns;      /* of a request: it has failed, and its user goes */
	uint64_t window_ns;       /* in place of requests; 0: none */
	const char *page;         /* is looked at meanwhile, over and over; NULL: none */
	struct load_tally *tally; /* with a window or a page */
};

enum { LOAD_USERS_MAX = 50000 };

/* The delay that a user's request names: the same for the same seed. In ns, whole milliseconds. */
uint64_t load_delay_ns(const struct load *load, uint32_t user, uint32_t request);

/* How many requests would be answered in the window if each took its delay and nothing else. */
uint64_t load_ideal(const struct load *load);

/* Whether the limits of descriptors and ports allow so many users. 0, or -EMFILE with why: the
 * limit, its value and the remedy. */
int load_check(uint32_t users, char why[SCENARIO_WHY_SIZE]);

/* Makes it, on one thread. 0 when all users have gone; or -errno: it cannot be made. */
int load_make(struct board_side *side, const struct load *load);

#endif
