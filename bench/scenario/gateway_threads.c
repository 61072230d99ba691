/* The gateway's threads, and crews of them: see gateway_parts.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "bench/scenario/gateway_parts.h"
#include "bench/witness.h"

enum { STACK_BYTES = 128 << 10 };

void gateway_doing(struct gateway_thread *t, enum thread_doing doing)
{
	__atomic_store_n(&t->doing, doing, __ATOMIC_RELAXED);
	if (t->mark)
		thread_mark_set(t->mark, doing, witness_now_ns());
}

void gateway_thread_begin(struct gateway_thread *t, const char *name)
{
	struct thread_mark *marks = t->gateway->config.marks;

	prctl(PR_SET_NAME, name);
	t->mark = marks ? thread_mark_claim(marks, t->kind) : NULL;
	gateway_add(&t->gateway->counts->threads, 1);
}

void gateway_thread_end(struct gateway_thread *t)
{
	gateway_add(&t->gateway->counts->threads, -1);
	if (t->mark)
		thread_mark_end(t->mark, witness_now_ns());
}

void gateway_queue_add(struct gateway_queue *q, struct gateway_work *work)
{
	work->next = NULL;
	if (!q->first)
		q->last = &q->first;
	*q->last = work;
	q->last = &work->next;
}

struct gateway_work *gateway_queue_take(struct gateway_queue *q)
{
	struct gateway_work *work = q->first;

	if (work)
		q->first = work->next;
	return work;
}

/* The next work, for which it waits; NULL: it ends. */
static struct gateway_work *take(struct gateway_crew *crew, struct gateway_thread *t)
{
	struct gateway_work *work;

	pthread_mutex_lock(&crew->lock);
	crew->free++;
	gateway_doing(t, DOING_IDLE);
	while (!(work = gateway_queue_take(&crew->queue)) && !crew->ending)
		pthread_cond_wait(&crew->came, &crew->lock);
	gateway_doing(t, DOING_NOTHING);
	crew->free--;
	crew->waiting -= work != NULL;
	pthread_mutex_unlock(&crew->lock);
	return work;
}

static void *serve(void *argument)
{
	struct gateway_thread *t = argument;
	struct gateway *g = t->gateway;
	struct gateway_crew *crew = t->kind == KIND_POOL ? &g->pool : &g->helpers;
	struct gateway_work *work;

	gateway_thread_begin(t, crew->name);
	while ((work = take(crew, t)))
		work->run(work, t);
	gateway_call_finish(t);
	gateway_thread_end(t);
	witness_count(&crew->ended);
	return NULL;
}

/* With the lock, but for the first ones. */
static int start(struct gateway_crew *crew)
{
	struct gateway_thread *t = &crew->threads[crew->count];
	pthread_attr_t attributes;
	int error;

	*t = (struct gateway_thread){.gateway = crew->gateway, .kind = crew->kind, .fd = -1};
	pthread_mutex_init(&t->lock, NULL);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	error = pthread_create(&t->id, &attributes, serve, t);
	pthread_attr_destroy(&attributes);
	if (!error) /* the page reads it at any time */
		__atomic_store_n(&crew->count, crew->count + 1, __ATOMIC_RELEASE);
	return -error;
}

int gateway_crew_begin(struct gateway_crew *crew, uint32_t least)
{
	int error = 0;

	pthread_mutex_init(&crew->lock, NULL);
	pthread_cond_init(&crew->came, NULL);
	crew->threads = calloc(crew->most + 1, sizeof *crew->threads);
	if (!crew->threads)
		return -ENOMEM;
	pthread_mutex_lock(&crew->lock);
	while (crew->count < least && !error)
		error = start(crew);
	pthread_mutex_unlock(&crew->lock);
	return error;
}

/* A thread more that cannot be had leaves the work to those that there are. */
void gateway_crew_give(struct gateway_crew *crew, struct gateway_work *work)
{
	pthread_mutex_lock(&crew->lock);
	gateway_queue_add(&crew->queue, work);
	crew->waiting++;
	if (crew->waiting > crew->free && crew->count < crew->most)
		start(crew);
	pthread_cond_signal(&crew->came);
	pthread_mutex_unlock(&crew->lock);
}

void gateway_crew_end(struct gateway_crew *crew)
{
	const int64_t pause_ns = 10000000;
	uint32_t ended;

	if (!crew->threads)
		return;
	pthread_mutex_lock(&crew->lock);
	crew->ending = true;
	pthread_cond_broadcast(&crew->came);
	pthread_mutex_unlock(&crew->lock);
	while ((ended = __atomic_load_n(&crew->ended, __ATOMIC_ACQUIRE)) < crew->count) {
		for (uint32_t i = 0; i < crew->count; i++)
			gateway_call_interrupt(&crew->threads[i]);
		witness_wait(&crew->ended, ended, pause_ns);
	}
	for (uint32_t i = 0; i < crew->count; i++) {
		pthread_join(crew->threads[i].id, NULL);
		pthread_mutex_destroy(&crew->threads[i].lock);
	}
	pthread_cond_destroy(&crew->came);
	pthread_mutex_destroy(&crew->lock);
	free(crew->threads);
}
