/* Limits of a run: see limits.h. */
#include "bench/limits.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <sys/resource.h>

#include "bench/units.h"
#include "bench/workload.h"

enum { SPARE_FDS = 64 }; /* descriptors that a process needs beside its connections */

void limits_raise(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
}

/* The kernel would rather end some process than refuse memory that is not there. */
static int check_memory(const struct plan *plan, char why[PLAN_WHY_SIZE])
{
	const uint64_t want = plan->depth * plan->block_bytes;
	unsigned long long available_kib = 0;
	char line[128], need[32], block[32];
	FILE *file = fopen("/proc/meminfo", "re");

	while (file && !available_kib && fgets(line, sizeof line, file))
		if (sscanf(line, "MemAvailable: %llu", &available_kib) != 1)
			available_kib = 0;
	if (file)
		fclose(file);
	if (!plan_uses(plan, USE_FILES) || !available_kib || want / 1024 <= available_kib / 4 * 3)
		return 0;
	snprintf(why, PLAN_WHY_SIZE,
	         "--depth %u with --bs %s needs %s of memory, and %llu MiB are available: use a "
	         "smaller --depth or --bs",
	         plan->depth, units_format_size(plan->block_bytes, block),
	         units_format_size(want, need), available_kib / 1024);
	return -ENOMEM;
}

static int check_descriptors(const struct plan *plan, char why[PLAN_WHY_SIZE])
{
	const bool shares = workload_find(plan->workload)->shares;
	const uint32_t connections = shares ? plan->connections : plan->depth;
	const char *option = shares ? "connections" : "depth";
	const unsigned long long want = (unsigned long long)connections + SPARE_FDS;
	struct rlimit files;

	if (!(workload_find(plan->workload)->need & ENGINE_SOCKETS) ||
	    getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= want)
		return 0;
	if (files.rlim_cur <= SPARE_FDS)
		snprintf(why, PLAN_WHY_SIZE,
		         "a run needs %llu descriptors: RLIMIT_NOFILE is %llu; raise it with "
		         "ulimit -n",
		         want, (unsigned long long)files.rlim_cur);
	else
		snprintf(why, PLAN_WHY_SIZE,
		         "--%s %u needs %llu descriptors, a connection for each%s: "
		         "RLIMIT_NOFILE is %llu; raise it with ulimit -n, or use --%s %llu",
		         option, connections, want, shares ? "" : " request",
		         (unsigned long long)files.rlim_cur, option,
		         (unsigned long long)files.rlim_cur - SPARE_FDS);
	return -EMFILE;
}

int limits_check(const struct plan *plan, char why[PLAN_WHY_SIZE])
{
	const int err = check_memory(plan, why);

	return err ? err : check_descriptors(plan, why);
}

void limits_prefer_us(bool prefer)
{
	const struct sched_param first = {.sched_priority = prefer ? 1 : 0};

	sched_setscheduler(0, (prefer ? SCHED_FIFO : SCHED_OTHER) | SCHED_RESET_ON_FORK, &first);
}
