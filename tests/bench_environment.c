/*
 * The environment object against other sources of the same facts, and against places that are
 * no disk.
 */
#include "bench/environment.h"
#include "bench/environment_place.h"
#include "tests/process.h"
#include "tests/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

TEST(environment, agrees_with_the_system_about_the_machine)
{
	struct environment env;
	struct utsname uts;

	CHECK_EQUAL(environment_read(&env, "/"), 0);
	REQUIRE(uname(&uts) == 0);
	CHECK_STRING(env.kernel, uts.release);
	CHECK_STRING(env.host, uts.nodename);
	CHECK_STRING(env.iostudy, IOSTUDY_VERSION);
	CHECK_EQUAL(env.cpus, sysconf(_SC_NPROCESSORS_ONLN));
	CHECK_BETWEEN(env.cpus_allowed, 1, env.cpus);
	CHECK_BETWEEN(env.memory_bytes, 1e8, 1e14);
	CHECK_BETWEEN(env.load_1, 0, 1e5);
	CHECK(*env.virtualised);
	CHECK(*env.clocksource);
}

TEST(environment, names_the_type_of_each_mount_that_it_is_asked_for)
{
	static const char *const places[] = {"/", "/proc", "/sys", "/dev", "/tmp", "/var/tmp"};
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		struct environment env;
		struct process_result findmnt;
		const char *const arguments[] = {"-no", "FSTYPE", "-T", places[i], NULL};
		process_run(&(struct process){.program = "findmnt", .argv = arguments}, &findmnt);
		if (findmnt.started && findmnt.status == 0) {
			CHECK_EQUAL(environment_read(&env, places[i]), 0);
			findmnt.out[strcspn(findmnt.out, "\n")] = 0;
			CHECK_STRING(env.filesystem, findmnt.out);
		}
		process_free(&findmnt);
	}
}

TEST(environment, leaves_nothing_in_the_directory)
{
	char directory[256];
	struct environment env;

	process_make_directory(directory);
	CHECK_EQUAL(environment_read(&env, directory), 0);
	CHECK(env.nowait_read != ANSWER_UNKNOWN);
	CHECK(env.direct_read != ANSWER_UNKNOWN);
	CHECK_EQUAL(rmdir(directory), 0);
}

TEST(environment, finds_the_disk_below_a_file_with_its_queue)
{
	char directory[256], file[300], queue[300];
	struct environment env, of_file;

	process_make_directory(directory);
	REQUIRE(environment_read(&env, directory) == 0);
	snprintf(file, sizeof file, "%s/file", directory);
	const int fd = open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	REQUIRE(fd >= 0 && ftruncate(fd, 8192) == 0);
	close(fd);
	CHECK_EQUAL(environment_read(&of_file, file), 0);
	CHECK_STRING(of_file.device, env.device);
	CHECK_EQUAL(of_file.direct_read, env.direct_read);
	CHECK_EQUAL(of_file.nowait_read, env.nowait_read);
	process_remove_directory(directory);
	if (!*env.device)
		SKIP("/var/tmp is on %s, without a block device", env.filesystem);
	snprintf(queue, sizeof queue, "/sys/block/%s/queue/nr_requests", env.device);
	CHECK_EQUAL(env.nr_requests, environment_file_number(queue));
	CHECK(env.rotational != ANSWER_UNKNOWN);
	CHECK_BETWEEN(env.logical_block_bytes, 512, 65536);
}

TEST(environment, says_that_memory_is_no_disk)
{
	struct environment env;
	char text[240];

	REQUIRE(environment_read(&env, "/dev/shm") == 0);
	if (strcmp(env.filesystem, "tmpfs") != 0)
		SKIP("/dev/shm is no tmpfs here but %s", env.filesystem);
	CHECK(env.in_memory);
	CHECK_STRING(env.device, "");
	CHECK_EQUAL(env.nr_requests, -1);
	REQUIRE(environment_caveat(&env, "/dev/shm", text));
	CHECK_CONTAINS(text, "memory");
	CHECK_CONTAINS(text, "--directory");
	CHECK(environment_read(&env, "/proc") == 0 && !env.in_memory);
}

TEST(environment, speaks_against_an_overlay_and_not_against_a_disk)
{
	struct environment env = {.filesystem = "overlay", .layered = true};
	char text[240], long_path[1024];

	CHECK(environment_caveat(&env, NULL, text));
	CHECK_CONTAINS(text, "overlay");
	memset(long_path, 'a', sizeof long_path - 1);
	long_path[sizeof long_path - 1] = 0;
	CHECK(environment_caveat(&env, long_path, text));
	CHECK_CONTAINS(text, "--directory");
	env = (struct environment){.filesystem = "ext4"};
	CHECK(!environment_caveat(&env, ".", text));
}

TEST(environment, knows_the_machine_also_where_the_place_cannot_be_looked_at)
{
	struct environment env;
	CHECK_EQUAL(environment_read(&env, "/nonexistent/place"), -ENOENT);
	CHECK_EQUAL(environment_read(&env, "/etc/passwd/place"), -ENOTDIR);
	CHECK(env.cpus > 0);
	CHECK_STRING(env.filesystem, "");
	CHECK_EQUAL(env.nowait_read, ANSWER_UNKNOWN);
	CHECK_EQUAL(environment_read(&env, "/dev/null"), 0);
	CHECK_EQUAL(env.direct_read, ANSWER_UNKNOWN);
}

TEST(environment, reads_a_mount_table_with_odd_names)
{
	static const char table[] =
	    "21 1 254:0 / / rw,relatime shared:1 - ext4 /dev/root rw\n"
	    "33 21 0:28 / /a\\040-\\040b rw - btrfs /dev/mapper/a\\040b rw,subvol=/\n"
	    "34 21 0:29 / /broken rw\n"
	    "35 21 0:30 / /x rw - fuse.sshfs host:/x rw";
	char type[ENVIRONMENT_TEXT_SIZE], source[ENVIRONMENT_TEXT_SIZE];

	CHECK(environment_mount_find(table, 21, type, source));
	CHECK_STRING(type, "ext4");
	CHECK(environment_mount_find(table, 33, type, source));
	CHECK_STRING(type, "btrfs");
	CHECK_STRING(source, "/dev/mapper/a b");
	CHECK(!environment_mount_find(table, 34, type, source));
	CHECK(environment_mount_find(table, 35, type, source));
	CHECK_STRING(source, "host:/x");
	CHECK(!environment_mount_find(table, 3, type, source));
	CHECK_STRING(environment_magic_name(0x01021994), "tmpfs");
	CHECK(!environment_magic_name(1));
}

TEST(environment, picks_the_scheduler_that_is_in_use)
{
	char chosen[ENVIRONMENT_TEXT_SIZE];
	environment_chosen("none [mq-deadline] kyber", chosen);
	CHECK_STRING(chosen, "mq-deadline");
	environment_chosen("none", chosen);
	CHECK_STRING(chosen, "none");
	environment_chosen("broken] [x", chosen);
	CHECK_STRING(chosen, "broken] [x");
}

TEST(environment, counts_stolen_time_that_only_grows)
{
	const int64_t before = environment_steal_ns();
	CHECK(before >= 0);
	CHECK(environment_steal_ns() >= before);
}
