/*
 * Block requests against a known number of direct reads; the self-test; what stays loaded.
 */
#include <aio.h>
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "tests/probe_help.h"
#include "tests/test.h"

enum { READS = 500, BLOCK = 4096, UNSEEN_MAX = 4 };

static int made_file(char path[256])
{
	static char block[1 << 20];
	int fd;

	snprintf(path, 256, "%s/tests/probe_block.data", test_build_directory());
	fd = open(path, O_CREAT | O_TRUNC | O_RDWR, 0600);
	for (int i = 0; i < READS * BLOCK / (int)sizeof block + 1 && fd >= 0; i++)
		if (write(fd, block, sizeof block) != sizeof block)
			return -1;
	fsync(fd);
	close(fd);
	return open(path, O_RDONLY | O_DIRECT);
}

static bool on_block_device(int fd)
{
	struct stat status;

	return !fstat(fd, &status) && major(status.st_dev) != 0;
}

static void reads(void *argument, int input, int output)
{
	const int fd = *(int *)argument;
	void *block = NULL;
	char byte;

	(void)!posix_memalign(&block, BLOCK, BLOCK);
	dprintf(output, "ready\n");
	(void)!read(input, &byte, 1);
	for (int i = 0; i < READS; i++)
		if (pread(fd, block, BLOCK, (off_t)i * BLOCK) != BLOCK)
			_exit(1);
	dprintf(output, "done\n");
	(void)!read(input, &byte, 1);
	_exit(0);
}

static uint64_t sum(const uint64_t *counters, int count)
{
	uint64_t all = 0;

	for (int i = 0; i < count; i++)
		all += counters[i];
	return all;
}

TEST(probe_block, every_direct_read_is_one_request_and_one_completion)
{
	struct probe_config config = {.source = SOURCE_DISK};
	static struct probe_reading from, to, window;
	struct program program;
	uint64_t seen;
	struct probe probe;
	char why[PROBE_WHY_SIZE], path[256];
	int fd = made_file(path);

	if (fd < 0 || !on_block_device(fd))
		SKIP("no direct reads from a block device in the build folder");
	config.test_directory = test_build_directory();
	OPEN_BPF(&probe, &config);
	CHECK_STRING(probe.self_test_why, "");
	CHECK_EQUAL(probe.self_test, SELF_TEST_OK);
	REQUIRE(program_fork(&program, reads, &fd));
	REQUIRE(program_expect(&program, "ready"));
	CHECK_EQUAL(probe_attach(&probe, program.pid, why), 0);
	CHECK_EQUAL(probe_read(&probe, &from), 0);
	CHECK_EQUAL(from.block_requests, 0); /* the self-test's is not the subject's */
	program_send(&program, 'g');
	CHECK(program_expect(&program, "done"));
	CHECK_EQUAL(probe_read(&probe, &to), 0);
	probe_difference(&window, &from, &to);
	/* what completed unseen counts when its request is used again, so the last may be missing
	 */
	CHECK_BETWEEN(window.block_requests, READS - UNSEEN_MAX, READS);
	CHECK_EQUAL(window.block_bytes, window.block_requests * BLOCK);
	seen = window.block_requests - window.completions_unseen;
	CHECK_BETWEEN(window.block_in_flight_ns, 1, window.time_ns);
	CHECK_BETWEEN(seen, READS * 0.9, READS);
	CHECK_EQUAL(sum(window.parked_at_completion, PROBE_PARKED_MAX), seen);
	CHECK_EQUAL(sum(window.arrived_in, ARRIVED_COUNT), seen);
	CHECK_EQUAL(sum(window.arrived_over, OVER_COUNT), seen);
	CHECK_BETWEEN(window.kinds[KIND_APPLICATION].parks, 1, READS + 2);
	CHECK_EQUAL(window.lost, 0);
	program_end(&program);
	probe_close(&probe);
	close(fd);
	unlink(path);
}

TEST(probe_block, the_self_test_says_why_it_proves_nothing_on_a_tmpfs)
{
	const struct probe_config config = {.source = SOURCE_DISK, .test_directory = "/dev/shm"};
	struct probe probe;

	if (access("/dev/shm", W_OK))
		SKIP("there is no writable tmpfs at /dev/shm");
	OPEN_BPF(&probe, &config);
	CHECK_EQUAL(probe.self_test, SELF_TEST_NONE);
	CHECK_CONTAINS(probe.self_test_why, "/dev/shm");
	probe_close(&probe);
}

/* POSIX AIO serves one file's requests in turn, in threads that it does not name. */
static void asks_glibc(void *argument, int input, int output)
{
	enum { DEPTH = 8 };
	const int fd = *(int *)argument;
	struct aiocb blocks[DEPTH] = {0};
	char byte;

	dprintf(output, "ready\n");
	(void)!read(input, &byte, 1);
	for (int round = 0; round < READS / DEPTH; round++) {
		for (int i = 0; i < DEPTH; i++) {
			void *memory = NULL;

			(void)!posix_memalign(&memory, BLOCK, BLOCK);
			blocks[i].aio_fildes = fd;
			blocks[i].aio_buf = memory;
			blocks[i].aio_nbytes = BLOCK;
			blocks[i].aio_offset = (off_t)(round * DEPTH + i) * BLOCK;
			if (aio_read(&blocks[i]))
				_exit(1);
		}
		for (int i = 0; i < DEPTH; i++) {
			const struct aiocb *one = &blocks[i];

			while (aio_error(one) == EINPROGRESS)
				aio_suspend(&one, 1, NULL);
			free((void *)one->aio_buf);
		}
	}
	dprintf(output, "done\n");
	(void)!read(input, &byte, 1);
	_exit(0);
}

TEST(probe_block, glibcs_hidden_helper_is_found_and_its_calls_are_timed)
{
	struct probe_config config = {
	    .source = SOURCE_DISK, .marked = true, .hidden_threads = true};
	static struct probe_reading from, to, window;
	struct program program;
	struct probe probe;
	char why[PROBE_WHY_SIZE], path[256];
	int fd = made_file(path);

	if (fd < 0 || !on_block_device(fd))
		SKIP("no direct reads from a block device in the build folder");
	OPEN_BPF(&probe, &config);
	REQUIRE(program_fork(&program, asks_glibc, &fd));
	REQUIRE(program_expect(&program, "ready"));
	CHECK_EQUAL(probe_attach(&probe, program.pid, why), 0);
	CHECK_EQUAL(probe_read(&probe, &from), 0);
	program_send(&program, 'g');
	CHECK(program_expect(&program, "done"));
	CHECK_EQUAL(probe_read(&probe, &to), 0);
	probe_difference(&window, &from, &to);
	const struct probe_kind *helper = &window.kinds[KIND_AIO_HELPER];
	CHECK_BETWEEN(helper->threads_max, 1, 8); /* one works; glibc may start more */
	CHECK_EQUAL(window.kinds[KIND_APPLICATION].threads_max, 1);
	CHECK_BETWEEN(window.block_requests, READS / 8 * 8 - UNSEEN_MAX, READS / 8 * 8);
	/* each request is in flight at the device only inside the helper's call */
	CHECK_BETWEEN(helper->called_ns, window.block_in_flight_ns, helper->alive_ns);
	CHECK_BETWEEN(helper->state_ns[STATE_PARKED_DIRECT], 1, helper->called_ns);
	program_end(&program);
	probe_close(&probe);
	close(fd);
	unlink(path);
}

/* The kernel's numbers of the BPF objects that this process holds open: "prog_id:", "map_id:",
 * "link_id:". Returns how many. */
static int own_objects(const char *field, uint32_t *ids, int most)
{
	int count = 0;

	for (int fd = 3; fd < 1024 && count < most; fd++) {
		char path[64], line[128];
		FILE *file;

		snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
		file = fopen(path, "r");
		while (file && fgets(line, sizeof line, file))
			if (strncmp(line, field, strlen(field)) == 0)
				ids[count++] = (uint32_t)atoi(line + strlen(field));
		if (file)
			fclose(file);
	}
	return count;
}

/* Whether the object of that number goes, at once or when the kernel comes to it. */
static bool goes(int (*open_id)(uint32_t id), uint32_t id)
{
	for (int i = 0; i < 500; i++) {
		const int fd = open_id(id);

		if (fd < 0)
			return true;
		close(fd);
		usleep(20000);
	}
	return false;
}

TEST(probe_block, nothing_stays_loaded_after_close)
{
	const struct probe_config config = {.source = SOURCE_DISK, .hidden_threads = true};
	static const char *const fields[] = {"prog_id:", "map_id:", "link_id:"};
	int (*const opens[])(uint32_t id) = {bpf_prog_get_fd_by_id, bpf_map_get_fd_by_id,
	                                     bpf_link_get_fd_by_id};
	uint32_t ids[3][128];
	int counts[3];
	struct probe probe;

	OPEN_BPF(&probe, &config);
	for (int i = 0; i < 3; i++)
		counts[i] = own_objects(fields[i], ids[i], 128);
	CHECK(counts[0] >= 10 && counts[1] >= 3);
	probe_close(&probe);
	for (int i = 0; i < 3; i++)
		for (int k = 0; k < counts[i]; k++)
			CHECK_MESSAGE(goes(opens[i], ids[i][k]), "%s %u stays", fields[i],
			              ids[i][k]);
}
