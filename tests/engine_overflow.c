/*
 * More completions at once than a completion queue has entries.
 */
#include "tests/engine_bed.h"

#include <unistd.h>

static void overflow(const char *engine)
{
	const uint32_t slots = 100000;
	const uint64_t deadline_ns = bed_now_ns() + 300000000;
	/* No more memory than an ordinary user may lock. */
	static char memory[BED_BLOCK];
	const struct engine_config config = {
	    .slots = slots, .need = ENGINE_TIMERS, .memory = memory, .memory_bytes = sizeof memory};
	char why[ENGINE_WHY_SIZE];
	struct io_done done[256];
	uint32_t back = 0;
	struct bed b;

	REQUIRE_MESSAGE(bed_try(&b, engine_find(engine), config, why) == 0, "%s", why);
	for (uint32_t i = 0; i < slots; i++) {
		bed_request(&b, i, IO_TIMEOUT, -1, NULL, 0, deadline_ns);
		if (!bed_submit(&b, i))
			return;
	}
	usleep(500000);
	while (back < slots && !test_has_failed()) {
		const int n = engine_reap(&b.e, done, 1, 256, 1000000000);

		CHECK_BETWEEN(n, 1, 256);
		for (int i = 0; i < n; i++)
			CHECK_EQUAL(done[i].result, 0);
		back += n > 0 ? (uint32_t)n : 0;
	}
	CHECK_EQUAL(engine_in_flight(&b.e), 0);
	bed_close(&b);
}

/* More timers than a completion queue may have entries, due together: none is lost. */
TEST(engine_overflow, uring_serves_more_slots_than_a_queue_has_entries)
{
	overflow("uring");
	overflow("uring-defer");
}
