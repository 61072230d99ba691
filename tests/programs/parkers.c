/*
 * A program whose threads are where it says: the truth that a probe is held against.
 *
 *     parkers hold pipe=3 poll=2 ...   threads that block for ever, each in its call
 *     parkers burst N                  at "g": N threads compute 3 ms, then block for ever
 *     parkers storm N                  N pairs of threads switch as fast as they can; at "f" all
 *                                      block for ever
 *     parkers churn N                  at "g": N short threads and 10 forks, then "done"
 *     parkers exec                     at "g": a thread that is not the first calls exec
 *
 * It says "ready" when all threads exist, and ends when its standard input does.
 */
#include <fcntl.h>
#include <liburing.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LONG_S = 100000, THREADS_LIMIT = 8192, SMALL_STACK = 64 << 10 };

static atomic_uint announced; /* threads at their place */
static atomic_bool frozen;    /* the storm is over */

static void fail(const char *what)
{
	perror(what);
	_exit(1);
}

static void say(const char *text)
{
	if (write(STDOUT_FILENO, text, strlen(text)) < 0)
		_exit(1);
}

/* Waits for a byte on the standard input; ends the program at its end. */
static char command(void)
{
	char byte;

	if (read(STDIN_FILENO, &byte, 1) != 1)
		_exit(0);
	return byte;
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

static void *in_pipe(void *unused)
{
	int ends[2];
	char byte;

	(void)unused;
	if (pipe(ends))
		fail("pipe");
	atomic_fetch_add(&announced, 1);
	(void)!read(ends[0], &byte, 1);
	return NULL;
}

static void *in_eventfd(void *unused)
{
	const int fd = eventfd(0, 0);
	uint64_t value;

	(void)unused;
	atomic_fetch_add(&announced, 1);
	(void)!read(fd, &value, sizeof value);
	return NULL;
}

static void *in_socket(void *unused)
{
	int ends[2];
	char byte;

	(void)unused;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		fail("socketpair");
	atomic_fetch_add(&announced, 1);
	(void)!recv(ends[0], &byte, 1, 0);
	return NULL;
}

static void *in_poll(void *unused)
{
	int ends[2];

	(void)unused;
	if (pipe(ends))
		fail("pipe");
	struct pollfd one = {.fd = ends[0], .events = POLLIN};
	atomic_fetch_add(&announced, 1);
	poll(&one, 1, LONG_S * 1000);
	return NULL;
}

static void *in_epoll(void *unused)
{
	struct epoll_event event;
	const int fd = epoll_create1(0);

	(void)unused;
	atomic_fetch_add(&announced, 1);
	while (epoll_wait(fd, &event, 1, -1) < 0) /* as after a stop */
		continue;
	return NULL;
}

static void *in_futex(void *timed)
{
	const struct timespec limit = {.tv_sec = LONG_S};
	uint32_t word = 0;

	atomic_fetch_add(&announced, 1);
	syscall(SYS_futex, &word, FUTEX_WAIT, 0, timed ? &limit : NULL, NULL, 0);
	return NULL;
}

static void *in_nanosleep(void *unused)
{
	const struct timespec limit = {.tv_sec = LONG_S};

	(void)unused;
	atomic_fetch_add(&announced, 1);
	nanosleep(&limit, NULL);
	return NULL;
}

/* Waits on a ring for a read of a pipe into which nobody writes. */
static void *in_ring(void *unused)
{
	struct io_uring ring;
	int ends[2];
	char byte;

	(void)unused;
	if (pipe(ends) || io_uring_queue_init(4, &ring, 0))
		fail("ring");
	io_uring_prep_read(io_uring_get_sqe(&ring), ends[0], &byte, 1, 0);
	io_uring_submit(&ring);
	atomic_fetch_add(&announced, 1);
	while (io_uring_submit_and_wait(&ring, 1) < 0)
		continue;
	return NULL;
}

/* Opens the FIFO that PARKERS_FIFO names, whose other end nobody opens. */
static void *in_fifo(void *unused)
{
	const char *path = getenv("PARKERS_FIFO");

	(void)unused;
	atomic_fetch_add(&announced, 1);
	(void)!open(path ? path : "fifo", O_RDONLY);
	return NULL;
}

static void *spins(void *unused)
{
	(void)unused;
	atomic_fetch_add(&announced, 1);
	for (;;)
		compute(1000000);
	return NULL;
}

static const struct place {
	const char *name;
	void *(*body)(void *);
	void *argument;
} places[] = {
    {"pipe", in_pipe, NULL},
    {"eventfd", in_eventfd, NULL},
    {"socket", in_socket, NULL},
    {"poll", in_poll, NULL},
    {"epoll", in_epoll, NULL},
    {"futex", in_futex, NULL},
    {"futex-timed", in_futex, "yes"},
    {"nanosleep", in_nanosleep, NULL},
    {"ring", in_ring, NULL},
    {"fifo", in_fifo, NULL},
    {"spin", spins, NULL},
};

enum { PLACES = sizeof places / sizeof places[0], BURST_PLACES = 8 };

static pthread_t start(void *(*body)(void *), void *argument)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, SMALL_STACK);
	if (pthread_create(&thread, &attributes, body, argument))
		fail("pthread_create");
	pthread_attr_destroy(&attributes);
	return thread;
}

static void wait_announced(uint32_t count)
{
	while (atomic_load(&announced) < count)
		usleep(1000);
}

static uint32_t hold(char **specifications)
{
	uint32_t count = 0;

	for (; *specifications; specifications++) {
		const size_t length = strcspn(*specifications, "=");
		const int wanted = atoi(*specifications + length + 1);

		for (size_t p = 0; p < PLACES; p++) {
			if (strlen(places[p].name) != length ||
			    strncmp(places[p].name, *specifications, length) != 0)
				continue;
			for (int i = 0; i < wanted; i++, count++)
				start(places[p].body, places[p].argument);
		}
	}
	return count;
}

static atomic_bool begun;

/* Each blocks in another call than its neighbours; the first eight. */
static void *bursts(void *argument)
{
	const struct place *place = argument;

	while (!atomic_load(&begun))
		sched_yield();
	compute(3000000);
	return place->body(place->argument);
}

static void burst(int count)
{
	for (int i = 0; i < count; i++)
		start(bursts, (void *)&places[i % BURST_PLACES]);
	say("ready\n");
	command();
	atomic_store(&begun, true);
	wait_announced((uint32_t)count);
	say("blocked\n");
}

struct pair {
	int there[2], back[2];
};

static void *serves(void *argument)
{
	struct pair *pair = argument;
	char byte = 0;

	atomic_fetch_add(&announced, 1);
	while (read(pair->there[0], &byte, 1) == 1)
		if (write(pair->back[1], &byte, 1) != 1)
			break;
	return NULL;
}

static void *asks(void *argument)
{
	struct pair *pair = argument;
	char byte = 0;

	atomic_fetch_add(&announced, 1);
	while (!atomic_load(&frozen))
		if (write(pair->there[1], &byte, 1) != 1 || read(pair->back[0], &byte, 1) != 1)
			break;
	(void)!read(pair->back[0], &byte, 1); /* for ever */
	return NULL;
}

static void storm(int pairs)
{
	struct pair *all = calloc((size_t)pairs, sizeof *all);

	for (int i = 0; i < pairs; i++) {
		if (pipe(all[i].there) || pipe(all[i].back))
			fail("pipe");
		start(serves, &all[i]);
		start(asks, &all[i]);
	}
	wait_announced(2 * (uint32_t)pairs);
	say("ready\n");
	command();
	atomic_store(&frozen, true);
	say("frozen\n");
}

static void *is_short(void *argument)
{
	const intptr_t number = (intptr_t)argument;

	if (number % 3 == 0)
		compute(20000);
	else if (number % 3 == 1)
		usleep(50);
	return NULL;
}

static void churn(int count)
{
	enum { AT_ONCE = 50 };
	pthread_t threads[AT_ONCE];

	say("ready\n");
	command();
	for (int done = 0; done < count; done += AT_ONCE) {
		for (int i = 0; i < AT_ONCE; i++)
			threads[i] = start(is_short, (void *)(intptr_t)i);
		for (int i = 0; i < AT_ONCE; i++)
			pthread_join(threads[i], NULL);
		if (done % (count / 10 ? count / 10 : 1) < AT_ONCE) {
			const pid_t child = fork();

			if (child == 0)
				_exit(0);
			waitpid(child, NULL, 0);
		}
	}
	say("done\n");
}

static void *executes(void *unused)
{
	(void)unused;
	execl("/proc/self/exe", "parkers", "hold", "pipe=2", (char *)NULL);
	fail("exec");
	return NULL;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	const int count = argc > 2 ? atoi(argv[2]) : 0;

	if (!strcmp(mode, "hold")) {
		wait_announced(hold(argv + 2));
		say("ready\n");
	} else if (!strcmp(mode, "burst")) {
		burst(count);
	} else if (!strcmp(mode, "storm")) {
		storm(count);
	} else if (!strcmp(mode, "churn")) {
		churn(count);
	} else if (!strcmp(mode, "exec")) {
		start(in_futex, NULL);
		say("ready\n");
		command();
		start(executes, NULL);
	} else {
		fprintf(stderr, "usage: parkers hold|burst|storm|churn|exec ...\n");
		return 2;
	}
	for (;;)
		command();
}
