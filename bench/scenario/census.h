/*
 * Looks at the measured process from outside, again and again: how many threads it has, by name,
 * and how much memory.
 */
#ifndef IOSTUDY_CENSUS_H
#define IOSTUDY_CENSUS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	CENSUS_NAMES = 32,     /* names of threads that are told apart */
	CENSUS_MOMENTS = 400,  /* of the series; then every other one is forgotten */
	CENSUS_THREADS = 4096, /* a process with more is not looked at thread by thread */
};

struct census_name {
	char name[16]; /* with its digits at the end taken away */
	uint32_t now, most;
};

struct census_moment {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint32_t threads;
	uint64_t memory_bytes;
};

struct census {
	pid_t pid;
	uint32_t threads_most;
	uint64_t memory_begin_bytes, memory_most_bytes; /* resident */
	struct census_name names[CENSUS_NAMES];
	uint32_t name_count;
	struct census_moment moments[CENSUS_MOMENTS];
	uint32_t moment_count, stride, skipped;
};

void census_begin(struct census *census, pid_t pid);

/* Looks once. False: the process is gone. */
bool census_look(struct census *census);

#endif
