/*
 * `iostudy watch` for whoever may not use BPF: samples of /proc, held against what the programs do
 * and against BPF; what is not measured is null; and whom file capabilities let one watch.
 */
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "probes/watch.h"
#include "tests/test.h"
#include "tests/watch_help.h"

enum { NOBODY = 65534 };

static json_t *sampled(const char *const *program, const char *duration)
{
	struct program parkers;
	json_t *watch = NULL;
	char pid[16];

	if (!program_start(&parkers, "parkers", program) || !program_expect(&parkers, "ready")) {
		test_fail(__FILE__, __LINE__, "parkers does not start");
		return NULL;
	}
	usleep(100000); /* for the last of them to fall asleep */
	snprintf(pid, sizeof pid, "%d", (int)parkers.pid);
	watch = watch_json(
	    0, (const char *const[]){"--probe", "proc", "-p", pid, "-d", duration, NULL});
	program_end(&parkers);
	return watch;
}

TEST(watch_samples, who_sleeps_through_the_window_is_found_with_place_and_time)
{
	static const char *const program[] = {"hold",        "pipe=3",  "eventfd=2",
	                                      "socket=4",    "epoll=3", "poll=2",
	                                      "nanosleep=2", "futex=2", NULL};
	static const struct {
		const char *state, *call, *object;
		double threads;
	} rows[] = {
	    {"parked-direct", "read", "pipe", 3 + 1}, /* the first reads its input */
	    {"parked-direct", "read", "eventfd", 2},  {"parked-direct", "recvfrom", "socket", 4},
	    {"unseen", "epoll_wait", "epoll", 3},     {"unseen", "poll", NULL, 2},
	    {"unseen", "futex", "futex", 2},          {"other", "clock_nanosleep", NULL, 2},
	};
	json_t *watch = sampled(program, "300ms");
	const json_t *kind = watch_kind_of(watch, "application");
	const double window = cli_number(watch, "window_ns");

	CHECK_STRING(cli_text(watch, "probes.0.probe"), "proc");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const char *state = rows[i].state, *call = rows[i].call, *object = rows[i].object;

		CHECK_EQUAL(watch_places(watch, "threads_now", state, call, object),
		            rows[i].threads);
		CHECK_EQUAL(watch_places(watch, "whole_window", state, call, object),
		            rows[i].threads);
		CHECK_BETWEEN(watch_places(watch, "parked_ns", state, call, object) / window,
		              0.7 * rows[i].threads, 1.3 * rows[i].threads);
	}
	CHECK_EQUAL(cli_number(kind, "threads_now"), 19);
	CHECK_BETWEEN(cli_number(kind, "parked_direct_ns") / window, 0.8 * 10, 1.2 * 10);
	CHECK_EQUAL(cli_number(watch, "lost.events"), 0);
	json_decref(watch);
}

/* null is "not measured", and never 0. */
TEST(watch_samples, what_samples_cannot_tell_is_null_and_not_called_healthy)
{
	static const char *const program[] = {"hold", "pipe=1", NULL};
	static const char *const nulls[] = {
	    "in_flight.disk",       "in_flight.io_uring", "submitter_sleeps", "threads_iowait_now",
	    "cost.cpu_percent",     "cost.memory_bytes",  "cost.events",      "probes.0.block",
	    "probes.0.completions", "places.0.sleeps"};
	json_t *watch = sampled(program, "200ms");
	const json_t *tag;
	size_t i;

	REQUIRE(watch);
	for (i = 0; i < sizeof nulls / sizeof *nulls; i++)
		CHECK_MESSAGE(json_is_null(cli_at(watch, nulls[i])), "%s is not null", nulls[i]);
	json_array_foreach(json_object_get(watch, "checked"), i, tag)
	{
		CHECK(strcmp(json_string_value(tag), "POOL-EXHAUSTED") != 0);
		CHECK(strcmp(json_string_value(tag), "PUNTED-AND-PARKED") != 0);
	}
	CHECK_EQUAL(json_array_size(json_object_get(watch, "warnings")), 1);
	CHECK(cli_number(watch, "probes.0.parked_error_ns") >= 0);
	json_decref(watch);
}

TEST(watch_samples, who_computes_is_running_or_ready_and_never_asleep)
{
	static const char *const program[] = {"hold", "spin=2", NULL};
	json_t *watch = sampled(program, "500ms");
	const json_t *kind = watch_kind_of(watch, "application");
	const double awake = cli_number(kind, "running_ns") + cli_number(kind, "runnable_ns");

	CHECK_BETWEEN(awake / cli_number(kind, "alive_ns"), 0.95 * 2 / 3, 1.01 * 2 / 3);
	json_decref(watch);
}

/* Both watch the same threads, which sleep and wake thousands of times a second. */
TEST(watch_samples, in_mid_storm_they_are_within_their_stated_error_of_bpf)
{
	static const char *const arguments[] = {"storm", "4", NULL};
	static struct probe_reading from[2], to[2], window[2];
	struct program program;
	char why[PROBE_WHY_SIZE];
	struct watch watch[2];
	uint32_t process;

	NEED_BPF();
	REQUIRE(program_start(&program, "parkers", arguments));
	REQUIRE(program_expect(&program, "ready"));
	REQUIRE_MESSAGE(watch_open(&watch[0], false, false, NULL, why) == 0, "%s", why);
	REQUIRE_MESSAGE(watch_open_samples(&watch[1], false, why) == 0, "%s", why);
	for (int i = 0; i < 2; i++) {
		CHECK_EQUAL(watch_add(&watch[i], program.pid, &process), 0);
		CHECK_EQUAL(watch_begin(&watch[i]), 0);
	}
	for (int i = 0; i < 2; i++)
		CHECK_EQUAL(watch_read(&watch[i], &from[i]), 0);
	usleep(700000);
	for (int i = 0; i < 2; i++) {
		CHECK_EQUAL(watch_read(&watch[i], &to[i]), 0);
		probe_difference(&window[i], &from[i], &to[i]);
	}
	const double counted = (double)window[0].kinds[0].state_ns[STATE_PARKED_DIRECT];
	const double estimated = (double)window[1].kinds[0].state_ns[STATE_PARKED_DIRECT];
	const double error = (double)probe_parked_error_ns(&window[1]);
	/* the windows are not quite the same */
	const double room = error + 0.1 * (double)window[0].time_ns * 9;

	CHECK(window[1].samples.count > 8);
	CHECK(error > 0);
	CHECK_BETWEEN(estimated, counted - room, counted + room);
	program_end(&program);
	watch_close(&watch[0]);
	watch_close(&watch[1]);
}

/* A family that forks, and threads that end: nothing is left behind. */
TEST(watch_samples, threads_and_processes_that_come_and_go_leave_the_result_whole)
{
	static const char script[] = "i=0; while [ $i -lt 30 ]; do sleep 0.01 & i=$((i+1)); done; "
				     "wait; exec \"$0\" churn 500";
	char parkers[4200], directory[256], json[300], path[320];
	const char *const arguments[] = {"watch", "--probe", "proc", json,    "--batch", "--",
	                                 "sh",    "-c",      script, parkers, NULL};
	struct process_result result;
	const json_t *kind;
	json_t *watch;

	process_make_directory(directory);
	snprintf(path, sizeof path, "%s/watch.json", directory);
	snprintf(json, sizeof json, "--json=%.280s", path);
	snprintf(parkers, sizeof parkers, "%s/tests/programs/parkers", test_build_directory());
	process_run(&(struct process){.argv = arguments, .input = "g"}, &result);
	CHECK_STATUS(&result, 0);
	watch = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
	REQUIRE_MESSAGE(watch, "no JSON: %s", result.err);
	kind = watch_kind_of(watch, "application");
	CHECK_EQUAL(cli_number(kind, "threads_now"), 0);
	/* what it became last may have ended before it was looked at */
	CHECK(strstr("parkers sh", cli_text(watch, "targets.0.command")) != NULL);
	json_decref(watch);
	process_free(&result);
	process_remove_directory(directory);
}

/* --- users ----------------------------------------------------------------------------------- */

static void run_as_nobody(const char *script, const char *iostudy, const char *pid,
                          struct process_result *result)
{
	const char *const arguments[] = {"-c", script, iostudy, pid, NULL};

	process_run(&(struct process){.program = "sh",
	                              .argv = arguments,
	                              .directory = "/var/tmp",
	                              .user = process_is_root() ? NOBODY : 0},
	            result);
}

/* A copy of iostudy where everybody may come: the build folder may lie in somebody's own. */
static bool copy_for_everybody(const char *directory, char path[300])
{
	char command[4700];

	snprintf(path, 300, "%s/iostudy", directory);
	snprintf(command, sizeof command, "cp %s/iostudy %s", test_build_directory(), path);
	return system(command) == 0 && chmod(path, 0755) == 0;
}

/* /proc shows everybody the states of all threads, and their calls to their user alone. */
TEST(watch_samples, an_ordinary_user_sees_his_own_and_is_told_what_he_does_not_see)
{
	struct process_result result;
	char directory[256], iostudy[300], pid[16];

	process_make_directory(directory);
	REQUIRE(copy_for_everybody(directory, iostudy));
	snprintf(pid, sizeof pid, "%d", (int)getpid());
	run_as_nobody("\"$0\" watch -- sh -c 'sleep 0.3; exit 4'", iostudy, pid, &result);
	CHECK_STATUS(&result, 4);
	CHECK_CONTAINS(result.err, "setcap cap_bpf,cap_perfmon+ep");
	CHECK_CONTAINS(result.err, "clock_nanosleep");
	CHECK_CONTAINS(result.err, "Threads sampled in /proc");
	CHECK_CONTAINS(result.err, "BPF would add");
	process_free(&result);
	if (!process_is_root()) {
		process_remove_directory(directory);
		return;
	}
	run_as_nobody("\"$0\" watch -p $1 -d 200ms --json", iostudy, pid, &result);
	CHECK_STATUS(&result, 0);
	CHECK_CONTAINS(result.out, "may not be read");
	process_free(&result);
	run_as_nobody("\"$0\" watch --probe bpf -p $1 -d 200ms", iostudy, pid, &result);
	CHECK_STATUS(&result, 77);
	process_free(&result);
	process_remove_directory(directory);
}

/* The same with the capabilities bpf and perfmon. False: the file system takes none. */
static bool copy_with_capabilities(const char *directory, char path[300])
{
	enum { WORDS = 2 };
	const uint64_t both = 1ull << CAP_BPF | 1ull << CAP_PERFMON;
	const struct vfs_cap_data data = {
	    .magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE,
	    .data = {{(uint32_t)both, 0}, {(uint32_t)(both >> 32), 0}},
	};

	return copy_for_everybody(directory, path) &&
	       setxattr(path, "security.capability", &data, sizeof data, 0) == 0;
}

TEST(watch_samples, under_file_capabilities_only_the_callers_own_processes_are_watched)
{
	char directory[256], iostudy[300], pid[16];
	struct process_result result;

	NEED_BPF();
	process_make_directory(directory);
	if (!copy_with_capabilities(directory, iostudy)) {
		process_remove_directory(directory);
		SKIP("files in %s take no capabilities", directory);
	}
	snprintf(pid, sizeof pid, "%d", (int)getpid());
	run_as_nobody("\"$0\" watch --probe bpf -p $1 -d 100ms", iostudy, pid, &result);
	CHECK_STATUS(&result, 1);
	CHECK_CONTAINS(result.err, "is of user 0");
	CHECK_CONTAINS(result.err, "only the caller's own");
	process_free(&result);
	run_as_nobody("sleep 20 & \"$0\" watch --probe bpf -p $! -d 200ms; kill $!; wait", iostudy,
	              pid, &result);
	CHECK_CONTAINS(result.out, "Threads counted by BPF");
	CHECK_CONTAINS(result.out, "clock_nanosleep");
	process_free(&result);
	process_remove_directory(directory);
}
