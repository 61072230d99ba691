/* Engines against each other: what counts as a difference. */
#include <string.h>

#include "analysis/verdict.h"
#include "tests/analysis_runs.h"
#include "tests/test.h"

enum { RUNS_MAX = 12 };

/* The verdict on the first group of these runs, which it takes. */
static void verdict(json_t **runs, size_t count, char out[VERDICT_SIZE])
{
	struct groups groups;

	for (size_t i = 0; i < count; i++)
		run_conclude(runs[i]);
	REQUIRE(groups_make(&groups, runs, count) == 0);
	verdict_group(&groups, 0, out);
	groups_free(&groups);
	for (size_t i = 0; i < count; i++)
		json_decref(runs[i]);
}

static json_t *run_of(const char *engine, double operations)
{
	json_t *run = run_one_waiter();

	run_set(run, "plan.engine", json_string(engine));
	run_number(run, "measured.operations", operations);
	return run;
}

TEST(verdict, single_runs_differ_by_more_than_a_tenth_or_not_at_all)
{
	char out[VERDICT_SIZE];
	verdict((json_t *[]){run_of("a", 100000), run_of("b", 108000)}, 2, out);
	CHECK_CONTAINS(out,
	               "No difference here that one could rely on: equal in threads held, speed, "
	               "CPU per operation.");
	verdict((json_t *[]){run_of("a", 100000), run_of("b", 150000)}, 2, out);
	CHECK_CONTAINS(out,
	               "The larger difference is in speed: b 75,000 per s, a 50,000 (1.50 times).");
	CHECK_CONTAINS(out, "Equal in threads held.");
}

TEST(verdict, repeats_tell_small_differences)
{
	json_t *runs[RUNS_MAX];
	char out[VERDICT_SIZE];
	for (size_t i = 0; i < 10; i++)
		runs[i] = run_of(i % 2 ? "a" : "b",
		                 (i % 2 ? 100000 : 106000) + (double)(i / 2) * 100);
	verdict(runs, 10, out);
	CHECK_CONTAINS(out, "speed: b ran 1.060 +- 0.00 times as many operations as a (53,100 and "
	                    "50,100 per s).");
}

TEST(verdict, none_against_some_is_a_difference_without_a_ratio)
{
	char out[VERDICT_SIZE];
	json_t *none = run_no_thread();
	run_set(none, "plan.engine", json_string("uring-defer"));
	run_set(none, "plan.wait", json_string("park"));
	verdict((json_t *[]){none, run_one_waiter()}, 2, out);
	CHECK_CONTAINS(out, "The larger difference is in threads held: uring 0.93, uring-defer 0.");
}

TEST(verdict, unlike_things_are_not_compared)
{
	char out[VERDICT_SIZE];
	json_t *other = run_thread_per_io();
	run_number(other, "plan.block_bytes", 65536);
	verdict((json_t *[]){run_one_waiter(), other}, 2, out);
	CHECK_STRING(out, "");
	verdict((json_t *[]){run_one_waiter(), run_failed()}, 2, out);
	CHECK_STRING(out, "");
	json_t *null = run_thread_per_io();
	run_set(null, "plan.engine", json_string("null"));
	verdict((json_t *[]){run_one_waiter(), null}, 2, out);
	CHECK_STRING(out, "");
}
