/*
 * What a watch counts, against others who count the same: the kernel's own books for each thread,
 * its records of context switches, and the program perf.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probes/task.h"
#include "probes/watch.h"
#include "tests/test.h"
#include "tests/watch_help.h"

enum { TIDS_MAX = 64 };

/* The switches of a process by the kernel's books. */
static uint64_t switches_of(pid_t pid)
{
	uint32_t tids[TIDS_MAX];
	const int count = task_list(pid, tids, TIDS_MAX);
	uint64_t sum = 0;

	for (int i = 0; i < count; i++) {
		uint64_t voluntary = 0, involuntary = 0;

		CHECK_EQUAL(task_switches_read(pid, tids[i], &voluntary, &involuntary), 0);
		sum += voluntary + involuntary;
	}
	return sum;
}

static uint64_t switches_in(const struct probe_reading *from, const struct probe_reading *to)
{
	uint64_t sum = 0;

	for (int k = 0; k < KIND_COUNT; k++)
		sum += to->kinds[k].voluntary_switches - from->kinds[k].voluntary_switches +
		       to->kinds[k].involuntary_switches - from->kinds[k].involuntary_switches;
	return sum;
}

/* All of its threads but the first sleep in their pipes. */
static bool settles(pid_t pid)
{
	uint64_t before = switches_of(pid);

	for (int i = 0, same = 0; i < 1000; i++) {
		usleep(20000);
		const uint64_t now = switches_of(pid);

		same = now == before ? same + 1 : 0;
		if (same == 5)
			return true;
		before = now;
	}
	return false;
}

/* 8 threads in 4 pairs hand 50,000 bytes to and fro each, as fast as two CPUs can: each switch is
 * counted, and the kernel's records of them as well. */
TEST(watch_counts, of_hundreds_of_thousands_of_switches_none_is_lost)
{
	static const char *const arguments[] = {"4", "50000", NULL};
	static const struct probe_config foreign;
	static struct probe_reading from, to, perf_from, perf_to;
	char why[PROBE_WHY_SIZE];
	struct program program;
	struct probe perf;
	struct watch watch;
	uint32_t process;
	uint64_t kernel;

	NEED_BPF();
	REQUIRE(program_start(&program, "volley", arguments));
	REQUIRE(program_expect(&program, "ready"));
	REQUIRE_MESSAGE(watch_open(&watch, false, false, NULL, why) == 0, "%s", why);
	const bool has_perf = probe_open(&perf, &probe_perf, &foreign, why) == 0;

	CHECK_EQUAL(watch_add(&watch, program.pid, &process), 0);
	CHECK_EQUAL(watch_begin(&watch), 0);
	if (has_perf)
		CHECK_EQUAL(probe_attach(&perf, program.pid, why), 0);
	REQUIRE(settles(program.pid));
	kernel = switches_of(program.pid);
	CHECK_EQUAL(watch_read(&watch, &from), 0);
	if (has_perf)
		CHECK_EQUAL(probe_read(&perf, &perf_from), 0);
	program_send(&program, 'g');
	CHECK(program_expect(&program, "done"));
	REQUIRE(settles(program.pid));
	kernel = switches_of(program.pid) - kernel;
	CHECK_EQUAL(watch_read(&watch, &to), 0);
	CHECK(kernel > 100000);
	CHECK_EQUAL(to.lost - from.lost, 0);
	CHECK_EQUAL(switches_in(&from, &to), kernel);
	if (has_perf) {
		CHECK_EQUAL(probe_read(&perf, &perf_to), 0);
		const uint64_t room = perf_to.lost - perf_from.lost + kernel / 1000;

		CHECK_BETWEEN(switches_in(&perf_from, &perf_to), kernel - room, kernel + room);
		probe_close(&perf);
	}
	program_end(&program);
	watch_close(&watch);
}
