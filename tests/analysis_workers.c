/*
 * The findings about io_uring's workers and about submissions that sleep: each has a run that
 * must raise it and runs that must not.
 */
#include <jansson.h>
#include <string.h>

#include "analysis/run_view.h"
#include "tests/analysis_runs.h"
#include "tests/test.h"

/* Concludes the run, asks for the finding, and gives the run back. */
static bool raises(json_t *run, const char *tag)
{
	bool raised;

	run_conclude(run);
	raised = run_finding(run, tag) != NULL;
	json_decref(run);
	return raised;
}

static json_t *changed(json_t *run, const char *path, double value)
{
	run_number(run, path, value);
	return run;
}

static json_t *reason(json_t *run, const char *name)
{
	run_set(run, "probes.0.io_uring.punted_by.0.reason", json_string(name));
	return run;
}

static json_t *cause(json_t *run, const char *name)
{
	run_set(run, "probes.0.submitter_sleeps.0.cause", json_string(name));
	return run;
}

TEST(findings_workers, punted_is_not_parked)
{
	static const char tag[] = "PUNTED-NOT-PARKED";
	json_t *run = run_punted();
	const json_t *finding;

	run_conclude(run);
	finding = run_finding(run, tag);
	REQUIRE(finding);
	CHECK_STRING(json_string_value(json_object_get(finding, "class")), "answer");
	CHECK_CONTAINS(json_string_value(json_object_get(finding, "text")),
	               "1,000 of 1,000 requests went to io_uring's worker threads (the program "
	               "asks for it (IOSQE_ASYNC)), which never slept for them");
	CHECK_CONTAINS(json_string_value(json_object_get(finding, "text")),
	               "4 are of the kind that the kernel bounds only by RLIMIT_NPROC (9,000)");
	CHECK_CONTAINS(json_string_value(json_object_get(finding, "advice")), "--engine uring");
	json_decref(run);
	CHECK(!raises(changed(run_punted(), "probes.0.io_uring.workers_parks", 900), tag));
	CHECK(!raises(changed(run_punted(), "probes.0.io_uring.punted", 10), tag));
	CHECK(!raises(changed(run_punted(), "probes.0.io_uring.workers_parked_ns", 1e9), tag));
	CHECK(!raises(run_one_waiter(), tag));
	/* lost events could be parks */
	CHECK(!raises(changed(run_punted(), "probes.0.lost", 200), tag));
}

TEST(findings_workers, punted_and_parked_has_workers_that_slept)
{
	static const char tag[] = "PUNTED-AND-PARKED";
	json_t *run = changed(run_punted(), "probes.0.io_uring.workers_parks", 900);

	run_number(run, "probes.0.io_uring.workers_parked_ns", 4e9);
	reason(run, "fsync-class");
	run_conclude(run);
	const json_t *finding = run_finding(run, tag);
	REQUIRE(finding);
	CHECK_STRING(json_string_value(json_object_get(finding, "class")), "problem");
	CHECK_CONTAINS(json_string_value(json_object_get(finding, "text")),
	               "operations that always wait, such as fsync");
	CHECK_CONTAINS(json_string_value(json_object_get(finding, "text")),
	               "slept there, 900 times: a thread is parked for the I/O after all, 2.00");
	json_decref(run);
	/* seldom, and for long: workers that wait for the device's tags */
	CHECK(raises(changed(run_punted(), "probes.0.io_uring.workers_parked_ns", 1e9), tag));
	CHECK(!raises(run_punted(), tag));
	CHECK(!raises(changed(changed(run_punted(), "probes.0.io_uring.workers_parks", 900),
	                      "probes.0.io_uring.submitted", 1e6),
	              tag));
}

TEST(findings_workers, no_nowait_names_the_file_system)
{
	static const char tag[] = "NO-NOWAIT";
	json_t *run = reason(run_punted(), "no-nowait");

	run_set(run, "plan.engine", json_string("uring"));
	run_set(run, "environment.filesystem", json_string("overlay"));
	run_conclude(run);
	const json_t *finding = run_finding(run, tag);
	REQUIRE(finding);
	CHECK_STRING(json_string_value(json_object_get(finding, "confidence")), "sure");
	CHECK_CONTAINS(json_string_value(json_object_get(finding, "text")), "overlay refuses");
	CHECK_CONTAINS(json_string_value(json_object_get(finding, "advice")), "volume");
	json_decref(run);
	CHECK(!raises(run_punted(), tag)); /* forced */
	CHECK(!raises(run_one_waiter(), tag));
	/* a device below the file, and no probe that counts */
	run = reason(run_punted(), "would-block");
	run_set(run, "environment.nowait_read", json_false());
	CHECK(raises(run, tag));
	CHECK(!raises(reason(run_punted(), "would-block"), tag));
	run = run_one_waiter();
	run_set(run, "environment.nowait_read", json_false());
	CHECK(raises(run, tag));
	run = run_thread_per_io(); /* blocking calls do not ask for it */
	run_set(run, "environment.nowait_read", json_false());
	CHECK(!raises(run, tag));
}

TEST(findings_workers, a_submission_that_sleeps_is_asynchronous_in_name_only)
{
	static const char tag[] = "SUBMIT-BLOCKED";
	json_t *run = run_blocked();

	run_conclude(run);
	const json_t *finding = run_finding(run, tag);
	REQUIRE(finding);
	CHECK_STRING(json_string_value(json_object_get(finding, "class")), "problem");
	CHECK_CONTAINS(json_string_value(json_object_get(finding, "text")),
	               "2,000 times inside io_submit, 1.80s in all, mostly for data that was not "
	               "in the page cache");
	CHECK_CONTAINS(json_string_value(json_object_get(finding, "text")),
	               "asynchronous in name, synchronous in practice");
	CHECK_CONTAINS(json_string_value(json_object_get(finding, "advice")), "--direct 1");
	json_decref(run);
	CHECK(!raises(changed(run_blocked(), "probes.0.submitter_sleeps.0.count", 10), tag));
	CHECK(!raises(cause(run_blocked(), "tags"), tag));
	run = run_blocked(); /* rare, and short */
	run_number(run, "measured.operations", 1e6);
	run_number(run, "probes.0.submitter_sleeps.0.parked_ns", 1e6);
	CHECK(!raises(run, tag));
	CHECK(!raises(run_one_waiter(), tag));
}

TEST(findings_workers, each_cause_has_words_and_an_advice_of_its_own)
{
	static const char *const causes[][2] = {
	    {"writeback", "vm.dirty_ratio"},
	    {"lock", "a file for each submitter"},
	    {"fault", "mlock"},
	    {"journal", "Allocate the file"},
	    {"transfer", "extends it"},
	    {"memory", "free memory"},
	    {"unknown", "kptr_restrict=0"},
	    {"other", "submitter.bt"},
	    {"a later version's", "submitter.bt"},
	};

	for (size_t i = 0; i < sizeof causes / sizeof causes[0]; i++) {
		json_t *run = cause(run_blocked(), causes[i][0]);

		run_conclude(run);
		const json_t *finding = run_finding(run, "SUBMIT-BLOCKED");
		CHECK(finding);
		CHECK_CONTAINS(json_string_value(json_object_get(finding, "advice")), causes[i][1]);
		json_decref(run);
	}
}

TEST(findings_workers, a_wait_for_tags_names_the_device_and_its_requests)
{
	static const char tag[] = "TAG-WAIT";
	json_t *run = cause(changed(run_blocked(), "plan.depth", 512), "tags");

	run_conclude(run);
	const json_t *finding = run_finding(run, tag);
	REQUIRE(finding);
	CHECK_CONTAINS(json_string_value(json_object_get(finding, "text")),
	               "256 at once are what vda has (nr_requests), and 512 were wanted.");
	CHECK_CONTAINS(json_string_value(json_object_get(finding, "advice")),
	               "/sys/block/vda/queue/nr_requests");
	json_decref(run);
	CHECK(!raises(run_blocked(), tag));
	CHECK(raises(cause(run_blocked(), "tags"), tag)); /* for nine tenths of the window */
	run = cause(run_blocked(), "tags");
	run_number(run, "probes.0.submitter_sleeps.0.parked_ns", 1e6);
	CHECK(!raises(run, tag)); /* others use the device too */
	CHECK(!raises(run_one_waiter(), tag));
}

TEST(findings_workers, a_poller_that_never_sleeps_spins_however_busy_the_machine)
{
	json_t *run = run_bare("uring-sqpoll", "disk-randread", "compute");

	run_threads(run, "sqpoll", 1, 0, 0, 0);
	run_number(run, "probes.0.kinds.1.running_ns", 0.6e9);
	run_number(run, "probes.0.kinds.1.runnable_ns", 1.4e9);
	run_conclude(run);
	const json_t *finding = run_finding(run, "SPINNING");
	REQUIRE(finding);
	CHECK_CONTAINS(json_string_value(json_object_get(finding, "text")),
	               "iou-sqp) never parked");
	run_number(run, "probes.0.kinds.1.parked_direct_ns", 1e6); /* for the device's tags */
	run_conclude(run);
	CHECK_CONTAINS(json_string_value(json_object_get(run_finding(run, "SPINNING"), "text")),
	               "hardly ever parked");
	run_number(run, "probes.0.kinds.1.runnable_ns", 0.1e9);
	run_number(run, "probes.0.kinds.1.idle_ns", 1.3e9);
	CHECK(!raises(json_incref(run), "SPINNING"));
	json_decref(run);
}

TEST(findings_workers, a_poller_is_named_where_the_depth_was_not_reached)
{
	json_t *run = run_bare("uring-sqpoll", "socket-delay", "park");

	run_threads(run, "application", 1, 0.1, 0.9, 0);
	run_threads(run, "sqpoll", 1, 0, 0, 0);
	run_number(run, "measured.in_flight_ns", 0.5 * 32 * 2e9);
	run_conclude(run);
	const json_t *finding = run_finding(run, "DEPTH-NOT-REACHED");
	REQUIRE(finding);
	CHECK_CONTAINS(json_string_value(json_object_get(finding, "text")),
	               "one thread, io_uring's submission poller");
	json_decref(run);
}

TEST(findings_workers, what_is_of_a_wrong_type_makes_the_run_unreadable)
{
	static const char *const paths[] = {
	    "probes.0.io_uring", "probes.0.io_uring.punted", "probes.0.io_uring.punted_by",
	    "probes.0.io_uring.punted_by.0.count", "probes.0.submitter_sleeps"};

	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
		json_t *run = run_punted();
		struct run_view view;
		char why[RUN_WHY_SIZE];

		run_set(run, paths[i], json_string("x"));
		CHECK(run_view_read(&view, run, why) != 0);
		json_decref(run);
	}
}
