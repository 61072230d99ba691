/*
 * What the probe costs a program that does nothing but switch: two threads on one CPU hand a
 * byte to and fro. Alternates without and with the BPF probe attached to itself, and prints the
 * medians and the median of the pairs' ratios.
 *
 *     pingpong [PAIRS [ROUNDS]]
 *     pingpong once [ROUNDS]     no probe of ours: the time of a round trip, in ns
 *     pingpong waiting [ROUNDS]  the same, begun by SIGUSR1
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "probes/table.h"

enum { PAIRS = 15, PAIRS_MAX = 1000, ROUNDS = 100000 };

struct court {
	int there[2], back[2];
	long rounds;
};

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *returns(void *argument)
{
	struct court *court = argument;
	char byte;

	for (long i = 0; i < court->rounds; i++)
		if (read(court->there[0], &byte, 1) != 1 || write(court->back[1], &byte, 1) != 1)
			abort();
	return NULL;
}

static double round_trip_ns(long rounds)
{
	struct court court = {.rounds = rounds};
	pthread_t other;
	char byte = 0;
	double started;

	if (pipe(court.there) || pipe(court.back) || pthread_create(&other, NULL, returns, &court))
		abort();
	started = now_ns();
	for (long i = 0; i < rounds; i++)
		if (write(court.there[1], &byte, 1) != 1 || read(court.back[0], &byte, 1) != 1)
			abort();
	started = (now_ns() - started) / (double)rounds;
	pthread_join(other, NULL);
	close(court.there[0]);
	close(court.there[1]);
	close(court.back[0]);
	close(court.back[1]);
	return started;
}

static double with_probe_ns(long rounds)
{
	const struct probe_config config = {.source = SOURCE_NONE};
	char why[PROBE_WHY_SIZE];
	struct probe probe;
	double took;

	if (probe_open(&probe, &probe_bpf, &config, why) || probe_attach(&probe, getpid(), why)) {
		fprintf(stderr, "pingpong: %s\n", why);
		exit(77);
	}
	took = round_trip_ns(rounds);
	probe_close(&probe);
	return took;
}

static int ascending(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, int count)
{
	qsort(values, (size_t)count, sizeof *values, ascending);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

int main(int argc, char **argv)
{
	static double without[PAIRS_MAX], with[PAIRS_MAX], ratios[PAIRS_MAX];
	const bool waiting = argc > 1 && !strcmp(argv[1], "waiting");
	const bool once = waiting || (argc > 1 && !strcmp(argv[1], "once"));
	const int pairs = argc > 1 ? atoi(argv[1]) : PAIRS;
	const long rounds = argc > 2 ? atol(argv[2]) : ROUNDS;
	cpu_set_t cpu;
	sigset_t start;
	int signal;

	sigemptyset(&start);
	sigaddset(&start, SIGUSR1);
	sigprocmask(SIG_BLOCK, &start, NULL);
	CPU_ZERO(&cpu);
	CPU_SET((int)sysconf(_SC_NPROCESSORS_ONLN) - 1, &cpu);
	sched_setaffinity(0, sizeof cpu, &cpu);
	if (waiting)
		sigwait(&start, &signal);
	if (once) {
		printf("%.0f\n", round_trip_ns(rounds));
		return 0;
	}
	if (pairs < 1 || pairs > PAIRS_MAX || rounds < 1)
		return 2;
	round_trip_ns(rounds); /* warm */
	for (int i = 0; i < pairs; i++) {
		/* which comes first changes, so that a drift cancels out */
		if (i % 2)
			with[i] = with_probe_ns(rounds);
		without[i] = round_trip_ns(rounds);
		if (i % 2 == 0)
			with[i] = with_probe_ns(rounds);
		ratios[i] = with[i] / without[i];
	}
	const double ratio = median(ratios, pairs);
	printf("without %.0f ns, with %.0f ns a round trip; ratio %.3f (%.3f to %.3f, %d pairs)\n",
	       median(without, pairs), median(with, pairs), ratio, ratios[pairs / 10],
	       ratios[pairs - 1 - pairs / 10], pairs);
	return 0;
}
