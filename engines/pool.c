/*
 * pool: the thread offload. Workers make blocking calls; the submitter waits on the queue of
 * completions. A request is served while a worker is in its call, and queued before.
 *
 * A worker blocked in a call is brought back at close by a signal whose handler does nothing
 * (see pool_signal), sent again until the worker has gone.
 */
#include "engines/internal.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

/* Of a worker: the blocking calls need little, the hooks some, a sanitizer most. */
enum { POOL_STACK_BYTES = 256 << 10 };

struct pool_worker {
	struct engine *e;
	pthread_t thread;
	uint32_t gone; /* futex */
};

struct pool {
	struct pool_worker *workers;
	uint32_t started;
	uint32_t begun; /* futex: threads that have told of themselves */
	int signal;

	pthread_mutex_t work_lock;
	pthread_cond_t work_there;
	uint32_t *work, work_mask, work_head, work_tail; /* slots that no worker has taken up */
	uint32_t idle;
	bool stop;

	pthread_mutex_t done_lock;
	struct completions done;
	bool announces; /* on the eventfd, not by the futex */
	int event;
	uint32_t wanted; /* completions for which the reaper waits; 0: it does not */
	uint32_t wakes;  /* futex of the reaper: how often it was woken */
};

/* Takes the oldest request. False: the pool is closing. */
static bool pool_take(struct pool *p, uint32_t *slot)
{
	bool taken;

	pthread_mutex_lock(&p->work_lock);
	while (p->work_head == p->work_tail && !p->stop) {
		p->idle++;
		pthread_cond_wait(&p->work_there, &p->work_lock);
		p->idle--;
	}
	taken = !p->stop;
	if (taken)
		*slot = p->work[p->work_head++ & p->work_mask];
	pthread_mutex_unlock(&p->work_lock);
	return taken;
}

/* Wakes the reaper only when there is as much as it waits for. */
static void pool_complete(struct pool *p, uint32_t slot, int32_t result)
{
	bool wake, announce;

	pthread_mutex_lock(&p->done_lock);
	completions_push(&p->done, slot, result);
	announce = p->announces && completions_count(&p->done) == 1;
	wake = p->wanted && completions_count(&p->done) >= p->wanted;
	if (wake) {
		p->wanted = 0;
		__atomic_fetch_add(&p->wakes, 1, __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&p->done_lock);
	if (wake)
		engine_futex_wake(&p->wakes);
	if (announce)
		eventfd_write(p->event, 1);
}

static void *pool_work(void *argument)
{
	struct pool_worker *w = argument;
	struct engine *e = w->e;
	struct pool *p = e->state;
	uint32_t slot;

	engine_thread_begin(e);
	__atomic_fetch_add(&p->begun, 1, __ATOMIC_RELEASE);
	engine_futex_wake(&p->begun);
	while (pool_take(p, &slot)) {
		int32_t result;

		engine_call_begin(e, slot);
		result = engine_call(&e->config.requests[slot], &p->stop);
		engine_call_end(e, slot);
		pool_complete(p, slot, result);
	}
	engine_thread_end(e);
	__atomic_store_n(&w->gone, 1, __ATOMIC_RELEASE);
	engine_futex_wake(&w->gone);
	return NULL;
}

static void pool_interrupt(int signal)
{
	(void)signal;
}

/*
 * The signal that brings a worker back: a real-time one that nobody uses, from the highest
 * down. The handler is left in place, so that pools that close at the same time do not take
 * it from each other; it does nothing. 0: none is free.
 */
static int pool_signal(void)
{
	for (int number = SIGRTMAX; number >= SIGRTMIN; number--) {
		const struct sigaction action = {.sa_handler = pool_interrupt};
		struct sigaction old;

		if (sigaction(number, NULL, &old) != 0)
			continue;
		if (old.sa_handler == pool_interrupt)
			return number;
		if (old.sa_handler == SIG_DFL && sigaction(number, &action, NULL) == 0)
			return number;
	}
	return 0;
}

static int pool_refused(const struct engine *e, uint32_t wanted, int error,
                        char why[ENGINE_WHY_SIZE])
{
	const struct pool *p = e->state;
	char limit[32];

	return engine_reason(why, -error,
	                     "pool: cannot start thread %u of %u: %s; RLIMIT_NPROC is %s (also"
	                     " kernel.threads-max and the cgroup's pids.max count); raise it with"
	                     " ulimit -u, or use --pool %u",
	                     p->started + 1, wanted, strerror(error),
	                     engine_limit(RLIMIT_NPROC, false, limit), p->started ? p->started : 1);
}

/* Starts the workers, and waits until each has told of itself. */
static int pool_start(struct engine *e, uint32_t wanted, char why[ENGINE_WHY_SIZE])
{
	struct pool *p = e->state;
	pthread_attr_t attributes;
	sigset_t all, old;
	uint32_t begun;
	int error = 0;

	/* Signals of the process are for its own threads; they are blocked from the start. */
	sigfillset(&all);
	sigdelset(&all, p->signal);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, POOL_STACK_BYTES);
	for (; p->started < wanted && !error; p->started += !error) {
		struct pool_worker *w = &p->workers[p->started];

		w->e = e;
		error = pthread_create(&w->thread, &attributes, pool_work, w);
	}
	pthread_attr_destroy(&attributes);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	while ((begun = __atomic_load_n(&p->begun, __ATOMIC_ACQUIRE)) < p->started)
		engine_futex_wait(&p->begun, begun, -1);
	return error ? pool_refused(e, wanted, error, why) : 0;
}

static void pool_stop(struct pool *p)
{
	pthread_mutex_lock(&p->work_lock);
	__atomic_store_n(&p->stop, true, __ATOMIC_RELEASE);
	pthread_cond_broadcast(&p->work_there);
	pthread_mutex_unlock(&p->work_lock);
	/* All at once first, then one after the other: a signal that comes between a worker's
	 * look at stop and its call is lost, and has to be sent again. */
	for (uint32_t i = 0; i < p->started; i++)
		if (!__atomic_load_n(&p->workers[i].gone, __ATOMIC_ACQUIRE))
			pthread_kill(p->workers[i].thread, p->signal);
	for (uint32_t i = 0; i < p->started; i++) {
		struct pool_worker *w = &p->workers[i];

		while (!__atomic_load_n(&w->gone, __ATOMIC_ACQUIRE)) {
			engine_futex_wait(&w->gone, 0, 1000000);
			if (!__atomic_load_n(&w->gone, __ATOMIC_ACQUIRE))
				pthread_kill(w->thread, p->signal);
		}
		pthread_join(w->thread, NULL);
	}
}

static void pool_close(struct engine *e)
{
	struct pool *p = e->state;

	pool_stop(p);
	/* What no worker has taken up yet holds at most the socket of a CONNECT. */
	for (; p->work_head != p->work_tail; p->work_head++) {
		const struct io_req *r = &e->config.requests[p->work[p->work_head & p->work_mask]];

		if (r->op == IO_CONNECT && r->fd >= 0)
			close(r->fd);
	}
	completions_close(&p->done, e);
	pthread_cond_destroy(&p->work_there);
	pthread_mutex_destroy(&p->work_lock);
	pthread_mutex_destroy(&p->done_lock);
	free(p->work);
	free(p->workers);
}

static int pool_open(struct engine *e, char why[ENGINE_WHY_SIZE])
{
	struct pool *p = e->state;
	uint32_t wanted = e->config.threads ? e->config.threads : e->config.slots;
	int error;

	if (wanted > ENGINE_THREADS_MAX)
		return engine_reason(why, -EINVAL,
		                     "pool: %u threads are wanted, and at most %u are served; use"
		                     " --pool %u",
		                     wanted, ENGINE_THREADS_MAX, ENGINE_THREADS_MAX);
	pthread_mutex_init(&p->work_lock, NULL);
	pthread_mutex_init(&p->done_lock, NULL);
	pthread_cond_init(&p->work_there, NULL);
	error = completions_open(&p->done, e->config.slots);
	p->work_mask = p->done.mask;
	p->work = calloc((size_t)p->work_mask + 1, sizeof *p->work);
	p->workers = calloc(wanted, sizeof *p->workers);
	if (error || !p->work || !p->workers) {
		error = engine_reason(why, -ENOMEM, "pool: no memory for %u threads and %u slots",
		                      wanted, e->config.slots);
		goto fail;
	}
	p->signal = pool_signal();
	if (!p->signal) {
		error = engine_reason(why, -EBUSY,
		                      "pool: this process uses every real-time signal, and one is"
		                      " needed to bring back a blocked thread");
		goto fail;
	}
	error = pool_start(e, wanted, why);
	if (error)
		goto fail;
	return 0;
fail:
	pool_close(e);
	return error;
}

static int pool_submit(struct engine *e, const uint32_t *slots, uint32_t n)
{
	struct pool *p = e->state;
	uint32_t wake;

	for (uint32_t i = 0; i < n; i++)
		if (e->config.requests[slots[i]].op == IO_CONNECT)
			engine_connect_socket(&e->config.requests[slots[i]], 0);
	pthread_mutex_lock(&p->work_lock);
	for (uint32_t i = 0; i < n; i++)
		p->work[p->work_tail++ & p->work_mask] = slots[i];
	wake = n < p->idle ? n : p->idle;
	pthread_mutex_unlock(&p->work_lock);
	for (uint32_t i = 0; i < wake; i++)
		pthread_cond_signal(&p->work_there);
	return (int)n;
}

static int pool_reap(struct engine *e, struct io_done *done, uint32_t min, uint32_t max,
                     int64_t timeout_ns)
{
	struct pool *p = e->state;
	uint32_t n;

	pthread_mutex_lock(&p->done_lock);
	if (completions_count(&p->done) < min && timeout_ns != 0) {
		const uint32_t wakes = __atomic_load_n(&p->wakes, __ATOMIC_RELAXED);

		p->wanted = min;
		pthread_mutex_unlock(&p->done_lock);
		/* Whatever ends it, a signal included, ends this reap. */
		engine_futex_wait(&p->wakes, wakes, timeout_ns);
		pthread_mutex_lock(&p->done_lock);
		p->wanted = 0;
	}
	n = completions_pop(&p->done, done, max);
	pthread_mutex_unlock(&p->done_lock);
	return (int)n;
}

void pool_announce(struct engine *e, int event)
{
	struct pool *p = e->state;

	pthread_mutex_lock(&p->done_lock);
	p->event = event;
	p->announces = true;
	pthread_mutex_unlock(&p->done_lock);
}

const struct engine_ops engine_pool = {
    .name = "pool",
    .summary = "worker threads make blocking calls; the submitter waits for their answers",
    .size = sizeof(struct pool),
    .caps = ENGINE_NEEDS | ENGINE_TWO_SIDED | ENGINE_POOL,
    .open = pool_open,
    .submit = pool_submit,
    .reap = pool_reap,
    .close = pool_close,
};
