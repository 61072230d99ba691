/* What is said of Linux, tested on runs whose answer is known. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/expectations.h"
#include "analysis/report.h"
#include "tests/analysis_runs.h"
#include "tests/test.h"

static const struct expectation *find(const char *number)
{
	const struct expectation *e = expectations;

	while (e->number && strcmp(e->number, number) != 0)
		e++;
	CHECK_MESSAGE(e->number, "there is no expectation %s", number);
	return e;
}

/* Tests it on these runs, which it takes. */
static struct expectation_result test_on(const char *number, json_t **runs, size_t count)
{
	struct expectation_result result;
	struct digest digest;

	for (size_t i = 0; i < count; i++)
		run_conclude(runs[i]);
	runs_digest(&digest, runs, count);
	CHECK_EQUAL(expectation_test(find(number), &digest.tests, &result), 0);
	digest_free(&digest);
	for (size_t i = 0; i < count; i++)
		json_decref(runs[i]);
	return result;
}

TEST(expectations, cover_each_fact_and_can_be_printed)
{
	const size_t facts = 19;
	bool covered[20] = {false};

	for (const struct expectation *e = expectations; e->number; e++) {
		const unsigned long fact = strtoul(e->number, NULL, 10);

		REQUIRE(fact >= 1 && fact <= facts);
		covered[fact] = true;
		CHECK(e->says && *e->says);
		CHECK_MESSAGE(e->untestable || (e->measure && e->low <= e->high), "%s", e->number);
	}
	for (size_t i = 1; i <= facts; i++)
		CHECK_MESSAGE(covered[i], "fact %zu is in no row", i);
}

TEST(expectations, agree_contradict_or_are_undecided_by_the_interval)
{
	static const struct {
		double held[3]; /* threads held for 32 requests in flight, in three runs */
		enum expectation_verdict verdict;
	} rows[] = {
	    {{31.9, 32, 31.8}, VERDICT_AGREES},
	    {{16, 15, 17}, VERDICT_CONTRADICTS},
	    {{31.9, 20, 25}, VERDICT_UNDECIDED},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		json_t *runs[3];

		for (int k = 0; k < 3; k++) {
			runs[k] = run_thread_per_io();
			run_threads(runs[k], "application", 32, rows[i].held[k], 0, 0);
		}
		const struct expectation_result r = test_on("2a", runs, 3);
		CHECK_EQUAL(r.verdict, rows[i].verdict);
		CHECK_EQUAL(r.measured, 3);
		CHECK(r.low <= r.figure && r.figure <= r.high);
		CHECK_EQUAL(*r.why != 0, rows[i].verdict == VERDICT_UNDECIDED);
	}
}

TEST(expectations, are_untested_with_the_reason)
{
	json_t *other = run_socket();
	json_t *blind = run_no_thread();
	struct expectation_result r = test_on("7a", &other, 1);

	CHECK_EQUAL(r.verdict, VERDICT_UNTESTED);
	CHECK_CONTAINS(r.why, "there is no run that measured: uring disk-randread --wait compute "
	                      "--direct 1, depth 16 to 64, on a disk");
	run_set(blind, "probes.0.parked_at_completion", json_null());
	r = test_on("7a", &blind, 1);
	CHECK_EQUAL(r.verdict, VERDICT_UNTESTED);
	CHECK_CONTAINS(r.why, "1 run, but none that measured it: another probe than bpf");
	json_t *refused = run_bare("uring-iopoll", "disk-randread", "park");
	run_set(refused, "status", json_string("skipped"));
	run_set(refused, "why", json_string("uring-iopoll: the device has no poll queue"));
	r = test_on("13b", &refused, 1);
	CHECK_EQUAL(r.verdict, VERDICT_UNTESTED);
	CHECK_CONTAINS(r.why, "such runs were skipped: uring-iopoll: the device has no poll queue");
	r = test_on("17", NULL, 0);
	CHECK_CONTAINS(r.why, "there is no run that measured: uring timer-delay --wait park");
}

TEST(expectations, take_only_runs_of_the_place_that_they_are_about)
{
	static const struct {
		const char *path, *value;
	} rows[] = {
	    {"environment.in_memory", "true"},
	    {"environment.nowait_read", "false"},
	    {"environment.filesystem", "\"overlay\""},
	    {"plan.twin", "\"no-probe\""},
	    {"plan.depth", "512"},
	    {"plan.direct", "false"},
	    {"status", "\"failed\""},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		json_t *run = run_no_thread();

		run_set(run, rows[i].path, json_loads(rows[i].value, JSON_DECODE_ANY, NULL));
		CHECK_MESSAGE(test_on("7a", &run, 1).verdict == VERDICT_UNTESTED, "%s",
		              rows[i].path);
	}
	json_t *run = run_no_thread();
	const struct expectation_result r = test_on("7a", &run, 1);
	CHECK_EQUAL(r.verdict, VERDICT_AGREES);
	CHECK(isnan(r.low));
}

TEST(expectations, of_workers_and_sleeps_read_what_the_probe_counted)
{
	static const struct {
		const char *number, *engine, *io_uring, *sleeps;
		double depth;
		enum expectation_verdict verdict;
	} rows[] = {
	    {"10a", "uring-async", "{\"submitted\":1000,\"punted\":1000,\"punted_by\":[]}", "[]",
	     32, VERDICT_AGREES},
	    {"10a", "uring-async", "{\"submitted\":1000,\"punted\":10,\"punted_by\":[]}", "[]", 32,
	     VERDICT_CONTRADICTS},
	    {"12", "uring", "{\"submitted\":1000,\"punted\":0,\"punted_by\":[]}",
	     "[{\"call\":\"io_uring_enter\",\"cause\":\"tags\",\"count\":3155,\"parked_ns\":1}]",
	     512, VERDICT_AGREES},
	    {"12", "uring", "{\"submitted\":1000,\"punted\":0,\"punted_by\":[]}", "[]", 512,
	     VERDICT_CONTRADICTS},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		json_t *run = run_bare(rows[i].engine, "disk-randread", "park");

		run_number(run, "plan.depth", rows[i].depth);
		run_number(run, "environment.nr_requests", 256);
		run_set(run, "probes.0.io_uring", json_loads(rows[i].io_uring, 0, NULL));
		run_set(run, "probes.0.submitter_sleeps", json_loads(rows[i].sleeps, 0, NULL));
		const struct expectation_result r = test_on(rows[i].number, &run, 1);
		CHECK_MESSAGE(r.verdict == rows[i].verdict, "%s, row %zu: %s, figure %g",
		              rows[i].number, i, expectation_verdict_names[r.verdict], r.figure);
	}
}

TEST(expectations, of_an_idle_ring_ask_the_system_and_nothing_of_a_busy_machine)
{
	static const struct {
		double iowait_ns, others_cpu_ns;
		enum expectation_verdict verdict;
	} rows[] = {
	    {0.98e9, 0.05e9, VERDICT_AGREES},
	    {0, 0.05e9, VERDICT_CONTRADICTS},
	    {0.1e9, 1.8e9, VERDICT_UNTESTED},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		json_t *run = run_bare("uring", "timer-delay", "park");

		run_number(run, "plan.depth", 1);
		run_number(run, "measured.window_ns", 1e9);
		run_number(run, "measured.iowait_ns", rows[i].iowait_ns);
		run_number(run, "measured.others_cpu_ns", rows[i].others_cpu_ns);
		const struct expectation_result r = test_on("17", &run, 1);
		CHECK_MESSAGE(r.verdict == rows[i].verdict, "row %zu: %s, figure %g", i,
		              expectation_verdict_names[r.verdict], r.figure);
	}
}

TEST(report, holds_what_is_said_of_linux_and_the_twins_apart)
{
	json_t *runs[] = {run_no_thread(), run_no_thread(), run_no_thread()};

	for (int i = 0; i < 3; i++) {
		run_set(runs[i], "plan.study", json_string("s"));
		run_set(runs[i], "plan.cell", json_string("a engine=uring"));
	}
	run_set(runs[1], "plan.twin", json_string("no-probe"));
	run_number(runs[1], "measured.cpu_user_ns", 1);
	run_number(runs[1], "measured.operations", 7);
	run_set(runs[2], "plan.twin", json_string("null"));
	run_set(runs[2], "plan.engine", json_string("null"));
	for (int i = 0; i < 3; i++)
		run_conclude(runs[i]);
	struct digest digest;
	runs_digest(&digest, runs, 3);
	char *text = report_markdown(&digest);
	digest_free(&digest);
	REQUIRE(text);
	CHECK_CONTAINS(text, " 1 runs in 1 cells.");
	CHECK_CONTAINS(text, "| 7a | io\\_uring, direct, computing: nobody is ever parked. |");
	CHECK_CONTAINS(text, "1.000 (one run) | agrees");
	CHECK_CONTAINS(text, "## What the harness and the probe cost");
	CHECK_CONTAINS(text, "CPU time of the harness itself for an operation: ");
	CHECK_CONTAINS(text, "Operations a second, with the probe to without: ");
	free(text);
	for (int i = 0; i < 3; i++)
		json_decref(runs[i]);
}

TEST(report, as_csv_has_a_row_for_each_run_and_metric)
{
	json_t *runs[] = {run_one_waiter(), run_skipped()};
	struct text out = {0};
	size_t rows = 0, columns = 0;

	run_set(runs[0], "plan.cell", json_string("a \"b\", c\nd"));
	report_csv_head(&out);
	for (const char *c = out.data; *c; c++)
		columns += *c == ',';
	for (int i = 0; i < 2; i++) {
		run_conclude(runs[i]);
		report_csv_run(&out, runs[i]);
		json_decref(runs[i]);
	}
	REQUIRE(!out.broken);
	CHECK_EQUAL(strncmp(out.data, "study,cell,twin,", 16), 0);
	CHECK_CONTAINS(out.data, "\"a \"\"b\"\", c\nd\"");
	CHECK_CONTAINS(out.data, ",iops,84800\r\n");
	CHECK_CONTAINS(out.data, ",bpf.threads_parked_mean,0.74\r\n");
	CHECK_CONTAINS(out.data, "skipped,epoll: a regular file is always ready");
	for (const char *line = out.data; (line = strstr(line, "\r\n")); line += 2)
		rows++;
	CHECK(rows > 20);
	CHECK_EQUAL(columns, 35);
	text_free(&out);
}
