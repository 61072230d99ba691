/* Coroutines and their carrier: that they keep their place, their stacks and their results. */
#include "bench/scenario/carrier.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/random.h"
#include "tests/engine_bed.h"

struct walker {
	struct coroutines *all;
	uint64_t seed, sum;
	uint32_t steps;
};

/* Keeps a secret on its stack over each suspension. */
static void walk(void *argument)
{
	struct walker *w = argument;
	volatile uint64_t secret[32];

	for (uint32_t step = 0; step < w->steps; step++) {
		for (uint32_t i = 0; i < 32; i++)
			secret[i] = random_mix(w->seed + step + i);
		coroutine_suspend(w->all);
		for (uint32_t i = 0; i < 32; i++)
			w->sum += secret[i] == random_mix(w->seed + step + i);
	}
}

TEST(coroutine, keeps_its_stack_while_others_run)
{
	enum { COUNT = 100, STEPS = 50 };
	static struct walker walkers[COUNT];
	char why[COROUTINE_WHY_SIZE];
	struct coroutines c;

	REQUIRE_MESSAGE(coroutines_open(&c, COUNT, COROUTINE_STACK_BYTES, true, why) == 0, "%s",
	                why);
	for (uint32_t i = 0; i < COUNT; i++) {
		walkers[i] = (struct walker){.all = &c, .seed = i * 1000, .steps = STEPS};
		coroutine_start(&c, i, walk, &walkers[i]);
	}
	for (uint32_t step = 0; step < STEPS; step++)
		for (uint32_t i = COUNT; i-- > 0;)
			coroutine_resume(&c, i);
	for (uint32_t i = 0; i < COUNT; i++) {
		CHECK(coroutine_is_free(&c, i));
		CHECK_EQUAL(walkers[i].sum, STEPS * 32);
	}
	/* A stack that has ended serves again. */
	walkers[0] = (struct walker){.all = &c, .steps = 0};
	coroutine_start(&c, 0, walk, &walkers[0]);
	CHECK(coroutine_is_free(&c, 0));
	CHECK_BETWEEN(coroutines_used_bytes(&c), COUNT * 4096.0,
	              (double)COUNT * COROUTINE_STACK_BYTES);
	coroutines_close(&c);
}

static uint32_t sink(volatile char *above, uint32_t depth)
{
	volatile char frame[1024];

	frame[0] = above ? above[0] : 1;
	return depth ? sink(frame, depth - 1) + (uint32_t)frame[0] : 0;
}

static void overflow(void *argument)
{
	(void)argument;
	sink(NULL, COROUTINE_STACK_BYTES / 1024 * 4);
}

static void overflow_in_child(bool installed)
{
	const pid_t child = fork();
	int status = 0;

	if (child == 0) {
		const struct rlimit none = {0};
		char why[COROUTINE_WHY_SIZE];
		struct coroutines c;

		setrlimit(RLIMIT_CORE, &none);
		close(STDERR_FILENO);
		signal(SIGSEGV, SIG_DFL);
		if (coroutines_open(&c, 4, COROUTINE_STACK_BYTES, installed, why) == 0)
			coroutine_start(&c, 2, overflow, NULL);
		_exit(0);
	}
	REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
	CHECK_MESSAGE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV, "status %x", status);
}

TEST(coroutine, that_overflows_its_stack_meets_the_guard)
{
	overflow_in_child(true);
	overflow_in_child(false);
}

TEST(coroutine, guards_by_protection_name_the_limit_of_mappings)
{
	char why[COROUTINE_WHY_SIZE] = "";
	struct coroutines c;
	const int error = coroutines_open(&c, 100000, COROUTINE_STACK_BYTES, false, why);

	if (!error) {
		coroutines_close(&c);
		SKIP("vm.max_map_count allows 200,000 mappings here");
	}
	CHECK_EQUAL(error, -ENOMEM);
	CHECK_CONTAINS(why, "vm.max_map_count is ");
	CHECK_CONTAINS(why, "sysctl vm.max_map_count=");
}

struct sleeper {
	struct carrier *carrier;
	uint64_t deadline_ns;
	bool woken;
};

static void sleep_once(void *argument)
{
	struct sleeper *s = argument;
	const struct io_req r = {.op = IO_TIMEOUT, .deadline_ns = s->deadline_ns};

	s->woken = carrier_do(s->carrier, r) == 0 && bed_now_ns() >= s->deadline_ns;
}

#ifdef __SANITIZE_THREAD__
enum { SLEEPERS = 1000 }; /* it takes megabytes for each, and knows some thousands */
#else
enum { SLEEPERS = 100000 };
#endif

TEST(carrier, has_many_coroutines_wait_on_one_thread)
{
	struct sleeper *sleepers = calloc(SLEEPERS, sizeof *sleepers);
	const struct engine_ops *ops = engine_find("uring");
	const uint32_t threads = bed_threads();
	char why[COROUTINE_WHY_SIZE];
	struct carrier c;
	uint32_t woken = 0;
	int error;

	error = carrier_open(&c, ops, SLEEPERS, ENGINE_TIMERS, why);
	if (error == -EOPNOTSUPP)
		SKIP("%s", why);
	REQUIRE_MESSAGE(error == 0, "%s", why);
	for (uint32_t i = 0; i < SLEEPERS; i++) {
		sleepers[i] = (struct sleeper){.carrier = &c,
		                               .deadline_ns = bed_now_ns() + 100000000};
		carrier_start(&c, i, sleep_once, &sleepers[i]);
	}
	CHECK_EQUAL(bed_threads(), threads);
	CHECK_EQUAL(carrier_run(&c), 0);
	for (uint32_t i = 0; i < SLEEPERS; i++)
		woken += sleepers[i].woken;
	CHECK_EQUAL(woken, SLEEPERS);
	CHECK_BETWEEN(coroutines_used_bytes(&c.coroutines) / SLEEPERS, 4096, COROUTINE_STACK_BYTES);
	carrier_close(&c);
	free(sleepers);
}
