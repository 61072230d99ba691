/* BEHIND-SCHEDULE: the runs of an open loop that must raise it, and those that must not. */
#include "analysis/findings.h"
#include "tests/analysis_runs.h"
#include "tests/test.h"

/* A run in which 1000 requests per s were to arrive, and kept to that. */
static json_t *run_scheduled(void)
{
	json_t *run = run_one_waiter();

	run_number(run, "plan.rate_per_s", 1000);
	run_number(run, "measured.operations", 2000);
	run_set(run, "measured.latency_submitted_ns",
	        json_pack("{s:i,s:i,s:[[i,i]]}", "min", 300000, "max", 400000, "buckets", 300000,
	                  2000));
	run_set(run, "measured.latency_scheduled_ns",
	        json_pack("{s:i,s:i,s:[[i,i]]}", "min", 310000, "max", 500000, "buckets", 310000,
	                  2000));
	run_number(run, "measured.unfinished_oldest_ns", 300000);
	return run;
}

static json_t *scheduled_with(const char *path, double value)
{
	json_t *run = run_scheduled();

	run_number(run, path, value);
	return run;
}

static bool raises(json_t *run, const char *tag)
{
	run_conclude(run);
	const bool raised = run_finding(run, tag) != NULL;
	json_decref(run);
	return raised;
}

TEST(findings_arrivals, behind_schedule_is_said_of_few_of_late_and_of_long_waits)
{
	json_t *run;

	CHECK(!raises(run_scheduled(), "BEHIND-SCHEDULE"));
	CHECK(!raises(run_one_waiter(), "BEHIND-SCHEDULE"));
	CHECK(raises(scheduled_with("measured.operations", 1500), "BEHIND-SCHEDULE"));
	CHECK(!raises(scheduled_with("measured.operations", 1900), "BEHIND-SCHEDULE"));
	CHECK(raises(scheduled_with("measured.unfinished_oldest_ns", 5e8), "BEHIND-SCHEDULE"));
	run = run_scheduled(); /* the submitted latency is as before: only this shows it */
	run_set(run, "measured.latency_scheduled_ns",
	        json_pack("{s:i,s:i,s:[[i,i],[i,i]]}", "min", 310000, "max", 900000000, "buckets",
	                  310000, 1800, 500000000, 200));
	CHECK(raises(run, "BEHIND-SCHEDULE"));
}
