/*
 * A program that switches as fast as it can, a known number of times at least.
 *
 *     volley PAIRS ROUNDS   at a byte of input: each pair hands a byte to and fro so often; "done"
 *
 * It says "ready" when all threads exist, and ends when its standard input does.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct pair {
	int there[2], back[2];
	long rounds;
};

static atomic_uint announced, played;

static void *serves(void *argument)
{
	struct pair *pair = argument;
	char byte;

	atomic_fetch_add(&announced, 1);
	while (read(pair->there[0], &byte, 1) == 1)
		if (write(pair->back[1], &byte, 1) != 1)
			abort();
	return NULL;
}

static void *plays(void *argument)
{
	struct pair *pair = argument;
	char byte = 0;

	atomic_fetch_add(&announced, 1);
	(void)!read(pair->back[0], &byte, 1); /* until it begins */
	for (long i = 0; i < pair->rounds; i++)
		if (write(pair->there[1], &byte, 1) != 1 || read(pair->back[0], &byte, 1) != 1)
			abort();
	atomic_fetch_add(&played, 1);
	(void)!read(pair->back[0], &byte, 1); /* for ever */
	return NULL;
}

static void say(const char *text)
{
	puts(text);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	const unsigned count = argc > 2 ? (unsigned)atoi(argv[1]) : 0;
	struct pair *pairs = calloc(count + 1, sizeof *pairs);
	pthread_t thread;

	if (!count || !pairs) {
		fprintf(stderr, "usage: volley PAIRS ROUNDS\n");
		return 2;
	}
	for (unsigned i = 0; i < count; i++) {
		pairs[i].rounds = atol(argv[2]);
		if (pipe(pairs[i].there) || pipe(pairs[i].back) ||
		    pthread_create(&thread, NULL, serves, &pairs[i]) ||
		    pthread_create(&thread, NULL, plays, &pairs[i]))
			abort();
	}
	while (atomic_load(&announced) < 2 * count)
		usleep(1000);
	say("ready");
	if (getchar() == EOF)
		return 0;
	for (unsigned i = 0; i < count; i++)
		if (write(pairs[i].back[1], "", 1) != 1)
			abort();
	while (atomic_load(&played) < count)
		usleep(1000);
	say("done");
	while (getchar() != EOF)
		continue;
	return 0;
}
