/*
 * libaio where the kernel takes less than it is given: a bad request in the midst of a batch, and
 * no room (EAGAIN). The second hardly ever happens, so io_submit is replaced by one that has as
 * much room as a test says, and hands everything else to the kernel.
 */
#include "tests/engine_libaio.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/engine_bed.h"
#include "tests/test.h"

static long room = -1; /* requests that are still taken; -1: as the kernel likes */

int io_submit(io_context_t context, long count, struct iocb **blocks)
{
	long taken;

	if (room == 0)
		return -EAGAIN;
	if (room > 0 && count > room)
		count = room;
	taken = syscall(SYS_io_submit, context, count, blocks);
	if (taken < 0)
		return -errno;
	if (room > 0)
		room -= taken;
	return (int)taken;
}

static bool is_block(const char *data, uint64_t block)
{
	for (uint64_t i = 0; i < BED_BLOCK; i++)
		if (data[i] != bed_byte(block * BED_BLOCK + i))
			return false;
	return true;
}

/* Reads block i into slot i, through fds[i]. */
static void ask(struct bed *b, uint32_t slot, int fd)
{
	bed_request(b, slot, IO_READ, fd, NULL, BED_BLOCK, slot * (uint64_t)BED_BLOCK);
}

TEST(libaio, a_bad_request_in_a_batch_is_its_own_failure_alone)
{
	const uint32_t slots[] = {0, 1, 2, 3, 4, 5};
	const int fd = bed_file(6 * BED_BLOCK);
	struct io_done done;
	struct bed b;

	if (!bed_open(&b, engine_find("libaio"), 6, ENGINE_FILES))
		return;
	/* one bit for each of six requests: those that are bad */
	for (uint32_t bad = 0; bad < 64 && !test_has_failed(); bad++) {
		memset(b.memory, 0, 6 * BED_BLOCK);
		for (uint32_t i = 0; i < 6; i++)
			ask(&b, i, bad & 1u << i ? 19999 : fd);
		CHECK_EQUAL(engine_submit(&b.e, slots, 6), 6);
		for (uint32_t i = 0; i < 6 && bed_reap(&b, &done); i++) {
			const bool was_bad = bad & 1u << done.slot;

			CHECK_EQUAL(done.result, was_bad ? -EBADF : BED_BLOCK);
			CHECK(was_bad || is_block(b.memory + done.slot * BED_BLOCK, done.slot));
		}
		CHECK_EQUAL(engine_in_flight(&b.e), 0);
	}
	bed_close(&b);
	close(fd);
}

TEST(libaio, takes_what_there_is_room_for_and_the_rest_later)
{
	const uint32_t slots[] = {0, 1, 2, 3, 4, 5, 6, 7};
	const int fd = bed_file(8 * BED_BLOCK);
	uint32_t submitted = 0, back = 0;
	struct io_done done;
	struct bed b;

	if (!bed_open(&b, engine_find("libaio"), 8, ENGINE_FILES))
		return;
	for (uint32_t i = 0; i < 8; i++)
		ask(&b, i, fd);
	while (back < 8 && !test_has_failed()) {
		room = 3;
		if (submitted < 8) {
			const uint32_t left = 8 - submitted;
			const uint32_t fits = left < 3 ? left : 3;

			CHECK_EQUAL(engine_submit(&b.e, slots + submitted, left), fits);
			submitted += fits;
		}
		/* full, and requests in flight that will make room: none is taken, none is lost */
		room = 0;
		if (submitted < 8)
			CHECK_EQUAL(engine_submit(&b.e, slots + submitted, 8 - submitted), 0);
		CHECK_EQUAL(engine_in_flight(&b.e), submitted - back);
		while (back < submitted && bed_reap(&b, &done)) {
			CHECK_EQUAL(done.result, BED_BLOCK);
			CHECK(is_block(b.memory + done.slot * BED_BLOCK, done.slot));
			back++;
		}
	}
	room = -1;
	bed_close(&b);
	close(fd);
}

TEST(libaio, says_so_when_it_takes_nothing_and_nothing_will_make_room)
{
	const uint32_t slots[] = {0, 1};
	const int fd = bed_file(2 * BED_BLOCK);
	struct bed b;

	if (!bed_open(&b, engine_find("libaio"), 2, ENGINE_FILES))
		return;
	ask(&b, 0, fd);
	ask(&b, 1, fd);
	room = 0;
	CHECK_EQUAL(engine_submit(&b.e, slots, 2), -EAGAIN);
	CHECK_EQUAL(engine_in_flight(&b.e), 0);
	room = -1;
	bed_close(&b);
	close(fd);
}
