/*
 * Ground truth: programs whose threads are where the program says; the probe must count the
 * same, exactly, every time.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/probe_help.h"
#include "tests/test.h"

enum { SAMPLES = 200, STORM_ATTACHES = 200 };

static const struct probe_config foreign;

/* Two CPUs are kept busy by four others, so that sleepers stay queued for a while. */
struct spinners {
	struct program program;
};

static bool spinners_start(struct spinners *spinners)
{
	const char *const arguments[] = {"hold", "spin=4", NULL};

	return program_start(&spinners->program, "parkers", arguments) &&
	       program_expect(&spinners->program, "ready");
}

static const char *const everywhere[] = {"hold",        "pipe=3",  "eventfd=2", "socket=4",
                                         "poll=2",      "epoll=3", "futex=2",   "futex-timed=1",
                                         "nanosleep=2", "spin=1",  NULL};

/* The first thread reads its standard input. */
static void check_everywhere(const struct counts *counts)
{
	CHECK_EQUAL(counts->threads, 21);
	CHECK_EQUAL(counts->by_class[CLASS_NONE], 1);
	CHECK_EQUAL(counts->by_class[CLASS_DIRECT], 3 + 2 + 4 + 1);
	CHECK_EQUAL(counts->by_class[CLASS_WAITER_POLL], 5);
	CHECK_EQUAL(counts->by_class[CLASS_FUTEX], 3);
	CHECK_EQUAL(counts->by_class[CLASS_SLEEP], 2);
	CHECK_EQUAL(counts->by_state[STATE_PARKED_DIRECT], 10);
	CHECK_EQUAL(counts->by_state[STATE_UNSEEN], 8); /* a foreign futex, a foreign poll */
	CHECK_EQUAL(counts->by_state[STATE_OTHER], 2);
}

TEST(probe_truth, threads_blocked_before_attaching_are_counted_where_they_are)
{
	struct program program;
	struct counts counts;
	struct probe probe;
	char why[PROBE_WHY_SIZE];

	OPEN_BPF(&probe, &foreign);
	REQUIRE(program_start(&program, "parkers", everywhere));
	REQUIRE(program_expect(&program, "ready"));
	usleep(100000);
	CHECK_EQUAL(probe_attach(&probe, program.pid, why), 0);
	CHECK(counts_settle(&probe, &counts, 20));
	for (int i = 0; i < SAMPLES && !test_has_failed(); i++) {
		counts = counts_now(&probe);
		check_everywhere(&counts);
	}
	program_end(&program);
	probe_close(&probe);
}

TEST(probe_truth, stopped_threads_are_other_and_keep_their_place_when_continued)
{
	struct program program;
	struct counts counts;
	struct probe probe;
	char why[PROBE_WHY_SIZE];

	OPEN_BPF(&probe, &foreign);
	REQUIRE(program_start(&program, "parkers", everywhere));
	REQUIRE(program_expect(&program, "ready"));
	CHECK_EQUAL(probe_attach(&probe, program.pid, why), 0);
	CHECK(counts_settle(&probe, &counts, 20));
	for (int i = 0; i < 20 && !test_has_failed(); i++) {
		kill(program.pid, SIGSTOP);
		waitpid(program.pid, NULL, WUNTRACED);
		CHECK(counts_settle(&probe, &counts, 21));
		CHECK_EQUAL(counts.by_class[CLASS_STOPPED], 21);
		CHECK_EQUAL(counts.by_state[STATE_OTHER], 21);
		kill(program.pid, SIGCONT);
		for (int tries = 0; tries < 10000; tries++) {
			counts = counts_now(&probe);
			if (!counts.by_class[CLASS_STOPPED] && counts.by_class[CLASS_NONE] == 1)
				break;
			usleep(1000);
		}
		check_everywhere(&counts);
	}
	program_end(&program);
	probe_close(&probe);
}

static void burst_once(struct probe *probe, uint32_t delay_us)
{
	const char *const arguments[] = {"burst", "16", NULL};
	char why[PROBE_WHY_SIZE];
	struct program program;
	struct counts counts;

	REQUIRE(program_start(&program, "parkers", arguments));
	REQUIRE(program_expect(&program, "ready"));
	program_send(&program, 'g');
	usleep(delay_us);
	CHECK_EQUAL(probe_attach(probe, program.pid, why), 0);
	CHECK(program_expect(&program, "blocked"));
	/* 16 threads, two in each of eight places, and the first in its read */
	CHECK_MESSAGE(counts_settle(probe, &counts, 17),
	              "%u of %u threads are asleep, not 17 of 17: attached %u us into the storm",
	              counts.threads - counts.by_class[CLASS_NONE], counts.threads, delay_us);
	CHECK_EQUAL(counts.threads, 17);
	CHECK_EQUAL(counts.by_class[CLASS_DIRECT], 6 + 1);
	CHECK_EQUAL(counts.by_class[CLASS_WAITER_POLL], 4);
	CHECK_EQUAL(counts.by_class[CLASS_FUTEX], 4);
	CHECK_EQUAL(counts.by_class[CLASS_SLEEP], 2);
	program_end(&program);
}

TEST(probe_truth, attached_in_mid_storm_200_times_every_thread_is_seen_to_block)
{
	static struct probe_reading reading;
	struct spinners spinners;
	struct probe probe;

	OPEN_BPF(&probe, &foreign);
	REQUIRE(spinners_start(&spinners));
	srand(1);
	for (int i = 0; i < STORM_ATTACHES && !test_has_failed(); i++)
		burst_once(&probe, (uint32_t)rand() % 60000);
	probe_read(&probe, &reading);
	CHECK_EQUAL(reading.lost, 0);
	program_end(&spinners.program);
	probe_close(&probe);
}

TEST(probe_truth, opened_and_attached_in_mid_storm_the_count_is_exact)
{
	const char *const arguments[] = {"storm", "12", NULL};
	static struct probe_reading reading;
	struct spinners spinners;
	char why[PROBE_WHY_SIZE];

	if (geteuid() != 0)
		SKIP("only root may load BPF programs");
	REQUIRE(spinners_start(&spinners));
	for (int i = 0; i < 10 && !test_has_failed(); i++) {
		struct program program;
		struct counts counts;
		struct probe probe;

		REQUIRE(program_start(&program, "parkers", arguments));
		REQUIRE(program_expect(&program, "ready"));
		REQUIRE(open_bpf(&probe, &foreign, why));
		CHECK_EQUAL(probe_attach(&probe, program.pid, why), 0);
		usleep(20000);
		program_send(&program, 'f');
		CHECK(program_expect(&program, "frozen"));
		CHECK(counts_settle(&probe, &counts, 25));
		CHECK_EQUAL(counts.by_class[CLASS_DIRECT], 25);
		CHECK_EQUAL(probe_read(&probe, &reading), 0);
		CHECK_EQUAL(reading.lost, 0);
		program_end(&program);
		probe_close(&probe);
	}
	program_end(&spinners.program);
}

TEST(probe_truth, an_exec_by_another_thread_leaves_the_new_threads_counted)
{
	const char *const arguments[] = {"exec", NULL};
	struct program program;
	struct counts counts;
	struct probe probe;
	char why[PROBE_WHY_SIZE];

	OPEN_BPF(&probe, &foreign);
	REQUIRE(program_start(&program, "parkers", arguments));
	REQUIRE(program_expect(&program, "ready"));
	CHECK_EQUAL(probe_attach(&probe, program.pid, why), 0);
	CHECK(counts_settle(&probe, &counts, 2));
	program_send(&program, 'g');
	CHECK(program_expect(&program, "ready"));
	CHECK(counts_settle(&probe, &counts, 3));
	CHECK_EQUAL(counts.by_class[CLASS_DIRECT], 3);
	program_end(&program);
	probe_close(&probe);
}
