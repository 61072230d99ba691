/*
 * The disk workloads as a user runs them: what is written stands there, files of his are safe, and
 * blocks, depths and sizes have limits with names.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench/environment.h"
#include "tests/cli_runs.h"
#include "tests/test.h"

/* Of engines that write as the pool does there is one too many to try each. */
#define SOME_ENGINES "--engine", "blocking,posix-aio,libaio,epoll-offload,uring,uring-async"

static void check_read_back(const json_t *run)
{
	const double written = cli_number(run, "measured.read_back.written_blocks");

	CHECK_MESSAGE(strcmp(cli_text(run, "status"), "ok") == 0, "%s %s: %s",
	              cli_text(run, "plan.engine"), cli_text(run, "plan.workload"),
	              cli_text(run, "why"));
	CHECK(written >= 50);
	CHECK_EQUAL(cli_number(run, "measured.read_back.checked_blocks"), written);
	CHECK_EQUAL(cli_number(run, "measured.read_back.wrong_blocks"), 0);
}

TEST(disk_runs, what_is_written_stands_there_whoever_wrote_it)
{
	static const char *const ways[][6] = {
	    {"--direct", "1", "--files", "1"},
	    {"--direct", "1", "--files", "3"},
	    {"--direct", "0", "--files", "1", "--fsync", "10"},
	};

	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		json_t *runs = CLI_RUNS(0, SOME_ENGINES, "--workload",
		                        "disk-randwrite,disk-seqwrite,disk-randrw", "--operations",
		                        "300", "--size", "2m", "--wait", "park", "--probe", "none",
		                        "--depth", "8", ways[i][0], ways[i][1], ways[i][2],
		                        ways[i][3], ways[i][4], ways[i][5]);

		CHECK_EQUAL(json_array_size(runs), 18);
		for (size_t k = 0; k < json_array_size(runs); k++)
			check_read_back(json_array_get(runs, k));
		CHECK_EQUAL(cli_number(json_array_get(runs, 0), "plan.files"), i == 1 ? 3 : 1);
		json_decref(runs);
	}
}

TEST(disk_runs, an_fsync_belongs_to_the_write_in_every_engine_with_files)
{
	json_t *runs = CLI_RUNS(0, "--engine", "all", "--workload", "disk-fsync", "--operations",
	                        "40", "--size", "1m", "--wait", "park", "--probe", "none",
	                        "--depth", "4");

	for (size_t i = 0; i < json_array_size(runs); i++) {
		const json_t *run = json_array_get(runs, i);

		CHECK_EQUAL(cli_number(run, "plan.fsync_every"), 1);
		if (strcmp(cli_text(run, "status"), "skipped") == 0)
			CHECK(strcmp(cli_text(run, "plan.engine"), "epoll") == 0 ||
			      strcmp(cli_text(run, "plan.engine"), "uring-iopoll") == 0);
		else
			CHECK_MESSAGE(cli_number(run, "measured.operations") == 40, "%s: %s",
			              cli_text(run, "plan.engine"), cli_text(run, "why"));
	}
	json_decref(runs);
}

/* Eight passes over the file by threads that are never equally fast. */
TEST(disk_runs, a_cold_read_by_many_threads_is_of_the_disk_in_every_pass)
{
	json_t *runs;

	if (!process_is_root())
		SKIP("counting block requests needs root");
	runs = CLI_RUNS(0, "--engine", "blocking", "--workload", "disk-randread", "--threads", "8",
	                "--depth", "8", "--direct", "0", "--cache", "cold", "--size", "2m",
	                "--operations", "4096");
	CHECK(cli_number(json_array_get(runs, 0), "probes.0.block.bytes") >= 0.95 * 4096 * 4096);
	json_decref(runs);
}

/* fio#718: POSIX AIO has a helper for each file, never more. */
TEST(disk_runs, posix_aio_serves_as_many_at_a_time_as_there_are_files)
{
	json_t *runs;

	if (!process_is_root())
		SKIP("counting helpers exactly needs root");
	runs = CLI_RUNS(0, "--engine", "posix-aio", "--workload", "disk-randread", "--files", "8",
	                "--depth", "16", "--runtime", "1s", "--size", "64m", "--wait", "park");
	CHECK_BETWEEN(cli_number(json_array_get(runs, 0), "summary.served_mean"), 1.2, 8.01);
	CHECK(!cli_finding(json_array_get(runs, 0), "SERIAL-PER-FILE"));
	json_decref(runs);
}

TEST(disk_runs, a_users_file_is_written_to_only_when_he_says_so)
{
	char directory[256], path[300], text[64] = "";
	struct process_result result;
	json_t *runs;
	FILE *f;

	process_make_directory(directory);
	snprintf(path, sizeof path, "%s/thesis", directory);
	f = fopen(path, "w");
	for (int i = 0; i < 1 << 20; i++)
		fputc("abcdefg\n"[i % 8], f);
	fclose(f);
	PROCESS_RUN(&result, "run", "--engine", "uring", "--workload", "disk-seqwrite",
	            "--filename", path);
	CHECK_STATUS(&result, 2);
	CHECK_CONTAINS(result.err, "add --overwrite if its contents may be lost");
	process_free(&result);
	f = fopen(path, "r");
	CHECK(fgets(text, sizeof text, f));
	CHECK_STRING(text, "abcdefg\n");
	fclose(f);
	runs = CLI_RUNS(0, "--engine", "uring", "--workload", "disk-randwrite,disk-randrw",
	                "--filename", path, "--overwrite", "--operations", "100", "--wait", "park",
	                "--probe", "none");
	check_read_back(json_array_get(runs, 0));
	CHECK(json_is_false(cli_at(json_array_get(runs, 0), "measured.verified")));
	json_decref(runs);
	CHECK_EQUAL(access(path, F_OK), 0);
	process_remove_directory(directory);
}

/* Its last block is not whole, and is left alone. */
TEST(disk_runs, a_file_of_an_odd_size_is_read_to_its_last_whole_block)
{
	char directory[256], path[300];
	json_t *runs;

	process_make_directory(directory);
	snprintf(path, sizeof path, "%s/odd", directory);
	close(creat(path, 0600));
	CHECK_EQUAL(truncate(path, 10001), 0);
	runs = CLI_RUNS(0, "--engine", "blocking,posix-aio,libaio,uring", "--workload",
	                "disk-seqread,disk-randread", "--filename", path, "--operations", "50",
	                "--depth", "4", "--wait", "park", "--probe", "none");
	for (size_t i = 0; i < json_array_size(runs); i++) {
		CHECK_EQUAL(cli_number(json_array_get(runs, i), "measured.bytes"), 50 * 4096);
		CHECK_EQUAL(cli_number(json_array_get(runs, i), "measured.short"), 0);
	}
	json_decref(runs);
	process_remove_directory(directory);
}

TEST(disk_runs, blocks_and_depths_have_named_limits)
{
	char directory[256], path[300];
	json_t *runs;

	process_make_directory(directory);
	snprintf(path, sizeof path, "%s/sparse", directory);
	close(creat(path, 0600));
	CHECK_EQUAL(truncate(path, 1 << 30), 0);
	runs = CLI_RUNS(1, "--engine", "uring", "--workload", "disk-randread", "--bs", "1g",
	                "--depth", "100000", "--filename", path, "--wait", "park");
	CHECK_CONTAINS(cli_text(json_array_get(runs, 0), "why"), "needs 100000g of memory, and ");
	json_decref(runs);
	runs = CLI_RUNS(0, "--engine", "uring,libaio", "--workload", "disk-randread", "--bs", "64m",
	                "--depth", "2", "--filename", path, "--operations", "4", "--wait", "park",
	                "--probe", "none");
	CHECK_EQUAL(cli_number(json_array_get(runs, 0), "measured.bytes"), 256 << 20);
	CHECK_EQUAL(cli_number(json_array_get(runs, 1), "measured.bytes"), 256 << 20);
	json_decref(runs);
	process_remove_directory(directory);
}

/* The window does not begin before the depth was reached, however long that takes. */
TEST(disk_runs, the_greatest_depth_is_reached_before_the_window)
{
	json_t *runs = CLI_RUNS(0, "--engine", "uring", "--workload", "disk-randread", "--depth",
	                        "131072", "--runtime", "300ms", "--warmup", "0", "--size", "4m",
	                        "--wait", "park", "--probe", "none");
	const json_t *run = json_array_get(runs, 0);

	CHECK(cli_number(run, "summary.in_flight_mean") > 0.9 * 131072 ||
	      cli_finding(run, "DEPTH-NOT-REACHED"));
	json_decref(runs);
}

TEST(disk_runs, more_native_requests_than_the_machine_allows_are_refused_with_the_setting)
{
	json_t *runs;

	if (environment_setting("fs/aio-max-nr") >= 131072)
		SKIP("fs.aio-max-nr allows the greatest depth here");
	runs = CLI_RUNS(1, "--engine", "libaio", "--workload", "disk-randread", "--depth", "131072",
	                "--runtime", "300ms", "--size", "4m", "--wait", "park", "--probe", "none");
	CHECK_CONTAINS(cli_text(json_array_get(runs, 0), "why"), "fs.aio-max-nr is ");
	CHECK_CONTAINS(cli_text(json_array_get(runs, 0), "why"), "sysctl fs.aio-max-nr=");
	CHECK_CONTAINS(cli_text(json_array_get(runs, 0), "why"), "a smaller --depth");
	json_decref(runs);
}
