/*
 * Programs watched from outside, whose threads are where they say: the census must name each.
 */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "probes/watch.h"
#include "tests/probe_help.h"
#include "tests/test.h"

enum { SETTLE_TRIES = 10000 };

#define OPEN_WATCH(w, children)                                                                    \
	do {                                                                                       \
		char open_why[PROBE_WHY_SIZE];                                                     \
		if (geteuid() != 0)                                                                \
			SKIP("only root may load BPF programs");                                   \
		REQUIRE_MESSAGE(watch_open(w, children, false, NULL, open_why) == 0, "%s",         \
		                open_why);                                                         \
	} while (0)

static uint32_t asleep(const struct watch_census *c)
{
	uint32_t count = 0;

	for (size_t i = 0; i < c->thread_count; i++)
		count += (c->threads[i].word >> WORD_CLASS_SHIFT & 0xff) != CLASS_NONE;
	return count;
}

/* Waits until so many threads sleep, 10 s at most. */
static bool census_settle(struct watch *w, struct watch_census *c, uint32_t wanted)
{
	for (int i = 0; i < SETTLE_TRIES; i++) {
		if (watch_census(w, c))
			return false;
		if (asleep(c) == wanted)
			return true;
		usleep(1000);
	}
	return false;
}

static uint32_t objects(const struct watch_census *c, enum object_type type)
{
	uint32_t count = 0;

	for (size_t i = 0; i < c->thread_count; i++)
		count += c->threads[i].place_since && c->threads[i].place.object == type;
	return count;
}

TEST(watch_truth, who_slept_before_attaching_is_named_with_call_and_object)
{
	static const char *const arguments[] = {"hold",   "pipe=3",  "eventfd=2", "socket=4",
	                                        "poll=2", "epoll=3", "futex=2",   "nanosleep=2",
	                                        "spin=1", NULL};
	struct watch_census census = {0};
	struct program program;
	struct watch watch;
	uint32_t process;

	OPEN_WATCH(&watch, true);
	REQUIRE(program_start(&program, "parkers", arguments));
	REQUIRE(program_expect(&program, "ready"));
	CHECK_EQUAL(watch_add(&watch, program.pid, &process), 0);
	CHECK_EQUAL(watch_begin(&watch), 0);
	CHECK(census_settle(&watch, &census, 19));
	CHECK_EQUAL(census.thread_count, 20);
	CHECK_EQUAL(census.process_count, 1);
	CHECK_EQUAL(objects(&census, OBJECT_PIPE), 3 + 1); /* the first reads its input */
	CHECK_EQUAL(objects(&census, OBJECT_EVENTFD), 2);
	CHECK_EQUAL(objects(&census, OBJECT_SOCKET), 4);
	CHECK_EQUAL(objects(&census, OBJECT_EPOLL), 3);
	CHECK_EQUAL(objects(&census, OBJECT_FUTEX), 2);
	for (size_t i = 0; i < census.thread_count; i++) {
		CHECK_EQUAL(census.threads[i].pid, program.pid);
		CHECK_EQUAL(census.threads[i].frames > 0,
		            (census.threads[i].word >> WORD_CLASS_SHIFT & 0xff) != CLASS_NONE);
	}
	program_end(&program);
	watch_census_free(&census);
	watch_close(&watch);
}

/* bpftrace#2809, lightswitch#319: entries vanish when a table is full. */
TEST(watch_truth, thousands_of_sleepers_are_all_there_before_and_after_thousands_came_and_went)
{
	static const char *const many[] = {"hold", "futex=3000", NULL};
	static const char *const brief[] = {"churn", "5000", NULL};
	static struct probe_reading reading;
	struct watch_census census = {0};
	struct program sleepers, churn;
	struct watch watch;
	uint32_t process;

	OPEN_WATCH(&watch, false);
	REQUIRE(program_start(&sleepers, "parkers", many));
	REQUIRE(program_expect(&sleepers, "ready"));
	REQUIRE(program_start(&churn, "parkers", brief));
	REQUIRE(program_expect(&churn, "ready"));
	CHECK_EQUAL(watch_add(&watch, sleepers.pid, &process), 0);
	CHECK_EQUAL(watch_add(&watch, churn.pid, &process), 0);
	CHECK_EQUAL(watch_begin(&watch), 0);
	CHECK(census_settle(&watch, &census, 3002));
	program_send(&churn, 'g');
	CHECK(program_expect(&churn, "done"));
	CHECK(census_settle(&watch, &census, 3002));
	CHECK_EQUAL(objects(&census, OBJECT_FUTEX), 3000);
	CHECK_EQUAL(watch_births(&watch), 3002 + 5000);
	CHECK_EQUAL(watch_living(&watch), 3002);
	CHECK_EQUAL(watch_read(&watch, &reading), 0);
	CHECK_EQUAL(reading.lost, 0);
	program_end(&sleepers);
	program_end(&churn);
	watch_census_free(&census);
	watch_close(&watch);
}

TEST(watch_truth, begun_in_mid_storm_the_census_is_exact)
{
	static const char *const arguments[] = {"storm", "6", NULL};

	if (geteuid() != 0)
		SKIP("only root may load BPF programs");
	for (int i = 0; i < 3 && !test_has_failed(); i++) {
		struct watch_census census = {0};
		struct program program;
		struct watch watch;
		uint32_t process;

		OPEN_WATCH(&watch, true);
		REQUIRE(program_start(&program, "parkers", arguments));
		REQUIRE(program_expect(&program, "ready"));
		CHECK_EQUAL(watch_add(&watch, program.pid, &process), 0);
		CHECK_EQUAL(watch_begin(&watch), 0);
		program_send(&program, 'f');
		CHECK(program_expect(&program, "frozen"));
		CHECK(census_settle(&watch, &census, 13));
		CHECK_EQUAL(objects(&census, OBJECT_PIPE), 13);
		program_end(&program);
		watch_census_free(&census);
		watch_close(&watch);
	}
}
