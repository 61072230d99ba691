/*
 * For what io_submit sleeps: against a program in which each of its calls must sleep for one known
 * cause, by how ext4 and Linux serve such a request.
 */
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "tests/probe_help.h"
#include "tests/test.h"

enum { ROUNDS_MAX = 100, CALLS = 40, BLOCK = 4096, EXT4 = 0xef53, RIVAL_BLOCKS = 64 };

/* A kind of call, and its cause. */
struct provocation {
	const char *name;
	enum sleep_cause cause;
	int flags;    /* of open */
	int rw_flags; /* of the request */
	bool reads;
	bool extends; /* the file is empty, and grows by each */
	bool rival;   /* another thread writes beyond the file's end, and holds its lock */
};

struct subject {
	const struct provocation *how;
	char path[256];
	void *block, *rivals;
};

/* Direct writes beyond the end: ext4 holds the file's lock until each has come to the disk. */
static void *compete(void *argument)
{
	const struct subject *s = argument;
	const int fd = open(s->path, O_WRONLY | O_DIRECT);

	for (off_t at = CALLS * BLOCK;; at += RIVAL_BLOCKS * BLOCK) {
		if (at > 64 << 20)
			at = ftruncate(fd, CALLS * BLOCK) ? at : CALLS * BLOCK;
		if (pwrite(fd, s->rivals, RIVAL_BLOCKS * BLOCK, at) < 0)
			_exit(1);
	}
	return NULL;
}

static bool call(aio_context_t context, const struct subject *s, int fd, unsigned i)
{
	struct iocb request = {
	    .aio_lio_opcode = s->how->reads ? IOCB_CMD_PREAD : IOCB_CMD_PWRITE,
	    .aio_fildes = (uint32_t)fd,
	    .aio_buf = (uintptr_t)s->block,
	    .aio_nbytes = BLOCK,
	    .aio_offset = i * BLOCK,
	    .aio_rw_flags = s->how->rw_flags,
	};
	struct iocb *requests[] = {&request};
	struct io_event event;

	return syscall(SYS_io_submit, context, 1, requests) == 1 &&
	       syscall(SYS_io_getevents, context, 1, 1, &event, NULL) == 1 && event.res == BLOCK;
}

static void provoke(void *argument, int input, int output)
{
	struct subject *s = argument;
	const int fd = open(s->path, s->how->flags);
	aio_context_t context = 0;
	pthread_t rival;
	char byte;

	if (fd < 0 || syscall(SYS_io_setup, 8, &context) ||
	    posix_memalign(&s->block, BLOCK, BLOCK) ||
	    posix_memalign(&s->rivals, BLOCK, RIVAL_BLOCKS * BLOCK) ||
	    posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM) ||
	    (s->how->rival && pthread_create(&rival, NULL, compete, s))) {
		dprintf(output, "cannot\n");
		_exit(0);
	}
	dprintf(output, "ready\n");
	for (unsigned from = 0; read(input, &byte, 1) == 1; from += s->how->extends ? CALLS : 0) {
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		for (unsigned i = 0; i < CALLS; i++)
			if (!call(context, s, fd, from + i))
				_exit(1);
		dprintf(output, "done\n");
	}
	_exit(0);
}

static bool make_file(struct subject *s)
{
	static char blocks[CALLS * BLOCK];
	const size_t bytes = s->how->extends ? 0 : sizeof blocks;
	bool made;
	int fd;

	snprintf(s->path, sizeof s->path, "%s/iostudy-sleeps-%d.data", test_build_directory(),
	         (int)getpid());
	fd = open(s->path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
	made = fd >= 0 && write(fd, blocks, bytes) == (ssize_t)bytes && fsync(fd) == 0;
	if (fd >= 0)
		close(fd);
	return made;
}

static void check_sleeps(const struct provocation *how, const struct probe_reading *window)
{
	const struct sleep_count *sleeps = window->workers.submitter[SLEEP_IO_SUBMIT];

	for (int cause = 0; cause < CAUSE_COUNT; cause++)
		if (sleeps[cause].count && cause != (int)how->cause)
			printf("%s: %s %llu\n", how->name, sleep_cause_names[cause],
			       (unsigned long long)sleeps[cause].count);
	CHECK_MESSAGE(sleeps[how->cause].count >= 1, "%s: %llu sleeps for %s", how->name,
	              (unsigned long long)sleeps[how->cause].count, sleep_cause_names[how->cause]);
	CHECK(sleeps[how->cause].parked_ns > 0);
	CHECK_MESSAGE(sleeps[CAUSE_UNKNOWN].count == 0, "%s: %llu unknown", how->name,
	              (unsigned long long)sleeps[CAUSE_UNKNOWN].count);
}

static void provocation_run(const struct provocation *how)
{
	static struct probe_reading from, to, window;
	const struct probe_config foreign = {0};
	struct subject s = {.how = how};
	char why[PROBE_WHY_SIZE];
	struct program program;
	struct statfs place;
	struct probe probe;

	if (statfs(test_build_directory(), &place) || place.f_type != EXT4)
		SKIP("the build folder does not lie on ext4, of which these causes are");
	OPEN_BPF(&probe, &foreign);
	REQUIRE(make_file(&s) && program_fork(&program, provoke, &s));
	if (program_expect(&program, "ready")) {
		CHECK_EQUAL(probe_attach(&probe, program.pid, why), 0);
		CHECK_EQUAL(probe_read(&probe, &from), 0);
		/* How many calls sleep is a matter of how fast the disk is just then. */
		for (int round = 0; round < ROUNDS_MAX; round++) {
			program_send(&program, 'g');
			CHECK(program_expect(&program, "done"));
			CHECK_EQUAL(probe_read(&probe, &to), 0);
			probe_difference(&window, &from, &to);
			if (window.workers.submitter[SLEEP_IO_SUBMIT][how->cause].count)
				break;
		}
		check_sleeps(how, &window);
	} else {
		test_skip(__FILE__, __LINE__, "this machine does not allow native AIO");
	}
	program_end(&program);
	probe_close(&probe);
	unlink(s.path);
}

TEST(probe_sleeps, a_direct_write_beyond_the_end_sleeps_for_its_own_transfer)
{
	provocation_run(&(struct provocation){"transfer", CAUSE_TRANSFER, O_WRONLY | O_DIRECT,
	                                      .extends = true});
}

TEST(probe_sleeps, a_cold_buffered_read_sleeps_for_its_page)
{
	provocation_run(
	    &(struct provocation){"buffered read", CAUSE_BUFFERED_READ, O_RDONLY, .reads = true});
}

TEST(probe_sleeps, a_buffered_write_that_must_last_sleeps_for_its_writing_back)
{
	provocation_run(&(struct provocation){"writeback", CAUSE_WRITEBACK, O_WRONLY, RWF_DSYNC,
	                                      .reads = false});
}

TEST(probe_sleeps, one_that_makes_the_file_grow_sleeps_for_the_journal_too)
{
	provocation_run(
	    &(struct provocation){"journal", CAUSE_JOURNAL, O_WRONLY, RWF_DSYNC, .extends = true});
}

TEST(probe_sleeps, a_write_to_a_file_that_another_holds_sleeps_for_its_lock)
{
	provocation_run(
	    &(struct provocation){"lock", CAUSE_LOCK, O_WRONLY | O_DIRECT, .rival = true});
}
