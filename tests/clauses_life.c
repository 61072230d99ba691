/* Slots, depth, threads: that each request comes back exactly once, whatever the weather. */
#include "tests/engine_clauses.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { STORM_SLOTS = 64, STORM_REQUESTS = 5000, STORM_BLOCKS = 256 };

static uint64_t storm_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

struct storm {
	struct bed b;
	uint64_t random;
	int file;
	int pair[2];
	uint8_t busy[STORM_SLOTS];
	uint64_t submitted, returned;
};

/* A request by chance among those that end by themselves. */
static void storm_fill(struct storm *s, uint32_t slot)
{
	const uint32_t caps = s->b.e.ops->caps;
	const uint64_t chance = storm_random(&s->random);

	bed_request(&s->b, slot, IO_NOP, -1, NULL, 0, 0);
	if (chance % 4 == 0 && caps & ENGINE_FILES)
		bed_request(&s->b, slot, IO_READ, s->file, NULL, BED_BLOCK,
		            (chance >> 8) % STORM_BLOCKS * BED_BLOCK);
	else if (chance % 4 == 1 && caps & ENGINE_SOCKETS)
		bed_request(&s->b, slot, IO_SEND, s->pair[0], NULL, 1 + (chance >> 8) % 8, 0);
	else if (chance % 4 == 2 && caps & ENGINE_TIMERS)
		bed_request(&s->b, slot, IO_TIMEOUT, -1, NULL, 0,
		            bed_now_ns() + (chance >> 8) % 300000);
}

static void storm_check(struct storm *s, struct io_done done)
{
	const struct io_req *r = &s->b.requests[done.slot];
	const char *data = r->data;

	CHECK(s->busy[done.slot]);
	s->busy[done.slot] = 0;
	s->returned++;
	if (s->b.e.ops->caps & ENGINE_NO_IO)
		return;
	CHECK_EQUAL(done.result, r->op == IO_TIMEOUT ? 0 : r->length);
	if (r->op == IO_TIMEOUT)
		CHECK(bed_now_ns() >= r->deadline_ns);
	if (r->op == IO_READ)
		for (uint32_t i = 0; i < BED_BLOCK; i += 511)
			CHECK(data[i] == bed_byte(r->offset + i));
}

static void storm_submit(struct storm *s)
{
	uint32_t slots[STORM_SLOTS], n = 0;
	const uint32_t most = 1 + (uint32_t)(storm_random(&s->random) % STORM_SLOTS);
	int accepted;

	for (uint32_t slot = 0; slot < STORM_SLOTS && n < most; slot++)
		if (!s->busy[slot] && storm_random(&s->random) % 2) {
			storm_fill(s, slot);
			slots[n++] = slot;
		}
	if (!n)
		return;
	accepted = engine_submit(&s->b.e, slots, n);
	CHECK_BETWEEN(accepted, 0, n);
	for (int i = 0; i < accepted && i < (int)n; i++)
		s->busy[slots[i]] = 1;
	s->submitted += accepted > 0 ? (uint64_t)accepted : 0;
}

static void storm_reap(struct storm *s)
{
	const uint32_t max = 1 + (uint32_t)(storm_random(&s->random) % STORM_SLOTS);
	uint32_t min = (uint32_t)(storm_random(&s->random) % (max + 1));
	const int64_t timeouts_ns[] = {0, 1000, 200000, -1};
	const int64_t timeout_ns = timeouts_ns[storm_random(&s->random) % 4];
	struct io_done done[STORM_SLOTS];
	int n;

	if (min > engine_in_flight(&s->b.e))
		min = engine_in_flight(&s->b.e);
	n = engine_reap(&s->b.e, done, min, max, timeout_ns);
	CHECK_BETWEEN(n, 0, max);
	for (int i = 0; i < n; i++)
		storm_check(s, done[i]);
}

void clause_storm(const struct engine_ops *ops)
{
	pthread_t drainer;

	for (uint64_t seed = 1; seed <= 3 && !test_has_failed(); seed++) {
		struct storm *s = calloc(1, sizeof *s);

		s->random = seed * 0x9e3779b97f4a7c15;
		s->file = bed_file(STORM_BLOCKS * BED_BLOCK);
		if (!bed_pair(s->pair, false) || !bed_open(&s->b, ops, STORM_SLOTS, 0))
			return;
		CHECK(bed_drain(&drainer, &s->pair[1]));
		while (s->submitted < STORM_REQUESTS && !test_has_failed()) {
			storm_submit(s);
			CHECK_EQUAL(engine_in_flight(&s->b.e), s->submitted - s->returned);
			storm_reap(s);
		}
		while (engine_in_flight(&s->b.e) && !test_has_failed()) {
			struct io_done done;

			if (bed_reap(&s->b, &done))
				storm_check(s, done);
		}
		CHECK_EQUAL(s->returned, s->submitted);
		bed_close(&s->b);
		shutdown(s->pair[0], SHUT_RDWR);
		pthread_join(drainer, NULL);
		close(s->pair[0]);
		close(s->pair[1]);
		close(s->file);
		free(s);
	}
}

/* As many in flight as there are slots, all at once, and every one comes back. */
void clause_depth(const struct engine_ops *ops)
{
	const uint32_t slots = ops->caps & (ENGINE_SYNCHRONOUS | ENGINE_HIDDEN_THREADS) ? 500
	                                                                                : 1000;
	uint8_t *seen = calloc(slots, 1);
	const char bytes[1000] = {0};
	struct io_done done;
	struct bed b;
	int pair[2];

	if (!bed_pair(pair, false) || !bed_open(&b, ops, slots, 0))
		return;
	for (uint32_t i = 0; i < slots; i++) {
		bed_request(&b, i, IO_NOP, -1, NULL, 0, 0);
		if (!(ops->caps & (ENGINE_SYNCHRONOUS | ENGINE_NO_IO)) &&
		    ops->caps & ENGINE_SOCKETS)
			bed_request(&b, i, IO_RECV, pair[0], NULL, 1, 0);
		CHECK(bed_submit(&b, i));
	}
	CHECK_EQUAL(engine_in_flight(&b.e), slots);
	CHECK_EQUAL(send(pair[1], bytes, slots, 0), slots);
	for (uint32_t i = 0; i < slots && bed_reap(&b, &done); i++) {
		CHECK_MESSAGE(done.result == (int32_t)b.requests[done.slot].length ||
		                  b.requests[done.slot].op == IO_NOP,
		              "result %d", done.result);
		CHECK(!seen[done.slot]);
		seen[done.slot] = 1;
	}
	CHECK_EQUAL(engine_in_flight(&b.e), 0);
	bed_close(&b);
	close(pair[0]);
	close(pair[1]);
	free(seen);
}

/* What is accepted is a prefix: the others are the caller's, to change and to submit again. */
void clause_prefix(const struct engine_ops *ops)
{
	enum { N = 32 };
	uint32_t slots[N], next = 0;
	uint8_t seen[N] = {0};
	struct io_done done;
	struct bed b;

	if (!bed_open(&b, ops, N, 0))
		return;
	for (uint32_t i = 0; i < N; i++) {
		slots[i] = N - 1 - i;
		bed_request(&b, i, IO_NOP, -1, NULL, 0, 0);
	}
	while (next < N && !test_has_failed()) {
		const int n = engine_submit(&b.e, slots + next, N - next);

		CHECK_BETWEEN(n, 0, N - next);
		if (ops->caps & ENGINE_SYNCHRONOUS)
			CHECK_EQUAL(n, 1);
		next += (uint32_t)n;
		CHECK_EQUAL(engine_in_flight(&b.e), next);
		for (uint32_t i = next; i < N; i++)
			memset(&b.requests[slots[i]], 0, sizeof b.requests[0]);
	}
	for (uint32_t i = 0; i < N && bed_reap(&b, &done); i++)
		CHECK(!seen[done.slot]++);
	bed_close(&b);
}

/* Each need that it cannot serve is refused with a sentence, and leaves nothing. */
void clause_refusal(const struct engine_ops *ops)
{
	const uint32_t fds = bed_fds(), threads = bed_threads();

	for (uint32_t need = 1; need <= ENGINE_NEEDS; need <<= 1) {
		char why[ENGINE_WHY_SIZE];
		struct bed b;
		int error;

		if (!(need & ENGINE_NEEDS))
			continue;
		error = bed_try(&b, ops, (struct engine_config){.slots = 4, .need = need}, why);
		CHECK_MESSAGE(error == (need & ops->caps ? 0 : -EOPNOTSUPP), "need %#x: %d: %s",
		              need, error, why);
		if (error)
			CHECK_CONTAINS(why, ops->name);
		if (!error)
			bed_close(&b);
	}
	CHECK_EQUAL(bed_fds(), fds);
	CHECK(bed_threads_down_to(threads));
}

/* Descriptors are closed and come back as other files while the engine is open. */
void clause_descriptor_reuse(const struct engine_ops *ops)
{
	struct bed b;
	int pair[2];

	if (!bed_open(&b, ops, 4, ENGINE_SOCKETS))
		return;
	for (int i = 0; i < 50 && !test_has_failed(); i++) {
		struct io_done done;

		if (!bed_pair(pair, i % 2))
			return;
		bed_request(&b, 0, IO_RECV, pair[0], NULL, 100, 0);
		if (ops->caps & ENGINE_SYNCHRONOUS) {
			CHECK_EQUAL(send(pair[1], "again", 5, 0), 5);
			CHECK(bed_submit(&b, 0));
		} else {
			CHECK(bed_submit(&b, 0));
			CHECK_EQUAL(engine_reap(&b.e, &done, 0, 1, 0), 0);
			CHECK_EQUAL(send(pair[1], "again", 5, 0), 5);
		}
		CHECK(bed_reap(&b, &done));
		CHECK_EQUAL(done.result, 5);
		close(pair[0]);
		close(pair[1]);
	}
	bed_close(&b);
}

/* Requests on one descriptor whose data come one after the other: each finds its own. */
void clause_turns(const struct engine_ops *ops)
{
	struct io_done done;
	struct bed b;
	int pair[2];

	if (!bed_pair(pair, false) || !bed_open(&b, ops, 4, ENGINE_SOCKETS))
		return;
	for (uint32_t i = 0; i < 4; i++) {
		bed_request(&b, i, IO_RECV, pair[0], NULL, 1, 0);
		CHECK(bed_submit(&b, i));
	}
	for (uint32_t i = 0; i < 4; i++) {
		CHECK_EQUAL(send(pair[1], "x", 1, 0), 1);
		CHECK(bed_reap(&b, &done));
		CHECK_EQUAL(done.result, 1);
		CHECK_EQUAL(engine_reap(&b.e, &done, 0, 1, 0), 0);
	}
	bed_close(&b);
	close(pair[0]);
	close(pair[1]);
}
