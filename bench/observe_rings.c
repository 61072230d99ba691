/*
 * How many requests of io_uring the observed processes have in flight: counted from the attach on,
 * and those that were in flight already as the kernel tells them in /proc.
 */
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench/json_text.h"
#include "bench/observe.h"

enum { PROCESSES = 64, PATH_SIZE = 64, RINGS = 64, IN_FLIGHT_MAX = 1 << 16, TRIES = 100 };

/* Taken from the submission queue and not ended; 0 where the kernel does not say. */
static uint32_t ring_in_flight(const char *path)
{
	unsigned taken = 0, ended = 0, found = 0;
	FILE *file = fopen(path, "re");
	char line[128];

	while (file && fgets(line, sizeof line, file)) {
		found += sscanf(line, "CachedSqHead: %u", &taken) == 1;
		found += sscanf(line, "CachedCqTail: %u", &ended) == 1;
	}
	if (file)
		fclose(file);
	return found == 2 && taken - ended < IN_FLIGHT_MAX ? taken - ended : 0;
}

/* Where the kernel tells of the rings of a process. */
static size_t rings_find(pid_t pid, char (*paths)[PATH_SIZE], size_t count)
{
	char path[PATH_SIZE], name[64];
	struct dirent *entry;
	DIR *descriptors;

	snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
	descriptors = opendir(path);
	while (descriptors && count < RINGS && (entry = readdir(descriptors))) {
		ssize_t length;

		snprintf(path, sizeof path, "/proc/%d/fd/%.20s", (int)pid, entry->d_name);
		length = readlink(path, name, sizeof name - 1);
		name[length > 0 ? length : 0] = 0;
		if (strstr(name, "[io_uring]"))
			snprintf(paths[count++], PATH_SIZE, "/proc/%d/fdinfo/%.20s", (int)pid,
			         entry->d_name);
	}
	if (descriptors)
		closedir(descriptors);
	return count;
}

static size_t all_rings(const struct observation *o, char (*paths)[PATH_SIZE])
{
	uint32_t last = 0, processes = 0;
	size_t count = 0;

	for (size_t i = 0; i < o->now.thread_count && processes < PROCESSES; i++) {
		if (o->now.threads[i].pid == last)
			continue;
		last = o->now.threads[i].pid;
		processes++;
		count = rings_find((pid_t)last, paths, count);
	}
	return count;
}

/* Both counts change meanwhile: a pair that nothing came between is right. */
int64_t observe_rings(const struct observation *o)
{
	char paths[RINGS][PATH_SIZE];
	const size_t count = all_rings(o, paths);

	for (int i = 0; i < TRIES; i++) {
		uint64_t mark, again;
		const int64_t open = watch_ring_open(&o->watch, &mark);
		int64_t in_flight = 0;

		for (size_t k = 0; k < count; k++)
			in_flight += ring_in_flight(paths[k]);
		watch_ring_open(&o->watch, &again);
		if (mark == again)
			return in_flight - open;
	}
	return RINGS_UNKNOWN;
}

void observe_rings_json(const struct observation *o, json_t *ring)
{
	const struct watch_census *from = &o->begin, *to = &o->now;
	const int64_t before = o->rings_before;
	const double window = (double)(to->time_ns - from->time_ns);
	/* each one's time up to now: of those that began, less that since those ended */
	const int64_t area = (int64_t)((uint64_t)to->ring_open * to->time_ns - to->ring_begins_ns) -
	                     (int64_t)((uint64_t)from->ring_open * from->time_ns -
	                               from->ring_begins_ns);
	const double mean = window > 0 ? (double)area / window + (double)before : 0;
	/* A kernel may miss an event for a program that was preempted in it: then they differ. */
	const bool right = before >= 0 && to->ring_least + before >= 0 &&
	                   (o->rings_after == RINGS_UNKNOWN || o->rings_after == before);

	json_object_set_new(ring, "mean", right ? json_real(mean > 0 ? mean : 0) : json_null());
	json_object_set_new(ring, "max",
	                    right ? json_integer(to->ring_most + before) : json_null());
}
