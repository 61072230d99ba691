/*
 * What io_uring hands to its workers, and for what they and submitters sleep: against a program
 * that makes a known number of requests of each kind, and carries no marks.
 */
#include <fcntl.h>
#include <liburing.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/statfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "tests/probe_help.h"
#include "tests/test.h"

enum { REQUESTS = 40, BLOCK = 4096, TMPFS = 0x01021994 };

/* One kind of request, and what becomes of it. */
struct row {
	const char *directory;
	int flags; /* of open */
	uint8_t operation, sqe_flags;
	enum punt_reason reason; /* PUNT_REASONS: it is not handed over */
};

struct subject {
	const struct row *row;
	char path[256];
};

/* Requests one after the other, each waited for. */
static void requests(void *argument, int input, int output)
{
	const struct subject *s = argument;
	const int fd = open(s->path, s->row->flags);
	struct io_uring_cqe *cqe;
	struct io_uring ring;
	void *block = NULL;
	char byte;

	if (fd < 0 || io_uring_queue_init(8, &ring, 0) || posix_memalign(&block, BLOCK, BLOCK)) {
		dprintf(output, "cannot\n");
		_exit(0);
	}
	memset(block, 0, BLOCK);
	dprintf(output, "ready\n");
	(void)!read(input, &byte, 1);
	for (unsigned i = 0; i < REQUESTS; i++) {
		struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);
		const bool transfers = s->row->operation != IORING_OP_FSYNC;

		io_uring_prep_rw(s->row->operation, sqe, fd, transfers ? block : NULL,
		                 transfers ? BLOCK : 0, transfers ? i * BLOCK : 0);
		sqe->flags |= s->row->sqe_flags;
		if (io_uring_submit_and_wait(&ring, 1) < 0 || io_uring_wait_cqe(&ring, &cqe) ||
		    cqe->res != (transfers ? BLOCK : 0))
			_exit(1);
		io_uring_cqe_seen(&ring, cqe);
		/* so that there is something to write back */
		if (!transfers && pwrite(fd, block, BLOCK, i * BLOCK) != BLOCK)
			_exit(1);
	}
	dprintf(output, "done\n");
	(void)!read(input, &byte, 1);
	_exit(0);
}

static bool make_file(struct subject *s)
{
	static char block[REQUESTS * BLOCK];
	bool made;
	int fd;

	snprintf(s->path, sizeof s->path, "%s/iostudy-workers-%d.data", s->row->directory,
	         (int)getpid());
	fd = open(s->path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
	made = fd >= 0 && write(fd, block, sizeof block) == sizeof block && fsync(fd) == 0;
	if (fd >= 0)
		close(fd);
	return made;
}

/* The window of a subject's requests; false, with the test marked, if they could not be made. */
static bool watch(struct subject *s, struct probe_reading *window, struct probe *probe,
                  struct program *program)
{
	static struct probe_reading from, to;
	char why[PROBE_WHY_SIZE];

	if (!program_expect(program, "ready")) {
		test_skip(__FILE__, __LINE__, "this machine does not allow io_uring on %s",
		          s->path);
		return false;
	}
	CHECK_EQUAL(probe_attach(probe, program->pid, why), 0);
	CHECK_EQUAL(probe_read(probe, &from), 0);
	program_send(program, 'g');
	CHECK(program_expect(program, "done"));
	CHECK_EQUAL(probe_read(probe, &to), 0);
	probe_difference(window, &from, &to);
	return true;
}

static void check_row(const struct row *row, struct probe_reading *window)
{
	const struct probe_config foreign = {0};
	const struct workers_reading *w = &window->workers;
	struct subject s = {.row = row};
	struct program program;
	struct probe probe;
	uint64_t all = 0;

	OPEN_BPF(&probe, &foreign);
	REQUIRE(make_file(&s));
	REQUIRE(program_fork(&program, requests, &s));
	if (watch(&s, window, &probe, &program)) {
		CHECK(window->measures & PROBE_PUNTS);
		CHECK_EQUAL(w->submitted[row->operation], REQUESTS);
		for (int reason = 0; reason < PUNT_REASONS; reason++)
			all += w->punted[row->operation][reason];
		CHECK_EQUAL(all, row->reason == PUNT_REASONS ? 0 : REQUESTS);
		if (row->reason != PUNT_REASONS)
			CHECK_EQUAL(w->punted[row->operation][row->reason], REQUESTS);
		CHECK_EQUAL(window->lost, 0);
	}
	program_end(&program);
	probe_close(&probe);
	unlink(s.path);
}

static bool is_on(const char *directory, long type)
{
	struct statfs status;

	return statfs(directory, &status) == 0 && status.f_type == type;
}

static bool is_ext4(void)
{
	return is_on(test_build_directory(), 0xef53);
}

TEST(probe_workers, what_was_forced_is_handed_over_and_sleeps_in_no_worker)
{
	const struct row row = {test_build_directory(), O_RDONLY | O_DIRECT, IORING_OP_READ,
	                        IOSQE_ASYNC, PUNT_FORCED};
	static struct probe_reading window;

	check_row(&row, &window);
	if (window.time_ns && is_ext4())
		CHECK_BETWEEN(window.kinds[KIND_IO_WQ].parks, 0, REQUESTS / 4);
}

TEST(probe_workers, a_direct_read_on_a_disk_is_handed_to_nobody)
{
	const struct row row = {test_build_directory(), O_RDONLY | O_DIRECT, IORING_OP_READ, 0,
	                        PUNT_REASONS};
	static struct probe_reading window;

	if (!is_ext4())
		SKIP("the build folder does not lie on ext4, whose direct reads take NOWAIT");
	check_row(&row, &window);
	CHECK_EQUAL(window.kinds[KIND_IO_WQ].threads_max, 0);
}

static bool is_older_than(unsigned major, unsigned minor)
{
	unsigned is_major = 0, is_minor = 0;
	struct utsname name;

	return uname(&name) == 0 && sscanf(name.release, "%u.%u", &is_major, &is_minor) == 2 &&
	       (is_major < major || (is_major == major && is_minor < minor));
}

TEST(probe_workers, tmpfs_has_each_read_handed_over)
{
	const struct row row = {"/dev/shm", O_RDONLY, IORING_OP_READ, 0, PUNT_NO_NOWAIT};
	static struct probe_reading window;

	if (!is_on("/dev/shm", TMPFS))
		SKIP("/dev/shm is no tmpfs");
	if (is_older_than(6, 5))
		SKIP("before Linux 6.5 io_uring tried tmpfs as if it took NOWAIT");
	check_row(&row, &window);
	if (window.time_ns)
		CHECK(window.workers.bounded.limit > 0);
}

TEST(probe_workers, a_buffered_write_on_ext4_is_handed_over_to_be_in_turn)
{
	const struct row row = {test_build_directory(), O_WRONLY, IORING_OP_WRITE, 0,
	                        PUNT_HASHED_WRITE};
	static struct probe_reading window;

	if (!is_ext4())
		SKIP("the build folder does not lie on ext4, which cannot write buffers without "
		     "waiting");
	check_row(&row, &window);
}

TEST(probe_workers, each_fsync_has_a_worker_that_sleeps_with_the_file_in_hand)
{
	const struct row row = {test_build_directory(), O_WRONLY, IORING_OP_FSYNC, 0,
	                        PUNT_FSYNC_CLASS};
	static struct probe_reading window;
	const struct workers_reading *w = &window.workers;
	uint64_t parked_ns = 0, found_ns = 0;

	check_row(&row, &window);
	for (int i = 0; i < WORKERS_FILES; i++) {
		parked_ns += w->files[i].sleeps.parked_ns;
		if (w->files[i].operation == IORING_OP_FSYNC &&
		    strstr(w->files[i].name, "iostudy-workers-"))
			found_ns += w->files[i].sleeps.parked_ns;
	}
	if (!window.time_ns || !is_ext4())
		return;
	CHECK_BETWEEN(window.kinds[KIND_IO_WQ].parks, REQUESTS / 2, 100 * REQUESTS);
	CHECK(found_ns > 0);
	CHECK_BETWEEN(found_ns, 0.5 * (double)parked_ns, parked_ns);
	CHECK_BETWEEN(parked_ns,
	              0.9 * (double)window.kinds[KIND_IO_WQ].state_ns[STATE_PARKED_DIRECT],
	              1.1 * (double)window.kinds[KIND_IO_WQ].state_ns[STATE_PARKED_DIRECT]);
}

/* Direct writes from the pages of another file that are not in memory: each faults one in. */
static void faults(void *argument, int input, int output)
{
	const struct subject *s = argument;
	const int fd = open(s->path, O_RDWR | O_DIRECT);
	struct io_uring_cqe *cqe;
	struct io_uring ring;
	char byte, *pages;

	pages = mmap(NULL, REQUESTS * BLOCK, PROT_READ, MAP_PRIVATE, open(s->path, O_RDONLY), 0);
	if (fd < 0 || io_uring_queue_init(8, &ring, 0) || pages == MAP_FAILED ||
	    madvise(pages, REQUESTS * BLOCK, MADV_RANDOM)) {
		dprintf(output, "cannot\n");
		_exit(0);
	}
	dprintf(output, "ready\n");
	(void)!read(input, &byte, 1);
	for (unsigned i = 0; i < REQUESTS; i++) {
		/* a direct write drops the pages that it writes over, so that the next is cold */
		if (posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED))
			_exit(1);
		io_uring_prep_write(io_uring_get_sqe(&ring), fd, pages + i * BLOCK, BLOCK,
		                    (REQUESTS - 1 - i) * BLOCK);
		if (io_uring_submit_and_wait(&ring, 1) < 0 || io_uring_wait_cqe(&ring, &cqe) ||
		    cqe->res != BLOCK)
			_exit(1);
		io_uring_cqe_seen(&ring, cqe);
	}
	dprintf(output, "done\n");
	(void)!read(input, &byte, 1);
	_exit(0);
}

TEST(probe_workers, a_submitter_that_sleeps_for_a_page_of_its_buffer_is_told_from_others)
{
	const struct probe_config foreign = {0};
	const struct row row = {test_build_directory(), O_RDONLY, IORING_OP_WRITE, 0, PUNT_REASONS};
	static struct probe_reading window;
	struct subject s = {.row = &row};
	struct program program;
	struct probe probe;

	OPEN_BPF(&probe, &foreign);
	REQUIRE(make_file(&s));
	REQUIRE(program_fork(&program, faults, &s));
	if (watch(&s, &window, &probe, &program)) {
		const struct sleep_count *sleeps = window.workers.submitter[SLEEP_URING_ENTER];
		uint64_t all = 0;

		for (int cause = 0; cause < CAUSE_COUNT; cause++)
			all += sleeps[cause].count;
		if (is_ext4()) {
			CHECK(sleeps[CAUSE_FAULT].count > 0);
			CHECK(sleeps[CAUSE_FAULT].parked_ns > 0);
			CHECK_BETWEEN(sleeps[CAUSE_FAULT].count, all / 2, all);
		}
		CHECK_EQUAL(sleeps[CAUSE_UNKNOWN].count, 0);
	}
	program_end(&program);
	probe_close(&probe);
	unlink(s.path);
}
