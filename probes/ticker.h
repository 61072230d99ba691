/*
 * A thread that does something again and again beside the program: what a probe must do while
 * nobody reads it.
 */
#ifndef IOSTUDY_TICKER_H
#define IOSTUDY_TICKER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct ticker {
	pthread_mutex_t lock; /* held during each tick; whoever shares its data takes it too */
	pthread_cond_t wake;
	pthread_t thread;
	bool running, end;
	uint64_t (*tick)(void *argument, uint64_t due_ns);
	void *argument;
};

/* tick is told when it should have begun, and tells in how many ns the next one shall; the first is
 * due at once. The thread takes no signal. 0 or -errno. */
int ticker_start(struct ticker *t, uint64_t (*tick)(void *argument, uint64_t due_ns),
                 void *argument);

/* Ends the thread, if it was started, and waits for it. */
void ticker_end(struct ticker *t);

/* Nothing ticks meanwhile. Only after ticker_start. */
void ticker_lock(struct ticker *t);
void ticker_unlock(struct ticker *t);

#endif
