/* What ends a request, and what ends an engine: always in bounded time, leaving nothing. */
#include "tests/engine_clauses.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

/* What this process has, to be had again after a close. */
struct holdings {
	uint32_t threads, fds;
};

static struct holdings holdings_now(void)
{
	return (struct holdings){.threads = bed_threads(), .fds = bed_fds()};
}

/* A thread that was joined, and one of the kernel whose ring was closed, stays listed for a moment
 * longer; a thread that was left behind stays for good. */
static void check_holdings(struct holdings before)
{
	CHECK_EQUAL(bed_fds(), before.fds);
	CHECK(bed_threads_down_to(before.threads));
}

void clause_close_idle(const struct engine_ops *ops)
{
	const struct holdings before = holdings_now();
	struct bed b;

	for (int i = 0; i < 20; i++) {
		if (!bed_open(&b, ops, 8, 0))
			return;
		if (i % 2)
			CHECK_EQUAL(bed_call(&b, IO_NOP, -1, NULL, 0, 0), 0);
		bed_close(&b);
	}
	check_holdings(before);
}

/* Completions that nobody took: the descriptors in them are the engine's to close. */
void clause_close_untaken(const struct engine_ops *ops)
{
	const struct holdings before = holdings_now();
	_Alignas(8) char address[128];
	uint32_t length = sizeof address;
	const int listener = bed_listen(address, &length, true, 8);
	struct bed b;

	if (listener < 0 || !bed_open(&b, ops, 8, ENGINE_CONNECTIONS))
		return;
	for (uint32_t i = 0; i < 4; i++) {
		bed_request(&b, 2 * i, IO_CONNECT, -1, address, length, 0);
		CHECK(bed_submit(&b, 2 * i));
		bed_request(&b, 2 * i + 1, IO_ACCEPT, listener, NULL, 0, 0);
		CHECK(bed_submit(&b, 2 * i + 1));
	}
	bed_close(&b);
	close(listener);
	check_holdings(before);
}

void clause_close_timer(const struct engine_ops *ops)
{
	const struct holdings before = holdings_now();
	const uint64_t begin_ns = bed_now_ns();
	struct bed b;

	if (!bed_open(&b, ops, 64, ENGINE_TIMERS))
		return;
	for (uint32_t i = 0; i < 64; i++) {
		bed_request(&b, i, IO_TIMEOUT, -1, NULL, 0,
		            i % 2 ? UINT64_MAX : begin_ns + 3600000000000 + i);
		CHECK(bed_submit(&b, i));
	}
	bed_close(&b);
	CHECK(bed_now_ns() - begin_ns < BED_HANG_MS * 1000000ull);
	check_holdings(before);
}

/* Requests that nothing will end, and no shutdown. What comes after must not be taken by a
 * request of the closed engine, nor written to memory that is the caller's again. */
void clause_close_recv(const struct engine_ops *ops)
{
	const struct holdings before = holdings_now();
	int pair[2], fds[2];
	char got[8] = "";
	struct bed b;

	if (!bed_pair(pair, false) || !bed_open(&b, ops, 8, ENGINE_SOCKETS))
		return;
	REQUIRE(pipe2(fds, O_CLOEXEC) == 0);
	for (uint32_t i = 0; i < 8; i++) {
		bed_request(&b, i, i < 4 ? IO_RECV : IO_READ, i < 4 ? pair[0] : fds[0], NULL, 8,
		            UINT64_MAX);
		CHECK(bed_submit(&b, i));
	}
	bed_close(&b);
	CHECK_EQUAL(send(pair[1], "later", 5, 0), 5);
	CHECK_EQUAL(recv(pair[0], got, sizeof got, MSG_DONTWAIT), 5);
	CHECK_EQUAL(write(fds[1], "later", 5), 5);
	CHECK_EQUAL(read(fds[0], got, sizeof got), 5);
	close(pair[0]);
	close(pair[1]);
	close(fds[0]);
	close(fds[1]);
	check_holdings(before);
}

void clause_close_after_shutdown(const struct engine_ops *ops)
{
	const struct holdings before = holdings_now();
	int pair[2];
	struct bed b;

	for (int i = 0; i < 10; i++) {
		if (!bed_pair(pair, i & 1) || !bed_open(&b, ops, 8, ENGINE_SOCKETS))
			return;
		for (uint32_t slot = 0; slot < 8; slot++) {
			bed_request(&b, slot, IO_RECV, pair[0], NULL, 8, 0);
			CHECK(bed_submit(&b, slot));
		}
		shutdown(pair[0], SHUT_RDWR);
		bed_close(&b);
		close(pair[0]);
		close(pair[1]);
	}
	check_holdings(before);
}

/* Reads on their way from the disk: after close the memory is the caller's, and stays as he
 * leaves it. */
void clause_close_file(const struct engine_ops *ops)
{
	enum { SLOTS = 64 };
	const struct holdings before = holdings_now();
	const int fd = bed_file(SLOTS * BED_BLOCK);
	char *memory = mmap(NULL, SLOTS * BED_BLOCK, PROT_READ | PROT_WRITE,
	                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char why[ENGINE_WHY_SIZE];
	struct bed b;

	REQUIRE(fd >= 0 && memory != MAP_FAILED);
	fsync(fd);
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_DIRECT); /* where the file system has it */
	for (int round = 0; round < 5; round++) {
		const struct engine_config config = {.slots = SLOTS,
		                                     .need = ENGINE_FILES,
		                                     .memory = memory,
		                                     .memory_bytes = SLOTS * BED_BLOCK};

		REQUIRE_MESSAGE(bed_try(&b, ops, config, why) == 0, "%s", why);
		memset(memory, 0, SLOTS * BED_BLOCK);
		for (uint32_t slot = 0; slot < SLOTS; slot++) {
			bed_request(&b, slot, IO_READ, fd, memory + slot * BED_BLOCK, BED_BLOCK,
			            slot * BED_BLOCK);
			CHECK(bed_submit(&b, slot));
		}
		bed_close(&b);
		memset(memory, 0x5a, SLOTS * BED_BLOCK);
		usleep(2000);
		for (uint32_t i = 0; i < SLOTS * BED_BLOCK; i++)
			if (memory[i] != 0x5a) {
				CHECK_MESSAGE(false, "byte %u was written after close", i);
				break;
			}
	}
	munmap(memory, SLOTS * BED_BLOCK);
	close(fd);
	check_holdings(before);
}

static void *shut_down(void *argument)
{
	const int *fd = argument;

	usleep(20000);
	shutdown(*fd, SHUT_RDWR);
	return NULL;
}

/* Submits, shuts fd down meanwhile (for a synchronous engine from beside), and returns what
 * comes back. */
static int32_t shut_down_meanwhile(struct bed *b, uint32_t slot, int fd)
{
	struct io_done done;
	pthread_t thread;

	if (b->e.ops->caps & ENGINE_SYNCHRONOUS) {
		int32_t result;

		CHECK(pthread_create(&thread, NULL, shut_down, &fd) == 0);
		result = bed_do(b, slot);
		pthread_join(thread, NULL);
		return result;
	}
	CHECK(bed_submit(b, slot));
	CHECK_EQUAL(engine_reap(&b->e, &done, 0, 1, 0), 0);
	/* An engine's thread may not have come to its call yet. A listener or a connection that is
	 * shut down before is so all the same; a socket that has not begun to connect is not. */
	usleep(slot ? 10000 : 0);
	for (int i = 0; i < 1500; i++) {
		shutdown(fd >= 0 ? fd : __atomic_load_n(&b->requests[slot].fd, __ATOMIC_RELAXED),
		         SHUT_RDWR);
		if (fd >= 0 || engine_reap(&b->e, &done, 1, 1, 20000000) == 1)
			break;
		done.slot = UINT32_MAX;
	}
	if (fd >= 0 ? !bed_reap(b, &done) : done.slot == UINT32_MAX)
		return BED_LOST;
	CHECK_EQUAL(done.slot, slot);
	return done.result;
}

void clause_shutdown_recv(const struct engine_ops *ops)
{
	struct bed b;
	int pair[2];

	for (uint32_t i = 0; i < 4; i++) {
		if (!bed_pair(pair, i >= 2) || !bed_open(&b, ops, 2, ENGINE_SOCKETS))
			return;
		bed_request(&b, i & 1, IO_RECV, pair[0], NULL, 8, 0);
		CHECK_EQUAL(shut_down_meanwhile(&b, i & 1, pair[0]), 0);
		bed_close(&b);
		close(pair[0]);
		close(pair[1]);
	}
}

void clause_shutdown_accept(const struct engine_ops *ops)
{
	struct bed b;

	for (uint32_t i = 0; i < 4; i++) {
		_Alignas(8) char address[128];
		uint32_t length = sizeof address;
		const int listener = bed_listen(address, &length, i >= 2, 1);

		if (listener < 0 || !bed_open(&b, ops, 2, ENGINE_CONNECTIONS))
			return;
		bed_request(&b, i & 1, IO_ACCEPT, listener, NULL, 0, 0);
		CHECK_EQUAL(shut_down_meanwhile(&b, i & 1, listener), -EINVAL);
		bed_close(&b);
		close(listener);
	}
}

/* A TCP listener whose queue is full answers no more: the connection stays in progress. */
void clause_shutdown_connect(const struct engine_ops *ops)
{
	const struct holdings before = holdings_now();
	_Alignas(8) char address[128];
	uint32_t length = sizeof address;
	const int listener = bed_listen(address, &length, true, 0);
	int fillers[3];
	struct bed b;

	if (listener < 0 || !bed_open(&b, ops, 2, ENGINE_CONNECTIONS))
		return;
	for (int i = 0; i < 3; i++) {
		fillers[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		(void)!connect(fillers[i], (void *)address, length); /* stays in progress */
	}
	for (uint32_t slot = 0; slot < 2; slot++) {
		int32_t result;

		bed_request(&b, slot, IO_CONNECT, -1, address, length, 0);
		result = shut_down_meanwhile(&b, slot, -1);
		CHECK_MESSAGE(result < 0 && result != BED_LOST && result != -EINTR, "connect: %d",
		              result);
	}
	bed_close(&b);
	for (int i = 0; i < 3; i++)
		close(fillers[i]);
	close(listener);
	check_holdings(before);
}
