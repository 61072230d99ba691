/* The connections of a socket workload to its peer. */
#ifndef IOSTUDY_CONNECTIONS_H
#define IOSTUDY_CONNECTIONS_H

#include <stdint.h>

#include "bench/workload.h"

struct connections {
	int *fds; /* [count] */
	uint32_t count;
};

/* Connects count times to the plan's peer, and makes the descriptors known to the engine. 0, or
 * -errno with w->why: which of them, the limit that was met, and the remedy; none stays then. */
int connections_open(struct connections *c, struct workload *w, uint32_t count);

/* Ends what waits on them, wherever it waits. */
void connections_stop(const struct connections *c);

void connections_close(struct connections *c);

/* What a transfer on connection n that failed (result <= 0) says; call: send or recv. */
void connections_explain(struct workload *w, uint32_t n, const char *call, int32_t result);

#endif
