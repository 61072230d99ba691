/* One run as a whole, in surroundings that go wrong: its peer dies, its process is killed. */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/run.h"
#include "engines/engine.h"
#include "tests/test.h"

/* The child of parent whose command is name, or 0. */
static pid_t find_child(pid_t parent, const char *name)
{
	DIR *proc = opendir("/proc");
	const struct dirent *entry;
	pid_t found = 0;

	while (proc && !found && (entry = readdir(proc))) {
		char path[300], text[512] = "", *end;
		int ppid = 0;
		FILE *f;

		snprintf(path, sizeof path, "/proc/%.20s/stat", entry->d_name);
		f = atoi(entry->d_name) > 0 ? fopen(path, "r") : NULL;
		if (!f)
			continue;
		if (fgets(text, sizeof text, f) && (end = strrchr(text, ')')) &&
		    sscanf(end + 1, " %*c %d", &ppid) == 1 && ppid == parent && strstr(text, name))
			found = atoi(entry->d_name);
		fclose(f);
	}
	if (proc)
		closedir(proc);
	return found;
}

/* Runs the plan and kills the named process in the middle of it. */
static void run_and_kill(const char *engine, const char *workload, const char *name,
                         struct run_result *result)
{
	static volatile sig_atomic_t never;
	const struct run_options options = {.probe = "none", .signal = &never};
	const pid_t parent = getpid();
	struct plan plan;
	pid_t killer;

	plan_default(&plan);
	snprintf(plan.engine, sizeof plan.engine, "%s", engine);
	snprintf(plan.workload, sizeof plan.workload, "%s", workload);
	plan.depth = 4;
	plan.warmup_ns = 0;
	plan.duration_ns = 20000000000ull;
	killer = fork();
	if (killer == 0) {
		pid_t victim;

		while (!(victim = find_child(parent, name)))
			usleep(10000);
		usleep(300000);
		kill(victim, SIGKILL);
		_exit(0);
	}
	run_execute(&plan, &options, result);
	waitpid(killer, NULL, 0);
	CHECK_EQUAL(find_child(parent, "iostudy-"), 0);
}

TEST(run, fails_and_says_so_when_its_peer_dies)
{
	static const char *const engines[] = {"blocking", "pool", "posix-aio", "epoll", "uring"};

	for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
		struct run_result result;

		run_and_kill(engines[i], "socket-delay", "iostudy-peer", &result);
		CHECK_EQUAL(result.status, OUTCOME_FAILED);
		CHECK_MESSAGE(strstr(result.why, "has it died?") ||
		                  strstr(result.why, "Connection reset"),
		              "%s: %s", engines[i], result.why);
		CHECK(result.measured.failed >= 1);
		run_result_free(&result);
	}
}

TEST(run, fails_and_says_so_when_the_measured_process_is_killed)
{
	for (int i = 0; i < 12; i++) { /* also in the midst of showing its counters */
		struct run_result result;

		run_and_kill(i % 2 ? "uring" : "null", "timer-delay", "iostudy-subject", &result);
		CHECK_EQUAL(result.status, OUTCOME_FAILED);
		CHECK_CONTAINS(result.why, "killed by signal 9");
		run_result_free(&result);
	}
}

/* Stops and continues the measured process again and again, until it is killed itself. */
static pid_t stopper_fork(void)
{
	const pid_t parent = getpid(), stopper = fork();

	while (stopper == 0) {
		const pid_t subject = find_child(parent, "iostudy-subject");

		if (subject) {
			kill(subject, SIGSTOP);
			usleep(3000);
			kill(subject, SIGCONT);
		}
		usleep(7000);
	}
	return stopper;
}

/* Of all signals these interrupt calls that no handler would: each wait ends with EINTR. */
TEST(run, goes_on_when_the_measured_process_is_stopped_and_continued)
{
	static volatile sig_atomic_t never;
	const struct run_options options = {.probe = "none", .signal = &never};
	const pid_t stopper = stopper_fork();

	for (const struct engine_ops *const *ops = engine_table; *ops; ops++) {
		struct run_result result;
		struct plan plan;

		if (!((*ops)->caps & (ENGINE_SOCKETS | ENGINE_TIMERS)))
			continue;
		plan_default(&plan);
		snprintf(plan.engine, sizeof plan.engine, "%s", (*ops)->name);
		snprintf(plan.workload, sizeof plan.workload, "%s",
		         (*ops)->caps & ENGINE_SOCKETS ? "socket-delay" : "timer-delay");
		plan.delay_min_ns = plan.delay_max_ns = 2000000;
		plan.depth = 4;
		plan.operations = 200;
		run_execute(&plan, &options, &result);
		CHECK_MESSAGE(result.status == OUTCOME_OK, "%s: %s", (*ops)->name, result.why);
		CHECK_EQUAL(result.measured.operations, 200);
		CHECK_EQUAL(result.measured.wrong, 0);
		CHECK_EQUAL(result.measured.failed, 0);
		run_result_free(&result);
	}
	kill(stopper, SIGKILL);
	waitpid(stopper, NULL, 0);
}

TEST(run, ends_by_itself_after_so_many_operations)
{
	static volatile sig_atomic_t never;
	const struct run_options options = {.probe = "none", .signal = &never};
	static const uint64_t counts[] = {1, 2, 31, 32, 33, 1000};

	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		struct run_result result;
		struct plan plan;

		plan_default(&plan);
		snprintf(plan.workload, sizeof plan.workload, "timer-delay");
		plan.delay_min_ns = plan.delay_max_ns = 100000;
		plan.operations = counts[i];
		plan.threads = 3;
		run_execute(&plan, &options, &result);
		CHECK_MESSAGE(result.status == OUTCOME_OK, "%s", result.why);
		CHECK_EQUAL(result.measured.operations, counts[i]);
		run_result_free(&result);
	}
}
