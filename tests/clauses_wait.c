/* How reap waits: what it may do early and what it may not. Time is only a lower bound here;
 * the upper one is a hang. */
#include "tests/engine_clauses.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const uint64_t MS = 1000000;

/* Something that stays in flight: a RECV without an answer, or a timer in an hour. */
struct pending {
	int pair[2];
};

static bool begin_pending(struct bed *b, struct pending *p, uint32_t slot)
{
	p->pair[0] = p->pair[1] = -1;
	if (b->e.ops->caps & ENGINE_SOCKETS) {
		if (!bed_pair(p->pair, false))
			return false;
		bed_request(b, slot, IO_RECV, p->pair[0], NULL, 10, 0);
	} else {
		bed_request(b, slot, IO_TIMEOUT, -1, NULL, 0, bed_now_ns() + 3600000 * MS);
	}
	return bed_submit(b, slot);
}

static void end_pending(struct pending *p)
{
	if (p->pair[0] >= 0) {
		shutdown(p->pair[0], SHUT_RDWR);
		close(p->pair[0]);
		close(p->pair[1]);
	}
}

static void end_bed(struct bed *b, struct pending *p)
{
	if (p->pair[0] >= 0)
		shutdown(p->pair[0], SHUT_RDWR);
	bed_close(b);
	end_pending(p);
}

/* With nothing in flight, and with something: 0, at once. A hang would be caught by the runner;
 * 1000 looks that each wait a clock tick are caught here. */
void clause_look(const struct engine_ops *ops)
{
	struct pending pending;
	struct io_done done[4];
	struct bed b;
	uint64_t begin_ns;

	if (!bed_open(&b, ops, 4, 0))
		return;
	CHECK_EQUAL(engine_reap(&b.e, done, 0, 4, 0), 0);
	CHECK_EQUAL(engine_reap(&b.e, done, 1, 4, 0), 0);
	REQUIRE(begin_pending(&b, &pending, 0));
	begin_ns = bed_now_ns();
	for (int i = 0; i < 1000; i++) {
		CHECK_EQUAL(engine_reap(&b.e, done, 0, 4, 0), 0);
		CHECK_EQUAL(engine_reap(&b.e, done, 4, 4, 0), 0);
	}
	CHECK(bed_now_ns() - begin_ns < BED_HANG_MS * MS);
	CHECK_EQUAL(engine_in_flight(&b.e), 1);
	end_bed(&b, &pending);
}

/* An early return is allowed, but an engine that ignores its time returns always early, and
 * one that waits for ever does not return: so a number of waits together take their time. */
void clause_timeout(const struct engine_ops *ops)
{
	struct pending pending;
	struct io_done done[4];
	struct bed b;
	uint64_t begin_ns;
	int waits = 0;

	if (!bed_open(&b, ops, 4, 0))
		return;
	REQUIRE(begin_pending(&b, &pending, 0));
	begin_ns = bed_now_ns();
	for (; waits < 8; waits++)
		CHECK_EQUAL(engine_reap(&b.e, done, 1, 4, (int64_t)(5 * MS)), 0);
	CHECK_BETWEEN(bed_now_ns() - begin_ns, 5 * MS, BED_HANG_MS * MS);
	CHECK_EQUAL(engine_in_flight(&b.e), 1);
	end_bed(&b, &pending);
}

static void on_alarm(int number)
{
	(void)number;
}

/* Also where the program asked for its calls to be taken up again (SA_RESTART). */
void clause_signal(const struct engine_ops *ops)
{
	const struct itimerval off = {0};
	const struct itimerval often = {.it_interval = {.tv_usec = 20000},
	                                .it_value = {.tv_usec = 20000}};
	struct sigaction old;
	struct pending pending;
	struct io_done done[4];
	struct bed b;

	if (!bed_open(&b, ops, 4, 0))
		return;
	REQUIRE(begin_pending(&b, &pending, 0));
	for (int restart = 0; restart < 2; restart++) {
		const struct sigaction action = {.sa_handler = on_alarm,
		                                 .sa_flags = restart ? SA_RESTART : 0};

		/* It comes again, should the first find the thread outside of its wait. */
		sigaction(SIGALRM, &action, &old);
		setitimer(ITIMER_REAL, &often, NULL);
		CHECK_EQUAL(engine_reap(&b.e, done, 1, 4, -1), 0);
		CHECK_EQUAL(engine_reap(&b.e, done, 1, 4, 3600000000000), 0);
		setitimer(ITIMER_REAL, &off, NULL);
		sigaction(SIGALRM, &old, NULL);
	}
	CHECK_EQUAL(engine_in_flight(&b.e), 1);
	end_bed(&b, &pending);
}

void clause_min_max(const struct engine_ops *ops)
{
	enum { N = 16 };
	struct io_done done[N];
	struct bed b;
	uint32_t back = 0;

	if (!bed_open(&b, ops, N, 0))
		return;
	for (uint32_t i = 0; i < N; i++) {
		bed_request(&b, i, IO_NOP, -1, NULL, 0, 0);
		CHECK(bed_submit(&b, i));
	}
	CHECK_EQUAL(engine_in_flight(&b.e), N);
	/* What lies there already comes with the look, and never more than asked. */
	for (int i = 0; back < N && !test_has_failed() && i < 100000; i++) {
		const int n = engine_reap(&b.e, done, 1, 3, 1000 * (int64_t)MS);

		CHECK_BETWEEN(n, 0, 3);
		back += (uint32_t)n;
	}
	CHECK_EQUAL(back, N);
	for (uint32_t i = 0; i < N; i++)
		CHECK(bed_submit(&b, i));
	for (back = 0; back < N && !test_has_failed();) {
		const int n = engine_reap(&b.e, done, N - back, N - back, -1);

		CHECK_BETWEEN(n, 0, N - back);
		back += (uint32_t)n;
	}
	CHECK_EQUAL(engine_reap(&b.e, done, 0, N, 0), 0);
	bed_close(&b);
}

void clause_timer(const struct engine_ops *ops)
{
	struct bed b;

	if (!bed_open(&b, ops, 4, ENGINE_TIMERS))
		return;
	for (uint64_t delay_ns = 100000; delay_ns < 20 * MS; delay_ns *= 3) {
		const uint64_t deadline_ns = bed_now_ns() + delay_ns;

		CHECK_EQUAL(bed_call(&b, IO_TIMEOUT, -1, NULL, 0, deadline_ns), 0);
		CHECK(bed_now_ns() >= deadline_ns);
	}
	bed_close(&b);
}

/* Deadlines in no order; none comes early, whatever it waits beside. */
void clause_timer_order(const struct engine_ops *ops)
{
	enum { N = 64 };
	struct io_done done;
	struct bed b;
	uint64_t begin_ns;

	if (!bed_open(&b, ops, N, ENGINE_TIMERS))
		return;
	begin_ns = bed_now_ns();
	for (uint32_t i = 0; i < N; i++) {
		/* 37 and 64 have no common divisor: each place once; some deadlines are equal. */
		bed_request(&b, i, IO_TIMEOUT, -1, NULL, 0,
		            begin_ns + 10 * MS + (i * 37 % N) / 2 * MS);
		CHECK(bed_submit(&b, i));
	}
	for (uint32_t i = 0; i < N && bed_reap(&b, &done); i++) {
		CHECK_EQUAL(done.result, 0);
		CHECK(bed_now_ns() >= b.requests[done.slot].deadline_ns);
	}
	CHECK_EQUAL(engine_in_flight(&b.e), 0);
	bed_close(&b);
}

void clause_timer_past(const struct engine_ops *ops)
{
	const uint64_t past_ns[] = {0, 1, 1000000000};
	struct bed b;

	if (!bed_open(&b, ops, 4, ENGINE_TIMERS))
		return;
	for (int i = 0; i < 3; i++)
		CHECK_EQUAL(bed_call(&b, IO_TIMEOUT, -1, NULL, 0, past_ns[i]), 0);
	bed_close(&b);
}
