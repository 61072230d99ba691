/*
 * Completions of sockets, which arrive when the peer's data does, and io_uring's results, which
 * are posted by some thread: counted one by one against what was sent and read.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <liburing.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/probe_help.h"
#include "tests/test.h"

enum { MESSAGES = 200, RESULTS = 300, BLOCK = 4096 };

union address {
	struct sockaddr any;
	struct sockaddr_in tcp;
	struct sockaddr_un local;
};

struct end {
	union address address;
	socklen_t length;
};

/* The subject: receives one message after another, and answers each. */
static void receives(void *argument, int input, int output)
{
	const struct end *end = argument;
	const int fd = socket(end->address.any.sa_family, SOCK_STREAM, 0);
	char byte;

	if (connect(fd, &end->address.any, end->length))
		_exit(1);
	dprintf(output, "ready\n");
	(void)!read(input, &byte, 1);
	for (int i = 0; i < MESSAGES; i++)
		if (recv(fd, &byte, 1, 0) != 1 || send(fd, &byte, 1, 0) != 1)
			_exit(1);
	dprintf(output, "done\n");
	(void)!read(input, &byte, 1);
	_exit(0);
}

static int listens(struct end *end, int family)
{
	const int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	memset(end, 0, sizeof *end);
	end->address.any.sa_family = (sa_family_t)family;
	end->length = family == AF_INET ? sizeof end->address.tcp : sizeof(sa_family_t);
	if (family == AF_INET)
		end->address.tcp.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(fd, &end->address.any, end->length) || listen(fd, 1))
		return -1;
	end->length = sizeof end->address;
	getsockname(fd, &end->address.any, &end->length);
	return fd;
}

static uint64_t sum(const uint64_t *counters, int count)
{
	uint64_t all = 0;

	for (int i = 0; i < count; i++)
		all += counters[i];
	return all;
}

static void check_socket(int family, enum probe_source source)
{
	struct probe_config config = {.source = source, .peer = getpid()};
	static struct probe_reading from, to, window;
	struct program program;
	struct probe probe;
	struct counts counts;
	struct end end;
	char why[PROBE_WHY_SIZE], byte = 'm';
	const int listener = listens(&end, family);

	REQUIRE(listener >= 0);
	config.peer_port = ntohs(end.address.tcp.sin_port);
	OPEN_BPF(&probe, &config);
	REQUIRE(program_fork(&program, receives, &end));
	const int fd = accept(listener, NULL, NULL);
	REQUIRE(program_expect(&program, "ready"));
	CHECK_EQUAL(probe_attach(&probe, program.pid, why), 0);
	CHECK_EQUAL(probe_read(&probe, &from), 0);
	program_send(&program, 'g');
	for (int i = 0; i < MESSAGES; i++) {
		CHECK(counts_settle(&probe, &counts, 1)); /* it is parked in recv */
		CHECK_EQUAL(send(fd, &byte, 1, 0), 1);
		CHECK_EQUAL(recv(fd, &byte, 1, 0), 1);
	}
	CHECK(program_expect(&program, "done"));
	CHECK_EQUAL(probe_read(&probe, &to), 0);
	probe_difference(&window, &from, &to);
	if (!(window.measures & PROBE_COMPLETIONS)) {
		CHECK_EQUAL(window.parked_at_completion[1], 0);
	} else {
		/* A kernel may keep some from a tracer. Each that was seen found the reader, but
		 * for one sent in the moment between its going to sleep and its being counted. */
		const uint64_t seen = sum(window.parked_at_completion, PROBE_PARKED_MAX);

		CHECK_BETWEEN(seen, MESSAGES * 0.9, MESSAGES);
		CHECK_BETWEEN(window.parked_at_completion[1], 0.97 * seen, seen);
		CHECK_EQUAL(sum(window.arrived_in, ARRIVED_COUNT), seen);
		/* on loopback the sender's own system call delivers */
		CHECK_BETWEEN(window.arrived_over[OVER_OTHER], MESSAGES * 0.85, seen);
	}
	program_end(&program);
	probe_close(&probe);
	close(fd);
	close(listener);
}

TEST(probe_answers, each_tcp_message_finds_its_one_reader_parked)
{
	check_socket(AF_INET, SOURCE_TCP);
}

TEST(probe_answers, each_unix_message_finds_its_one_reader_parked)
{
	check_socket(AF_UNIX, SOURCE_UNIX);
}

/* Direct reads by a ring, each submitted alone and waited for. */
static void rings(void *argument, int input, int output)
{
	const int fd = open(argument, O_RDONLY | O_DIRECT);
	struct io_uring_cqe *cqe;
	struct io_uring ring;
	void *block = NULL;
	char byte;

	if (fd < 0 || io_uring_queue_init(8, &ring, 0) || posix_memalign(&block, BLOCK, BLOCK)) {
		dprintf(output, "cannot\n");
		_exit(0);
	}
	dprintf(output, "ready\n");
	(void)!read(input, &byte, 1);
	for (int i = 0; i < RESULTS; i++) {
		io_uring_prep_read(io_uring_get_sqe(&ring), fd, block, BLOCK, i * BLOCK);
		if (io_uring_submit_and_wait(&ring, 1) < 0 || io_uring_wait_cqe(&ring, &cqe) ||
		    cqe->res != BLOCK)
			_exit(1);
		io_uring_cqe_seen(&ring, cqe);
	}
	dprintf(output, "done\n");
	(void)!read(input, &byte, 1);
	_exit(0);
}

TEST(probe_answers, each_result_of_a_ring_is_posted_in_its_submitter)
{
	const struct probe_config config = {.source = SOURCE_NONE};
	static struct probe_reading from, to, window;
	static char block[RESULTS * BLOCK];
	struct program program;
	struct probe probe;
	char why[PROBE_WHY_SIZE], path[256];

	snprintf(path, sizeof path, "%s/tests/probe_answers.data", test_build_directory());
	const int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
	REQUIRE(write(fd, block, sizeof block) == sizeof block);
	fsync(fd);
	close(fd);
	OPEN_BPF(&probe, &config);
	REQUIRE(program_fork(&program, rings, path));
	if (!program_expect(&program, "ready")) {
		program_end(&program);
		probe_close(&probe);
		SKIP("no direct reads by io_uring in the build folder");
	}
	CHECK_EQUAL(probe_attach(&probe, program.pid, why), 0);
	CHECK_EQUAL(probe_read(&probe, &from), 0);
	program_send(&program, 'g');
	CHECK(program_expect(&program, "done"));
	CHECK_EQUAL(probe_read(&probe, &to), 0);
	probe_difference(&window, &from, &to);
	CHECK(window.measures & PROBE_POSTED);
	CHECK_EQUAL(sum(window.posted_in, POSTED_COUNT), RESULTS);
	/* on a file system that refuses RWF_NOWAIT a worker reads, and may post */
	const bool posted_by_submitter = window.posted_in[POSTED_SUBMITTER] == RESULTS;

	CHECK_BETWEEN(window.kinds[KIND_APPLICATION].parks, posted_by_submitter ? 1 : 0,
	              RESULTS * 2);
	if (window.measures & PROBE_TASK_WORK && posted_by_submitter)
		CHECK_BETWEEN(window.borrowed_ns[BORROWED_TASK_WORK], 1, window.time_ns / 4);
	program_end(&program);
	probe_close(&probe);
	unlink(path);
}
