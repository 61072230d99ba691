/*
 * probes/parked.bt, attached by hand, against the embedded probe on the same program.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/probe_help.h"
#include "tests/test.h"

enum { LINES_MAX = 400 };

struct sums {
	int direct, waiter, futex, sleep;
};

static void run_script(void *argument, int input, int output)
{
	char pid[16];

	(void)input;
	snprintf(pid, sizeof pid, "%d", (int)*(pid_t *)argument);
	dup2(output, STDOUT_FILENO);
	if (!freopen("/dev/null", "w", stderr))
		_exit(1);
	execlp("bpftrace", "bpftrace", "probes/parked.bt", pid, (char *)NULL);
}

static bool wait_for(FILE *output, const char *part)
{
	char line[256];

	for (int i = 0; i < LINES_MAX && fgets(line, sizeof line, output); i++)
		if (strstr(line, part))
			return true;
	return false;
}

/* Reads what is printed each second until it is what is expected, or for some seconds. */
static struct sums read_sums(FILE *output, const struct sums *expected)
{
	struct sums sums = {0};
	char line[256];

	for (int i = 0; i < LINES_MAX / 4 && fgets(line, sizeof line, output); i++) {
		sscanf(line, "@threads[direct]: %d", &sums.direct);
		sscanf(line, "@threads[waiter]: %d", &sums.waiter);
		sscanf(line, "@threads[futex]: %d", &sums.futex);
		sscanf(line, "@threads[sleep]: %d", &sums.sleep);
		if (!memcmp(&sums, expected, sizeof sums))
			break;
	}
	return sums;
}

static void check_script(struct probe *probe, struct program *program)
{
	struct program script;
	struct counts counts;
	struct sums sums, expected;
	char why[PROBE_WHY_SIZE];

	REQUIRE(program_fork(&script, run_script, &program->pid));
	CHECK_EQUAL(probe_attach(probe, program->pid, why), 0);
	if (wait_for(script.output, "watching process")) {
		program_send(program, 'g');
		CHECK(program_expect(program, "blocked"));
		CHECK(counts_settle(probe, &counts, 17));
		expected = (struct sums){
		    (int)counts.by_class[CLASS_DIRECT], (int)counts.by_class[CLASS_WAITER_POLL],
		    (int)counts.by_class[CLASS_FUTEX], (int)counts.by_class[CLASS_SLEEP]};
		sums = read_sums(script.output, &expected);
		CHECK_EQUAL(sums.direct, expected.direct);
		CHECK_EQUAL(sums.waiter, expected.waiter);
		CHECK_EQUAL(sums.futex, expected.futex);
		CHECK_EQUAL(sums.sleep, expected.sleep);
		CHECK_EQUAL(expected.direct, 7);
	} else {
		test_fail(__FILE__, __LINE__, "bpftrace did not start probes/parked.bt");
	}
	program_end(&script);
}

TEST(probe_script, parked_bt_counts_what_the_embedded_probe_counts)
{
	const char *const arguments[] = {"burst", "16", NULL};
	const struct probe_config foreign = {0};
	struct program program;
	struct probe probe;

	if (system("command -v bpftrace >/dev/null") != 0)
		SKIP("bpftrace is not installed");
	if (access("/sys/kernel/tracing/events/sched", R_OK) &&
	    access("/sys/kernel/debug/tracing/events/sched", R_OK))
		SKIP("tracefs is not mounted, which plain tracepoints need");
	OPEN_BPF(&probe, &foreign);
	REQUIRE(program_start(&program, "parkers", arguments));
	REQUIRE(program_expect(&program, "ready"));
	check_script(&probe, &program);
	program_end(&program);
	probe_close(&probe);
}
