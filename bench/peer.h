/*
 * The other end of the sockets: a process that answers each request after the delay that the
 * request names. One thread, one epoll set, one heap of deadlines.
 */
#ifndef IOSTUDY_PEER_H
#define IOSTUDY_PEER_H

#include <stdint.h>
#include <sys/types.h>

#include "bench/plan.h"

struct peer {
	pid_t pid; /* 0: none */
};

/* Starts a peer for the plan and writes its address into it. It takes plan->depth connections
 * and ends with this process. 0, or -errno with why. */
int peer_start(struct peer *peer, struct plan *plan, char why[PLAN_WHY_SIZE]);

/* Ends it and waits for its end. */
void peer_stop(struct peer *peer);

#endif
