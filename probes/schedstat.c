/*
 * The schedstat probe: at the window's edges, each thread's time on a CPU and its time of waiting
 * for one, as the scheduler keeps them in /proc/PID/task/TID/schedstat. The rest of its life it
 * slept; its mark tells in what. Needs no privileges, and no event of the subject pays for it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "probes/roster.h"
#include "probes/table.h"

struct schedstat {
	pid_t pid;
	uint32_t listed[THREADS_MAX];
	struct roster roster;
};

static int read_thread(struct probe *p, uint32_t tid)
{
	struct schedstat *s = p->state;
	const int place = task_place(s->roster.tids, tid);
	struct roster_times times = {0};

	if (place < 0)
		return place;
	if (task_stat_read(s->pid, tid, &times.stat) ||
	    task_schedstat_read(s->pid, tid, &times.running_ns, &times.waiting_ns))
		return -ESRCH; /* it has just ended */
	times.time_ns = task_clock_ns();
	times.born_ns = times.stat.born_ns;
	if (times.running_ns < s->roster.threads[place].running_ns)
		roster_forget(&s->roster, (uint32_t)place); /* another thread of the same tid */
	roster_add(p, &s->roster, (uint32_t)place, &times);
	return 0;
}

static int read_all(struct probe *p)
{
	struct schedstat *s = p->state;
	const int count = task_list(s->pid, s->listed, THREADS_MAX);

	if (count < 0)
		return count;
	roster_begin(&s->roster);
	for (int i = 0; i < count; i++)
		if (read_thread(p, s->listed[i]) == -ENOSPC)
			s->roster.sum.lost++;
	roster_end(&s->roster);
	return 0;
}

static int schedstat_open(struct probe *p, char why[PROBE_WHY_SIZE])
{
	(void)p;
	if (access("/proc/self/schedstat", R_OK) == 0)
		return 0;
	snprintf(why, PROBE_WHY_SIZE,
	         "/proc/self/schedstat cannot be read: %s; the kernel needs CONFIG_SCHED_INFO, and "
	         "/proc must be mounted",
	         strerror(errno));
	return -EOPNOTSUPP;
}

static int schedstat_attach(struct probe *p, pid_t pid, char why[PROBE_WHY_SIZE])
{
	struct schedstat *s = p->state;
	int error;

	s->pid = pid;
	error = read_all(p);
	if (error)
		snprintf(why, PROBE_WHY_SIZE, "cannot read /proc/%d/task: %s", (int)pid,
		         strerror(-error));
	return error;
}

static int schedstat_read(struct probe *p, struct probe_reading *reading)
{
	struct schedstat *s = p->state;
	const uint64_t time_ns = task_clock_ns();
	const int error = read_all(p);

	memcpy(reading, &s->roster.sum, sizeof *reading);
	reading->time_ns = time_ns;
	reading->measures = PROBE_EDGE;
	if (p->config.marked && !p->config.hidden_threads)
		reading->measures |= PROBE_IN_CALL;
	return error;
}

static void schedstat_close(struct probe *p)
{
	(void)p;
}

const struct probe_ops probe_schedstat = {
    .name = "schedstat",
    .summary = "totals of each thread from /proc at the window's edges; needs no privileges",
    .size = sizeof(struct schedstat),
    .open = schedstat_open,
    .attach = schedstat_attach,
    .read = schedstat_read,
    .close = schedstat_close,
};
