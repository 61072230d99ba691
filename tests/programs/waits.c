/*
 * A program whose threads wait for each other in ways that are known: the truth for what `iostudy
 * watch` makes of waits on futexes.
 *
 *     waits pool N             N threads wait at one place for work, which the first thread gives
 *     waits private N          the same as pool, each at a place of its own
 *     waits convoy N           N threads take one lock in turn
 *     waits result FILE        the first thread has another read FILE, directly, and waits for it
 *     waits computation FILE   the same, though the other computes
 *     waits stage FILE         the first thread reads FILE and gives a pool of two each block
 *
 * It says "ready" when its threads are at work, and ends when its standard input does.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK = 4096, BLOCKS = 4096, GIVEN_EVERY_US = 500, WORK_NS = 20000, THREADS_LIMIT = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work_there = PTHREAD_COND_INITIALIZER;
static pthread_cond_t result_there = PTHREAD_COND_INITIALIZER;
static int work; /* items in the queue */
static bool result;
static sem_t own[THREADS_LIMIT];
static int file = -1;

static void fail(const char *what)
{
	perror(what);
	_exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void compute(uint64_t ns)
{
	const uint64_t until = now_ns() + ns;

	while (now_ns() < until)
		continue;
}

static void take(void)
{
	pthread_mutex_lock(&lock);
	while (!work)
		pthread_cond_wait(&work_there, &lock);
	work--;
	pthread_mutex_unlock(&lock);
}

static void give(void)
{
	pthread_mutex_lock(&lock);
	work++;
	pthread_cond_signal(&work_there);
	pthread_mutex_unlock(&lock);
}

/* Past the page cache, so that the reader is parked until the disk has answered. */
static void read_block(void)
{
	static _Thread_local unsigned seed = 1;
	void *data;

	if (posix_memalign(&data, BLOCK, BLOCK))
		fail("memory");
	seed = seed * 1103515245 + 12345;
	if (pread(file, data, BLOCK, (off_t)(seed / 65536 % BLOCKS) * BLOCK) != BLOCK)
		fail("read");
	free(data);
}

static void *serves(void *unused)
{
	for (;;) {
		take();
		compute(WORK_NS);
	}
	return unused;
}

static void *serves_own(void *number)
{
	for (;;) {
		while (sem_wait(&own[(intptr_t)number]))
			continue;
		compute(WORK_NS);
	}
	return NULL;
}

static void *takes_turns(void *unused)
{
	for (;;) {
		pthread_mutex_lock(&lock);
		compute(WORK_NS);
		pthread_mutex_unlock(&lock);
	}
	return unused;
}

static void *answers(void *reads)
{
	for (;;) {
		take();
		if (reads)
			read_block();
		else
			compute(10 * WORK_NS);
		pthread_mutex_lock(&lock);
		result = true;
		pthread_cond_signal(&result_there);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static void *asks(void *unused)
{
	for (;;) {
		give();
		pthread_mutex_lock(&lock);
		while (!result)
			pthread_cond_wait(&result_there, &lock);
		result = false;
		pthread_mutex_unlock(&lock);
	}
	return unused;
}

static void *gives(void *count)
{
	for (unsigned i = 0;; i++) {
		usleep(GIVEN_EVERY_US);
		if (count)
			sem_post(&own[i % (intptr_t)count]);
		else
			give();
	}
	return NULL;
}

static void *reads_and_gives(void *unused)
{
	for (;;) {
		read_block();
		give();
	}
	return unused;
}

static void start(void *(*body)(void *), void *argument)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, body, argument))
		fail("pthread_create");
}

static void start_many(int count, void *(*body)(void *), bool numbered)
{
	for (int i = 0; i < count && i < THREADS_LIMIT; i++) {
		sem_init(&own[i], 0, 0);
		start(body, numbered ? (void *)(intptr_t)i : NULL);
	}
}

/* Written whole: a block that never was is read without the disk. */
static void make_file(const char *name)
{
	enum { PIECE = 1 << 20 };
	void *data;

	file = open(name, O_RDWR | O_CREAT | O_DIRECT, 0600);
	if (file < 0 && errno == EINVAL)
		file = open(name, O_RDWR | O_CREAT, 0600);
	if (file < 0)
		fail(name);
	if (posix_memalign(&data, BLOCK, PIECE))
		fail("memory");
	memset(data, 1, PIECE);
	for (off_t at = 0; at < (off_t)BLOCKS * BLOCK; at += PIECE)
		if (pwrite(file, data, PIECE, at) != PIECE)
			fail("write");
	free(data);
}

static bool run(const char *mode, const char *argument)
{
	const int count = atoi(argument);

	if (!strcmp(mode, "pool")) {
		start_many(count, serves, false);
		start(gives, NULL);
	} else if (!strcmp(mode, "private")) {
		start_many(count, serves_own, true);
		start(gives, (void *)(intptr_t)count);
	} else if (!strcmp(mode, "convoy")) {
		start_many(count, takes_turns, false);
	} else if (!strcmp(mode, "result") || !strcmp(mode, "computation")) {
		make_file(argument);
		start(answers, !strcmp(mode, "result") ? (void *)"reads" : NULL);
		start(asks, NULL);
	} else if (!strcmp(mode, "stage")) {
		make_file(argument);
		start_many(2, serves, false);
		start(reads_and_gives, NULL);
	} else {
		return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	char byte;

	if (argc != 3 || !run(argv[1], argv[2])) {
		fprintf(stderr,
		        "usage: waits pool|private|convoy N, result|computation|stage FILE\n");
		return 2;
	}
	if (write(STDOUT_FILENO, "ready\n", 6) != 6)
		return 1;
	while (read(STDIN_FILENO, &byte, 1) > 0)
		continue;
	return 0;
}
