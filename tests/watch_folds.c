/* iostudy watch --folded: the stacks of a program that are known, and what is refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/test.h"
#include "tests/watch_help.h"

/* The microseconds of all lines with that head and these frames; each line must be one of frames
 * and a number. */
static double sum_of(const char *path, const char *head, const char *frames)
{
	char line[8192];
	FILE *file = fopen(path, "re");
	double sum = 0;

	CHECK_MESSAGE(file, "no %s", path);
	while (file && fgets(line, sizeof line, file)) {
		char *space = strrchr(line, ' '), *end = NULL;
		const double us = space ? strtod(space, &end) : 0;

		CHECK_MESSAGE(space && end && *end == '\n' && us >= 1, "no line of stacks: %s",
		              line);
		for (const char *c = line; *c && *c != '\n'; c++)
			CHECK(*c >= ' ');
		if (strncmp(line, head, strlen(head)) == 0 && strstr(line, frames))
			sum += us;
	}
	if (file)
		fclose(file);
	return sum;
}

TEST(watch_folds, name_the_functions_of_program_and_kernel_with_the_time_asleep)
{
	char directory[256], path[300], option[320], program[300];
	struct process_result r;
	double inner, all;

	NEED_BPF();
	process_make_directory(directory);
	snprintf(path, sizeof path, "%s/stacks", directory);
	snprintf(option, sizeof option, "--folded=%s", path);
	snprintf(program, sizeof program, "%s/tests/programs/stacks", test_build_directory());
	PROCESS_RUN(&r, "watch", option, "--", program);
	CHECK_STATUS(&r, 0);
	CHECK_CONTAINS(r.err, "watched"); /* the summary as well */
	inner = sum_of(path, "parked-direct;read of pipe;",
	               ";main;wait_in_the_outer;wait_in_the_inner;");
	all = sum_of(path, "parked-direct;read of pipe;", "");
	/* 100 waits of 2 ms, less what passed before each read began */
	CHECK_BETWEEN(inner, 100e3, 1e9);
	CHECK_BETWEEN(inner / all, 0.9, 1);
	CHECK(sum_of(path, "parked-direct;read of pipe;", "ksys_read_[k]") > 0.9 * inner ||
	      sum_of(path, "parked-direct;read of pipe;", "_[k]") ==
	          0); /* where names are hidden */
	process_free(&r);
	process_remove_directory(directory);
}

TEST(watch_folds, of_sleeps_from_before_have_their_reason_and_no_stack)
{
	static const char *const program[] = {"hold", "pipe=3", NULL};
	struct process_result r;
	struct program parkers;
	char pid[16];

	NEED_BPF();
	REQUIRE(program_start(&parkers, "parkers", program));
	REQUIRE(program_expect(&parkers, "ready"));
	usleep(100000);
	snprintf(pid, sizeof pid, "%d", (int)parkers.pid);
	PROCESS_RUN(&r, "watch", "-p", pid, "-d", "300ms", "--folded");
	CHECK_STATUS(&r, 0);
	CHECK_CONTAINS(r.out, "parked-direct;read of pipe;parkers;[asleep since before attach] ");
	CHECK(!strstr(r.out, "watched")); /* in place of the summary */
	process_free(&r);
	program_end(&parkers);
}

TEST(watch_folds, are_refused_where_two_things_would_share_a_stream)
{
	static const char *const rows[][7] = {
	    {"watch", "--folded", "--", "true", NULL},
	    {"watch", "--folded", "--json", "-p", "1", NULL},
	};

	for (size_t i = 0; i < 2; i++) {
		struct process_result r;

		process_run(&(struct process){.argv = rows[i]}, &r);
		CHECK_STATUS(&r, 2);
		CHECK_CONTAINS(r.err, i ? "--json=FILE" : "--folded=FILE");
		process_free(&r);
	}
}
