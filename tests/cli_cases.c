/*
 * What went wrong for people elsewhere, each with the report it comes from: limits, bad outputs,
 * tiny runs, caches taken for disks.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/cli_runs.h"
#include "tests/test.h"

#define QUICK "--runtime", "50ms", "--warmup", "10ms"
#define SMALL QUICK, "--size", "4m" /* of a disk workload */

/* reactphp/stream#31 */
TEST(cases, epoll_refuses_a_file_in_one_sentence)
{
	json_t *runs = CLI_RUNS(77, "--engine", "epoll", "--workload", "disk-randread", SMALL,
	                        "--wait", "park");
	const json_t *run = json_array_get(runs, 0);

	CHECK_STRING(cli_text(run, "status"), "skipped");
	CHECK_CONTAINS(cli_text(run, "why"), "always ready");
	CHECK_EQUAL(json_array_size(runs), 1);
	json_decref(runs);
}

/* SIPp#50 */
TEST(cases, redirections_of_its_own_are_harmless)
{
	struct process p = {.argv = (const char *const[]){"--engine", "epoll", "--workload",
	                                                  "socket-delay", QUICK, NULL},
	                    .out = OUTPUT_NULL};
	struct process_result result;

	process_run(&p, &result);
	CHECK_STATUS(&result, 0);
	process_free(&result);
	p.input_closed = true;
	p.err = OUTPUT_CLOSED;
	process_run(&p, &result);
	CHECK_STATUS(&result, 0);
	process_free(&result);
}

/* What is printed to a closed output must not land in the next file that is opened. */
TEST(cases, a_closed_stdout_is_an_error_and_spoils_no_file)
{
	char directory[256], path[300], head[8] = "";
	struct process p = {.argv = (const char *const[]){"run", "--json", "--engine", "null",
	                                                  "--workload", "disk-randread", SMALL,
	                                                  "--keep", NULL},
	                    .out = OUTPUT_CLOSED};
	struct process_result result;
	FILE *f;

	process_make_directory(directory);
	p.directory = directory;
	process_run(&p, &result);
	CHECK_STATUS(&result, 1);
	process_free(&result);
	snprintf(path, sizeof path, "%s/iostudy.data", directory);
	f = fopen(path, "r");
	REQUIRE(f);
	CHECK_EQUAL(fread(head, 1, 7, f), 7);
	fclose(f);
	CHECK_STRING(head, "istudy1");
	process_remove_directory(directory);
}

/* zulip#39449, mariadb-docker#570 */
TEST(cases, too_little_locked_memory_is_named_and_the_others_still_run)
{
	struct process p = {.argv = (const char *const[]){"--engine", "blocking,uring",
	                                                  "--workload", "disk-randread", SMALL,
	                                                  "--wait", "park", NULL},
	                    .user = 65534,
	                    .limits = {{RLIMIT_MEMLOCK, 64 << 10}},
	                    .limit_count = 1};
	json_t *runs;

	if (!process_is_root())
		SKIP("becoming another user needs root");
	runs = cli_runs(p, 1);
	CHECK_STRING(cli_text(json_array_get(runs, 0), "status"), "ok");
	CHECK_STRING(cli_text(json_array_get(runs, 1), "status"), "failed");
	CHECK_CONTAINS(cli_text(json_array_get(runs, 1), "why"), "RLIMIT_MEMLOCK is 64 KiB");
	json_decref(runs);
}

/* moby#39396, liburing#1078 */
TEST(cases, a_forbidden_ring_is_found_by_trying_and_not_replaced)
{
	struct process p = {.argv = (const char *const[]){"--engine", "uring,blocking",
	                                                  "--workload", "disk-randread", SMALL,
	                                                  "--wait", "park", "--probe", "none",
	                                                  NULL},
	                    .denied = {SYS_io_uring_setup},
	                    .denied_count = 1};
	json_t *runs = cli_runs(p, 0);

	CHECK_STRING(cli_text(json_array_get(runs, 0), "plan.engine"), "uring");
	CHECK_STRING(cli_text(json_array_get(runs, 0), "status"), "skipped");
	CHECK_CONTAINS(cli_text(json_array_get(runs, 0), "why"), "seccomp");
	CHECK_STRING(cli_text(json_array_get(runs, 1), "status"), "ok");
	json_decref(runs);
}

/* fio#731, #1685 */
TEST(cases, stdout_is_json_or_the_status_tells)
{
	struct process p = {.argv = (const char *const[]){"run", "--json", "--engine", "null",
	                                                  "--workload", "timer-delay", QUICK, NULL},
	                    .out = OUTPUT_FULL};
	struct process_result result;
	json_t *runs;

	process_run(&p, &result);
	CHECK_STATUS(&result, 1);
	CHECK_CONTAINS(result.err, "No space left");
	process_free(&result);
	runs = CLI_RUNS(1, "--engine", "blocking", "--workload", "disk-randread", SMALL,
	                "--directory", "/nonexistent");
	CHECK_STRING(cli_text(json_array_get(runs, 0), "status"), "failed");
	CHECK_CONTAINS(cli_text(json_array_get(runs, 0), "why"), "/nonexistent");
	json_decref(runs);
}

TEST(cases, a_full_file_system_fails_the_disk_runs_alone)
{
	char directory[256];
	json_t *runs;

	if (!process_is_root())
		SKIP("mounting a small tmpfs needs root");
	process_make_directory(directory);
	REQUIRE(mount("none", directory, "tmpfs", 0, "size=1m") == 0);
	runs = CLI_RUNS(1, "--engine", "uring", "--workload", "disk-randread,timer-delay",
	                "--runtime", "50ms", "--wait", "park", "--directory", directory);
	CHECK_STRING(cli_text(json_array_get(runs, 0), "status"), "failed");
	CHECK_CONTAINS(cli_text(json_array_get(runs, 0), "why"), "full");
	CHECK_STRING(cli_text(json_array_get(runs, 1), "status"), "ok");
	json_decref(runs);
	CHECK_EQUAL(umount(directory), 0);
	process_remove_directory(directory);
}

/* fio#1388 */
TEST(cases, the_depth_asked_and_the_depth_achieved_are_both_told)
{
	json_t *runs = CLI_RUNS(0, "--engine", "blocking", "--threads", "1", "--depth", "32",
	                        "--workload", "disk-randread", "--runtime", "300ms", "--size",
	                        "4m");
	const json_t *run = json_array_get(runs, 0);

	CHECK_EQUAL(cli_number(run, "plan.depth"), 32);
	CHECK_BETWEEN(cli_number(run, "summary.in_flight_mean"), 0.5, 1.001);
	CHECK(cli_finding(run, "DEPTH-NOT-REACHED"));
	json_decref(runs);
	runs = CLI_RUNS(0, "--engine", "blocking", "--threads", "1", "--depth", "1", "--workload",
	                "disk-randread", "--runtime", "300ms", "--size", "4m");
	CHECK(!cli_finding(json_array_get(runs, 0), "DEPTH-NOT-REACHED"));
	json_decref(runs);
}

/* warp#22, fio#1212 */
TEST(cases, the_page_cache_is_not_called_a_disk)
{
	char directory[256];
	json_t *runs;

	if (!process_is_root())
		SKIP("counting block requests needs root");
	runs = CLI_RUNS(0, "--engine", "blocking,uring", "--workload", "disk-randread", "--size",
	                "4m", "--runtime", "300ms", "--direct", "0", "--cache", "hot", "--wait",
	                "park");
	CHECK(cli_finding(json_array_get(runs, 0), "PAGE-CACHE"));
	CHECK(cli_finding(json_array_get(runs, 1), "PAGE-CACHE"));
	json_decref(runs);
	process_make_directory(directory);
	REQUIRE(mount("none", directory, "tmpfs", 0, "size=32m") == 0);
	runs = CLI_RUNS(0, "--engine", "blocking", "--workload", "disk-randread", "--size", "4m",
	                "--runtime", "300ms", "--direct", "1", "--directory", directory);
	CHECK(cli_finding(json_array_get(runs, 0), "PAGE-CACHE"));
	json_decref(runs);
	umount(directory);
	process_remove_directory(directory);
	runs = CLI_RUNS(0, "--engine", "blocking", "--workload", "disk-randread", "--size", "4m",
	                "--runtime", "300ms");
	CHECK(!cli_finding(json_array_get(runs, 0), "PAGE-CACHE"));
	json_decref(runs);
}

/* fio#100, iperf#388, sysbench#29, benchmark#784, iperf#370: CLI_RUNS refuses nan and inf */
TEST(cases, tiny_runs_have_no_impossible_numbers)
{
	static const char *const tiny[][4] = {
	    {"--runtime", "1ms", "--warmup", "0"},
	    {"--operations", "1", "--depth", "1"},
	    {"--operations", "3", "--depth", "2"},
	};

	for (size_t i = 0; i < sizeof tiny / sizeof *tiny; i++) {
		json_t *runs = CLI_RUNS(0, "--engine", "blocking,uring,posix-aio,pool",
		                        "--workload", "disk-randread,socket-delay", "--size", "64k",
		                        "--wait", "park", tiny[i][0], tiny[i][1], tiny[i][2],
		                        tiny[i][3]);

		CHECK_EQUAL(json_array_size(runs), 8);
		json_decref(runs);
	}
}

TEST(cases, a_run_of_nothing_is_refused)
{
	static const char *const refused[][2] = {
	    {"--runtime", "0"}, {"--depth", "0"},       {"--operations", "0"},
	    {"--size", "0"},    {"--size", "1k"},       {"--bs", "1000"},
	    {"--batch", "-1"},  {"--runtime", "1e300"}, {"--seed", "18446744073709551616"},
	};

	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		struct process_result result;

		PROCESS_RUN(&result, "run", "--engine", "null", refused[i][0], refused[i][1]);
		CHECK_STATUS(&result, 2);
		CHECK_CONTAINS(result.err, refused[i][0]);
		CHECK_STRING(result.out, "");
		process_free(&result);
	}
}

TEST(cases, an_empty_file_and_a_file_under_a_block_are_refused)
{
	char directory[256], path[300];

	process_make_directory(directory);
	snprintf(path, sizeof path, "%s/small", directory);
	for (int bytes = 0; bytes <= 100; bytes += 100) {
		FILE *f = fopen(path, "w");
		json_t *runs;

		for (int i = 0; i < bytes; i++)
			fputc('x', f);
		fclose(f);
		runs = CLI_RUNS(1, "--engine", "blocking", "--workload", "disk-randread",
		                "--filename", path, "--runtime", "10ms");
		CHECK_CONTAINS(cli_text(json_array_get(runs, 0), "why"), "less than one block");
		json_decref(runs);
	}
	process_remove_directory(directory);
}

/* sysstat#128 */
TEST(cases, no_locale_changes_a_figure)
{
	struct process p = {
	    .argv = (const char *const[]){"--engine", "null", "--workload", "timer-delay", QUICK,
	                                  NULL},
	    .environment = (const char *const[]){"LC_ALL=de_DE.UTF-8", "LANG=de_DE.UTF-8", NULL}};
	json_t *runs = cli_runs(p, 0);

	CHECK(cli_number(json_array_get(runs, 0), "measured.operations") > 0);
	json_decref(runs);
}

TEST(cases, what_is_mistyped_is_answered_with_the_nearest)
{
	static const char *const mistyped[][3] = {
	    {"--engine", "urng", "uring"}, {"--workload", "disk-randred", "disk-randread"},
	    {"--probe", "bfp", "bpf"},     {"--wait", "sleep", "compute"},
	    {"--dept", "3x", "--depth"},   {"--egnine", "uring", "engine"},
	};

	for (size_t i = 0; i < sizeof mistyped / sizeof *mistyped; i++) {
		struct process_result result;

		PROCESS_RUN(&result, "run", mistyped[i][0], mistyped[i][1]);
		CHECK_STATUS(&result, 2);
		CHECK_CONTAINS(result.err, mistyped[i][2]);
		process_free(&result);
	}
}

TEST(cases, too_few_descriptors_are_named_with_the_remedy)
{
	struct process p = {.argv = (const char *const[]){"--engine", "epoll", "--workload",
	                                                  "socket-delay", "--depth", "1000", QUICK,
	                                                  "--wait", "park", NULL},
	                    .limits = {{RLIMIT_NOFILE, 256}},
	                    .limit_count = 1};
	json_t *runs = cli_runs(p, 1);

	CHECK_CONTAINS(cli_text(json_array_get(runs, 0), "why"), "RLIMIT_NOFILE is 256");
	CHECK_CONTAINS(cli_text(json_array_get(runs, 0), "why"), "--depth 192");
	json_decref(runs);
}

TEST(cases, a_probe_that_is_asked_for_is_required)
{
	struct process p = {.argv = (const char *const[]){"--engine", "null", "--workload",
	                                                  "timer-delay", "--probe", "bpf", QUICK,
	                                                  NULL},
	                    .user = 65534};
	json_t *runs;

	if (!process_is_root())
		SKIP("becoming another user needs root");
	runs = cli_runs(p, 77);
	CHECK_STRING(cli_text(json_array_get(runs, 0), "status"), "skipped");
	CHECK_CONTAINS(cli_text(json_array_get(runs, 0), "why"), "probe bpf");
	json_decref(runs);
}

TEST(cases, a_file_of_the_user_stays_as_it_was)
{
	char directory[256], path[300], text[64] = "";
	json_t *runs;
	FILE *f;

	process_make_directory(directory);
	snprintf(path, sizeof path, "%s/thesis", directory);
	f = fopen(path, "w");
	for (int i = 0; i < 8192; i++)
		fputc("abcdefg\n"[i % 8], f);
	fclose(f);
	runs = CLI_RUNS(0, "--engine", "blocking,uring", "--workload", "disk-randread",
	                "--filename", path, "--runtime", "50ms", "--wait", "park");
	for (size_t i = 0; i < json_array_size(runs); i++)
		CHECK(json_is_false(cli_at(json_array_get(runs, i), "measured.verified")));
	json_decref(runs);
	f = fopen(path, "r");
	REQUIRE(f);
	CHECK(fgets(text, sizeof text, f));
	CHECK_STRING(text, "abcdefg\n");
	fseek(f, 0, SEEK_END);
	CHECK_EQUAL(ftell(f), 8192);
	fclose(f);
	process_remove_directory(directory);
}
