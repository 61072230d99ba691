/*
 * Every engine on every file system that this machine can make: the data is right, the result
 * names where it was, and what cannot be served says so.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "tests/cli_runs.h"
#include "tests/scratch.h"
#include "tests/test.h"

struct filesystem {
	const char *name, *options; /* of mkfs */
	uint64_t bytes;             /* of the disk, which is sparse */
	bool has_device;
	bool serves_nowait; /* reads with RWF_NOWAIT: EXPERIMENTS, facts 8 and 11 */
};

/* Runs all engines there, and looks at each result. */
static void engines_run(const struct filesystem *fs, const char *directory, const char *device)
{
	json_t *runs = CLI_RUNS(0, "--engine", "all", "--workload", "disk-randread,disk-randwrite",
	                        "--operations", "150", "--size", "2m", "--depth", "8", "--wait",
	                        "park", "--probe", "none", "--directory", directory);

	CHECK(json_array_size(runs) >= 20);
	for (size_t i = 0; i < json_array_size(runs); i++) {
		const json_t *run = json_array_get(runs, i);
		const char *engine = cli_text(run, "plan.engine");

		CHECK_STRING(cli_text(run, "environment.filesystem"), fs->name);
		CHECK(json_is_boolean(cli_at(run, "environment.nowait_read")));
		CHECK_EQUAL(json_is_true(cli_at(run, "environment.nowait_read")),
		            fs->serves_nowait);
		if (fs->has_device)
			CHECK_STRING(cli_text(run, "environment.device"), strrchr(device, '/') + 1);
		if (strcmp(engine, "epoll") == 0 || strcmp(engine, "uring-iopoll") == 0) {
			CHECK_STRING(cli_text(run, "status"), "skipped");
			CHECK(*cli_text(run, "why"));
			continue;
		}
		CHECK_MESSAGE(strcmp(cli_text(run, "status"), "ok") == 0, "%s on %s: %s", engine,
		              fs->name, cli_text(run, "why"));
		CHECK_EQUAL(cli_number(run, "measured.operations"), 150);
		CHECK(json_is_true(cli_at(run, "measured.verified")));
		if (strcmp(cli_text(run, "plan.workload"), "disk-randwrite") == 0) {
			CHECK(cli_number(run, "measured.read_back.checked_blocks") >= 50);
			CHECK_EQUAL(cli_number(run, "measured.read_back.wrong_blocks"), 0);
		}
	}
	json_decref(runs);
}

static void disk_try(const struct filesystem *fs)
{
	struct scratch disk;
	char why[200];

	if (!scratch_open(&disk, fs->bytes, 512, false, why))
		SKIP("%s", why);
	if (scratch_mount(&disk, fs->name, fs->options, why))
		engines_run(fs, disk.mount, disk.device);
	else
		test_skip(__FILE__, __LINE__, "%s", why);
	scratch_close(&disk);
}

TEST(filesystems, every_engine_serves_ext4)
{
	disk_try(&(struct filesystem){"ext4", "-q -F", 64 << 20, true, true});
}

TEST(filesystems, every_engine_serves_xfs)
{
	disk_try(&(struct filesystem){"xfs", "-q -f", 320 << 20, true, true});
}

TEST(filesystems, every_engine_serves_btrfs)
{
	disk_try(&(struct filesystem){"btrfs", "-q -f", 128 << 20, true, true});
}

TEST(filesystems, every_engine_serves_tmpfs)
{
	const struct filesystem fs = {.name = "tmpfs"};
	struct scratch disk;
	char why[200];

	if (!scratch_memory(&disk, "size=16m", why))
		SKIP("%s", why);
	engines_run(&fs, disk.directory, NULL);
	scratch_close(&disk);
}

TEST(filesystems, every_engine_serves_overlay)
{
	const struct filesystem fs = {.name = "overlay"};
	static const char *const parts[] = {"lower", "upper", "work", "merged"};
	char directory[256], path[4][300], options[1000];

	if (!process_is_root())
		SKIP("mounting needs root");
	process_make_directory(directory);
	for (int i = 0; i < 4; i++) {
		snprintf(path[i], sizeof path[i], "%.250s/%s", directory, parts[i]);
		CHECK_EQUAL(mkdir(path[i], 0755), 0);
	}
	snprintf(options, sizeof options, "lowerdir=%s,upperdir=%s,workdir=%s", path[0], path[1],
	         path[2]);
	if (mount("none", path[3], "overlay", 0, options) != 0) {
		test_skip(__FILE__, __LINE__, "an overlay cannot be mounted here: %s",
		          strerror(errno));
	} else {
		engines_run(&fs, path[3], NULL);
		CHECK_EQUAL(umount2(path[3], MNT_DETACH), 0);
	}
	process_remove_directory(directory);
}
