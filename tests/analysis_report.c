/* The document: what it must hold, and that no name can break it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/report.h"
#include "tests/analysis_runs.h"
#include "tests/test.h"

/* The document of these runs, which it takes. */
static char *document(json_t **runs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		run_conclude(runs[i]);
	struct digest digest;
	runs_digest(&digest, runs, count);
	char *text = report_markdown(&digest);
	digest_free(&digest);
	CHECK(text);
	for (size_t i = 0; i < count; i++)
		json_decref(runs[i]);
	return text ? text : strdup("");
}

TEST(report, holds_answer_tables_bars_findings_states_environment_method_and_losses)
{
	json_t *runs[] = {run_thread_per_io(), run_one_waiter(), run_posix_aio(), run_skipped(),
	                  run_failed()};
	run_number(runs[2], "plan.depth", 32);
	run_number(runs[2], "probes.0.lost", 3);
	char *text = document(runs, 5);

	CHECK_CONTAINS(text,
	               "**With uring --wait park, 32 requests of disk-randread in flight held "
	               "0.93 threads; with blocking, 32 requests of disk-randread held 31.9.**");
	CHECK_CONTAINS(text,
	               "| blocking | disk-randread | park | 32 | 32.0 | 32.0 | 26.0 | 31.9 |");
	CHECK_CONTAINS(text, "skipped: epoll: a regular file is always ready");
	CHECK_CONTAINS(text, "blocking park         in flight ######");
	CHECK_CONTAINS(text, "* **THREAD-PER-IO** (answer, blocking disk-randread park; sure): ");
	CHECK_CONTAINS(text, "Evidence: held\\_per\\_served 0.9969");
	CHECK_CONTAINS(text, "| posix-aio disk-randread park | aio-helper | 1 |");
	CHECK_CONTAINS(text, "100 %");
	CHECK_CONTAINS(text,
	               "## Environment\n\n* host test, Linux 6.18.0, 2 CPUs, a virtual machine");
	CHECK_CONTAINS(text, "## Method");
	CHECK_CONTAINS(text, "* posix-aio disk-randread park: 3 events lost.");
	free(text);
}

TEST(report, a_run_that_failed_has_a_reason_and_no_rate)
{
	json_t *run = run_failed();
	char *text = document(&run, 1);
	CHECK_CONTAINS(text, "**failed**: slot 3: the block at 4096 carries another index");
	CHECK(!strstr(text, "84,800"));
	free(text);
}

TEST(report, names_cannot_break_markdown_or_html)
{
	static const char *const paths[] = {"plan.engine",        "plan.workload",     "plan.wait",
	                                    "plan.transport",     "environment.host",  "why",
	                                    "environment.kernel", "environment.device"};
	json_t *runs[] = {run_one_waiter(), run_failed(), run_thread_per_io()};

	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
		run_set(runs[0], paths[i], json_string("</script><img src=x>|`**a**`\n# b [c](d)"));
		run_set(runs[1], paths[i], json_string("```\n<b>&amp;"));
	}
	run_set(runs[0], "warnings", json_pack("[s]", "<script>|\n* forged"));
	char *text = document(runs, 3);
	bool fenced = false;
	for (const char *line = text; *line;) {
		const size_t length = strcspn(line, "\n");
		if (strncmp(line, "```", 3) == 0)
			fenced = !fenced;
		for (size_t i = 0; i < length; i++) {
			CHECK_MESSAGE((unsigned char)line[i] >= 0x20, "byte %02x", line[i]);
			CHECK_MESSAGE(fenced || (line[i] != '<' && line[i] != '>'), "%.*s",
			              (int)length, line);
		}
		CHECK(strncmp(line, "# b", 3) != 0 && strncmp(line, "* forged", 8) != 0);
		line += length + (line[length] == '\n');
	}
	CHECK(!fenced);
	CHECK_CONTAINS(text, "&lt;/script&gt;");
	free(text);
}

TEST(report, escapes_what_markdown_reads)
{
	char out[REPORT_NAME_SIZE];
	CHECK_STRING(report_escape(out, "a|b*c_d`e<f>&[g]"),
	             "a\\|b\\*c\\_d\\`e&lt;f&gt;&amp;\\[g\\]");
	CHECK_STRING(report_escape(out, NULL), "-");
}

TEST(report, the_same_runs_give_the_same_bytes)
{
	json_t *first[] = {run_one_waiter(), run_thread_per_io()};
	json_t *second[] = {run_one_waiter(), run_thread_per_io()};
	char *a = document(first, 2), *b = document(second, 2);
	CHECK_STRING(a, b);
	free(a);
	free(b);
}

TEST(report, puts_the_cells_of_a_shuffled_study_in_order_and_the_figures_with_them)
{
	static const struct {
		const char *engine;
		double depth, operations;
	} shuffled[] = {
	    {"uring", 8, 3000}, {"libaio", 128, 7000}, {"uring", 128, 5000}, {"libaio", 8, 1000}};
	static const char *const rows[] = {
	    "| libaio | disk-randread | park | 8 |", "| uring | disk-randread | park | 8 |",
	    "| libaio | disk-randread | park | 128 |", "| uring | disk-randread | park | 128 |"};
	json_t *runs[4];

	for (int i = 0; i < 4; i++) {
		runs[i] = run_bare(shuffled[i].engine, "disk-randread", "park");
		run_number(runs[i], "plan.depth", shuffled[i].depth);
		run_number(runs[i], "measured.operations", shuffled[i].operations);
		run_set(runs[i], "plan.study", json_string("s"));
		run_set(runs[i], "plan.cell", json_string("a"));
	}
	char *text = document(runs, 4);
	const char *at = text;
	for (int i = 0; i < 4; i++) {
		const char *row = strstr(at, rows[i]);
		CHECK_MESSAGE(row, "%s is missing, or stands too early", rows[i]);
		at = row ? row : at;
	}
	CHECK_CONTAINS(text, "4 KiB direct, depth 8\n\n| engine |");
	CHECK_CONTAINS(text, "4 KiB direct, depth 128\n\n| engine |");
	const char *row = strstr(text, rows[2]);
	const char *rate = row ? strstr(row, " 3,5") : NULL; /* 7,000 in 2 s */
	CHECK_MESSAGE(rate && rate < strchr(row, '\n'), "%.120s", row ? row : text);
	free(text);
}

TEST(report, answers_with_who_computes_rather_than_with_who_spins)
{
	json_t *runs[] = {run_no_thread(), run_no_thread(), run_thread_per_io()};

	run_set(runs[0], "plan.wait", json_string("spin"));
	char *text = document(runs, 3);
	CHECK_CONTAINS(text, "**With uring --wait compute, ");
	free(text);
}
