/*
 * The doctor on limits: those that a run can meet, their values, and the depth they allow.
 */
#include "cli/doctor.h"

#include "analysis/format.h"
#include "bench/environment_place.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

enum {
	DEPTH_DEFAULT = 32,
	DEPTH_AMPLE = 1024,   /* from here on a limit is not worth a remark */
	FDS_OF_OURS = 64,     /* descriptors of the program itself */
	RING_ENTRIES = 32768, /* IORING_MAX_ENTRIES, fixed in the kernel */
	MAPS_OF_A_THREAD = 2, /* its stack and the guard below it */
};
#define FILE_SIZE_DEFAULT (256ll << 20)
#define DEPTH_UNLIMITED   INT64_MAX

static void limit_text(rlim_t value, char text[32])
{
	if (value == RLIM_INFINITY)
		snprintf(text, 32, "unlimited");
	else
		snprintf(text, 32, "%llu", (unsigned long long)value);
}

static int64_t limit_number(rlim_t value)
{
	return value == RLIM_INFINITY || value > INT64_MAX ? DEPTH_UNLIMITED : (int64_t)value;
}

/* Adds a limit by the depth that it allows for some engines. */
static struct doctor_check *limit_add(struct doctor *d, const char *name, const char *value,
                                      int64_t depth, const char *what)
{
	struct doctor_check *check;
	const enum doctor_state state = depth < DEPTH_DEFAULT ? DOCTOR_NO
	                                : depth < DEPTH_AMPLE ? DOCTOR_NOTE
	                                                      : DOCTOR_OK;
	if (depth == DEPTH_UNLIMITED)
		return doctor_add(d, DOCTOR_LIMITS, state, name, "%s", value);
	check = doctor_add(d, DOCTOR_LIMITS, state, name, "%s: %s up to %s", value, what,
	                   format_count((double)(depth < 0 ? 0 : depth)).text);
	if (depth < DEPTH_DEFAULT)
		doctor_explain(check, "That is less than the default depth of 32.", NULL, NULL);
	return check;
}

/* The command that raises a limit of getrlimit(2), by the shell's letter or by prlimit's word. */
static void rlimit_explain(struct doctor_check *check, const struct rlimit *limit, char letter,
                           const char *word, unsigned unit)
{
	char allow[DOCTOR_COMMAND_SIZE], undo[DOCTOR_COMMAND_SIZE], soft[32], hard[32];

	if (check->state == DOCTOR_OK)
		return;
	if (limit->rlim_max > limit->rlim_cur) {
		const bool endless = limit->rlim_max == RLIM_INFINITY;
		limit_text(endless ? RLIM_INFINITY : limit->rlim_max / unit, hard);
		snprintf(allow, sizeof allow, "ulimit -S%c %s", letter, hard);
		snprintf(undo, sizeof undo, "ulimit -S%c %llu", letter,
		         (unsigned long long)(limit->rlim_cur / unit));
	} else {
		limit_text(limit->rlim_cur, soft);
		limit_text(limit->rlim_max, hard);
		snprintf(allow, sizeof allow, "sudo prlimit --pid $$ --%s=%s", word,
		         strcmp(word, "nofile") == 0 ? "1048576" : "unlimited");
		snprintf(undo, sizeof undo, "sudo prlimit --pid $$ --%s=%s:%s", word, soft, hard);
	}
	doctor_explain(check, NULL, allow, undo);
}

static void descriptors_check(struct doctor *d)
{
	struct rlimit limit;
	char value[32];

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	const int64_t number = limit_number(limit.rlim_cur);
	limit_text(limit.rlim_cur, value);
	rlimit_explain(limit_add(d, "open files", value,
	                         number == DEPTH_UNLIMITED ? number : number - FDS_OF_OURS,
	                         "sockets, a depth"),
	               &limit, 'n', "nofile", 1);
}

static void memory_check(struct doctor *d)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0)
		return;
	if (doctor_can(d, CAP_IPC_LOCK) || limit.rlim_cur == RLIM_INFINITY) {
		limit_add(d, "locked memory",
		          limit.rlim_cur == RLIM_INFINITY ? "unlimited"
		                                          : "no limit with capability ipc_lock",
		          DEPTH_UNLIMITED, "");
	} else {
		rlimit_explain(limit_add(d, "locked memory",
		                         format_bytes((double)limit.rlim_cur).text,
		                         (int64_t)(limit.rlim_cur / 4096),
		                         "registered blocks of 4 KiB, a depth"),
		               &limit, 'l', "memlock", 1024);
	}
	if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
		struct rlimit stack = {8 << 20, 8 << 20};
		getrlimit(RLIMIT_STACK, &stack);
		const rlim_t each = stack.rlim_cur == RLIM_INFINITY ? 8 << 20 : stack.rlim_cur;
		rlimit_explain(limit_add(d, "address space",
		                         format_bytes((double)limit.rlim_cur).text,
		                         (int64_t)(limit.rlim_cur / (each ? each : 1)),
		                         "threads with their stacks,"),
		               &limit, 'v', "as", 1024);
	} else {
		limit_add(d, "address space", "unlimited", DEPTH_UNLIMITED, "");
	}
}

/* The number in a file of our own control group, or -1; "max" is no number. */
static int64_t cgroup_number(const char *name, char path[PATH_MAX])
{
	char line[PATH_MAX], group[PATH_MAX] = "";
	FILE *file = fopen("/proc/self/cgroup", "re");

	while (file && fgets(line, sizeof line, file)) {
		line[strcspn(line, "\n")] = 0;
		if (strncmp(line, "0::", 3) == 0)
			snprintf(group, sizeof group, "%.3800s", line + 3);
	}
	if (file)
		fclose(file);
	snprintf(path, PATH_MAX, "/sys/fs/cgroup%.3800s/%.64s", group, name);
	return environment_file_number(path);
}

static void cgroup_check(struct doctor *d)
{
	char path[PATH_MAX], value[64], allow[DOCTOR_COMMAND_SIZE], undo[DOCTOR_COMMAND_SIZE];
	const int64_t now = cgroup_number("pids.current", path);
	const int64_t max = cgroup_number("pids.max", path);

	if (max < 0)
		return;
	snprintf(value, sizeof value, "%lld, %lld in use", (long long)max, (long long)now);
	struct doctor_check *check = limit_add(d, "cgroup pids.max", value,
	                                       max - (now > 0 ? now : 0), "threads");
	if (check->state == DOCTOR_OK || strlen(path) > 120)
		return;
	snprintf(allow, sizeof allow, "echo max | sudo tee %.120s", path);
	snprintf(undo, sizeof undo, "echo %lld | sudo tee %.120s", (long long)max, path);
	doctor_explain(check, NULL, allow, undo);
}

static void setting_check(struct doctor *d, const char *file, const char *name, int64_t divisor)
{
	char value[64], allow[DOCTOR_COMMAND_SIZE], undo[DOCTOR_COMMAND_SIZE];
	const int64_t number = environment_setting(file);

	if (number < 0)
		return;
	snprintf(value, sizeof value, "%lld", (long long)number);
	struct doctor_check *check = limit_add(d, name, value, number / divisor, "threads");
	if (check->state == DOCTOR_OK)
		return;
	snprintf(allow, sizeof allow, "sudo sysctl %.60s=262144", name);
	snprintf(undo, sizeof undo, "sudo sysctl %.60s=%lld", name, (long long)number);
	doctor_explain(check, NULL, allow, undo);
}

static void threads_check(struct doctor *d)
{
	struct rlimit limit;
	char value[32];

	if (getrlimit(RLIMIT_NPROC, &limit) == 0) {
		const bool exempt = d->user.uid == 0 || doctor_can(d, CAP_SYS_RESOURCE) ||
		                    doctor_can(d, CAP_SYS_ADMIN);
		limit_text(limit.rlim_cur, value);
		if (exempt)
			limit_add(d, "processes", "no limit for this user", DEPTH_UNLIMITED, "");
		else
			rlimit_explain(limit_add(d, "processes", value,
			                         limit_number(limit.rlim_cur),
			                         "threads, the user's others included,"),
			               &limit, 'u', "nproc", 1);
	}
	cgroup_check(d);
	setting_check(d, "kernel/threads-max", "kernel.threads-max", 1);
	setting_check(d, "kernel/pid_max", "kernel.pid_max", 1);
	setting_check(d, "vm/max_map_count", "vm.max_map_count", MAPS_OF_A_THREAD);
}

static void aio_check(struct doctor *d)
{
	char value[64], undo[DOCTOR_COMMAND_SIZE];
	const int64_t max = environment_setting("fs/aio-max-nr");
	const int64_t now = environment_setting("fs/aio-nr");

	if (max < 0)
		return;
	snprintf(value, sizeof value, "%lld, %lld in use", (long long)max, (long long)now);
	struct doctor_check *check = limit_add(d, "fs.aio-max-nr", value, max - (now > 0 ? now : 0),
	                                       "libaio, a depth");
	if (check->state == DOCTOR_OK)
		return;
	snprintf(undo, sizeof undo, "sudo sysctl fs.aio-max-nr=%lld", (long long)max);
	doctor_explain(check, NULL, "sudo sysctl fs.aio-max-nr=1048576", undo);
}

static void file_size_check(struct doctor *d)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
		return;
	const bool small = limit.rlim_cur < FILE_SIZE_DEFAULT;
	struct doctor_check *check = doctor_add(d, DOCTOR_LIMITS, small ? DOCTOR_NO : DOCTOR_OK,
	                                        "file size", "%s",
	                                        format_bytes((double)limit.rlim_cur).text);
	if (small)
		doctor_explain(check, "That is less than the measured file's 256 MiB (--size).",
		               NULL, NULL);
	rlimit_explain(check, &limit, 'f', "fsize", 1024);
}

void doctor_check_limits(struct doctor *d)
{
	char value[32];

	descriptors_check(d);
	memory_check(d);
	threads_check(d);
	aio_check(d);
	snprintf(value, sizeof value, "%d entries, fixed", RING_ENTRIES);
	limit_add(d, "io_uring ring", value, RING_ENTRIES, "a depth in one ring");
	file_size_check(d);
}
