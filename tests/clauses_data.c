/* What the operations do: the same bytes and results through every engine. */
#include "tests/engine_clauses.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

static const uint64_t STREAM = UINT64_MAX;

static bool has_file_bytes(const char *data, uint32_t length, uint64_t place)
{
	for (uint32_t i = 0; i < length; i++)
		if (data[i] != bed_byte(place + i))
			return false;
	return true;
}

void clause_nop(const struct engine_ops *ops)
{
	struct bed b;

	if (!bed_open(&b, ops, 4, 0))
		return;
	CHECK_EQUAL(bed_call(&b, IO_NOP, -1, NULL, 0, 0), 0);
	CHECK_EQUAL(engine_in_flight(&b.e), 0);
	bed_close(&b);
}

void clause_file_round_trip(const struct engine_ops *ops)
{
	const int fd = bed_file(0);
	struct bed b;
	char *data;

	if (!bed_open(&b, ops, 4, ENGINE_FILES))
		return;
	data = b.memory;
	for (uint32_t block = 0; block < 5; block++) {
		for (uint32_t i = 0; i < BED_BLOCK; i++)
			data[i] = bed_byte(block * BED_BLOCK + i);
		CHECK_EQUAL(bed_call(&b, IO_WRITE, fd, NULL, BED_BLOCK, block * BED_BLOCK),
		            BED_BLOCK);
	}
	CHECK_EQUAL(bed_call(&b, IO_FSYNC, fd, NULL, 0, 0), 0);
	CHECK_EQUAL(lseek(fd, 0, SEEK_END), 5 * BED_BLOCK);
	/* At offsets that are no block's, and 0, which is no stream. */
	for (uint64_t offset = 0; offset < 4 * BED_BLOCK; offset += 1234) {
		memset(data, 0, BED_BLOCK);
		CHECK_EQUAL(bed_call(&b, IO_READ, fd, NULL, BED_BLOCK, offset), BED_BLOCK);
		CHECK(has_file_bytes(data, BED_BLOCK, offset));
	}
	bed_close(&b);
	close(fd);
}

void clause_file_short_read(const struct engine_ops *ops)
{
	const int fd = bed_file(5000);
	struct bed b;

	if (!bed_open(&b, ops, 4, ENGINE_FILES))
		return;
	CHECK_EQUAL(bed_call(&b, IO_READ, fd, NULL, BED_BLOCK, 4000), 1000);
	CHECK(has_file_bytes(b.memory, 1000, 4000));
	CHECK_EQUAL(bed_call(&b, IO_READ, fd, NULL, BED_BLOCK, 5000), 0);
	CHECK_EQUAL(bed_call(&b, IO_READ, fd, NULL, 0, 0), 0);
	bed_close(&b);
	close(fd);
}

/* The contract says where data of READ and WRITE lies; requests inside and across the edges of
 * a page must not depend on what is registered. */
void clause_file_foreign_memory(const struct engine_ops *ops)
{
	const int fd = bed_file(BED_BLOCK);
	struct bed b;

	if (!bed_open(&b, ops, 4, ENGINE_FILES))
		return;
	CHECK_EQUAL(bed_call(&b, IO_READ, fd, b.memory + 4 * BED_BLOCK - 7, 7, 11), 7);
	CHECK(has_file_bytes(b.memory + 4 * BED_BLOCK - 7, 7, 11));
	CHECK_EQUAL(bed_call(&b, IO_READ, fd, b.memory + BED_BLOCK - 9, 100, 3), 100);
	CHECK(has_file_bytes(b.memory + BED_BLOCK - 9, 100, 3));
	bed_close(&b);
	close(fd);
}

void clause_bad_descriptor(const struct engine_ops *ops)
{
	const bool files = ops->caps & ENGINE_FILES;
	struct bed b;

	if (!bed_open(&b, ops, 4, 0))
		return;
	CHECK_EQUAL(bed_call(&b, files ? IO_READ : IO_RECV, 19999, NULL, 10, 0), -EBADF);
	CHECK_EQUAL(bed_call(&b, files ? IO_WRITE : IO_SEND, -1, NULL, 10, 0), -EBADF);
	if (files)
		CHECK_EQUAL(bed_call(&b, IO_FSYNC, 19999, NULL, 0, 0), -EBADF);
	/* The engine is whole all the same. */
	CHECK_EQUAL(bed_call(&b, IO_NOP, -1, NULL, 0, 0), 0);
	bed_close(&b);
}

void clause_known_descriptors(const struct engine_ops *ops)
{
	const bool files = ops->caps & ENGINE_FILES;
	char why[ENGINE_WHY_SIZE];
	int fds[4] = {bed_file(BED_BLOCK), -1, -1, -1};
	const int unknown = bed_file(BED_BLOCK);
	struct bed b;

	if (!bed_pair(fds + 1, false))
		return;
	fds[3] = files ? fds[0] : fds[2];
	if (!files)
		fds[0] = fds[1];
	const struct engine_config config = {
	    .slots = 4, .need = ops->caps & ENGINE_NEEDS, .fds = fds, .fd_count = 4};

	CHECK_MESSAGE(bed_try(&b, ops, config, why) == 0, "%s", why);
	if (!b.open)
		return;
	if (files) {
		CHECK_EQUAL(bed_call(&b, IO_READ, fds[0], NULL, 100, 50), 100);
		CHECK(has_file_bytes(b.memory, 100, 50));
		CHECK_EQUAL(bed_call(&b, IO_READ, unknown, NULL, 100, 60), 100);
		CHECK(has_file_bytes(b.memory, 100, 60));
	}
	CHECK_EQUAL(bed_call(&b, IO_SEND, fds[1], "abc", 3, 0), 3);
	CHECK_EQUAL(bed_call(&b, IO_RECV, fds[2], NULL, 100, 0), 3);
	CHECK(memcmp(b.memory, "abc", 3) == 0);
	bed_close(&b);
	/* Nothing holds them any longer: the other side sees the end. */
	close(fds[1]);
	CHECK_EQUAL(recv(fds[2], why, 1, 0), 0);
	close(fds[2]);
	if (files)
		close(fds[0]);
	close(unknown);
}

void clause_stream_pipe(const struct engine_ops *ops)
{
	struct bed b;
	int fds[2];

	REQUIRE(pipe2(fds, O_CLOEXEC) == 0);
	if (!bed_open(&b, ops, 4, ENGINE_SOCKETS))
		return;
	memcpy(b.memory, "through a pipe", 14);
	CHECK_EQUAL(bed_call(&b, IO_WRITE, fds[1], NULL, 14, STREAM), 14);
	memset(b.memory, 0, 14);
	CHECK_EQUAL(bed_call(&b, IO_READ, fds[0], NULL, 10, STREAM), 10);
	CHECK(memcmp(b.memory, "through a ", 10) == 0);
	CHECK_EQUAL(bed_call(&b, IO_READ, fds[0], NULL, 10, STREAM), 4);
	CHECK(memcmp(b.memory, "pipe", 4) == 0);
	close(fds[1]);
	CHECK_EQUAL(bed_call(&b, IO_READ, fds[0], NULL, 10, STREAM), 0);
	bed_close(&b);
	close(fds[0]);
}

/* A post between threads is an eventfd under a READ. */
void clause_stream_eventfd(const struct engine_ops *ops)
{
	const int fd = eventfd(0, EFD_CLOEXEC);
	uint64_t count = 3;
	struct io_done done;
	struct bed b;

	if (!bed_open(&b, ops, 4, ENGINE_SOCKETS))
		return;
	CHECK_EQUAL(write(fd, &count, sizeof count), sizeof count);
	CHECK_EQUAL(bed_call(&b, IO_READ, fd, NULL, 8, STREAM), 8);
	memcpy(&count, b.memory, sizeof count);
	CHECK_EQUAL(count, 3);
	if (!(ops->caps & ENGINE_SYNCHRONOUS)) {
		bed_request(&b, 1, IO_READ, fd, NULL, 8, STREAM);
		CHECK(bed_submit(&b, 1));
		CHECK_EQUAL(engine_reap(&b.e, &done, 0, 1, 0), 0);
		count = 5;
		CHECK_EQUAL(write(fd, &count, sizeof count), sizeof count);
		CHECK(bed_reap(&b, &done));
		CHECK_EQUAL(done.slot, 1);
		CHECK_EQUAL(done.result, 8);
		memcpy(&count, b.memory + BED_BLOCK, sizeof count);
		CHECK_EQUAL(count, 5);
	}
	bed_close(&b);
	close(fd);
}

static void socket_round_trip(const struct engine_ops *ops, bool tcp)
{
	struct bed b;
	int pair[2];

	if (!bed_pair(pair, tcp) || !bed_open(&b, ops, 4, ENGINE_SOCKETS))
		return;
	for (uint32_t i = 0; i < 20; i++) {
		memset(b.memory, (int)i, 600);
		CHECK_EQUAL(bed_call(&b, IO_SEND, pair[i & 1], NULL, 600, 0), 600);
		memset(b.memory, 0xff, BED_BLOCK);
		/* More is asked than has come: what has come is returned. */
		CHECK_EQUAL(bed_call(&b, IO_RECV, pair[~i & 1], NULL, BED_BLOCK, 0), 600);
		CHECK(b.memory[0] == (char)i && b.memory[599] == (char)i &&
		      b.memory[600] == (char)0xff);
	}
	/* As streams too. */
	memcpy(b.memory, "stream", 6);
	CHECK_EQUAL(bed_call(&b, IO_WRITE, pair[0], NULL, 6, STREAM), 6);
	memset(b.memory, 0, 6);
	CHECK_EQUAL(bed_call(&b, IO_READ, pair[1], NULL, 100, STREAM), 6);
	CHECK(memcmp(b.memory, "stream", 6) == 0);
	bed_close(&b);
	close(pair[0]);
	close(pair[1]);
}

void clause_socket_round_trip(const struct engine_ops *ops)
{
	socket_round_trip(ops, false);
	socket_round_trip(ops, true);
}

/* A RECV and a full SEND on the same descriptor at once, and two RECV in their order. */
void clause_socket_both_ways(const struct engine_ops *ops)
{
	enum { BIG = 16 << 20 };
	char *big = calloc(1, BIG), *sink = malloc(BIG);
	uint32_t back = 0, sent = 0, received = 0;
	struct io_done done;
	struct bed b;
	int pair[2];

	if (!bed_pair(pair, false) || !bed_open(&b, ops, 4, ENGINE_SOCKETS))
		return;
	bed_request(&b, 0, IO_RECV, pair[0], NULL, 3, 0);
	bed_request(&b, 1, IO_RECV, pair[0], NULL, 3, 0);
	bed_request(&b, 2, IO_SEND, pair[0], big, BIG, 0);
	CHECK(bed_submit(&b, 0) && bed_submit(&b, 1) && bed_submit(&b, 2));
	CHECK_EQUAL(send(pair[1], "onetwo", 6, 0), 6);
	while (back < 3 && !test_has_failed()) {
		const ssize_t n = recv(pair[1], sink, BIG, MSG_DONTWAIT);

		received += n > 0 ? (uint32_t)n : 0;
		if (engine_reap(&b.e, &done, 1, 1, 1000000) != 1)
			continue;
		back++;
		if (done.slot == 2)
			sent = (uint32_t)done.result;
		else
			CHECK_EQUAL(done.result, 3);
	}
	for (ssize_t n = 1; received < sent && n > 0;) {
		n = recv(pair[1], sink, BIG, 0);
		received += (uint32_t)n;
	}
	CHECK_BETWEEN(sent, 1, BIG);
	CHECK_EQUAL(received, sent);
	CHECK_MESSAGE(
	    (memcmp(b.memory, "one", 3) == 0 && memcmp(b.memory + BED_BLOCK, "two", 3) == 0) ||
		(memcmp(b.memory, "two", 3) == 0 && memcmp(b.memory + BED_BLOCK, "one", 3) == 0),
	    "received %.3s and %.3s", b.memory, b.memory + BED_BLOCK);
	bed_close(&b);
	close(pair[0]);
	close(pair[1]);
	free(big);
	free(sink);
}

void clause_socket_end(const struct engine_ops *ops)
{
	struct bed b;
	int pair[2];

	for (int tcp = 0; tcp < 2; tcp++) {
		if (!bed_pair(pair, tcp) || !bed_open(&b, ops, 4, ENGINE_SOCKETS))
			return;
		close(pair[1]);
		CHECK_EQUAL(bed_call(&b, IO_RECV, pair[0], NULL, 10, 0), 0);
		bed_close(&b);
		close(pair[0]);
	}
}

/* The peer dies with data unread: an error of the request, no signal, no broken engine. */
void clause_socket_reset(const struct engine_ops *ops)
{
	int32_t result;
	struct bed b;
	int pair[2];

	if (!bed_pair(pair, true) || !bed_open(&b, ops, 4, ENGINE_SOCKETS))
		return;
	CHECK_EQUAL(send(pair[0], "unread", 6, 0), 6);
	close(pair[1]);
	CHECK_EQUAL(bed_call(&b, IO_RECV, pair[0], NULL, 10, 0), -ECONNRESET);
	result = bed_call(&b, IO_SEND, pair[0], "x", 1, 0);
	CHECK_MESSAGE(result == -EPIPE || result == -ECONNRESET, "send: %d", result);
	CHECK_EQUAL(bed_call(&b, IO_NOP, -1, NULL, 0, 0), 0);
	bed_close(&b);
	close(pair[0]);
}

static void accept_connect(const struct engine_ops *ops, bool tcp)
{
	_Alignas(8) char address[128];
	uint32_t length = sizeof address;
	const int listener = bed_listen(address, &length, tcp, 8);
	int32_t client, server;
	struct io_done done;
	struct bed b;

	if (listener < 0 || !bed_open(&b, ops, 4, ENGINE_CONNECTIONS | ENGINE_SOCKETS))
		return;
	bed_request(&b, 1, IO_ACCEPT, listener, NULL, 0, 0);
	if (ops->caps & ENGINE_SYNCHRONOUS) {
		client = bed_call(&b, IO_CONNECT, -1, address, length, 0);
		server = bed_do(&b, 1);
	} else {
		CHECK(bed_submit(&b, 1));
		CHECK_EQUAL(engine_reap(&b.e, &done, 0, 1, 0), 0);
		bed_request(&b, 0, IO_CONNECT, -1, address, length, 0);
		CHECK(bed_submit(&b, 0) && bed_reap(&b, &done));
		client = done.slot == 0 ? done.result : -1;
		server = done.slot == 1 ? done.result : -1;
		CHECK(bed_reap(&b, &done));
		*(done.slot == 0 ? &client : &server) = done.result;
	}
	CHECK_MESSAGE(client >= 0 && server >= 0, "connect %d, accept %d", client, server);
	CHECK(fcntl(client, F_GETFD) & FD_CLOEXEC && fcntl(server, F_GETFD) & FD_CLOEXEC);
	CHECK_EQUAL(bed_call(&b, IO_SEND, client, "hello", 5, 0), 5);
	CHECK_EQUAL(bed_call(&b, IO_RECV, server, NULL, 10, 0), 5);
	CHECK_EQUAL(bed_call(&b, IO_SEND, server, "world", 5, 0), 5);
	CHECK_EQUAL(bed_call(&b, IO_RECV, client, NULL, 10, 0), 5);
	bed_close(&b);
	close(client);
	close(server);
	close(listener);
}

void clause_accept_connect(const struct engine_ops *ops)
{
	accept_connect(ops, false);
	accept_connect(ops, true);
}

void clause_connect_refused(const struct engine_ops *ops)
{
	_Alignas(8) char address[128];
	uint32_t length = sizeof address;
	const uint32_t fds = bed_fds();
	struct bed b;

	close(bed_listen(address, &length, true, 1));
	if (!bed_open(&b, ops, 4, ENGINE_CONNECTIONS))
		return;
	CHECK_EQUAL(bed_call(&b, IO_CONNECT, -1, address, length, 0), -ECONNREFUSED);
	CHECK_EQUAL(bed_call(&b, IO_CONNECT, -1, address, 1, 0), -EINVAL);
	bed_close(&b);
	CHECK_EQUAL(bed_fds(), fds);
}

/* A request that the engine cannot serve is an error of the request. */
void clause_unserved(const struct engine_ops *ops)
{
	struct bed b;
	const int file = bed_file(BED_BLOCK);

	if (!bed_open(&b, ops, 4, 0))
		return;
	if (!(ops->caps & ENGINE_FILES)) {
		CHECK_EQUAL(bed_call(&b, IO_READ, file, NULL, 10, 0), -EOPNOTSUPP);
		CHECK_EQUAL(bed_call(&b, IO_WRITE, file, NULL, 10, 0), -EOPNOTSUPP);
		CHECK_EQUAL(bed_call(&b, IO_FSYNC, file, NULL, 0, 0), -EOPNOTSUPP);
	}
	if (!(ops->caps & ENGINE_TIMERS))
		CHECK_EQUAL(bed_call(&b, IO_TIMEOUT, -1, NULL, 0, 1), -EOPNOTSUPP);
	if (!(ops->caps & ENGINE_CONNECTIONS)) {
		CHECK_EQUAL(bed_call(&b, IO_ACCEPT, file, NULL, 0, 0), -EOPNOTSUPP);
		CHECK_EQUAL(bed_call(&b, IO_CONNECT, -1, NULL, 0, 0), -EOPNOTSUPP);
	}
	bed_close(&b);
	close(file);
}
