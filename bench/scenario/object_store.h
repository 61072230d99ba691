/*
 * An object store: PUT, GET and HEAD of /bucket/key over HTTP/1.1, each answered after a set delay.
 * One thread serves all connections, a coroutine each; the disk too is asked through the engine.
 *
 * PUT is answered when the object is whole under its name and, unless sync is off, on the disk with
 * it: then no crash of the machine loses it. Without sync only the end of the process does not.
 */
#ifndef IOSTUDY_OBJECT_STORE_H
#define IOSTUDY_OBJECT_STORE_H

#include <signal.h>
#include <stdbool.h>

#include "bench/scenario/object_file.h"
#include "engines/engine.h"

enum { OBJECT_CONNECTIONS_MAX = 10000 };

struct object_store_config {
	const char *directory;           /* of the objects; made if it is not there */
	const struct engine_ops *engine; /* serves all needs; NULL: uring, else epoll-offload */
	uint32_t connections;            /* at once; more wait in the kernel's queue */
	uint64_t delay_ns;               /* from when the store is done to the answer */
	uint64_t timeout_ns; /* for a request to come whole, for its answer to be taken, and of a
	                        connection without a request */
	uint64_t body_limit_bytes;
	bool sync;
	/* Called once when it serves; may be NULL. -errno ends it. */
	int (*ready)(void *context);
	void *context;
};

void object_store_defaults(struct object_store_config *config);

/* Serves a listening socket until *came is not 0; then answers what has begun, for at most some
 * seconds, and returns. SIGPIPE and SIGXFSZ are ignored by the caller. 0, or -errno with why. */
int object_store_run(const struct object_store_config *config, int listener,
                     const volatile sig_atomic_t *came, char why[OBJECT_WHY_SIZE]);

#endif
