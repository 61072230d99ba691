/*
 * A program that keeps so many requests in flight, in a way that is known: the truth for what
 * `iostudy watch` says of rings, native AIO and POSIX AIO.
 *
 *     submits ring FILE DEPTH              direct reads by a ring
 *     submits forced FILE DEPTH            the same, by its workers (IOSQE_ASYNC)
 *     submits forced-buffered FILE DEPTH   and through the page cache, dropped before each round
 *     submits sync FILE DEPTH              a buffered write and an fsync in turn, by a ring
 *     submits aio FILE DEPTH               direct reads by io_submit
 *     submits aio-buffered FILE DEPTH      and through the page cache, dropped before each round
 *     submits posix FILE DEPTH             direct reads by the C library's POSIX AIO
 *     submits pollers NONE N               N rings whose pollers spin
 *     submits over-limit FILE DEPTH        workers, and then a limit below their number
 *
 * It says "ready" when the first round is over, and ends when its standard input does.
 */
#include <aio.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libaio.h>
#include <liburing.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 4096, BLOCKS = 4096, DEPTH_LIMIT = 1024, PIECE = 1 << 20, IDLE_MS = 60000 };

static int file = -1;
static int depth;
static char *data;
static unsigned seed = 1;

static void fail(const char *what)
{
	perror(what);
	_exit(1);
}

static void *memory(size_t size)
{
	void *block;

	if (posix_memalign(&block, BLOCK, size))
		fail("memory");
	memset(block, 1, size);
	return block;
}

static off_t somewhere(void)
{
	seed = seed * 1103515245 + 12345;
	return (off_t)(seed / 65536 % BLOCKS) * BLOCK;
}

/* Written whole: a block that never was is read without the disk. */
static void make_file(const char *name, bool direct)
{
	char *piece = memory(PIECE);

	file = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (file < 0)
		fail(name);
	for (off_t at = 0; at < (off_t)BLOCKS * BLOCK; at += PIECE)
		if (pwrite(file, piece, PIECE, at) != PIECE)
			fail("write");
	fsync(file);
	if (direct)
		fcntl(file, F_SETFL, O_DIRECT); /* tmpfs refuses it, which is as well */
	free(piece);
}

static void drop_pages(void)
{
	posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
}

static void reap(struct io_uring *ring)
{
	struct io_uring_cqe *done;

	if (io_uring_wait_cqe(ring, &done) == 0)
		io_uring_cqe_seen(ring, done);
}

static void ring_round(struct io_uring *ring, unsigned flags)
{
	for (int i = 0; i < depth; i++) {
		struct io_uring_sqe *entry = io_uring_get_sqe(ring);

		io_uring_prep_read(entry, file, data + (size_t)i * BLOCK, BLOCK,
		                   (unsigned long long)somewhere());
		io_uring_sqe_set_flags(entry, flags);
	}
	io_uring_submit(ring);
	for (int i = 0; i < depth; i++)
		reap(ring);
}

static void sync_round(struct io_uring *ring)
{
	for (int i = 0; i < depth; i++) {
		struct io_uring_sqe *entry = io_uring_get_sqe(ring);

		if (i % 2)
			io_uring_prep_fsync(entry, file, 0);
		else
			io_uring_prep_write(entry, file, data + (size_t)i * BLOCK, BLOCK,
			                    (unsigned long long)somewhere());
	}
	io_uring_submit(ring);
	for (int i = 0; i < depth; i++)
		reap(ring);
}

static void aio_round(io_context_t context)
{
	static struct iocb all[DEPTH_LIMIT], *list[DEPTH_LIMIT];
	static struct io_event events[DEPTH_LIMIT];
	int submitted = 0;

	for (int i = 0; i < depth; i++) {
		io_prep_pread(&all[i], file, data + (size_t)i * BLOCK, BLOCK, somewhere());
		list[i] = &all[i];
	}
	while (submitted < depth) {
		const int more = io_submit(context, depth - submitted, list + submitted);

		if (more < 0)
			fail("io_submit");
		submitted += more;
	}
	for (int done = 0; done < depth;) {
		const int more = io_getevents(context, 1, depth, events, NULL);

		done += more > 0 ? more : 0;
	}
}

/* Whichever ends is asked for anew, so that depth requests are in the library's hands. */
static void posix_round(bool first)
{
	static struct aiocb all[DEPTH_LIMIT];
	static const struct aiocb *list[DEPTH_LIMIT];

	for (int i = 0; i < depth; i++) {
		struct aiocb *one = &all[i];

		list[i] = one;
		if (!first && aio_error(one) == EINPROGRESS)
			continue;
		if (!first)
			aio_return(one);
		*one = (struct aiocb){.aio_fildes = file,
		                      .aio_buf = data + (size_t)i * BLOCK,
		                      .aio_nbytes = BLOCK,
		                      .aio_offset = somewhere()};
		if (aio_read(one))
			fail("aio_read");
	}
	aio_suspend(list, depth, NULL);
}

static int workers_now(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *task;
	int count = 0;

	while (tasks && (task = readdir(tasks))) {
		char path[300], name[32] = "";
		FILE *comm;

		snprintf(path, sizeof path, "/proc/self/task/%s/comm", task->d_name);
		comm = fopen(path, "re");
		if (comm && fgets(name, sizeof name, comm))
			count += !strncmp(name, "iou-wrk", 7);
		if (comm)
			fclose(comm);
	}
	if (tasks)
		closedir(tasks);
	return count;
}

static void over_limit(struct io_uring *ring)
{
	unsigned one[2] = {1, 1};

	while (workers_now() < 3)
		sync_round(ring);
	if (io_uring_register_iowq_max_workers(ring, one))
		fail("register");
}

/* A poller spins from its first request on. */
static void poll_with(int count)
{
	static struct io_uring rings[DEPTH_LIMIT];

	for (int i = 0; i < count; i++) {
		struct io_uring_params params = {.flags = IORING_SETUP_SQPOLL,
		                                 .sq_thread_idle = IDLE_MS};

		if (io_uring_queue_init_params(8, &rings[i], &params))
			fail("ring");
		io_uring_prep_nop(io_uring_get_sqe(&rings[i]));
		io_uring_submit(&rings[i]);
		reap(&rings[i]);
	}
}

static bool go_on(void)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

	return poll(&input, 1, 0) == 0;
}

static void round_of(const char *mode, struct io_uring *ring, io_context_t context, bool first)
{
	if (!strcmp(mode, "ring"))
		ring_round(ring, 0);
	else if (!strcmp(mode, "sync"))
		sync_round(ring);
	else if (!strcmp(mode, "posix"))
		posix_round(first);
	else if (!strncmp(mode, "aio", 3))
		aio_round(context);
	else if (!strncmp(mode, "forced", 6))
		ring_round(ring, IOSQE_ASYNC);
	else
		usleep(10000);
}

int main(int argc, char **argv)
{
	const char *mode = argc == 4 ? argv[1] : "";
	const bool buffered = strstr(mode, "buffered") || strstr(mode, "sync") ||
	                      !strcmp(mode, "over-limit");
	struct io_uring ring;
	io_context_t context = NULL;

	depth = argc == 4 ? atoi(argv[3]) : 0;
	if (depth < 1 || depth > DEPTH_LIMIT) {
		fprintf(stderr, "usage: submits MODE FILE DEPTH\n");
		return 2;
	}
	data = memory((size_t)depth * BLOCK);
	if (!strcmp(mode, "pollers"))
		poll_with(depth);
	else
		make_file(argv[2], !buffered);
	if (io_uring_queue_init(DEPTH_LIMIT, &ring, 0) || io_setup(depth, &context))
		fail("ring");
	if (!strcmp(mode, "over-limit"))
		over_limit(&ring);
	for (bool first = true; first || go_on(); first = false) {
		if (strstr(mode, "buffered"))
			drop_pages();
		round_of(mode, &ring, context, first);
		if (first && write(STDOUT_FILENO, "ready\n", 6) != 6)
			return 1;
	}
	return 0;
}
