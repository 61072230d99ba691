/*
 * The other end of the sockets: a process of its own that serves what the workload asks for
 * (server.h). With --peer it is somebody else's, and none is started.
 */
#ifndef IOSTUDY_PEER_H
#define IOSTUDY_PEER_H

#include <stdint.h>
#include <sys/types.h>

#include "bench/plan.h"
#include "bench/server.h"

struct peer {
	pid_t pid; /* 0: none */
};

/* Starts a peer for the plan and writes its address into it. It ends with this process. 0, or
 * -errno with why. */
int peer_start(struct peer *peer, struct plan *plan, const struct service *service,
               char why[PLAN_WHY_SIZE]);

/* Ends it and waits for its end. */
void peer_stop(struct peer *peer);

#endif
