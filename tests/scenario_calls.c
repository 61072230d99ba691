/* iostudy scenario blocking-calls: counts and threads, never times. */
#include <signal.h>
#include <stdio.h>
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
	scenario_check_threads(one, threads);
	CHECK_EQUAL(json_array_size(json_object_get(one, "calls")), 40);
}

static bool counts_threads(const json_t *one)
{
	return strcmp(cli_text(one, "probes.0.probe"), "bpf") == 0;
}

/* Held for each call: 1, whatever the threads are called; unless no thread is held for each. */
static void check_held(const json_t *cases, const char *mode, const char *tag)
{
	const json_t *one = scenario_case_of(cases, mode);

	CHECK_MESSAGE(cli_finding(one, tag), "%s has no %s", mode, tag);
	if (strcmp(tag, "ONE-WAITER") == 0)
		CHECK_BETWEEN(cli_number(one, "summary.held_per_in_flight"), 0, 0.5);
	else
		CHECK_BETWEEN(cli_number(one, "summary.held_per_in_flight"), 0.9, 1.1);
	CHECK(strcmp(tag, "HIDDEN-WORKERS") == 0 || !cli_finding(one, "HIDDEN-WORKERS"));
}

/* Each step of a call borrows a thread once: three of a request, or more where one is cut. */
static void check_borrowed(const json_t *one, double least)
{
	const json_t *pool = cli_at(one, "measured.pool"), *thread;
	double times = 0, borrowed = 0;
	size_t i;

	CHECK_EQUAL(json_array_size(pool), 8);
	json_array_foreach((json_t *)pool, i, thread)
	{
		times += cli_number(thread, "times");
		borrowed += cli_number(thread, "times") > 0;
		CHECK_EQUAL(cli_number(thread, "times") > 0, cli_number(thread, "borrowed_ns") > 0);
	}
	CHECK(times >= least);
	CHECK_EQUAL(cli_number(one, "measured.borrowed_threads"), borrowed);
}

static void check_holders(const json_t *cases)
{
	const json_t *hidden = cli_finding(scenario_case_of(cases, "published-async"),
	                                   "HIDDEN-WORKERS");

	if (!counts_threads(scenario_case_of(cases, "ring")))
		SKIP("without BPF it is not exact who is held");
	check_held(cases, "sequential", "THREAD-PER-IO");
	check_held(cases, "pool-8", "THREAD-PER-IO");
	check_held(cases, "pool-16", "THREAD-PER-IO");
	check_held(cases, "thread-per-call", "THREAD-PER-IO");
	check_held(cases, "published-async", "HIDDEN-WORKERS");
	check_held(cases, "port", "ONE-WAITER");
	check_held(cases, "ring", "ONE-WAITER");
	check_held(cases, "epoll", "ONE-WAITER");
	CHECK_CONTAINS(cli_text(hidden, "text"), "call-timer");
}

static void check_all(const char *form)
{
	json_t *cases = SCENARIO_CASES(0, "blocking-calls", "--calls", "40", "--delay", "5s",
	                               "--time-scale", "0.01", "--form", form);

	check_threads(cases, "sequential", 2);
	check_threads(cases, "pool-8", 9);
	check_threads(cases, "pool-16", 17);
	check_threads(cases, "thread-per-call", 41);
	check_threads(cases, "published-async", 49);
	check_threads(cases, "port", 9);
	check_threads(cases, "ring", 1);
	check_threads(cases, "epoll", 1);
	check_borrowed(scenario_case_of(cases, "port"), strcmp(form, "timer") ? 3 * 40 : 40);
	check_holders(cases);
	json_decref(cases);
}

TEST(scenario_calls, are_made_by_as_many_threads_as_each_way_has)
{
	check_all("socket");
	check_all("timer");
}

TEST(scenario_calls, share_connections_and_wait_in_thousands_on_one_thread)
{
	json_t *cases = SCENARIO_CASES(0, "blocking-calls", "--calls", "5000", "--connections",
	                               "50", "--delay", "10s", "--time-scale", "0.01", "--form",
	                               "shared,timer", "--compare-only", "ring,epoll");
	const json_t *one;
	size_t i;

	CHECK_EQUAL(json_array_size(cases), 4);
	json_array_foreach(cases, i, one)
	{
		CHECK_EQUAL(cli_number(one, "measured.calls"), 5000);
		CHECK_EQUAL(cli_number(one, "measured.failed"), 0);
		scenario_check_threads(one, 1);
		CHECK(cli_number(one, "measured.memory_per_call_bytes") > 0);
	}
	json_decref(cases);
}

TEST(scenario_calls, that_the_system_has_no_more_threads_for_name_the_limits)
{
	const char *const arguments[] = {"blocking-calls",
	                                 "--calls",
	                                 "4000",
	                                 "--delay",
	                                 "60s",
	                                 "--form",
	                                 "timer",
	                                 "--probe",
	                                 "none",
	                                 "--compare-only",
	                                 "thread-per-call,published-async",
	                                 NULL};
	json_t *cases;

	if (!process_is_root())
		SKIP("only root can become another user, whose threads are few");
	cases = scenario_cases((struct process){.argv = arguments,
	                                        .user = 54321,
	                                        .directory = "/",
	                                        .limits = {{RLIMIT_NPROC, 200}},
	                                        .limit_count = 1},
	                       77);
	CHECK_EQUAL(json_array_size(cases), 2);
	for (size_t i = 0; i < json_array_size(cases); i++) {
		const json_t *one = json_array_get(cases, i);

		CHECK_STRING(cli_text(one, "status"), "skipped");
		CHECK_CONTAINS(cli_text(one, "why"), "the system refused thread");
		CHECK_CONTAINS(cli_text(one, "why"), "RLIMIT_NPROC 200");
		CHECK_CONTAINS(cli_text(one, "why"), "vm.max_map_count");
		CHECK(json_is_null(json_object_get(one, "measured")));
	}
	json_decref(cases);
}

TEST(scenario_calls, are_shown_as_a_chart_with_a_reason)
{
	struct process_result r;

	PROCESS_RUN(&r, "scenario", "blocking-calls", "--calls", "20", "--time-scale", "0.02",
	            "--compare-only", "pool-8,ring");
	CHECK_STATUS(&r, 0);
	CHECK_CONTAINS(r.out, "published");
	CHECK_CONTAINS(r.out, "  thread 1   |");
	CHECK_CONTAINS(r.out, "since a call holds its thread");
	CHECK_CONTAINS(r.out, "on one thread, since no thread waits for a");
	CHECK(process_widest_line(r.out) <= 80);
	process_free(&r);
}

static void append(const char *directory, const char *line)
{
	char path[300];
	FILE *file;

	snprintf(path, sizeof path, "%s/scenarios.jsonl", directory);
	file = fopen(path, "ae");
	REQUIRE(file);
	fprintf(file, "%s\n", line);
	fclose(file);
}

TEST(scenario, is_kept_shown_again_and_reported)
{
	struct process_result r;
	char directory[256];

	process_make_directory(directory);
	PROCESS_RUN(&r, "scenario", "blocking-calls", "--calls", "4,9", "--time-scale", "0.01",
	            "--compare-only", "pool-8,epoll", "-o", directory);
	CHECK_STATUS(&r, 0);
	process_free(&r);
	PROCESS_RUN(&r, "report", directory, "-o", "-");
	CHECK_STATUS(&r, 0);
	CHECK_CONTAINS(r.out, "## blocking-calls");
	CHECK_CONTAINS(r.out, "| mode | 4 | 9 |");
	CHECK_CONTAINS(r.out, "Threads against calls, socket, delay 10.0ms:");
	CHECK_CONTAINS(r.out, "  thread 1   |");
	process_free(&r);
	append(directory, "{\"schema\":\"iostudy/scenario/1\",\"status\":\"ok\",\"plan\":{},"
	                  "\"calls\":[[5,1,-2]]}");
	append(directory, "{\"schema\":\"iostudy/scenario/1\",\"status\":\"ok\",\"plan\":{}}");
	append(directory, "half a li");
	PROCESS_RUN(&r, "show", directory);
	CHECK_STATUS(&r, 1);
	CHECK_CONTAINS(r.out, "blocking-calls: ");
	CHECK_CONTAINS(r.err, "line 5: calls holds what is no call");
	CHECK_CONTAINS(r.err, "line 7: not JSON");
	process_free(&r);
	process_remove_directory(directory);
}

TEST(scenario, ends_on_a_signal_with_what_was_measured)
{
	const char *const arguments[] = {"scenario",       "blocking-calls", "--calls", "5",
	                                 "--compare-only", "sequential",     "--json",  NULL};
	struct process_result r;

	process_run(
	    &(struct process){.argv = arguments, .signal = SIGINT, .signal_delay_ns = 1500000000},
	    &r);
	CHECK_STATUS(&r, 130);
	CHECK_CONTAINS(r.out, "\"status\":\"interrupted\"");
	CHECK_EQUAL(r.left_behind, 0);
	process_free(&r);
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
