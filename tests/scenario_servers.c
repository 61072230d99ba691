/* The scenarios of a server: event-loop, virtual-threads and portal, in little time. */
#include <stdlib.h>
#include <string.h>

#include "bench/scenario/load.h"
#include "tests/cli_runs.h"
#include "tests/process.h"
#include "tests/scenario_help.h"
#include "tests/test.h"

/* Whatever parks the loops' threads fails or is slow; whatever does not, answers all. Nothing here
 * depends on how fast: 60 requests of 50 ms on two threads that are parked take 1.5 s at least. */
TEST(scenario_servers, event_loops_that_are_parked_serve_one_request_for_each_thread)
{
	json_t *cases = SCENARIO_CASES(0, "event-loop", "--users", "60", "--delay", "5s", "--ramp",
	                               "10s", "--timeout", "600s", "--time-scale", "0.01",
	                               "--compare-only",
	                               "blocking-call,sync-over-async,callback,coroutine");
	static const struct {
		const char *mode;
		double threads; /* the loops' and their helpers', and the first one */
		bool parks;
	} rows[] = {{"blocking-call", 3, true},
	            {"sync-over-async", 5, true},
	            {"callback", 3, false},
	            {"coroutine", 3, false}};

	CHECK_EQUAL(json_array_size(cases), 4);
	for (size_t i = 0; i < 4; i++) {
		const json_t *one = scenario_case_of(cases, rows[i].mode);

		CHECK_STRING(cli_text(one, "status"), "ok");
		CHECK_EQUAL(cli_number(one, "measured.calls"), 60);
		CHECK_EQUAL(cli_number(one, "measured.failed"), 0);
		scenario_check_threads(one, rows[i].threads);
		CHECK(!rows[i].parks || cli_number(one, "measured.total_ns") >= 1.5e9);
	}
	CHECK(cli_finding(scenario_case_of(cases, "sync-over-async"), "SYNC-OVER-ASYNC"));
	CHECK(cli_finding(scenario_case_of(cases, "sync-over-async"), "HIDDEN-WORKERS"));
	CHECK(!cli_finding(scenario_case_of(cases, "callback"), "HIDDEN-WORKERS"));
	CHECK(!cli_finding(scenario_case_of(cases, "coroutine"), "SYNC-OVER-ASYNC"));
	json_decref(cases);
}

/* Both loops wait for each other: nobody is answered, and each failure has its reason. */
TEST(scenario_servers, event_loops_that_wait_for_each_other_are_deadlocked_until_the_time_out)
{
	json_t *cases = SCENARIO_CASES(0, "event-loop", "--users", "60", "--delay", "5s", "--ramp",
	                               "1s", "--timeout", "100s", "--time-scale", "0.01",
	                               "--compare-only", "blocking-wait");
	const json_t *one = scenario_case_of(cases, "blocking-wait"), *count;
	const char *reason;
	double failures = 0;

	CHECK_EQUAL(cli_number(one, "measured.calls"), 60);
	CHECK(cli_number(one, "measured.failed") >= 50); /* the first may come before the others */
	json_object_foreach((json_t *)cli_at(one, "measured.failures"), reason, count)
	{
		CHECK_MESSAGE(strstr(reason, "in time"), "failed: %s", reason);
		failures += json_number_value(count);
	}
	CHECK_EQUAL(failures, cli_number(one, "measured.failed"));
	CHECK_CONTAINS(cli_text(one, "because"), "a deadlock");
	json_decref(cases);
}

static void check_threads_at(const json_t *cases, const char *mode, double users, double threads)
{
	bool found = false;

	for (size_t i = 0; i < json_array_size(cases); i++) {
		const json_t *one = json_array_get(cases, i);

		if (strcmp(cli_text(one, "plan.mode"), mode) != 0 ||
		    cli_number(one, "plan.setting.users") != users)
			continue;
		found = true;
		CHECK_EQUAL(cli_number(one, "measured.failed"), 0);
		scenario_check_threads(one, threads);
	}
	CHECK(found);
}

TEST(scenario_servers, carriers_stay_as_they_are_while_threads_grow_with_the_users)
{
	json_t *cases = SCENARIO_CASES(0, "virtual-threads", "--users", "10,400", "--form",
	                               "service", "--delay", "10s", "--ramp", "1s", "--threads",
	                               "50", "--requests", "1", "--timeout", "3600s",
	                               "--time-scale", "0.02");

	CHECK_EQUAL(json_array_size(cases), 4);
	check_threads_at(cases, "coroutine", 10, 3);
	check_threads_at(cases, "coroutine", 400, 3);
	check_threads_at(cases, "thread-per-request", 10, 2 + 1 + 10);
	check_threads_at(cases, "thread-per-request", 400, 2 + 1 + 50);
	json_decref(cases);
}

/* Two threads that wait 100 to 200 ms for each serve ten times in 1 s, or twenty, and drain. */
TEST(scenario_servers, a_portal_that_waits_serves_few_and_one_that_does_not_serves_nearly_all)
{
	json_t *cases = SCENARIO_CASES(0, "portal", "--outstanding", "50", "--threads", "2",
	                               "--window", "100s", "--time-scale", "0.01", "--server-price",
	                               "7");
	const json_t *blocking = scenario_case_of(cases, "blocking");
	const double few = cli_number(blocking, "measured.served_in_window");

	CHECK_EQUAL(json_array_size(cases), 4);
	CHECK_BETWEEN(few, 1, 20);
	scenario_check_threads(blocking, 1 + 1 + 2);
	CHECK_BETWEEN(
	    cli_number(scenario_case_of(cases, "sync-over-async"), "measured.served_in_window"), 1,
	    20);
	for (int i = 0; i < 2; i++) {
		const json_t *one = scenario_case_of(cases, i ? "coroutine" : "callback");
		const double served = cli_number(one, "measured.served_in_window");
		const double servers = cli_number(one, "measured.blocking_servers");

		scenario_check_threads(one, 2);
		CHECK_EQUAL(cli_number(one, "measured.failed"), 0);
		CHECK(served > 2 * few && served <= cli_number(one, "measured.ideal_in_window"));
		CHECK(servers * few >= served && (servers - 1) * few < served);
		CHECK_EQUAL(cli_number(one, "measured.blocking_cost"), servers * 7);
		CHECK(cli_number(one, "measured.page_looks") > 0);
	}
	json_decref(cases);
}

/* Delays are of the range, the same for the same seed; the ideal counts what fits. */
TEST(scenario_servers, an_ideal_portal_answers_what_its_delays_allow)
{
	struct load load = {.users = 100,
	                    .seed = 3,
	                    .delay_min_ns = 10000000000,
	                    .delay_max_ns = 20000000000,
	                    .window_ns = 9999000000};
	uint64_t sum_ns = 0;

	for (uint32_t i = 0; i < 1000; i++) {
		const uint64_t delay_ns = load_delay_ns(&load, i % 100, i / 100);

		CHECK(delay_ns >= load.delay_min_ns && delay_ns <= load.delay_max_ns);
		CHECK_EQUAL(delay_ns % 1000000, 0);
		CHECK_EQUAL(delay_ns, load_delay_ns(&load, i % 100, i / 100));
		sum_ns += delay_ns;
	}
	CHECK_BETWEEN((double)sum_ns / 1000, 14.5e9, 15.5e9);
	CHECK_EQUAL(load_ideal(&load), 0); /* not even the shortest */
	load.window_ns = 20000000000;
	CHECK_BETWEEN(load_ideal(&load), 100, 200); /* each once; few twice */
	load.delay_min_ns = load.delay_max_ns = 1000000000;
	CHECK_EQUAL(load_ideal(&load), 2000);
}
