/*
 * The disk workloads run into every failure that a disk has: full, limited, read-only, in use, cut,
 * with errors, with large sectors. Each ends its run with its place and the reason, status 1.
 */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/cli_runs.h"
#include "tests/scratch.h"
#include "tests/test.h"

/* A sparse file that the place cannot hold. */
TEST(disk_errors, a_disk_that_is_full_in_mid_run_is_named)
{
	struct scratch disk;
	char path[300], why[200];
	json_t *runs;

	if (!scratch_memory(&disk, "size=1m", why))
		SKIP("%s", why);
	snprintf(path, sizeof path, "%s/sparse", disk.directory);
	close(creat(path, 0600));
	CHECK_EQUAL(truncate(path, 8 << 20), 0);
	runs = CLI_RUNS(1, "--engine", "blocking,libaio,uring", "--workload", "disk-randwrite",
	                "--filename", path, "--overwrite", "--runtime", "5s", "--wait", "park",
	                "--probe", "none", "--direct", "0");
	for (size_t i = 0; i < 3; i++) {
		const json_t *run = json_array_get(runs, i);

		CHECK_STRING(cli_text(run, "status"), "failed");
		CHECK_CONTAINS(cli_text(run, "why"), "No space left on device");
	}
	json_decref(runs);
	scratch_close(&disk);
}

TEST(disk_errors, a_file_beyond_its_limit_is_named_with_the_limit)
{
	char directory[256], path[300];
	struct process p = {.argv = (const char *const[]){"--engine", "blocking,pool,uring",
	                                                  "--workload", "disk-randwrite",
	                                                  "--filename", path, "--overwrite",
	                                                  "--runtime", "5s", "--wait", "park",
	                                                  "--probe", "none", NULL},
	                    .limits = {{RLIMIT_FSIZE, (1 << 20) + 1024}},
	                    .limit_count = 1};
	json_t *runs;

	process_make_directory(directory);
	snprintf(path, sizeof path, "%s/large", directory);
	close(creat(path, 0600));
	CHECK_EQUAL(truncate(path, 8 << 20), 0);
	runs = cli_runs(p, 1);
	for (size_t i = 0; i < 3; i++) {
		const json_t *run = json_array_get(runs, i);

		CHECK_STRING(cli_text(run, "status"), "failed");
		CHECK_CONTAINS(cli_text(run, "why"), "File too large; the limit is RLIMIT_FSIZE");
	}
	json_decref(runs);
	process_remove_directory(directory);
}

TEST(disk_errors, what_cannot_be_written_is_refused_before_the_run)
{
	struct scratch disk;
	char path[300], why[200];
	struct process p = {.argv = (const char *const[]){"--engine", "uring", "--workload",
	                                                  "disk-randwrite", "--filename", path,
	                                                  "--overwrite", "--runtime", "1s",
	                                                  "--wait", "park", NULL},
	                    .user = 65534};
	json_t *runs;

	if (!scratch_memory(&disk, "size=4m", why))
		SKIP("%s", why);
	snprintf(path, sizeof path, "%s/locked", disk.directory);
	close(creat(path, 0444));
	CHECK_EQUAL(truncate(path, 1 << 20), 0);
	runs = cli_runs(p, 1);
	CHECK_CONTAINS(cli_text(json_array_get(runs, 0), "why"), "Permission denied");
	json_decref(runs);
	CHECK_EQUAL(mount("none", disk.directory, "tmpfs", MS_REMOUNT | MS_RDONLY, "size=4m"), 0);
	p.user = 0;
	runs = cli_runs(p, 1);
	CHECK_CONTAINS(cli_text(json_array_get(runs, 0), "why"), "Read-only file system");
	json_decref(runs);
	scratch_close(&disk);
}

static void check_disk_error(const char *workload, const char *device, const char *what,
                             const char *error, const char *option)
{
	json_t *runs = CLI_RUNS(1, "--engine", "blocking,posix-aio,libaio,uring", "--workload",
	                        workload, "--filename", device, "--runtime", "5s", "--wait", "park",
	                        "--probe", "none", option);

	CHECK_EQUAL(json_array_size(runs), 4);
	for (size_t i = 0; i < json_array_size(runs); i++) {
		const json_t *run = json_array_get(runs, i);

		CHECK_STRING(cli_text(run, "status"), "failed");
		CHECK_CONTAINS(cli_text(run, "why"), what);
		CHECK_CONTAINS(cli_text(run, "why"), error);
		CHECK_MESSAGE(isnan(cli_number(run, "summary.iops")), "%s has a rate of %g",
		              cli_text(run, "plan.engine"), cli_number(run, "summary.iops"));
	}
	json_decref(runs);
}

/* A disk whose second half is missing, a thin one that has no room for what is written, and one
 * that takes no writes. */
TEST(disk_errors, an_error_of_the_disk_is_named_with_its_place)
{
	struct scratch disk;
	char why[200];

	if (!scratch_open(&disk, 8 << 20, 512, false, why))
		SKIP("%s", why);
	CHECK_EQUAL(truncate(disk.image, 4 << 20), 0);
	check_disk_error("disk-randread", disk.device, "read at offset", "Input/output error",
	                 "--json");
	scratch_close(&disk);
	if (!scratch_open(&disk, 8 << 20, 512, true, why))
		SKIP("%s", why);
	check_disk_error("disk-randwrite", disk.device, "write at offset",
	                 "No space left on device", "--overwrite");
	scratch_close(&disk);
	if (!scratch_open_unwritable(&disk, 8 << 20, why))
		SKIP("%s", why);
	check_disk_error("disk-randwrite", disk.device, "write at offset", "Input/output error",
	                 "--overwrite");
	check_disk_error("disk-fsync", disk.device, "offset", "Input/output error", "--overwrite");
	scratch_close(&disk);
}

TEST(disk_errors, a_block_device_in_use_is_not_written_to)
{
	struct scratch disk;
	char why[200];
	json_t *runs;

	if (!scratch_open(&disk, 16 << 20, 512, false, why))
		SKIP("%s", why);
	if (!scratch_mount(&disk, "ext4", "", why)) {
		scratch_close(&disk);
		SKIP("%s", why);
	}
	runs = CLI_RUNS(1, "--engine", "uring", "--workload", "disk-randwrite", "--filename",
	                disk.device, "--overwrite", "--runtime", "1s", "--wait", "park");
	CHECK_CONTAINS(cli_text(json_array_get(runs, 0), "why"),
	               "in use, by a mounted file system");
	json_decref(runs);
	scratch_close(&disk);
}

/* A disk of sectors of 4 KiB takes no direct transfer of 512 bytes. */
TEST(disk_errors, a_direct_block_of_an_odd_size_is_refused_with_the_size_that_fits)
{
	struct scratch disk;
	char why[200];
	json_t *runs;

	if (!scratch_open(&disk, 16 << 20, 4096, false, why))
		SKIP("%s", why);
	runs = CLI_RUNS(1, "--engine", "blocking,uring", "--workload", "disk-randread",
	                "--filename", disk.device, "--bs", "512", "--runtime", "1s", "--wait",
	                "park", "--probe", "none");
	for (size_t i = 0; i < 2; i++) {
		CHECK_CONTAINS(cli_text(json_array_get(runs, i), "why"),
		               "O_DIRECT takes multiples of 4096 bytes there, and --bs is 512");
		CHECK_CONTAINS(cli_text(json_array_get(runs, i), "why"), "--direct 0");
	}
	json_decref(runs);
	scratch_close(&disk);
}

/* The last blocks of the file go away while they are read. */
TEST(disk_errors, a_file_that_is_cut_in_mid_run_ends_it)
{
	char directory[256], path[300], script[900];
	const char *const arguments[] = {"-c", script, NULL};
	struct process_result result;

	process_make_directory(directory);
	snprintf(path, sizeof path, "%s/file", directory);
	close(creat(path, 0600));
	CHECK_EQUAL(truncate(path, 8 << 20), 0);
	snprintf(script, sizeof script,
	         "{ sleep 0.7; truncate -s 5000 %s; } & "
	         "%s/iostudy run --json --engine uring,blocking --workload disk-randread "
	         "--direct 0 --wait park --probe none --runtime 20s --filename %s; s=$?; wait; "
	         "exit $s",
	         path, test_build_directory(), path);
	process_run(&(struct process){.program = "sh", .argv = arguments}, &result);
	CHECK_STATUS(&result, 1);
	CHECK_CONTAINS(result.out, "its end came at offset");
	CHECK(!strstr(result.out, "\"status\":\"ok\""));
	process_free(&result);
	process_remove_directory(directory);
}

/* An fsync that is forbidden: its run fails, and the file of the next one is made anew. */
TEST(disk_errors, a_failed_write_spoils_no_later_run)
{
	struct process p = {.argv = (const char *const[]){"--engine", "blocking,pool", "--workload",
	                                                  "disk-fsync,disk-randread", "--size",
	                                                  "2m", "--operations", "200", "--wait",
	                                                  "park", "--probe", "none", NULL},
	                    .denied = {SYS_fsync},
	                    .denied_count = 1};
	json_t *runs = cli_runs(p, 1);

	CHECK_EQUAL(json_array_size(runs), 4);
	for (size_t i = 0; i < 2; i++) {
		CHECK_CONTAINS(cli_text(json_array_get(runs, i), "why"), "fsync at offset");
		CHECK_STRING(cli_text(json_array_get(runs, i + 2), "status"), "ok");
		CHECK(json_is_true(cli_at(json_array_get(runs, i + 2), "measured.verified")));
	}
	json_decref(runs);
}
