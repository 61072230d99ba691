/*
 * The probes of an ordinary user against the truth: perf against the switches that the kernel
 * counts, proc against moments that the watched program knows.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/task.h"
#include "tests/process.h"
#include "tests/test.h"

enum { NOBODY = 65534 };

/* Runs tests/programs/observer as an ordinary user; its line, or "" after a failure. */
static void observe(const char *probe, const char *what, const char *count, char line[512])
{
	char program[4200];
	const char *const arguments[] = {probe, what, count, NULL};
	struct process_result r;

	snprintf(program, sizeof program, "%s/tests/programs/observer", test_build_directory());
	process_run(&(struct process){.program = program,
	                              .argv = arguments,
	                              .user = process_is_root() ? NOBODY : 0},
	            &r);
	CHECK_STATUS(&r, 0);
	snprintf(line, 512, "%s", r.out);
	process_free(&r);
}

/* The number behind "name=". */
static double figure(const char *line, const char *name)
{
	char key[40];
	const char *at;

	snprintf(key, sizeof key, " %s=", name);
	at = strstr(line, key);
	CHECK_MESSAGE(at, "no %s in: %s", name, line);
	return at ? strtod(at + strlen(key), NULL) : 0;
}

TEST(probe_unprivileged, perf_counts_the_switches_of_1000_threads_as_the_kernel_does)
{
	static const char *const names[][2] = {{"voluntary", "kernel_voluntary"},
	                                       {"involuntary", "kernel_involuntary"}};
	char line[512];

	observe("perf", "doze", "1000", line);
	if (strncmp(line, "cannot", 6) == 0)
		SKIP("%s", line);
	CHECK(strncmp(line, "uid=0 ", 6) != 0);
	CHECK_EQUAL(figure(line, "threads"), 1001);
	CHECK(figure(line, "kernel_voluntary") > 1000);
	for (size_t i = 0; i < 2; i++) {
		const double kernel = figure(line, names[i][1]);
		const double room = 0.01 * kernel + figure(line, "lost");

		CHECK_BETWEEN(figure(line, names[i][0]), kernel - room, kernel + room);
	}
}

TEST(probe_unprivileged, proc_is_within_its_stated_error_of_the_truth)
{
	char line[512];

	observe("proc", "release", "16", line);
	const double truth = figure(line, "truth"), error = figure(line, "error");

	CHECK_BETWEEN(truth, 1, 15);
	CHECK(figure(line, "samples") > 50);
	CHECK_BETWEEN(error, 0.01, 6);
	CHECK_BETWEEN(figure(line, "parked"), truth - error, truth + error);
	CHECK_EQUAL(figure(line, "threads"), 17);
}

/* A name may hold spaces, brackets and what looks like the fields behind it. */
TEST(probe_unprivileged, a_threads_state_is_read_behind_the_last_bracket)
{
	static const struct {
		const char *line;
		char state;
		bool worker, sqpoll;
	} rows[] = {
	    {"7 (a) R 1 (b) c) S 1 7 7 0 -1 4194304 1 0 0 0 12 30 0 0 20 0 3 0 500 1 1", 'S', false,
	     false},
	    {"7 () D 1 7 7 0 -1 80 1 0 0 0 12 30 0 0 20 0 3 0 500 1 1", 'D', true, false},
	    {"7 (iou-sqp-7) R 1 7 7 0 -1 16 1 0 0 0 12 30 0 0 20 0 3 0 500 1 1", 'R', true, true},
	    {"7 (iou-sqp-7) R 1 7 7 0 -1 64 1 0 0 0 12 30 0 0 20 0 3 0 500 1 1", 'R', false, false},
	};
	struct task_stat stat;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		CHECK_EQUAL(task_stat_parse(rows[i].line, &stat), 0);
		CHECK_EQUAL(stat.state, rows[i].state);
		CHECK_EQUAL(stat.worker, rows[i].worker);
		CHECK_EQUAL(stat.sqpoll, rows[i].sqpoll);
		CHECK_EQUAL(stat.cpu_ns, 420000000);
	}
	CHECK(task_stat_parse("7 (a) S 1", &stat) < 0);
	CHECK(task_stat_parse("", &stat) < 0);
	CHECK(task_stat_parse("7 (a S 1 7 7 0 -1 4194304", &stat) < 0);
}
