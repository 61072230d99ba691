/*
 * The completion port: see port.h. Of the threads in port_get one leads: it alone is in the
 * ring's reap, and gives what comes to the thread that waits on top of the stack, to itself only
 * where none does. Packets, the lead and the right to run change hands under one lock.
 */
#include "engines/port.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engines/internal.h"
#include "engines/uring.h"

enum { PORT_BATCH = 64 }; /* completions taken from the ring at once */

static bool port_may_run(const struct port *p)
{
	return p->head != p->tail && p->running < p->concurrency;
}

static void port_push(struct port *p, struct port_packet packet)
{
	assert(p->tail - p->head <= p->mask);
	p->queue[p->tail++ & p->mask] = packet;
}

/* Gives a thread what it may have, and the right to run with it. */
static void port_give(struct port *p, struct port_thread *t)
{
	assert(!t->runs && port_may_run(p));
	for (t->given = 0; t->given < t->max && p->head != p->tail; t->given++)
		t->packets[t->given] = p->queue[p->head++ & p->mask];
	t->runs = 1;
	p->running++;
	t->released++;
}

static void port_unwait(struct port *p, struct port_thread *t)
{
	struct port_thread **at = &p->waiting;

	while (*at != t)
		at = &(*at)->below;
	*at = t->below;
	t->waits = 0;
	p->waiting_count--;
}

static void port_wake(struct port *p, struct port_thread *t)
{
	port_unwait(p, t);
	__atomic_fetch_add(&t->turn, 1, __ATOMIC_RELEASE);
	engine_futex_wake(&t->turn);
}

/* Releases waiting threads, the last that came first, while there is work that may run. */
static void port_release(struct port *p)
{
	while (p->waiting && port_may_run(p)) {
		port_give(p, p->waiting);
		port_wake(p, p->waiting);
	}
}

/* Who led takes packets or goes away: the lead goes to the top of the stack, if anybody waits. */
static void port_leave_lead(struct port *p)
{
	p->led = 0;
	if (p->waiting && !p->stopped) {
		p->led = 1;
		p->waiting->leads = 1;
		port_wake(p, p->waiting);
	}
}

/* There may be something that only the leading thread can take: it is to look. */
static void port_call_leader(struct port *p)
{
	bool call;

	pthread_mutex_lock(&p->lock);
	call = p->led && (p->stopped || port_may_run(p));
	pthread_mutex_unlock(&p->lock);
	if (!call)
		return;
	pthread_mutex_lock(&p->submitting);
	uring_wake(&p->ring);
	pthread_mutex_unlock(&p->submitting);
}

static uint64_t port_key(const struct port *p, uint32_t slot)
{
	const struct io_req *r = &p->ring.config.requests[slot];
	const bool has_fd = r->op != IO_NOP && r->op != IO_TIMEOUT && r->fd >= 0;

	return has_fd && (uint32_t)r->fd < p->key_count ? p->keys[r->fd] : 0;
}

/* One turn of the leading thread: waits in the ring without the lock, and hands out what came.
 * Returns how many came, or -errno. */
static int port_lead(struct port *p, int64_t timeout_ns)
{
	struct io_done done[PORT_BATCH];
	int n;

	pthread_mutex_unlock(&p->lock);
	n = engine_reap(&p->ring, done, 1, PORT_BATCH, timeout_ns);
	pthread_mutex_lock(&p->lock);
	for (int i = 0; i < n; i++)
		port_push(p, (struct port_packet){.key = port_key(p, done[i].slot),
		                                  .slot = done[i].slot,
		                                  .result = done[i].result});
	port_release(p);
	return n;
}

/* Waits on the stack. True: the wait was ended by one who gave packets or the lead. */
static bool port_sleep(struct port *p, struct port_thread *me, int64_t timeout_ns)
{
	const uint32_t turn = __atomic_load_n(&me->turn, __ATOMIC_ACQUIRE);

	me->below = p->waiting;
	me->waits = 1;
	p->waiting = me;
	p->waiting_count++;
	pthread_mutex_unlock(&p->lock);
	engine_futex_wait(&me->turn, turn, timeout_ns);
	pthread_mutex_lock(&p->lock);
	if (!me->waits)
		return true;
	port_unwait(p, me);
	return false;
}

/* With the lock: waits until me was given packets. Their number, 0, or -errno. */
static int port_wait(struct port *p, struct port_thread *me, int64_t timeout_ns)
{
	bool leads = false;
	int n = 1; /* what came with the last turn */

	for (;;) {
		if (port_may_run(p))
			port_give(p, me);
		if (me->given || p->stopped || n <= 0)
			break;
		if (!leads && !p->led)
			p->led = leads = true;
		if (me->waiting)
			me->waiting(me, leads);
		if (leads) {
			n = port_lead(p, timeout_ns);
		} else if (timeout_ns == 0 || !port_sleep(p, me, timeout_ns)) {
			n = 0;
		} else if (me->leads) {
			me->leads = 0;
			leads = true;
		}
	}
	if (leads)
		port_leave_lead(p);
	if (me->given)
		return (int)me->given;
	return p->stopped ? -ECANCELED : n;
}

int port_get(struct port *p, struct port_thread *me, struct port_packet *packets, uint32_t max,
             int64_t timeout_ns)
{
	int n;

	assert(max >= 1);
	pthread_mutex_lock(&p->lock);
	p->running -= me->runs;
	me->runs = 0;
	me->packets = packets;
	me->max = max;
	me->given = 0;
	n = p->stopped ? -ECANCELED : port_wait(p, me, timeout_ns);
	for (int i = 0; i < n; i++)
		p->posts_free += packets[i].slot >= p->ring.config.slots;
	pthread_mutex_unlock(&p->lock);
	return n;
}

int port_post(struct port *p, struct port_packet packet)
{
	int error = -EAGAIN;

	/* Told apart from a completion by its slot. */
	assert(packet.slot >= p->ring.config.slots);
	pthread_mutex_lock(&p->lock);
	if (p->posts_free) {
		p->posts_free--;
		port_push(p, packet);
		port_release(p);
		error = 0;
	}
	pthread_mutex_unlock(&p->lock);
	if (!error)
		port_call_leader(p);
	return error;
}

void port_block(struct port *p, struct port_thread *me)
{
	pthread_mutex_lock(&p->lock);
	assert(me->runs);
	me->runs = 0;
	p->running--;
	port_release(p);
	pthread_mutex_unlock(&p->lock);
	port_call_leader(p);
}

void port_unblock(struct port *p, struct port_thread *me)
{
	pthread_mutex_lock(&p->lock);
	assert(!me->runs);
	me->runs = 1;
	p->running++;
	pthread_mutex_unlock(&p->lock);
}

int port_associate(struct port *p, int fd, uint64_t key)
{
	int error = 0;

	if (fd < 0)
		return -EBADF;
	pthread_mutex_lock(&p->lock);
	if ((uint32_t)fd >= p->key_count) {
		const uint32_t count = ((uint32_t)fd + 1) * 2;
		uint64_t *grown = realloc(p->keys, count * sizeof *grown);

		if (grown) {
			memset(grown + p->key_count, 0, (count - p->key_count) * sizeof *grown);
			p->keys = grown;
			p->key_count = count;
		} else {
			error = -ENOMEM;
		}
	}
	if (!error)
		p->keys[fd] = key;
	pthread_mutex_unlock(&p->lock);
	return error;
}

int port_submit(struct port *p, const uint32_t *slots, uint32_t n)
{
	int accepted;

	pthread_mutex_lock(&p->submitting);
	accepted = engine_submit(&p->ring, slots, n);
	pthread_mutex_unlock(&p->submitting);
	return accepted;
}

uint32_t port_waiting(struct port *p)
{
	uint32_t n;

	pthread_mutex_lock(&p->lock);
	n = p->waiting_count + p->led;
	pthread_mutex_unlock(&p->lock);
	return n;
}

void port_stop(struct port *p)
{
	pthread_mutex_lock(&p->lock);
	p->stopped = 1;
	while (p->waiting)
		port_wake(p, p->waiting);
	pthread_mutex_unlock(&p->lock);
	port_call_leader(p);
}

int port_open(struct port *p, const struct port_config *config, char why[ENGINE_WHY_SIZE])
{
	uint32_t size = 1;
	int error;

	assert(config->concurrency >= 1 && config->posts <= ENGINE_SLOTS_MAX);
	memset(p, 0, sizeof *p);
	while (size < config->engine.slots + config->posts)
		size *= 2;
	p->queue = calloc(size, sizeof *p->queue);
	if (!p->queue)
		return engine_reason(why, -ENOMEM, "port: no memory for %u packets", size);
	p->mask = size - 1;
	p->posts_free = config->posts;
	p->concurrency = config->concurrency;
	error = engine_open(&p->ring, &engine_uring, &config->engine, why);
	if (error) {
		free(p->queue);
		return error;
	}
	pthread_mutex_init(&p->lock, NULL);
	pthread_mutex_init(&p->submitting, NULL);
	return 0;
}

void port_close(struct port *p)
{
	assert(!p->waiting && !p->led);
	/* Completions that nobody took; what was posted holds no descriptor. */
	for (; p->head != p->tail; p->head++) {
		const struct port_packet *packet = &p->queue[p->head & p->mask];
		const struct io_done done = {.slot = packet->slot, .result = packet->result};

		if (done.slot < p->ring.config.slots)
			engine_discard(&p->ring, &done);
	}
	engine_close(&p->ring);
	pthread_mutex_destroy(&p->lock);
	pthread_mutex_destroy(&p->submitting);
	free(p->queue);
	free(p->keys);
	memset(p, 0, sizeof *p);
}
