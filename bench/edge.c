/* Reads the edges of the window: see edge.h. */
#include "bench/edge.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench/environment.h"
#include "bench/workload.h"
#include "engines/engine.h"

/* User and system time of a process in clock ticks, from /proc/PID/stat. */
static bool read_ticks(pid_t pid, uint64_t *user, uint64_t *system)
{
	char path[64], text[1024], *at;
	unsigned long long u, s;
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof text - 1);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = 0;
	at = strrchr(text, ')'); /* a name may hold anything, parentheses too */
	if (!at ||
	    sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &u, &s) != 2)
		return false;
	*user = u;
	*system = s;
	return true;
}

/* The total is exact to the scheduler's clock; only its division is in ticks. */
static bool read_cpu(struct edge *edge, pid_t pid)
{
	struct timespec used;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0)
		return false;
	edge->cpu_ns = (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
	return read_ticks(pid, &edge->user_ticks, &edge->system_ticks);
}

int edge_read(struct edge *edge, pid_t subject, const struct witness *witness,
              struct run_probes *probes)
{
	const struct thread_mark *marks = probes->tables.marks;
	int err;

	memset(edge, 0, sizeof *edge);
	err = witness_read(witness, &edge->sums);
	if (err)
		return err;
	for (uint32_t i = 0; i < THREADS_MAX; i++) {
		if (!__atomic_load_n(&marks[i].tid, __ATOMIC_RELAXED))
			continue;
		const struct thread_mark mark = thread_mark_read(&marks[i], witness_now_ns());

		edge->marked_ns += mark.served_ns;
		edge->has_pool |= mark.kind == KIND_POOL;
	}
	edge->cpu_known = read_cpu(edge, subject);
	edge->steal_ns = environment_steal_ns();
	edge->busy_ns = environment_busy_ns();
	edge->iowait_ns = environment_iowait_ns();
	for (uint32_t i = 0; i < probes->count && !err; i++)
		err = probe_read(&probes->probes[i], &edge->readings[i]);
	return err;
}

static void subtract_sums(struct witness_sums *window, const struct witness_sums *from,
                          const struct witness_sums *to)
{
	*window = *to;
	window->in_flight_ns -= from->in_flight_ns;
	window->operations -= from->operations;
	window->bytes -= from->bytes;
	window->shorts -= from->shorts;
	window->wrong -= from->wrong;
	window->failed -= from->failed;
	window->compute_units -= from->compute_units;
	for (uint32_t i = 0; i < WITNESS_ERRNO_MAX; i++)
		window->errors[i] -= from->errors[i];
	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++)
		window->latency.counts[i] -= from->latency.counts[i];
	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++)
		window->latency_scheduled.counts[i] -= from->latency_scheduled.counts[i];
}

/* A blocking engine and a pool tell when they serve; a ring or an armed socket is served from
 * submission to completion; of a library's hidden threads only the probe knows. */
static void find_served(struct run_result *result, const struct edge *from, const struct edge *to)
{
	const uint32_t caps = engine_find(result->plan.engine)->caps;
	const bool shares = workload_find(result->plan.workload)->shares;

	if (!shares && (caps & ENGINE_SYNCHRONOUS || to->has_pool))
		result->served_ns = to->marked_ns - from->marked_ns;
	else
		result->served_ns = result->measured.in_flight_ns;
	result->served_known = shares || !(caps & ENGINE_HIDDEN_THREADS);
}

static void find_readings(struct run_result *result, const struct edge *from, const struct edge *to)
{
	for (uint32_t i = 0; i < result->probe_count; i++) {
		struct probe_reading *window = malloc(sizeof *window);

		if (window)
			probe_difference(window, &from->readings[i], &to->readings[i]);
		else
			run_warn(result, "no memory for what probe %s counted",
			         result->probes[i].name);
		result->probes[i].reading = window;
	}
}

void edge_difference(struct run_result *result, const struct edge *from, const struct edge *to)
{
	const uint64_t user = to->user_ticks - from->user_ticks;
	const uint64_t system = to->system_ticks - from->system_ticks;
	uint64_t cpu_ns = to->cpu_ns - from->cpu_ns;

	result->window_ns = to->sums.time_ns - from->sums.time_ns;
	result->reading_ns = from->sums.took_ns + to->sums.took_ns;
	subtract_sums(&result->measured, &from->sums, &to->sums);
	find_served(result, from, to);
	result->cpu_known = from->cpu_known && to->cpu_known;
	if (!result->cpu_known)
		cpu_ns = 0;
	result->cpu_user_ns =
	    user + system ? (uint64_t)((double)cpu_ns * (double)user / (double)(user + system)) : 0;
	result->cpu_system_ns = cpu_ns - result->cpu_user_ns;
	result->others_cpu_ns = -1;
	if (result->cpu_known && from->busy_ns >= 0 && to->busy_ns >= from->busy_ns)
		result->others_cpu_ns = to->busy_ns - from->busy_ns - (int64_t)cpu_ns;
	if (result->others_cpu_ns < -1) /* it is counted in ticks */
		result->others_cpu_ns = 0;
	result->iowait_ns = -1;
	if (from->iowait_ns >= 0 && to->iowait_ns >= from->iowait_ns) /* it may fall: proc(5) */
		result->iowait_ns = to->iowait_ns - from->iowait_ns;
	result->steal_share = -1;
	if (from->steal_ns >= 0 && to->steal_ns >= from->steal_ns && result->window_ns)
		result->steal_share = (double)(to->steal_ns - from->steal_ns) /
		                      (double)result->window_ns;
	find_readings(result, from, to);
}
