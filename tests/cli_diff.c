/* iostudy diff, run as a user would: its answers, its gates, and what it refuses. */
#include <stdio.h>
#include <string.h>

#include "analysis/store.h"
#include "tests/analysis_runs.h"
#include "tests/process.h"
#include "tests/test.h"

/* Runs whose operations cost so much, in DIR/name. */
static void results_make(const char *directory, const char *name, double cost, int count,
                         const char *model)
{
	char path[320], why[STORE_WHY_SIZE];

	snprintf(path, sizeof path, "%s/%s", directory, name);
	for (int i = 0; i < count; i++) {
		json_t *run = run_one_waiter();

		run_number(run, "plan.repeat", i + 1);
		run_number(run, "measured.operations", 100000);
		run_number(run, "measured.cpu_user_ns", 1e8 * cost + 1e5 * (i * 7 % 5));
		run_number(run, "measured.cpu_system_ns", 0);
		run_set(run, "environment.cpu_model", json_string(model));
		CHECK_MESSAGE(store_append(path, run, why) == 0, "%s", why);
		json_decref(run);
	}
}

static void diff_run(const char *directory, const char *first, const char *second,
                     const char *option, const char *value, struct process_result *r)
{
	const char *const arguments[] = {"diff", first, second, option, value, NULL};

	process_run(&(struct process){.argv = arguments, .directory = directory}, r);
}

TEST(diff, tells_what_differs_and_meets_its_gates)
{
	static const struct {
		const char *gate;
		int status;
	} rows[] = {
	    {"--fail-on=cpu_ns_per_operation>5%", 3},   {"--fail-on=cpu_ns_per_operation>25%", 0},
	    {"--fail-on=cpu_ns_per_operation<-5%", 0},  {"--fail-on=iops<-5%", 0},
	    {"--fail-on=cpu_ns_per_operation>lots", 2}, {"--fail-on=cpu>5%", 2},
	    {"--fail-on=cpu_ns_per_operation", 2},
	};
	struct process_result r;
	char directory[256];

	process_make_directory(directory);
	results_make(directory, "a", 1, 8, "x");
	results_make(directory, "b", 1.2, 8, "x");
	diff_run(directory, "a", "b", NULL, NULL, &r);
	CHECK_STATUS(&r, 0);
	CHECK_CONTAINS(r.out, "cpu_ns_per_operation");
	CHECK_CONTAINS(r.out, "x 1.200 [");
	CHECK_CONTAINS(r.out, "1 of 6 comparisons differ");
	CHECK(process_widest_line(r.out) <= 80);
	process_free(&r);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		diff_run(directory, "a", "b", rows[i].gate, NULL, &r);
		CHECK_MESSAGE(r.status == rows[i].status, "%s: status %d", rows[i].gate, r.status);
		process_free(&r);
	}
	process_remove_directory(directory);
}

TEST(diff, refuses_machines_that_do_not_compare)
{
	struct process_result r;
	char directory[256];

	process_make_directory(directory);
	results_make(directory, "a", 1, 5, "x");
	results_make(directory, "b", 1, 5, "y");
	diff_run(directory, "a", "b", NULL, NULL, &r);
	CHECK_STATUS(&r, 2);
	CHECK_STRING(r.out, "");
	CHECK_CONTAINS(r.err, "cpu_model: x in A, y in B");
	CHECK_CONTAINS(r.err, "--across");
	process_free(&r);
	diff_run(directory, "a", "b", "--across", NULL, &r);
	CHECK_STATUS(&r, 0);
	CHECK_CONTAINS(r.out, "WARNING cpu_model");
	process_free(&r);
	process_remove_directory(directory);
}

TEST(diff, says_what_is_wrong_with_its_arguments)
{
	static const struct {
		const char *first, *second, *option, *value, *message;
		int status;
	} rows[] = {
	    {"a", "--json", NULL, NULL, "two sets of results are compared, and 1 is named", 2},
	    {"a", "a", "--metric", "iop", "unknown metric 'iop': did you mean iops?", 2},
	    {"a", "--engine", "uring", NULL, "--engine uring: two engines", 2},
	    {"a", "a", "--confidence", "5", "--confidence 5: from 50 to under 100", 2},
	    {"a", "nowhere", NULL, NULL, "nowhere: No such file or directory", 1},
	    {"a", "--engine", "uring,null", NULL, "no setting was run on both sides", 1},
	};
	struct process_result r;
	char directory[256];

	process_make_directory(directory);
	results_make(directory, "a", 1, 2, "x");
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		diff_run(directory, rows[i].first, rows[i].second, rows[i].option, rows[i].value,
		         &r);
		CHECK_STATUS(&r, rows[i].status);
		CHECK_CONTAINS(r.err, rows[i].message);
		process_free(&r);
	}
	process_remove_directory(directory);
}

TEST(diff, a_set_does_not_differ_from_itself)
{
	struct process_result r;
	char directory[256];

	process_make_directory(directory);
	results_make(directory, "a", 1, 8, "x");
	diff_run(directory, "a", "a", "--json", NULL, &r);
	CHECK_STATUS(&r, 0);
	CHECK_CONTAINS(r.out, "\"different\":0");
	process_free(&r);
	process_remove_directory(directory);
}
