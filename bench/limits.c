/* Limits of a run: see limits.h. */
#include "bench/limits.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <sys/resource.h>

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

int limits_check(const struct plan *plan, char why[PLAN_WHY_SIZE])
{
	const unsigned long long want = (unsigned long long)plan->depth + SPARE_FDS;
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
		         "--depth %u needs %llu descriptors, a connection for each request: "
		         "RLIMIT_NOFILE is %llu; raise it with ulimit -n, or use --depth %llu",
		         plan->depth, want, (unsigned long long)files.rlim_cur,
		         (unsigned long long)files.rlim_cur - SPARE_FDS);
	return -EMFILE;
}

void limits_prefer_us(bool prefer)
{
	const struct sched_param first = {.sched_priority = prefer ? 1 : 0};

	sched_setscheduler(0, (prefer ? SCHED_FIFO : SCHED_OTHER) | SCHED_RESET_ON_FORK, &first);
}
