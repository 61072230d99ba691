/*
 * How many requests of io_uring the observed processes have in flight: counted from the attach on,
 * and those that were in flight already as the kernel tells them in /proc.
 */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench/json_text.h"
#include "bench/observe.h"

enum { PROCESSES = 64, PATH_SIZE = 300, IN_FLIGHT_MAX = 1 << 16, TRIES = 20 };

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

static uint64_t process_in_flight(pid_t pid)
{
	char path[PATH_SIZE], name[64];
	struct dirent *entry;
	uint64_t sum = 0;
	DIR *descriptors;

	snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
	descriptors = opendir(path);
	while (descriptors && (entry = readdir(descriptors))) {
		ssize_t length;

		snprintf(path, sizeof path, "/proc/%d/fd/%.20s", (int)pid, entry->d_name);
		length = readlink(path, name, sizeof name - 1);
		name[length > 0 ? length : 0] = 0;
		if (!strstr(name, "[io_uring]"))
			continue;
		snprintf(path, sizeof path, "/proc/%d/fdinfo/%.20s", (int)pid, entry->d_name);
		sum += ring_in_flight(path);
	}
	if (descriptors)
		closedir(descriptors);
	return sum;
}

static int64_t all_in_flight(const struct observation *o)
{
	uint32_t last = 0, processes = 0;
	uint64_t sum = 0;

	for (size_t i = 0; i < o->now.thread_count && processes < PROCESSES; i++) {
		if (o->now.threads[i].pid == last)
			continue;
		last = o->now.threads[i].pid;
		processes++;
		sum += process_in_flight((pid_t)last);
	}
	return (int64_t)sum;
}

/* Of those in flight some have begun since the attach. Both counts change meanwhile: a pair that
 * nothing came between is right. */
void observe_rings(struct observation *o)
{
	int64_t before = 0;

	for (int i = 0; i < TRIES; i++) {
		const int64_t open = watch_ring_open(&o->watch);

		before = all_in_flight(o) - open;
		if (watch_ring_open(&o->watch) == open)
			break;
	}
	o->rings_before = before > 0 ? (uint64_t)before : 0;
}

void observe_rings_json(const struct observation *o, json_t *ring)
{
	const struct watch_census *from = &o->begin, *to = &o->now;
	const uint64_t least = (uint64_t)-to->ring_least;
	const uint64_t before = o->rings_before > least ? o->rings_before : least;
	const int64_t most = to->ring_most + (int64_t)before;
	const double window = (double)(to->time_ns - from->time_ns);
	/* each one's time up to now: of those that began, less that since those ended */
	const int64_t area = (int64_t)((uint64_t)to->ring_open * to->time_ns - to->ring_begins_ns) -
	                     (int64_t)((uint64_t)from->ring_open * from->time_ns -
	                               from->ring_begins_ns);
	const double mean = window > 0 ? (double)area / window + (double)before : 0;

	json_object_set_new(ring, "mean", json_real(mean > 0 ? mean : 0));
	json_object_set_new(ring, "max", json_integer(most));
}
