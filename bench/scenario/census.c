/* Looks at the measured process from outside: see census.h. */
#include "bench/scenario/census.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench/witness.h"

void census_begin(struct census *c, pid_t pid)
{
	*c = (struct census){.pid = pid, .stride = 1};
}

static bool read_status(pid_t pid, uint32_t *threads, uint64_t *memory_bytes)
{
	unsigned long long kib = 0;
	char path[64], line[128];
	FILE *file;

	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	file = fopen(path, "re");
	*threads = 0;
	if (!file)
		return false;
	while (fgets(line, sizeof line, file)) {
		if (sscanf(line, "VmRSS: %llu kB", &kib) == 1)
			continue;
		if (sscanf(line, "Threads: %u", threads) == 1)
			break;
	}
	fclose(file);
	*memory_bytes = kib << 10;
	return *threads > 0;
}

static void count_name(struct census *c, char *name)
{
	size_t length = strcspn(name, "\n");
	uint32_t i = 0;

	while (length && isdigit((unsigned char)name[length - 1]))
		length--;
	name[length] = 0;
	while (i < c->name_count && strcmp(c->names[i].name, name) != 0)
		i++;
	if (i == CENSUS_NAMES)
		return;
	if (i == c->name_count)
		snprintf(c->names[c->name_count++].name, sizeof c->names->name, "%.15s", name);
	if (++c->names[i].now > c->names[i].most)
		c->names[i].most = c->names[i].now;
}

static void count_names(struct census *c)
{
	char path[300], name[32];
	struct dirent *entry;
	DIR *tasks;

	for (uint32_t i = 0; i < c->name_count; i++)
		c->names[i].now = 0;
	snprintf(path, sizeof path, "/proc/%d/task", (int)c->pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks))) {
		ssize_t n;
		int fd;

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(path, sizeof path, "%s/comm", entry->d_name);
		fd = openat(dirfd(tasks), path, O_RDONLY | O_CLOEXEC);
		n = fd < 0 ? -1 : read(fd, name, sizeof name - 1);
		if (fd >= 0)
			close(fd);
		if (n <= 0)
			continue;
		name[n] = 0;
		count_name(c, name);
	}
	if (tasks)
		closedir(tasks);
}

/* The series keeps its length: when it is full, every other moment goes. */
static void keep_moment(struct census *c, uint32_t threads, uint64_t memory_bytes)
{
	if (c->skipped++ % c->stride)
		return;
	if (c->moment_count == CENSUS_MOMENTS) {
		for (uint32_t i = 0; i < CENSUS_MOMENTS / 2; i++)
			c->moments[i] = c->moments[2 * i];
		c->moment_count = CENSUS_MOMENTS / 2;
		c->stride *= 2;
	}
	c->moments[c->moment_count++] = (struct census_moment){
	    .time_ns = witness_now_ns(), .threads = threads, .memory_bytes = memory_bytes};
}

bool census_look(struct census *c)
{
	uint64_t memory_bytes;
	uint32_t threads;

	if (!read_status(c->pid, &threads, &memory_bytes))
		return false;
	if (!c->moment_count)
		c->memory_begin_bytes = memory_bytes;
	if (threads > c->threads_most)
		c->threads_most = threads;
	if (memory_bytes > c->memory_most_bytes)
		c->memory_most_bytes = memory_bytes;
	keep_moment(c, threads, memory_bytes);
	if (threads <= CENSUS_THREADS)
		count_names(c);
	return true;
}
