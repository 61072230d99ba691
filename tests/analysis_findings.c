/*
 * Every finding has a run that must raise it and one that must not.
 */
#include <math.h>
#include <string.h>

#include "analysis/findings.h"
#include "analysis/summary.h"
#include "tests/analysis_runs.h"
#include "tests/test.h"

static bool raises(json_t *run, const char *tag)
{
	run_conclude(run);
	const bool raised = run_finding(run, tag) != NULL;
	json_decref(run);
	return raised;
}

static json_t *changed(json_t *run, const char *path, double value)
{
	run_number(run, path, value);
	return run;
}

/* The one answer of a run and no other. */
static void check_only_answer(json_t *run, const char *tag)
{
	static const char *const answers[] = {"NO-THREAD", "ONE-WAITER", "THREAD-PER-IO"};

	run_conclude(run);
	for (size_t i = 0; i < 3; i++)
		CHECK_MESSAGE((run_finding(run, answers[i]) != NULL) ==
		                  (strcmp(answers[i], tag) == 0),
		              "%s where the answer is %s", answers[i], tag);
	json_decref(run);
}

TEST(findings, each_run_has_its_own_answer)
{
	check_only_answer(run_no_thread(), "NO-THREAD");
	check_only_answer(run_spinning(), "NO-THREAD");
	check_only_answer(run_one_waiter(), "ONE-WAITER");
	check_only_answer(run_socket(), "ONE-WAITER");
	check_only_answer(run_nothing_ends(), "ONE-WAITER");
	check_only_answer(run_thread_per_io(), "THREAD-PER-IO");
	check_only_answer(run_pool(), "THREAD-PER-IO");
	check_only_answer(run_posix_aio(), "neither");
	check_only_answer(run_page_cache(), "neither");
}

TEST(findings, no_thread_needs_nobody_parked_at_nearly_every_completion)
{
	json_t *run = run_no_thread();
	run_set(run, "probes.0.parked_at_completion", json_pack("[i,i]", 169431, 169));
	CHECK(raises(run, "NO-THREAD"));
	run = run_no_thread();
	run_set(run, "probes.0.parked_at_completion", json_pack("[i,i]", 169000, 600));
	CHECK(!raises(run, "NO-THREAD"));
}

TEST(findings, no_thread_is_not_said_of_threads_held_without_parking)
{
	json_t *run = run_no_thread();
	run_threads(run, "application", 1, 0, 0, 0.5); /* 0.016 for each request */
	CHECK(!raises(run, "NO-THREAD"));
}

TEST(findings, no_thread_names_the_computing_speed_and_its_evidence)
{
	json_t *run = run_no_thread();
	run_conclude(run);
	const json_t *finding = run_finding(run, "NO-THREAD");
	REQUIRE(finding);
	CHECK_STRING(json_string_value(json_object_get(finding, "class")), "answer");
	CHECK_STRING(json_string_value(json_object_get(finding, "severity")), "info");
	CHECK_STRING(json_string_value(json_object_get(finding, "confidence")), "sure");
	const char *text = json_string_value(json_object_get(finding, "text"));
	CHECK_CONTAINS(text, "nobody was parked at 169,600 of 169,600 disk completions (100 %)");
	CHECK_CONTAINS(text, "The only thread kept 77 % of its computing speed");
	CHECK(run_get_number(finding, "evidence.completions") == 169600);
	CHECK(run_get_number(finding, "evidence.held_per_in_flight") == 0);
	json_decref(run);
}

TEST(findings, without_completions_no_thread_is_only_likely)
{
	json_t *run = run_no_thread();
	run_set(run, "probes.0.probe", json_string("schedstat"));
	run_set(run, "probes.0.parked_at_completion", json_null());
	run_set(run, "probes.0.completions", json_null());
	run_conclude(run);
	const json_t *finding = run_finding(run, "NO-THREAD");
	REQUIRE(finding);
	CHECK_STRING(json_string_value(json_object_get(finding, "confidence")), "likely");
	json_decref(run);
	run = run_no_thread(); /* too few completions, and nothing in flight for long */
	run_set(run, "probes.0.parked_at_completion", json_pack("[i]", 50));
	run_number(run, "measured.operations", 50);
	run_number(run, "measured.in_flight_ns", 5e6);
	CHECK(!raises(run, "NO-THREAD"));
}

TEST(findings, an_exact_probe_needs_no_completion_to_be_sure)
{
	json_t *run = run_nothing_ends();
	run_threads(run, "application", 1, 0, 0, 0);
	run_set(run, "plan.wait", json_string("compute"));
	run_conclude(run);
	const json_t *finding = run_finding(run, "NO-THREAD");
	REQUIRE(finding);
	CHECK_STRING(json_string_value(json_object_get(finding, "confidence")), "sure");
	CHECK_CONTAINS(json_string_value(json_object_get(finding, "text")),
	               "128.00 s of requests in flight, 0.000 s of threads parked.");
	json_decref(run);
}

TEST(findings, what_was_not_seen_is_not_called_no_thread)
{
	CHECK(!raises(changed(run_no_thread(), "probes.0.kinds.0.unseen_ns", 1e9), "NO-THREAD"));
	json_t *run = run_no_thread();
	run_set(run, "probes", json_array());
	CHECK(!raises(run, "NO-THREAD"));
	run = run_no_thread();
	run_set(run, "probes.0.kinds.0.parked_waiter_ns", json_null());
	CHECK(!raises(run, "NO-THREAD"));
	CHECK(!raises(run_page_cache(), "NO-THREAD"));
	run = run_no_thread();
	run_set(run, "plan.engine", json_string("null"));
	CHECK(!raises(run, "NO-THREAD"));
}

TEST(findings, one_waiter_is_one_thread_that_waits_for_several)
{
	json_t *run = run_one_waiter();
	run_threads(run, "application", 4, 0, 3.6, 0.2); /* four rings */
	CHECK(!raises(run, "ONE-WAITER"));
	CHECK(!raises(changed(run_one_waiter(), "measured.in_flight_ns", 2e9), "ONE-WAITER"));
	run = run_one_waiter(); /* one worker in its call, with the others queued */
	run_threads(run, "application", 1, 0, 0, 0);
	run_threads(run, "pool", 1, 0.9, 0, 0.1);
	CHECK(!raises(run, "ONE-WAITER"));
}

TEST(findings, thread_per_io_needs_threads_and_requests_served_to_agree)
{
	CHECK(!raises(changed(run_thread_per_io(), "measured.served_ns", 48e9), "THREAD-PER-IO"));
	json_t *run = run_thread_per_io(); /* one thread, one request */
	run_threads(run, "application", 1, 0.98, 0, 0.02);
	run_number(run, "measured.served_ns", 2e9);
	CHECK(!raises(run, "THREAD-PER-IO"));
	run = run_pool();
	run_conclude(run);
	REQUIRE(run_finding(run, "THREAD-PER-IO"));
	CHECK_CONTAINS(
	    json_string_value(json_object_get(run_finding(run, "THREAD-PER-IO"), "text")),
	    "Another 8 requests waited for a worker to take them up.");
	json_decref(run);
}

TEST(findings, hidden_workers_are_those_that_the_program_did_not_make)
{
	json_t *run = run_posix_aio();
	run_conclude(run);
	const json_t *finding = run_finding(run, "HIDDEN-WORKERS");
	REQUIRE(finding);
	CHECK_CONTAINS(json_string_value(json_object_get(finding, "text")), "1 aio-helper");
	CHECK(run_get_number(finding, "evidence.threads_max") == 1);
	json_decref(run);
	run = run_one_waiter();
	run_threads(run, "io-wq", 5, 3.2, 0, 0.4);
	CHECK(raises(run, "HIDDEN-WORKERS"));
	run = run_one_waiter(); /* punted, but hardly held */
	run_threads(run, "io-wq", 5, 0, 0, 0.2);
	CHECK(!raises(run, "HIDDEN-WORKERS"));
	CHECK(!raises(run_pool(), "HIDDEN-WORKERS"));
}

TEST(findings, serial_per_file_is_posix_aio_serving_one_at_a_time)
{
	json_t *run = run_posix_aio();
	run_conclude(run);
	const json_t *finding = run_finding(run, "SERIAL-PER-FILE");
	REQUIRE(finding);
	CHECK_CONTAINS(json_string_value(json_object_get(finding, "text")),
	               "Asked for 16 at once, served 1.00 at a time");
	CHECK_BETWEEN(run_get_number(run, "summary.held_per_served"), 1.95, 2.05);
	json_decref(run);
	CHECK(!raises(changed(run_posix_aio(), "measured.served_ns", 16e9), "SERIAL-PER-FILE"));
	run = run_posix_aio();
	run_set(run, "plan.engine", json_string("uring"));
	CHECK(!raises(run, "SERIAL-PER-FILE"));
	run = run_posix_aio();
	run_set(run, "plan.workload", json_string("socket-delay"));
	CHECK(!raises(run, "SERIAL-PER-FILE"));
}

TEST(findings, spinning_is_a_cpu_burned_for_waiting)
{
	CHECK(raises(run_spinning(), "SPINNING"));
	CHECK(!raises(run_one_waiter(), "SPINNING"));
	CHECK(!raises(run_no_thread(), "SPINNING")); /* its CPU computes */
	json_t *run = run_one_waiter();
	run_set(run, "plan.engine", json_string("uring-sqpoll"));
	run_threads(run, "sqpoll", 1, 0, 0, 0);
	run_conclude(run);
	REQUIRE(run_finding(run, "SPINNING"));
	CHECK_STRING(json_string_value(json_object_get(run_finding(run, "SPINNING"), "severity")),
	             "warn");
	json_decref(run);
}

TEST(findings, page_cache_is_told_from_the_block_requests_made)
{
	CHECK(raises(run_page_cache(), "PAGE-CACHE"));
	CHECK(!raises(run_thread_per_io(), "PAGE-CACHE"));
	CHECK(!raises(run_socket(), "PAGE-CACHE"));
	json_t *run = run_thread_per_io(); /* O_DIRECT, which tmpfs takes and ignores */
	run_set(run, "environment.filesystem", json_string("tmpfs"));
	run_set(run, "probes.0.block", json_null());
	CHECK(raises(run, "PAGE-CACHE"));
	run = run_page_cache(); /* read-ahead: few requests, all the bytes */
	run_number(run, "probes.0.block.requests", 5300);
	run_number(run, "probes.0.block.bytes", 694681600);
	CHECK(!raises(run, "PAGE-CACHE"));
	run = run_thread_per_io(); /* the probe's word on the disk is not believed */
	run_number(run, "probes.0.block.requests", 0);
	run_number(run, "probes.0.block.bytes", 0);
	run_set(run, "probes.0.self_test", json_string("failed"));
	CHECK(!raises(run, "PAGE-CACHE"));
}

TEST(findings, depth_not_reached_says_asked_achieved_and_why)
{
	json_t *run = run_thread_per_io();
	run_number(run, "plan.threads", 1);
	run_threads(run, "application", 1, 0.95, 0, 0.05);
	run_number(run, "measured.in_flight_ns", 2e9);
	run_number(run, "measured.served_ns", 2e9);
	run_conclude(run);
	const json_t *finding = run_finding(run, "DEPTH-NOT-REACHED");
	REQUIRE(finding);
	const char *text = json_string_value(json_object_get(finding, "text"));
	CHECK_CONTAINS(text, "Asked for 32 requests in flight, achieved 1.");
	CHECK_CONTAINS(text, "1 of them cannot have more in flight");
	CHECK_CONTAINS(json_string_value(json_object_get(finding, "advice")), "--threads 32");
	json_decref(run);
	CHECK(!raises(run_one_waiter(), "DEPTH-NOT-REACHED"));
	run = changed(run_one_waiter(), "measured.in_flight_ns", 10e9); /* arrivals decide */
	run_number(run, "plan.rate_per_s", 1000);
	CHECK(!raises(run, "DEPTH-NOT-REACHED"));
	run = changed(run_one_waiter(), "measured.in_flight_ns", 40e9);
	run_number(run, "measured.cpu_system_ns", 3.6e9);
	run_conclude(run);
	REQUIRE(run_finding(run, "DEPTH-NOT-REACHED"));
	CHECK_CONTAINS(
	    json_string_value(json_object_get(run_finding(run, "DEPTH-NOT-REACHED"), "text")),
	    "The CPUs were the limit");
	json_decref(run);
}

TEST(findings, no_interrupt_is_said_of_loopback_and_of_memory)
{
	CHECK(raises(run_socket(), "NO-INTERRUPT"));
	CHECK(raises(run_page_cache(), "NO-INTERRUPT"));
	CHECK(!raises(run_one_waiter(), "NO-INTERRUPT"));
	json_t *run = run_socket(); /* a real card */
	run_number(run, "probes.0.completions.arrived_in.hardirq", 6390);
	run_number(run, "probes.0.completions.arrived_in.softirq", 0);
	CHECK(!raises(run, "NO-INTERRUPT"));
	run = run_one_waiter(); /* a device that completes inside the submitter's call */
	run_number(run, "probes.0.completions.arrived_in.hardirq", 0);
	run_number(run, "probes.0.completions.arrived_in.softirq", 0);
	run_number(run, "probes.0.completions.arrived_in.task", 169600);
	CHECK(raises(run, "NO-INTERRUPT"));
}

TEST(findings, loss_withholds_what_it_could_change_and_nothing_else)
{
	json_t *run = changed(run_no_thread(), "probes.0.lost", 1);
	run_conclude(run);
	CHECK(!run_finding(run, "NO-THREAD"));
	REQUIRE(run_finding(run, "LOSS"));
	CHECK_CONTAINS(json_string_value(json_object_get(run_finding(run, "LOSS"), "text")),
	               "Withheld, because that could change them: NO-THREAD.");
	json_decref(run);
	run = changed(run_thread_per_io(), "probes.0.lost", 1); /* 32 threads, give or take one */
	run_conclude(run);
	CHECK(run_finding(run, "THREAD-PER-IO"));
	REQUIRE(run_finding(run, "LOSS"));
	CHECK_CONTAINS(json_string_value(json_object_get(run_finding(run, "LOSS"), "text")),
	               "No conclusion above hangs on so few.");
	json_decref(run);
	run = changed(run_posix_aio(), "probes.0.lost", 3); /* threads that switch all the time */
	run_conclude(run);
	CHECK(run_finding(run, "HIDDEN-WORKERS"));
	REQUIRE(run_finding(run, "SERIAL-PER-FILE"));
	CHECK_STRING(
	    json_string_value(json_object_get(run_finding(run, "SERIAL-PER-FILE"), "confidence")),
	    "likely");
	json_decref(run);
	run = changed(run_posix_aio(), "probes.0.lost", 3); /* threads that hardly ever do */
	for (int k = 0; k < 2; k++) {
		run_number(run,
		           k ? "probes.0.kinds.1.voluntary_switches"
		             : "probes.0.kinds.0.voluntary_switches",
		           1);
		run_number(run,
		           k ? "probes.0.kinds.1.involuntary_switches"
		             : "probes.0.kinds.0.involuntary_switches",
		           0);
	}
	CHECK(!raises(run, "HIDDEN-WORKERS"));
	CHECK(!raises(changed(run_one_waiter(), "probes.0.lost", 1), "ONE-WAITER"));
	CHECK(!raises(changed(run_thread_per_io(), "probes.0.lost", 20), "THREAD-PER-IO"));
	CHECK(!raises(run_one_waiter(), "LOSS"));
}

TEST(findings, too_short_withholds_rates_but_not_the_threads_of_slow_requests)
{
	json_t *run = run_nothing_ends();
	run_conclude(run);
	const json_t *finding = run_finding(run, "TOO-SHORT");
	REQUIRE(finding);
	CHECK_STRING(json_string_value(json_object_get(finding, "severity")), "info");
	CHECK_CONTAINS(json_string_value(json_object_get(finding, "text")), "and hold.");
	CHECK_BETWEEN(run_get_number(run, "summary.held_per_in_flight"), 0.99 / 64, 1.01 / 64);
	CHECK(json_is_null(run_get(run, "summary.latency_p50_ns")));
	json_decref(run);
	CHECK(raises(changed(run_one_waiter(), "measured.window_ns", 50e6), "TOO-SHORT"));
	CHECK(raises(changed(run_one_waiter(), "measured.operations", 1), "TOO-SHORT"));
	CHECK(!raises(run_one_waiter(), "TOO-SHORT"));
}

TEST(findings, a_run_that_failed_or_was_skipped_has_none)
{
	json_t *run = run_failed();
	run_conclude(run);
	CHECK_EQUAL(json_array_size(json_object_get(run, "findings")), 0);
	json_decref(run);
	run = run_skipped();
	run_conclude(run);
	CHECK_EQUAL(json_array_size(json_object_get(run, "findings")), 0);
	json_decref(run);
	run = run_one_waiter(); /* requests failed, whatever the status says */
	run_set(run, "measured.errors", json_pack("{s:i}", "EIO", 2));
	run_conclude(run);
	CHECK_EQUAL(json_array_size(json_object_get(run, "findings")), 0);
	CHECK(json_is_null(run_get(run, "summary.iops")));
	json_decref(run);
}

TEST(findings, stand_in_the_order_answers_problems_limits)
{
	static const char *const order[] = {"answer", "problem", "limit"};
	json_t *run = run_posix_aio(), *finding;
	size_t i, at = 0;

	run_number(run, "probes.0.lost", 1);
	run_number(run, "measured.window_ns", 2e9);
	run_conclude(run);
	json_array_foreach(json_object_get(run, "findings"), i, finding)
	{
		const char *class = json_string_value(json_object_get(finding, "class"));
		while (at < 3 && strcmp(order[at], class) != 0)
			at++;
		CHECK_MESSAGE(at < 3, "%s comes too late", class);
	}
	json_decref(run);
}

TEST(findings, may_be_looked_for_twice)
{
	json_t *run = run_one_waiter();
	run_set(run, "probes.0.self_test", json_string("failed"));
	run_conclude(run);
	const size_t findings = json_array_size(json_object_get(run, "findings"));
	run_conclude(run);
	CHECK_EQUAL(json_array_size(json_object_get(run, "findings")), findings);
	CHECK_EQUAL(json_array_size(json_object_get(run, "warnings")), 1);
	json_decref(run);
}
