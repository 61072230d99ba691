/* iostudy scenario blocking-calls: counts and threads, never times. */
#include <string.h>

#include "bench/scenario/scenario.h"
#include "tests/cli_runs.h"
#include "tests/scenario_help.h"
#include "tests/test.h"

static void check_threads(const json_t *cases, const char *mode, double threads)
{
	const json_t *one = scenario_case_of(cases, mode);

	REQUIRE_MESSAGE(one, "no case of %s", mode);
	CHECK_STRING(cli_text(one, "status"), "ok");
	CHECK_EQUAL(cli_number(one, "measured.calls"), 40);
	CHECK_EQUAL(cli_number(one, "measured.failed"), 0);
	CHECK_MESSAGE(cli_number(one, "measured.threads_max") == threads, "%s: %g threads, not %g",
	              mode, cli_number(one, "measured.threads_max"), threads);
	CHECK_EQUAL(json_array_size(json_object_get(one, "calls")), 40);
}

static void check_all(const char *form)
{
	json_t *cases = SCENARIO_CASES(0, "blocking-calls", "--calls", "40", "--time-scale", "0.02",
	                               "--form", form);

	check_threads(cases, "sequential", 2);
	check_threads(cases, "pool-8", 9);
	check_threads(cases, "pool-16", 17);
	check_threads(cases, "thread-per-call", 41);
	check_threads(cases, "ring", 1);
	check_threads(cases, "epoll", 1);
	json_decref(cases);
}

TEST(scenario_calls, are_made_by_as_many_threads_as_each_way_has)
{
	check_all("socket");
	check_all("timer");
}

TEST(scenario, names_what_it_does_not_know)
{
	static const struct {
		const char *arguments[6], *says;
	} rows[] = {
	    {{"scenario", "blocking-cals"}, "did you mean blocking-calls?"},
	    {{"scenario", "blocking-calls", "--compare-only", "pol-8"}, "did you mean pool-8?"},
	    {{"scenario", "blocking-calls", "--delay", "1y"}, "--delay '1y'"},
	    {{"scenario", "blocking-calls", "--calls", "10,0"}, "it takes 1 to 100000"},
	    {{"scenario", "blocking-calls", "--form", "sockets"}, "did you mean socket?"},
	    {{"scenario", "blocking-calls", "--time-scale", "0"}, "from 0.0001 to 100"},
	    {{"scenario", "blocking-calls", "--dely", "1s"}, "did you mean delay?"},
	    {{"scenario"}, "blocking-calls"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct process_result r;

		process_run(&(struct process){.argv = rows[i].arguments}, &r);
		CHECK_STATUS(&r, 2);
		CHECK_CONTAINS(r.err, rows[i].says);
		CHECK_STRING(r.out, "");
		process_free(&r);
	}
}

TEST(scenario, is_listed_and_described)
{
	struct process_result r;

	PROCESS_RUN(&r, "list", "scenarios");
	CHECK_STATUS(&r, 0);
	for (const struct scenario *const *s = scenario_table; *s; s++)
		CHECK_CONTAINS(r.out, (*s)->name);
	process_free(&r);
	for (const struct scenario *const *s = scenario_table; *s; s++) {
		PROCESS_RUN(&r, "scenario", (*s)->name, "--help");
		CHECK_STATUS(&r, 0);
		for (const struct scenario_mode *m = (*s)->modes; m->name; m++)
			CHECK_CONTAINS(r.out, m->name);
		process_free(&r);
	}
}
