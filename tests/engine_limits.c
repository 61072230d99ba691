/*
 * What the system refuses to an engine: a reason that names the limit, its value and the remedy,
 * and nothing left behind. Each refusal is real, in a child: a limit of its own, an ordinary
 * user, a seccomp filter.
 */
#include "tests/engine_bed.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ORDINARY_USER = 65534 };

/* What a child found, in memory shared with it. */
struct found {
	int setup_error; /* the refusal could not be arranged */
	int error;       /* of the opening */
	char why[ENGINE_WHY_SIZE];
	uint32_t fds_before, fds_after;
	bool threads_ended;
};

struct attempt {
	const char *engine;
	int (*arrange)(void); /* 0 or -errno */
	struct engine_config config;
};

static void attempt_open(const struct attempt *attempt, struct found *found)
{
	const struct engine_ops *ops = engine_find(attempt->engine);
	const uint32_t threads = bed_threads();
	struct rlimit files;
	struct bed b;

	found->fds_before = bed_fds();
	found->setup_error = attempt->arrange();
	if (found->setup_error)
		return;
	found->error = bed_try(&b, ops, attempt->config, found->why);
	if (!found->error)
		bed_close(&b);
	/* Counting takes a descriptor. */
	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	found->fds_after = bed_fds();
	found->threads_ended = bed_threads_down_to(threads);
}

/* False: the refusal cannot be had here, and the test has been skipped or has failed. */
static bool refusal(const struct attempt *attempt, struct found *result)
{
	struct found *found = mmap(NULL, sizeof *found, PROT_READ | PROT_WRITE,
	                           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status = -1;
	pid_t child;

	*result = (struct found){0};
	if (found == MAP_FAILED)
		return false;
	child = fork();
	if (child == 0) {
		attempt_open(attempt, found);
		_exit(0);
	}
	waitpid(child, &status, 0);
	*result = *found;
	munmap(found, sizeof *found);
	CHECK_MESSAGE(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ended with %#x",
	              (unsigned)status);
	if (result->setup_error) {
		test_skip(__FILE__, __LINE__, "the refusal cannot be arranged here: %s",
		          strerror(-result->setup_error));
		return false;
	}
	CHECK_EQUAL(result->fds_after, result->fds_before);
	CHECK(result->threads_ended);
	return !test_has_failed();
}

static int become_ordinary(void)
{
	if (geteuid() != 0)
		return 0;
	return setresuid(ORDINARY_USER, ORDINARY_USER, ORDINARY_USER) ? -errno : 0;
}

static int set_limit(int resource, rlim_t value)
{
	struct rlimit limit;

	if (getrlimit((__rlimit_resource_t)resource, &limit) != 0)
		return -errno;
	limit.rlim_cur = value;
	if (resource != RLIMIT_NOFILE)
		limit.rlim_max = value;
	return setrlimit((__rlimit_resource_t)resource, &limit) ? -errno : 0;
}

/* Leaves room for that many more. */
static int limit_descriptors(rlim_t more)
{
	const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	close(fd);
	return set_limit(RLIMIT_NOFILE, (rlim_t)fd + more);
}

static int no_descriptors(void)
{
	return limit_descriptors(0);
}

static int one_descriptor(void)
{
	return limit_descriptors(1);
}

static int little_memory_locked(void)
{
	const int error = set_limit(RLIMIT_MEMLOCK, 64 << 10);

	return error ? error : become_ordinary();
}

static int few_processes(void)
{
	const int error = set_limit(RLIMIT_NPROC, 1);

	return error ? error : become_ordinary();
}

/* A filter as containers have it: the call answers error, the rest is allowed (moby#39396). */
static int forbid(int call, int error)
{
	struct sock_filter filter[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {.len = 4, .filter = filter};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		return -errno;
	return 0;
}

static int forbid_uring_setup(void)
{
	return forbid(SYS_io_uring_setup, EPERM);
}

static int hide_uring_setup(void)
{
	return forbid(SYS_io_uring_setup, ENOSYS);
}

static int forbid_uring_enter(void)
{
	return forbid(SYS_io_uring_enter, EPERM);
}

static int forbid_uring_register(void)
{
	return forbid(SYS_io_uring_register, EPERM);
}

static int starve_uring_setup(void)
{
	return forbid(SYS_io_uring_setup, ENOMEM);
}

TEST(engine_limits, uring_names_the_filter_that_forbids_it)
{
	const struct attempt forbidden = {"uring", forbid_uring_setup, {.slots = 8}};
	const struct attempt hidden = {"uring", hide_uring_setup, {.slots = 8}};
	const struct attempt half = {"uring", forbid_uring_enter, {.slots = 8}};
	const struct attempt unregistered = {"uring", forbid_uring_register, {.slots = 8}};
	struct found found;

	if (!refusal(&forbidden, &found))
		return;
	CHECK_EQUAL(found.error, -EOPNOTSUPP);
	CHECK_CONTAINS(found.why, "seccomp filter");
	CHECK_CONTAINS(found.why, "io_uring_setup");
	if (!refusal(&hidden, &found))
		return;
	CHECK_EQUAL(found.error, -EOPNOTSUPP);
	CHECK_CONTAINS(found.why, "io_uring");
	if (!refusal(&half, &found))
		return;
	CHECK_EQUAL(found.error, -EOPNOTSUPP);
	CHECK_CONTAINS(found.why, "io_uring_enter");
	if (!refusal(&unregistered, &found))
		return;
	CHECK_EQUAL(found.error, -EPERM);
	CHECK_CONTAINS(found.why, "cannot register");
}

static int old_uring_setup(void)
{
	return forbid(SYS_io_uring_setup, EINVAL);
}

static int starve_aio_setup(void)
{
	return forbid(SYS_io_setup, EAGAIN);
}

TEST(engine_limits, libaio_names_the_limit_of_requests)
{
	const struct attempt attempt = {"libaio", starve_aio_setup, {.slots = 8}};
	struct found found;

	if (!refusal(&attempt, &found))
		return;
	CHECK_EQUAL(found.error, -EAGAIN);
	CHECK_CONTAINS(found.why, "fs.aio-max-nr is ");
}

TEST(engine_limits, uring_defer_names_the_kernel_that_it_needs)
{
	const struct attempt attempt = {"uring-defer", old_uring_setup, {.slots = 8}};
	struct found found;

	if (!refusal(&attempt, &found))
		return;
	CHECK_EQUAL(found.error, -EOPNOTSUPP);
	CHECK_CONTAINS(found.why, "DEFER_TASKRUN; Linux 6.1 or later");
}

TEST(engine_limits, uring_names_the_limit_of_a_ring)
{
	const struct attempt attempt = {"uring", starve_uring_setup, {.slots = 4000}};
	struct found found;

	if (!refusal(&attempt, &found))
		return;
	CHECK_EQUAL(found.error, -ENOMEM);
	CHECK_CONTAINS(found.why, "cannot create a ring of 4096 entries: RLIMIT_MEMLOCK is ");
	CHECK_CONTAINS(found.why, "ulimit -l, or use --depth 256");
}

/* As root it would not count: CAP_IPC_LOCK lifts the limit. */
TEST(engine_limits, uring_names_the_memory_that_it_cannot_lock)
{
	const struct attempt attempt = {"uring", little_memory_locked, {.slots = 64}};
	struct found found;

	if (!refusal(&attempt, &found))
		return;
	CHECK_EQUAL(found.error, -ENOMEM);
	CHECK_CONTAINS(found.why, "cannot register 256 KiB of memory: RLIMIT_MEMLOCK is 64 KiB");
	CHECK_CONTAINS(found.why, "ulimit -l");
}

TEST(engine_limits, uring_serves_an_ordinary_user)
{
	const struct attempt attempt = {"uring", become_ordinary, {.slots = 64}};
	struct found found;

	if (!refusal(&attempt, &found))
		return;
	CHECK_MESSAGE(found.error == 0, "%s", found.why);
}

/* Those that need a descriptor name the limit; the others open all the same. */
TEST(engine_limits, names_the_limit_of_descriptors)
{
	static const char *const frugal[] = {"blocking",         "pool", "posix-aio",
	                                     "posix-aio-signal", "null", NULL};

	for (const struct engine_ops *const *ops = engine_table; *ops; ops++) {
		int (*const arrange[])(void) = {no_descriptors, one_descriptor};
		const int tries = strcmp((*ops)->name, "epoll") == 0 ? 2 : 1; /* it needs two */
		bool needs = true;

		for (const char *const *name = frugal; *name; name++)
			needs &= strcmp(*name, (*ops)->name) != 0;
		for (int i = 0; i < tries; i++) {
			const struct attempt attempt = {(*ops)->name, arrange[i], {.slots = 8}};
			struct found found;

			if (!refusal(&attempt, &found))
				return;
			CHECK_MESSAGE(found.error == (needs ? -EMFILE : 0), "%s: %d: %s",
			              (*ops)->name, found.error, found.why);
			if (!needs)
				continue;
			CHECK_CONTAINS(found.why, "RLIMIT_NOFILE is ");
			CHECK_CONTAINS(found.why, "ulimit -n");
		}
	}
}

TEST(engine_limits, pool_names_the_limit_of_threads)
{
	const struct attempt attempt = {"pool", few_processes, {.slots = 64}};
	struct found found;

	if (!refusal(&attempt, &found))
		return;
	CHECK_EQUAL(found.error, -EAGAIN);
	CHECK_CONTAINS(found.why, "cannot start thread ");
	CHECK_CONTAINS(found.why, " of 64: ");
	CHECK_CONTAINS(found.why, "RLIMIT_NPROC is 1 ");
}

TEST(engine_limits, pool_names_its_own_limit)
{
	const struct engine_config config = {.slots = ENGINE_THREADS_MAX + 1};
	char why[ENGINE_WHY_SIZE];
	struct bed b;

	CHECK_EQUAL(bed_try(&b, engine_find("pool"), config, why), -EINVAL);
	CHECK_CONTAINS(why, "16385 threads are wanted");
	CHECK_CONTAINS(why, "--pool 16384");
}

TEST(engine_limits, epoll_says_why_it_cannot_wait_for_a_file)
{
	const struct engine_config config = {.slots = 4, .need = ENGINE_FILES};
	char why[ENGINE_WHY_SIZE];
	struct bed b;

	CHECK_EQUAL(bed_try(&b, engine_find("epoll"), config, why), -EOPNOTSUPP);
	CHECK_CONTAINS(why, "a regular file is always ready: epoll cannot wait for it");
	CHECK_CONTAINS(why, "Operation not permitted");
}

/* Without a stream's help: the file descriptor itself refuses to be waited for. */
TEST(engine_limits, epoll_gives_a_stream_on_a_file_its_error)
{
	const int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct bed b;
	int32_t result;

	if (!bed_open(&b, engine_find("epoll"), 4, ENGINE_SOCKETS))
		return;
	result = bed_call(&b, IO_READ, fd, NULL, 100, UINT64_MAX);
	CHECK_MESSAGE(result == 100 || result == -EPERM, "result %d", result);
	bed_close(&b);
	close(fd);
}

/* A buffered read is never polled, on whatever device. */
TEST(engine_limits, uring_iopoll_says_why_it_cannot_poll)
{
	const int fd = bed_file(BED_BLOCK);
	const struct engine_config config = {
	    .slots = 4, .need = ENGINE_FILES, .fds = &fd, .fd_count = 1};
	char why[ENGINE_WHY_SIZE];
	struct bed b;

	CHECK_EQUAL(bed_try(&b, engine_find("uring-iopoll"), config, why), -EOPNOTSUPP);
	CHECK_CONTAINS(why, "a polled read is refused");
	CHECK_CONTAINS(why, "no poll queue");
	close(fd);
}
