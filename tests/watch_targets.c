/*
 * Whom `iostudy watch` watches: several processes, families, control groups; and what befalls them
 * meanwhile: they end, fork, exec or are killed.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probes/watch.h"
#include "tests/test.h"
#include "tests/watch_help.h"

static const char *const pipes[] = {"hold", "pipe=2", NULL};

TEST(watch_targets, several_processes_are_each_listed_and_counted_together)
{
	struct program programs[3];
	char pids[64] = "";
	json_t *watch;

	NEED_BPF();
	for (size_t i = 0; i < 3; i++) {
		const size_t length = strlen(pids);

		REQUIRE(program_start(&programs[i], "parkers", pipes));
		REQUIRE(program_expect(&programs[i], "ready"));
		snprintf(pids + length, sizeof pids - length, "%s%d", length ? "," : "",
		         (int)programs[i].pid);
	}
	watch = watch_json(0, (const char *const[]){"-p", pids, "-d", "100ms", NULL});
	CHECK_EQUAL(json_array_size(json_object_get(watch, "targets")), 3);
	for (size_t i = 0; i < 3; i++) {
		char path[40];

		snprintf(path, sizeof path, "targets.%zu.pid", i);
		CHECK_EQUAL(cli_number(watch, path), programs[i].pid);
		snprintf(path, sizeof path, "targets.%zu.threads_now", i);
		CHECK_EQUAL(cli_number(watch, path), 3);
	}
	CHECK_EQUAL(cli_number(watch_kind_of(watch, "application"), "threads_now"), 9);
	CHECK_EQUAL(watch_places(watch, "whole_window", "parked-direct", "read", "pipe"), 9);
	json_decref(watch);
	for (size_t i = 0; i < 3; i++)
		program_end(&programs[i]);
}

/* As a database does: a process that listens and forks a worker for each connection, which forks
 * nothing more. */
static void is_family(void *unused, int input, int output)
{
	char byte;
	int ends[2];

	(void)unused;
	setpgid(0, 0);
	for (int i = 0; i < 4; i++)
		if (fork() == 0) {
			if (pipe(ends) || read(ends[0], &byte, 1) != 1)
				pause();
			_exit(0);
		}
	(void)!write(output, "ready\n", 6);
	for (int i = 0; read(input, &byte, 1) == 1; i++) {
		if (fork() == 0) {
			pause();
			_exit(0);
		}
		(void)!write(output, "forked\n", 7);
	}
	_exit(0);
}

static void family_end(struct program *family)
{
	kill(-family->pid, SIGKILL);
	program_end(family);
}

TEST(watch_targets, a_family_is_watched_with_the_workers_that_come_later)
{
	struct watch_census census = {0};
	struct program family;
	char why[PROBE_WHY_SIZE];
	struct watch watch;
	uint32_t process;

	NEED_BPF();
	REQUIRE_MESSAGE(watch_open(&watch, true, false, NULL, why) == 0, "%s", why);
	REQUIRE(program_fork(&family, is_family, NULL));
	REQUIRE(program_expect(&family, "ready"));
	CHECK_EQUAL(watch_add(&watch, family.pid, &process), 0);
	CHECK_EQUAL(watch_begin(&watch), 0);
	CHECK_EQUAL(watch_living(&watch), 5);
	for (int i = 0; i < 3; i++) {
		program_send(&family, 'f');
		CHECK(program_expect(&family, "forked"));
	}
	CHECK_EQUAL(watch_census(&watch, &census), 0);
	CHECK_EQUAL(census.thread_count, 8);
	CHECK_EQUAL(census.process_count, 8);
	family_end(&family);
	watch_census_free(&census);
	watch_close(&watch);
}

/* Threads that end, processes that fork and one that executes something else: all through the
 * window, and the window's figures remain whole. */
TEST(watch_targets, forks_execs_and_ends_at_any_rate_leave_the_result_whole)
{
	static const char script[] = "i=0; while [ $i -lt 150 ]; do /bin/true; (:); i=$((i+1)); "
				     "done; exec \"$0\" churn 2000";
	char parkers[4200], directory[256], json[300], path[320];
	const char *const arguments[] = {"watch", json,   "--batch", "--", "sh",
	                                 "-c",    script, parkers,   NULL};
	struct process_result result;
	const json_t *kind;
	json_t *watch;

	NEED_BPF();
	process_make_directory(directory);
	snprintf(path, sizeof path, "%s/watch.json", directory);
	snprintf(json, sizeof json, "--json=%.280s", path);
	snprintf(parkers, sizeof parkers, "%s/tests/programs/parkers", test_build_directory());
	process_run(&(struct process){.argv = arguments, .input = "g"}, &result);
	CHECK_STATUS(&result, 0);
	CHECK_STRING(result.out, "ready\ndone\n");
	watch = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
	REQUIRE_MESSAGE(watch, "no JSON: %s", result.err);
	kind = watch_kind_of(watch, "application");
	CHECK_EQUAL(cli_number(watch, "lost.events"), 0);
	CHECK_EQUAL(cli_number(kind, "threads_now"), 0);
	/* 300 children of the shell, and the program's 10 */
	CHECK_EQUAL(cli_number(watch, "processes_ended"), 310);
	CHECK_STRING(cli_text(watch, "targets.0.command"), "parkers");
	json_decref(watch);
	process_free(&result);
	process_remove_directory(directory);
}

TEST(watch_targets, a_target_that_is_killed_ends_the_watch_with_its_result)
{
	static const char script[] =
	    "{ \"$0\" watch --json=\"$2\" -p $1 -i 50ms; echo status $?; } 2>&1 | "
	    "{ read line; kill -9 $1; cat; }";
	char self[4200], pid[16], directory[256], file[300];
	const char *const arguments[] = {"-c", script, self, pid, file, NULL};
	const struct process p = {.program = "sh", .argv = arguments};
	struct process_result result;
	struct program target;
	json_t *watch;

	NEED_BPF();
	process_make_directory(directory);
	snprintf(file, sizeof file, "%s/watch.json", directory);
	snprintf(self, sizeof self, "%s/iostudy", test_build_directory());
	REQUIRE(program_start(&target, "parkers", pipes));
	REQUIRE(program_expect(&target, "ready"));
	snprintf(pid, sizeof pid, "%d", (int)target.pid);
	process_run(&p, &result);
	CHECK_CONTAINS(result.out, "status 0\n");
	watch = json_load_file(file, JSON_REJECT_DUPLICATES, NULL);
	REQUIRE_MESSAGE(watch, "no JSON: %s", result.out);
	CHECK_STRING(cli_text(watch, "status"), "ok");
	CHECK_EQUAL(cli_number(watch, "targets.0.threads_now"), 0);
	CHECK(watch_places(watch, "parked_ns", "parked-direct", "read", "pipe") > 0);
	json_decref(watch);
	process_free(&result);
	program_end(&target);
	process_remove_directory(directory);
}

/* The command's own status comes first, and only then the gate's. Rings on tmpfs are the problem.
 */
TEST(watch_targets, the_commands_status_is_passed_on_and_only_then_the_gates)
{
	static const char script[] = "\"$0\" run --engine uring --workload disk-randread "
				     "--directory /dev/shm --direct 0 --size 1m --runtime 100ms "
				     "--warmup 10ms --probe schedstat >/dev/null; exit $1";
	static const struct {
		const char *exits, *gate;
		int status;
	} rows[] = {{"0", "warn", 3}, {"7", "warn", 7}, {"0", "crit", 0}};
	char self[4200];

	NEED_BPF();
	REQUIRE(realpath(test_build_directory(), self));
	strcat(self, "/iostudy");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const char *const arguments[] = {"watch",       "--fail-on", rows[i].gate, "--",
		                                 "sh",          "-c",        script,       self,
		                                 rows[i].exits, NULL};
		struct process_result result;

		process_run(&(struct process){.argv = arguments}, &result);
		CHECK_STATUS(&result, rows[i].status);
		process_free(&result);
	}
}

/* --- control groups -------------------------------------------------------------------------- */

/* Makes a control group with another below it, of any hierarchy. False: it cannot be made here. */
static bool cgroup_make(char path[256], char below[300])
{
	static const char *const roots[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified",
	                                    "/sys/fs/cgroup/systemd", "/sys/fs/cgroup/pids"};
	char file[320];

	for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
		snprintf(file, sizeof file, "%s/cgroup.procs", roots[i]);
		snprintf(path, 256, "%s/iostudy-test-%d", roots[i], (int)getpid());
		snprintf(below, 300, "%s/worker", path);
		if (access(file, F_OK) == 0 && mkdir(path, 0755) == 0) {
			if (mkdir(below, 0755) == 0)
				return true;
			rmdir(path);
		}
	}
	return false;
}

static bool cgroup_put(const char *path, pid_t pid)
{
	char file[320];
	bool good;
	FILE *list;

	snprintf(file, sizeof file, "%s/cgroup.procs", path);
	list = fopen(file, "we");
	good = list && fprintf(list, "%d\n", (int)pid) > 0;
	if (list)
		good = fclose(list) == 0 && good;
	return good;
}

/* A group vanishes when its last process has been reaped and let go. */
static void cgroup_remove(const char *path)
{
	for (int i = 0; i < 1000 && rmdir(path); i++)
		usleep(10000);
}

static void check_group(const char *named, const struct program *programs)
{
	const char *const arguments[] = {"--cgroup", named, "-d", "100ms", NULL};
	json_t *watch = watch_json(0, arguments);

	CHECK_EQUAL(json_array_size(json_object_get(watch, "targets")), 2);
	CHECK_EQUAL(cli_number(watch_kind_of(watch, "application"), "threads_now"), 6);
	CHECK_EQUAL(cli_number(watch, "targets.0.pid"), programs[0].pid);
	CHECK_EQUAL(cli_number(watch, "targets.1.pid"), programs[1].pid);
	json_decref(watch);
}

TEST(watch_targets, a_control_group_is_found_by_path_and_by_name_with_those_below)
{
	char path[256], below[300];
	struct program programs[2];
	struct process_result result;

	NEED_BPF();
	if (!cgroup_make(path, below))
		SKIP("no control group can be made below /sys/fs/cgroup");
	for (int i = 0; i < 2; i++) {
		REQUIRE(program_start(&programs[i], "parkers", pipes));
		REQUIRE(program_expect(&programs[i], "ready"));
		CHECK(cgroup_put(i ? below : path, programs[i].pid));
	}
	check_group(path, programs);
	check_group(strrchr(path, '/') + 1, programs);
	for (int i = 0; i < 2; i++)
		program_end(&programs[i]);
	PROCESS_RUN(&result, "watch", "--cgroup", path, "-d", "1");
	CHECK_STATUS(&result, 1);
	CHECK_CONTAINS(result.err, "has no processes");
	process_free(&result);
	cgroup_remove(below);
	cgroup_remove(path);
	PROCESS_RUN(&result, "watch", "--cgroup", "no-such-group", "-d", "1");
	CHECK_STATUS(&result, 1);
	CHECK_CONTAINS(result.err, "there is no control group no-such-group");
	process_free(&result);
}
