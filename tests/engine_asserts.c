/*
 * The checked wrappers stop a process whose engine or user breaks the contract, in every build;
 * and an error of an engine's call comes through them unharmed. Deaths happen in children.
 */
#include "tests/engine_bed.h"
#include "tests/fake_engine.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Whether function ends its child by abort(). */
static bool aborts(void (*function)(void))
{
	const pid_t child = fork();
	int status;

	if (child == 0) {
		const struct rlimit none = {0};
		const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

		setrlimit(RLIMIT_CORE, &none);
		dup2(null, STDERR_FILENO);
		function();
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return false;
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

/* A child that failed before the deed must not look as one that survived it. */
static void open_faulty(struct bed *b, struct engine_ops *ops, enum fake_fault fault)
{
	*ops = fake_engine((struct fake_faults){.seed = 7, .fault = (uint8_t)fault});
	if (!bed_open(b, ops, 4, 0))
		_exit(1);
	for (uint32_t i = 0; i < 4; i++)
		bed_request(b, i, IO_NOP, -1, NULL, 0, 0);
}

static void reap_until_death(enum fake_fault fault)
{
	struct engine_ops ops;
	struct io_done done[4];
	struct bed b;

	open_faulty(&b, &ops, fault);
	bed_submit(&b, 0);
	for (int i = 0; i < 100; i++)
		engine_reap(&b.e, done, 0, 2, 0);
}

static void submit_twice(void)
{
	struct engine_ops ops;
	struct bed b;

	open_faulty(&b, &ops, FAKE_SOUND);
	bed_submit(&b, 1);
	bed_submit(&b, 1);
}

static void submit_twice_at_once(void)
{
	const uint32_t slots[] = {2, 2};
	struct engine_ops ops;
	struct bed b;

	open_faulty(&b, &ops, FAKE_SOUND);
	engine_submit(&b.e, slots, 2);
}

static void submit_beyond(void)
{
	const uint32_t slot = 4;
	struct engine_ops ops;
	struct bed b;

	open_faulty(&b, &ops, FAKE_SOUND);
	engine_submit(&b.e, &slot, 1);
}

static void submit_unknown_operation(void)
{
	struct engine_ops ops;
	struct bed b;

	open_faulty(&b, &ops, FAKE_SOUND);
	b.requests[0].op = IO_OP_COUNT;
	bed_submit(&b, 0);
}

static void reap_more_than_room(void)
{
	struct engine_ops ops;
	struct io_done done[4];
	struct bed b;

	open_faulty(&b, &ops, FAKE_SOUND);
	engine_reap(&b.e, done, 3, 2, 0);
}

TEST(engine_asserts, stop_a_slot_submitted_twice)
{
	CHECK(aborts(submit_twice));
	CHECK(aborts(submit_twice_at_once));
}

TEST(engine_asserts, stop_a_slot_or_an_operation_that_does_not_exist)
{
	CHECK(aborts(submit_beyond));
	CHECK(aborts(submit_unknown_operation));
}

TEST(engine_asserts, stop_a_reap_of_more_than_there_is_room_for)
{
	CHECK(aborts(reap_more_than_room));
}

static void repeats_slot(void)
{
	reap_until_death(FAKE_REPEATS_SLOT);
}

static void strange_slot(void)
{
	reap_until_death(FAKE_STRANGE_SLOT);
}

static void beyond_slots(void)
{
	reap_until_death(FAKE_BEYOND_SLOTS);
}

static void more_than_max(void)
{
	reap_until_death(FAKE_MORE_THAN_MAX);
}

static void more_than_given(void)
{
	reap_until_death(FAKE_MORE_THAN_GIVEN);
}

static void sound(void)
{
	reap_until_death(FAKE_SOUND);
}

static void open_with_need(enum fake_fault fault)
{
	const struct engine_ops ops = fake_engine((struct fake_faults){.fault = (uint8_t)fault});
	const struct engine_config config = {.slots = 4, .need = ENGINE_TIMERS};
	char why[ENGINE_WHY_SIZE];
	struct bed b;

	bed_try(&b, &ops, config, why);
}

static void without_reason(void)
{
	open_with_need(FAKE_WITHOUT_REASON);
}

static void ignores_need(void)
{
	open_with_need(FAKE_IGNORES_NEED);
}

TEST(engine_asserts, stop_an_engine_that_gives_back_what_it_does_not_have)
{
	CHECK(!aborts(sound));
	CHECK(aborts(repeats_slot));
	CHECK(aborts(strange_slot));
	CHECK(aborts(beyond_slots));
}

TEST(engine_asserts, stop_an_engine_that_counts_more_than_it_was_given)
{
	CHECK(aborts(more_than_max));
	CHECK(aborts(more_than_given));
}

TEST(engine_asserts, stop_an_engine_that_opens_falsely)
{
	CHECK(aborts(without_reason));
	CHECK(aborts(ignores_need));
}

/* 20 requests through a fake of which call fail_call fails. 0, or the error. */
static int run_failing(uint8_t fail_call, bool *opened)
{
	const struct engine_ops ops = fake_engine(
	    (struct fake_faults){.seed = 3, .fail_call = fail_call});
	char why[ENGINE_WHY_SIZE];
	struct io_done done;
	uint32_t next = 0, back = 0;
	struct bed b;
	int error = bed_try(&b, &ops, (struct engine_config){.slots = 20}, why);

	*opened = !error;
	if (error)
		return error;
	while (back < 20) {
		if (next < 20) {
			bed_request(&b, next, IO_NOP, -1, NULL, 0, 0);
			error = engine_submit(&b.e, &next, 1);
			if (error < 0)
				break;
			next += (uint32_t)error;
		}
		error = engine_reap(&b.e, &done, next > back, 1, -1);
		if (error < 0)
			break;
		back += (uint32_t)error;
		error = 0;
	}
	/* A failed submission or reap has taken no account of what it did not do. */
	CHECK_EQUAL(engine_in_flight(&b.e), next - back);
	bed_close(&b);
	return error;
}

TEST(engine_wrappers, pass_the_failure_of_any_call_on)
{
	bool opened;
	uint32_t failed = 0;

	for (uint32_t call = 1; call < 256; call++) {
		const int error = run_failing((uint8_t)call, &opened);

		CHECK_EQUAL(opened, call > 1);
		if (error == 0)
			break;
		CHECK_EQUAL(error, -EIO);
		failed++;
	}
	CHECK_BETWEEN(failed, 20, 250);
}

TEST(engine_wrappers, give_requests_their_errors)
{
	const struct engine_ops ops = fake_engine(
	    (struct fake_faults){.seed = 5, .fault = FAKE_REQUEST_ERRORS});
	const int fd = bed_file(BED_BLOCK);
	uint32_t errors = 0;
	struct bed b;

	if (!bed_open(&b, &ops, 4, 0))
		return;
	for (int i = 0; i < 100; i++) {
		const int32_t result = bed_call(&b, IO_READ, fd, NULL, 100, 0);

		CHECK(result == 100 || result == -EIO);
		errors += result == -EIO;
	}
	CHECK_BETWEEN(errors, 1, 99);
	bed_close(&b);
	close(fd);
}

TEST(engine_table, finds_each_engine_by_its_name)
{
	static const char *const names[] = {
	    "blocking",    "pool",         "posix-aio",     "posix-aio-signal",
	    "libaio",      "epoll",        "epoll-offload", "uring",
	    "uring-defer", "uring-sqpoll", "uring-iopoll",  "uring-async",
	    "port",        "null"};

	for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		REQUIRE(engine_table[i]);
		CHECK_STRING(engine_table[i]->name, names[i]);
		CHECK(engine_find(names[i]) == engine_table[i]);
		CHECK(engine_table[i]->summary[0]);
	}
	CHECK(!engine_find("fake"));
	CHECK(!engine_find(""));
}
