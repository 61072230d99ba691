/*
 * What the engines share among themselves: reasons, a queue of completions, descriptors of
 * connections. Nobody outside of engines/ includes it, but for the fake engine of the tests.
 */
#ifndef IOSTUDY_ENGINES_INTERNAL_H
#define IOSTUDY_ENGINES_INTERNAL_H

/* An assertion guards what is measured: it stays on in every build. */
#undef NDEBUG
#include <assert.h>

#include "engines/engine.h"

#include <time.h>

extern const struct engine_ops engine_blocking, engine_pool, engine_posix_aio,
    engine_posix_aio_signal, engine_libaio, engine_epoll, engine_epoll_offload, engine_uring,
    engine_uring_defer, engine_uring_sqpoll, engine_uring_iopoll, engine_uring_async, engine_port,
    engine_null;

/* A wait without end, where a call wants a time all the same: 34 years. */
#define ENGINE_FOR_EVER_S (1L << 30)

/* The time of a reap's wait, for calls that take a struct timespec. Always bounded: without a
 * time some calls are taken up again after a signal with SA_RESTART, and must not be. */
static inline struct timespec engine_wait_time(int64_t timeout_ns)
{
	if (timeout_ns < 0)
		return (struct timespec){.tv_sec = ENGINE_FOR_EVER_S};
	return (struct timespec){
	    .tv_sec = timeout_ns / 1000000000,
	    .tv_nsec = timeout_ns % 1000000000,
	};
}

/* Waits while the word is value, at most so long (below 0: for ever); may return early. */
void engine_futex_wait(uint32_t *word, uint32_t value, int64_t timeout_ns);
void engine_futex_wake(uint32_t *word); /* one thread */

/* For an engine that looks at a request again when it completes, where only the kernel stood
 * between the thread that submitted it and the one that reaps: makes the hand-over visible. */
static inline void engine_acquire(const struct engine *e, uint32_t slot)
{
	assert(__atomic_load_n(&e->owner[slot], __ATOMIC_ACQUIRE));
}

/* Writes one sentence into why, and returns error: "return engine_reason(why, -EMFILE, …)". */
int engine_reason(char why[ENGINE_WHY_SIZE], int error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A limit of getrlimit(2) as text, "1024" or "64 KiB" (bytes) or "unlimited". */
const char *engine_limit(int resource, bool bytes, char text[32]);

/* Makes the socket of a CONNECT and stores it in r->fd. The descriptor, or -errno. */
int engine_connect_socket(struct io_req *r, int flags);

/*
 * The call for r without waiting: its result, or ENGINE_WOULD_WAIT. events is what epoll told of
 * the descriptor, 0 for nothing yet. The shared flags of a descriptor are not changed, but a
 * listening socket's: accept(2) has no flag of its own for "do not wait".
 */
enum { ENGINE_WOULD_WAIT = INT32_MIN };
int32_t engine_try(struct io_req *r, uint32_t events);

/* For close: a completion that nobody will take. Closes the descriptor that it holds. */
void engine_discard(const struct engine *e, const struct io_done *done);

/* For engines made of others. pool_announce: the pool tells of completions by the eventfd, which
 * is written to whenever the first comes to an empty queue; nobody waits in its reap then.
 * epoll_watch: what is written to the eventfd ends the wait of reap, and epoll_watched says so,
 * once. The eventfd need not be read. */
void pool_announce(struct engine *e, int event);
int epoll_watch(struct engine *e, int event, char why[ENGINE_WHY_SIZE]);
bool epoll_watched(struct engine *e);

/* A queue of completions, first in, first out, with room for every slot of the engine. */
struct completions {
	struct io_done *done;
	uint32_t mask, head, tail;
};

int completions_open(struct completions *c, uint32_t slots); /* 0 or -ENOMEM */
void completions_close(struct completions *c, const struct engine *e);

static inline uint32_t completions_count(const struct completions *c)
{
	return c->tail - c->head;
}

static inline void completions_push(struct completions *c, uint32_t slot, int32_t result)
{
	assert(completions_count(c) <= c->mask);
	c->done[c->tail++ & c->mask] = (struct io_done){.slot = slot, .result = result};
}

static inline uint32_t completions_pop(struct completions *c, struct io_done *done, uint32_t max)
{
	uint32_t n = completions_count(c);

	if (n > max)
		n = max;
	for (uint32_t i = 0; i < n; i++)
		done[i] = c->done[c->head++ & c->mask];
	return n;
}

#endif
