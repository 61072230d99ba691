/* What is said of runs that write: in findings, titles and tables. */
#include <stdlib.h>
#include <string.h>

#include "analysis/text.h"
#include "tests/analysis_runs.h"
#include "tests/test.h"

static json_t *of_workload(json_t *run, const char *workload)
{
	run_set(run, "plan.workload", json_string(workload));
	return run;
}

/* The text of the finding, or "". The run must outlive it. */
static const char *said(json_t *run, const char *tag, const char *what)
{
	const char *text;

	run_conclude(run);
	text = json_string_value(json_object_get(run_finding(run, tag), what));
	return text ? text : "";
}

static char *screen(json_t **runs, size_t count)
{
	const struct text_style style = {.ascii = true};

	for (size_t i = 0; i < count; i++)
		run_conclude(runs[i]);
	char *text = text_render(runs, count, &style);
	for (size_t i = 0; i < count; i++)
		json_decref(runs[i]);
	return text ? text : strdup("");
}

TEST(writes, are_called_writes_and_mixed_ones_requests)
{
	static const char *const names[][2] = {
	    {"disk-randread", "the reads came back"},   {"disk-seqread", "the reads came back"},
	    {"disk-randwrite", "the writes came back"}, {"disk-seqwrite", "the writes came back"},
	    {"disk-fsync", "the writes came back"},     {"disk-randrw", "the requests came back"}};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		json_t *run = of_workload(run_no_thread(), names[i][0]);

		CHECK_CONTAINS(said(run, "NO-THREAD", "text"), names[i][1]);
		json_decref(run);
	}
}

TEST(writes, to_the_page_cache_are_no_disk_and_the_remedy_is_one_for_writes)
{
	json_t *run = of_workload(run_page_cache(), "disk-randwrite");

	run_set(run, "plan.cache", json_null());
	CHECK_CONTAINS(said(run, "PAGE-CACHE", "text"),
	               "threads of the kernel's own write them to the disk later");
	CHECK_CONTAINS(said(run, "PAGE-CACHE", "advice"), "--direct 1 writes to the disk");
	json_decref(run);
}

/* The kernel's own threads wait for the fsyncs of native AIO: "one waiter" is not all of it. */
TEST(writes, by_native_aio_with_fsync_name_who_is_not_counted)
{
	json_t *run = of_workload(run_one_waiter(), "disk-fsync");

	run_set(run, "plan.engine", json_string("libaio"));
	CHECK(!strstr(said(run, "ONE-WAITER", "text"), "kworker"));
	run_number(run, "plan.fsync_every", 1);
	CHECK_CONTAINS(said(run, "ONE-WAITER", "text"), "kernel's own worker threads (kworker)");
	json_decref(run);
}

TEST(writes, on_several_files_are_not_called_serial)
{
	json_t *run = of_workload(run_posix_aio(), "disk-randwrite");

	CHECK_CONTAINS(said(run, "SERIAL-PER-FILE", "advice"), "--files 8");
	run_number(run, "plan.files", 8);
	CHECK_STRING(said(run, "SERIAL-PER-FILE", "text"), "");
	json_decref(run);
}

TEST(writes, have_their_settings_in_the_title_and_part_from_others)
{
	json_t *runs[] = {of_workload(run_thread_per_io(), "disk-randrw"),
	                  of_workload(run_one_waiter(), "disk-randrw"),
	                  of_workload(run_pool(), "disk-randrw")};
	char *text;

	for (size_t i = 0; i < 3; i++) {
		run_number(runs[i], "plan.files", 4);
		run_number(runs[i], "plan.read_percent", 70);
		run_number(runs[i], "plan.fsync_every", i == 2 ? 1 : 5);
	}
	text = screen(runs, 3);
	CHECK_CONTAINS(text, ", 4 files, 70 % reads, fsync every 5");
	CHECK_CONTAINS(text, ", 4 files, 70 % reads, fsync every write\n");
	free(text);
}

TEST(writes, that_were_read_back_are_told_with_their_number)
{
	json_t *runs[] = {of_workload(run_one_waiter(), "disk-randwrite")};
	char *text;

	run_set(runs[0], "measured.read_back",
	        json_pack("{s:i, s:i, s:i}", "written_blocks", 5000, "checked_blocks", 4000,
	                  "wrong_blocks", 0));
	text = screen(runs, 1);
	CHECK_CONTAINS(text, "4,000 of 5,000");
	free(text);
}

/* With many cells an answer is said once for its engine, with how many more share it. */
TEST(writes, of_many_cells_have_one_finding_for_each_engine)
{
	enum { CELLS = 20 };
	json_t *runs[CELLS];
	char *text;
	int times = 0;

	for (int i = 0; i < CELLS; i++) {
		runs[i] = of_workload(i % 2 ? run_one_waiter() : run_thread_per_io(),
		                      i / 2 % 2 ? "disk-seqread" : "disk-randwrite");
		run_number(runs[i], "plan.block_bytes", 4096 << i / 4);
	}
	text = screen(runs, CELLS);
	for (const char *at = text; (at = strstr(at, "\nTHREAD-PER-IO ")); at++)
		times++;
	CHECK_EQUAL(times, 1);
	CHECK_CONTAINS(text, "blocking, disk-randwrite; and 5 more: Every request held");
	free(text);
}
