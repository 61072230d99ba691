/*
 * Watches a process of its own with a probe, as whatever user it is run by, and says what the
 * probe saw and what was true.
 *
 *     observer PROBE doze N     N threads at rest, that sleep some 30 ms again and again for a
 *                               while, and are at rest again: the switches in between
 *     observer PROBE release N  N threads read from a pipe each, until they are given something,
 * one after the other over a second, and compute then: how long they were parked is known by the
 * clock, whatever else the CPUs do
 *
 * It prints one line of "name=value", or "cannot: why".
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/limits.h"
#include "probes/probe.h"
#include "probes/task.h"

enum { SMALL_STACK = 64 << 10, WINDOW_US = 1000000, THREADS_LIMIT = 4096 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t change = PTHREAD_COND_INITIALIZER;
static int phase; /* 0: at rest, 1: works, 2: at rest for ever */

static void set_phase(int next)
{
	pthread_mutex_lock(&lock);
	phase = next;
	pthread_cond_broadcast(&change);
	pthread_mutex_unlock(&lock);
}

static void rest(int while_phase)
{
	pthread_mutex_lock(&lock);
	while (phase == while_phase)
		pthread_cond_wait(&change, &lock);
	pthread_mutex_unlock(&lock);
}

static int phase_now(void)
{
	pthread_mutex_lock(&lock);
	const int now = phase;
	pthread_mutex_unlock(&lock);
	return now;
}

static void *dozes(void *number)
{
	unsigned seed = (unsigned)(uintptr_t)number;

	rest(0);
	while (phase_now() == 1)
		usleep(20000 + (unsigned)rand_r(&seed) % 20000);
	rest(2);
	return NULL;
}

/* Parked until there is something to read; from then on it never sleeps. */
static void *computes_then(void *pipe)
{
	char byte;

	if (read(((int *)pipe)[0], &byte, 1) != 1)
		return NULL;
	for (;;)
		continue;
}

static void start(void *(*body)(void *), void *argument)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, SMALL_STACK);
	if (pthread_create(&thread, &attributes, body, argument))
		_exit(1);
	pthread_attr_destroy(&attributes);
}

static void say(int answers, uint64_t number)
{
	if (write(answers, &number, sizeof number) != sizeof number)
		_exit(1);
}

static char hear(int commands)
{
	char byte;

	if (read(commands, &byte, 1) != 1)
		_exit(0);
	return byte;
}

/* The watched processes. Each says something when its threads exist, and whenever it is told to. */
static void be_dozing(int count, int commands, int answers)
{
	for (intptr_t i = 0; i < count; i++)
		start(dozes, (void *)(i + 1));
	for (;;) {
		say(answers, 0);
		set_phase(hear(commands));
	}
}

/* Says in the end the sum of the moments at which it released its threads. */
static void be_released(int count, int commands, int answers)
{
	static int pipes[THREADS_LIMIT][2];
	uint64_t moments_ns = 0;

	for (int i = 0; i < count; i++) {
		if (pipe(pipes[i]))
			_exit(1);
		start(computes_then, pipes[i]);
	}
	say(answers, 0);
	hear(commands);
	for (int i = 0; i < count; i++) {
		usleep((unsigned)(WINDOW_US / count));
		moments_ns += task_clock_ns();
		if (write(pipes[i][1], "", 1) != 1)
			_exit(1);
	}
	usleep((unsigned)(WINDOW_US / count));
	say(answers, moments_ns);
	for (;;)
		pause();
}

struct scene {
	struct probe probe;
	bool doze;
	int count, commands, answers;
	pid_t pid;
};

struct books {
	uint64_t voluntary, involuntary;
};

/* What the kernel counted of all threads, once that does not change any more. */
static struct books read_books(pid_t pid)
{
	static uint32_t tids[THREADS_LIMIT];
	struct books sum, before = {1, 1};

	for (int tries = 0; tries < 100; tries++) {
		const int count = task_list(pid, tids, THREADS_LIMIT);

		sum = (struct books){0};
		for (int i = 0; i < count; i++) {
			uint64_t voluntary = 0, involuntary = 0;

			task_switches_read(pid, tids[i], &voluntary, &involuntary);
			sum.voluntary += voluntary;
			sum.involuntary += involuntary;
		}
		if (sum.voluntary == before.voluntary && sum.involuntary == before.involuntary)
			break;
		before = sum;
		usleep(100000);
	}
	return sum;
}

static uint64_t command(const struct scene *s, char byte)
{
	uint64_t answer;

	if (byte && write(s->commands, &byte, 1) != 1)
		exit(1);
	if (read(s->answers, &answer, sizeof answer) != sizeof answer)
		exit(1);
	return answer;
}

static uint64_t parked_ns(const struct probe_reading *r, enum thread_kind kind)
{
	return r->kinds[kind].state_ns[STATE_PARKED_DIRECT] +
	       r->kinds[kind].state_ns[STATE_PARKED_WAITER] +
	       r->kinds[kind].state_ns[STATE_PARKED_ON_RESULT];
}

static void watch(struct scene *s)
{
	static struct probe_reading from, to, window;
	const struct probe_kind *all = &window.kinds[KIND_APPLICATION];
	struct books first = read_books(s->pid), last = first;
	double truth_ns = 0;

	probe_read(&s->probe, &from);
	if (s->doze) {
		command(s, 1);
		usleep(WINDOW_US);
		command(s, 2);
		last = read_books(s->pid);
	} else {
		truth_ns = (double)command(s, 1) - (double)from.time_ns * s->count;
	}
	probe_read(&s->probe, &to);
	probe_difference(&window, &from, &to);
	printf("uid=%u threads=%u lost=%lu voluntary=%lu involuntary=%lu kernel_voluntary=%lu "
	       "kernel_involuntary=%lu parked=%.4f truth=%.4f error=%.4f samples=%lu\n",
	       (unsigned)getuid(), all->threads_now, window.lost, all->voluntary_switches,
	       all->involuntary_switches, last.voluntary - first.voluntary,
	       last.involuntary - first.involuntary,
	       (double)parked_ns(&window, KIND_APPLICATION) / (double)window.time_ns,
	       truth_ns / (double)window.time_ns,
	       (double)probe_parked_error_ns(&window) / (double)window.time_ns,
	       window.samples.count);
}

int main(int argc, char **argv)
{
	const struct probe_config config = {.source = SOURCE_NONE};
	const struct probe_ops *ops = argc == 4 ? probe_find(argv[1]) : NULL;
	struct scene s = {.doze = argc == 4 && strcmp(argv[2], "doze") == 0};
	int commands[2], answers[2], err;
	char why[PROBE_WHY_SIZE];

	if (!ops || pipe(commands) || pipe(answers)) {
		fprintf(stderr, "usage: observer PROBE doze|release N\n");
		return 2;
	}
	s.count = atoi(argv[3]);
	limits_raise();
	s.pid = fork();
	if (s.pid == 0) {
		close(commands[1]);
		(s.doze ? be_dozing : be_released)(s.count, commands[0], answers[1]);
	}
	close(commands[0]);
	close(answers[1]);
	s.commands = commands[1];
	s.answers = answers[0];
	if (s.pid < 0)
		return 1;
	command(&s, 0);
	err = probe_open(&s.probe, ops, &config, why);
	if (!err)
		err = probe_attach(&s.probe, s.pid, why);
	if (err)
		printf("cannot: %s\n", why);
	else
		watch(&s);
	kill(s.pid, SIGKILL);
	waitpid(s.pid, NULL, 0);
	probe_close(&s.probe);
	return 0;
}
