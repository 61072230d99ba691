/*
 * A thread for what goes on beside: see ticker.h.
 */
#include "probes/ticker.h"

#include <signal.h>
#include <time.h>

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void *ticks(void *argument)
{
	struct ticker *t = argument;
	uint64_t due_ns = now_ns();

	pthread_mutex_lock(&t->lock);
	while (!t->end) {
		const uint64_t pause_ns = t->tick(t->argument, due_ns);

		due_ns = now_ns() + pause_ns;
		const struct timespec until = {.tv_sec = (time_t)(due_ns / 1000000000),
		                               .tv_nsec = (long)(due_ns % 1000000000)};
		while (!t->end && pthread_cond_timedwait(&t->wake, &t->lock, &until) == 0)
			continue;
	}
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

int ticker_start(struct ticker *t, uint64_t (*tick)(void *argument, uint64_t due_ns),
                 void *argument)
{
	pthread_condattr_t monotonic;
	sigset_t all, before;
	int error;

	*t = (struct ticker){.tick = tick, .argument = argument};
	pthread_mutex_init(&t->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&t->wake, &monotonic);
	pthread_condattr_destroy(&monotonic);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&t->thread, NULL, ticks, t);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	t->running = error == 0;
	return -error;
}

void ticker_end(struct ticker *t)
{
	if (!t->running)
		return;
	pthread_mutex_lock(&t->lock);
	t->end = true;
	pthread_cond_signal(&t->wake);
	pthread_mutex_unlock(&t->lock);
	pthread_join(t->thread, NULL);
	pthread_cond_destroy(&t->wake);
	pthread_mutex_destroy(&t->lock);
	t->running = false;
}

void ticker_lock(struct ticker *t)
{
	pthread_mutex_lock(&t->lock);
}

void ticker_unlock(struct ticker *t)
{
	pthread_mutex_unlock(&t->lock);
}
