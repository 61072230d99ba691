/*
 * Threads in /proc: see task.h.
 */
#include "probes/task.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "probes/threads.h"

enum { PF_IO_WORKER = 0x10 };

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

uint64_t task_clock_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

int task_line(pid_t pid, uint32_t tid, const char *name, char line[TASK_LINE_SIZE])
{
	char path[64];
	ssize_t got;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/task/%u/%s", (int)pid, tid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	got = read(fd, line, TASK_LINE_SIZE - 1);
	const int error = got < 0 ? -errno : got == 0 ? -ESRCH : 0;
	close(fd);
	line[got > 0 ? got : 0] = 0;
	return error;
}

int task_stat_parse(const char *line, struct task_stat *stat)
{
	const uint64_t tick_ns = 1000000000 / (uint64_t)sysconf(_SC_CLK_TCK);
	const char *rest = strrchr(line, ')'); /* a name may hold anything */
	const char *name = strchr(line, '(');
	unsigned long long user = 0, system = 0, start = 0;
	unsigned long flags = 0;

	if (!rest || !name || name >= rest ||
	    sscanf(rest + 1,
	           " %c %d %*d %*d %*d %*d %lu %*u %*u %*u %*u %llu %llu %*d %*d %*d %*d %*d %*d "
	           "%llu",
	           &stat->state, &stat->parent, &flags, &user, &system, &start) != 6)
		return -EPROTO;
	const size_t length = (size_t)(rest - name) - 1;

	memset(stat->name, 0, sizeof stat->name);
	memcpy(stat->name, name + 1, length < sizeof stat->name ? length : sizeof stat->name);
	stat->worker = flags & PF_IO_WORKER;
	stat->sqpoll = stat->worker && strstr(line, "(iou-sqp-");
	/* starting times are of the clock that goes on while the machine sleeps */
	stat->born_ns = start * tick_ns - (clock_ns(CLOCK_BOOTTIME) - clock_ns(CLOCK_MONOTONIC));
	stat->cpu_ns = (user + system) * tick_ns;
	return 0;
}

int task_stat_read(pid_t pid, uint32_t tid, struct task_stat *stat)
{
	char line[TASK_LINE_SIZE];
	const int error = task_line(pid, tid, "stat", line);

	return error ? error : task_stat_parse(line, stat);
}

int task_turns_read(pid_t pid, uint32_t tid, struct task_turns *turns)
{
	char line[TASK_LINE_SIZE];
	const int error = task_line(pid, tid, "schedstat", line);

	if (error)
		return error;
	return sscanf(line, "%" SCNu64 " %" SCNu64 " %" SCNu64, &turns->running_ns,
	              &turns->waiting_ns, &turns->count) == 3
	           ? 0
	           : -EPROTO;
}

int task_schedstat_read(pid_t pid, uint32_t tid, uint64_t *running_ns, uint64_t *waiting_ns)
{
	struct task_turns turns;
	const int error = task_turns_read(pid, tid, &turns);

	if (!error) {
		*running_ns = turns.running_ns;
		*waiting_ns = turns.waiting_ns;
	}
	return error;
}

int task_switches_read(pid_t pid, uint32_t tid, uint64_t *voluntary, uint64_t *involuntary)
{
	char text[TASK_LINE_SIZE];
	const int error = task_line(pid, tid, "status", text);
	const char *at = error ? NULL : strstr(text, "\nvoluntary_ctxt_switches:");

	if (error)
		return error;
	return at && sscanf(at,
	                    " voluntary_ctxt_switches: %" SCNu64
	                    " nonvoluntary_ctxt_switches: %" SCNu64,
	                    voluntary, involuntary) == 2
	           ? 0
	           : -EPROTO;
}

int task_list(pid_t pid, uint32_t *tids, uint32_t max)
{
	const struct dirent *entry;
	uint32_t count = 0;
	char path[64];
	DIR *directory;

	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	directory = opendir(path);
	if (!directory)
		return errno == ENOENT ? -ESRCH : -errno;
	while (count < max && (entry = readdir(directory))) {
		tids[count] = (uint32_t)strtoul(entry->d_name, NULL, 10);
		count += tids[count] != 0;
	}
	closedir(directory);
	return (int)count;
}

int task_place(uint32_t *tids, uint32_t tid)
{
	for (uint32_t i = 0; i < THREADS_MAX; i++) {
		const uint32_t place = (tid + i) & (THREADS_MAX - 1);

		if (!tids[place])
			tids[place] = tid;
		if (tids[place] == tid)
			return (int)place;
	}
	return -ENOSPC;
}
