/*
 * epoll-offload: what event loops do. Sockets and timers wait in epoll; a file, which is always
 * ready and blocks all the same, goes to a small pool of threads. The pool's answers come over
 * an eventfd, so that one wait is for both.
 */
#include "engines/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

enum { OFFLOAD_THREADS = 4 }; /* of the pool, when nobody asks for another number */

struct offload {
	struct engine epoll, pool;
	int event;
};

/* Opens one of the two, over the same slots. */
static int offload_part(const struct engine *e, struct engine *part, const struct engine_ops *ops,
                        char why[ENGINE_WHY_SIZE])
{
	int error;

	*part = *e;
	part->ops = ops;
	part->state = calloc(1, ops->size);
	part->config.need &= (uint32_t)~ENGINE_FILES;
	if (!part->config.threads)
		part->config.threads = OFFLOAD_THREADS;
	error = part->state ? ops->open(part, why)
	                    : engine_reason(why, -ENOMEM, "epoll-offload: no memory");
	if (error) {
		free(part->state);
		part->state = NULL;
	}
	return error;
}

static void offload_close(struct engine *e)
{
	struct offload *o = e->state;

	/* The pool first: its threads write to the eventfd. */
	if (o->pool.state)
		o->pool.ops->close(&o->pool);
	if (o->epoll.state)
		o->epoll.ops->close(&o->epoll);
	if (o->event >= 0)
		close(o->event);
	free(o->pool.state);
	free(o->epoll.state);
}

static int offload_open(struct engine *e, char why[ENGINE_WHY_SIZE])
{
	struct offload *o = e->state;
	char limit[32];
	int error;

	o->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (o->event < 0)
		return engine_reason(why, -errno,
		                     "epoll-offload: cannot create an eventfd: %s; RLIMIT_NOFILE"
		                     " is %s, raise it with ulimit -n",
		                     strerror(errno), engine_limit(RLIMIT_NOFILE, false, limit));
	error = offload_part(e, &o->epoll, &engine_epoll, why);
	if (!error)
		error = epoll_watch(&o->epoll, o->event, why);
	/* Who asks for no files gets no threads for them. */
	if (!error && (!e->config.need || e->config.need & ENGINE_FILES))
		error = offload_part(e, &o->pool, &engine_pool, why);
	if (error)
		offload_close(e);
	else if (o->pool.state)
		pool_announce(&o->pool, o->event);
	return error;
}

/* The part that serves the request, or refuses it. A NOP goes the way of a file, to show what that
 * costs. */
static struct engine *offload_choose(struct offload *o, const struct io_req *r)
{
	if (!o->pool.state)
		return &o->epoll;
	switch ((enum io_op)r->op) {
	case IO_READ:
	case IO_WRITE:
		return r->offset == UINT64_MAX ? &o->epoll : &o->pool;
	case IO_FSYNC:
	case IO_NOP:
		return &o->pool;
	default:
		return &o->epoll;
	}
}

/* Both parts take whatever comes. Neighbours of the same part go together. */
static int offload_submit(struct engine *e, const uint32_t *slots, uint32_t n)
{
	struct offload *o = e->state;

	for (uint32_t begin = 0, end; begin < n; begin = end) {
		struct engine *part = offload_choose(o, &e->config.requests[slots[begin]]);
		int accepted;

		for (end = begin + 1; end < n; end++)
			if (offload_choose(o, &e->config.requests[slots[end]]) != part)
				break;
		accepted = part->ops->submit(part, slots + begin, end - begin);
		assert(accepted == (int)(end - begin));
	}
	return (int)n;
}

static int offload_reap(struct engine *e, struct io_done *done, uint32_t min, uint32_t max,
                        int64_t timeout_ns)
{
	struct offload *o = e->state;
	uint32_t n = 0;
	bool again;

	do {
		uint32_t want;
		int got;

		if (o->pool.state)
			n += (uint32_t)engine_pool.reap(&o->pool, done + n, 0, max - n, 0);
		if (n == max)
			break;
		/* An answer that the pool gives from here on ends the wait. */
		want = n < min ? min - n : 0;
		got = engine_epoll.reap(&o->epoll, done + n, want, max - n, want ? timeout_ns : 0);
		again = epoll_watched(&o->epoll);
		if (got < 0)
			return n ? (int)n : got;
		n += (uint32_t)got;
	} while (again && n < max);
	return (int)n;
}

const struct engine_ops engine_epoll_offload = {
    .name = "epoll-offload",
    .summary = "epoll for sockets and timers, and a small pool of threads for files",
    .size = sizeof(struct offload),
    .caps = ENGINE_NEEDS | ENGINE_POOL | ENGINE_POOL_FOR_FILES,
    .open = offload_open,
    .submit = offload_submit,
    .reap = offload_reap,
    .close = offload_close,
};
