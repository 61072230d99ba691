/*
 * Who makes a request and goes on with its result: a thread, which blocks meanwhile, or a
 * coroutine, which does not block its thread. The code that calls reads the same.
 */
#ifndef IOSTUDY_CALLER_H
#define IOSTUDY_CALLER_H

#include "bench/scenario/carrier.h"

struct caller {
	struct carrier *carrier; /* of the coroutine; NULL: a thread, with what follows */
	struct engine engine;    /* "blocking", with one slot */
	struct io_req request;
};

/* Of a coroutine that runs on a carrier; nothing to close. */
static inline struct caller caller_of(struct carrier *carrier)
{
	return (struct caller){.carrier = carrier};
}

/* Of the calling thread. It stays where it is until closed. 0, or -errno. */
int caller_open(struct caller *c);
void caller_close(struct caller *c);

/* Does the request and returns its result. The thread's mark says CALL meanwhile. */
int32_t caller_do(struct caller *c, struct io_req request);

#endif
