/* iostudy show and iostudy report, run as a user would. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/store.h"
#include "tests/analysis_runs.h"
#include "tests/process.h"
#include "tests/test.h"

/* A folder with these runs in DIR/results, which it takes. */
static void results_make(char directory[256], char results[300], json_t **runs, size_t count)
{
	char why[STORE_WHY_SIZE];

	process_make_directory(directory);
	snprintf(results, 300, "%s/results", directory);
	for (size_t i = 0; i < count; i++) {
		CHECK_MESSAGE(store_append(results, runs[i], why) == 0, "%s", why);
		json_decref(runs[i]);
	}
}

TEST(show, prints_a_stored_result_again)
{
	json_t *runs[] = {run_one_waiter(), run_no_thread()};
	char directory[256], results[300];
	struct process_result r;

	results_make(directory, results, runs, 2);
	PROCESS_RUN(&r, "show", results, "--ascii");
	CHECK_STATUS(&r, 0);
	CHECK_CONTAINS(r.out, "io_uring, 32 requests wanted in flight.");
	CHECK_CONTAINS(r.out, "NO-THREAD   disk-randread compute:");
	CHECK_STRING(r.err, "");
	CHECK(process_widest_line(r.out) <= 80);
	for (const char *c = r.out; *c; c++)
		CHECK((unsigned char)*c < 0x80 && *c != '\033');
	process_free(&r);
	process_remove_directory(directory);
}

TEST(show, json_is_one_object_on_each_line_and_nothing_else)
{
	json_t *runs[] = {run_one_waiter(), run_failed(), run_skipped()};
	char directory[256], results[300];
	struct process_result r;
	size_t lines = 0;

	results_make(directory, results, runs, 3);
	PROCESS_RUN(&r, "show", "--json", results);
	CHECK_STATUS(&r, 0);
	for (char *rest = NULL, *line = strtok_r(r.out, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		json_t *run = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
		CHECK(json_is_object(json_object_get(run, "summary")));
		CHECK(json_is_array(json_object_get(run, "findings")));
		json_decref(run);
		lines++;
	}
	CHECK_EQUAL(lines, 3);
	process_free(&r);
	process_remove_directory(directory);
}

TEST(show, uses_the_good_lines_and_names_the_bad_one)
{
	json_t *runs[] = {run_one_waiter()};
	char directory[256], results[300], path[320];
	struct process_result r;

	results_make(directory, results, runs, 1);
	snprintf(path, sizeof path, "%s/runs.jsonl", results);
	FILE *file = fopen(path, "a");
	REQUIRE(file);
	fputs("{\"schema\": \"iostudy/run/1\", \"stat", file);
	fclose(file);
	PROCESS_RUN(&r, "show", path);
	CHECK_STATUS(&r, 1);
	CHECK_CONTAINS(r.err, "runs.jsonl, line 2: not JSON, or cut short");
	CHECK_CONTAINS(r.out, "ONE-WAITER");
	process_free(&r);
	process_remove_directory(directory);
}

TEST(show, reads_the_standard_input)
{
	json_t *run = run_one_waiter();
	char *line = store_line(run);
	struct process_result r;

	process_run(
	    &(struct process){.argv = (const char *const[]){"show", "-", NULL}, .input = line}, &r);
	CHECK_STATUS(&r, 0);
	CHECK_CONTAINS(r.out, "ONE-WAITER");
	process_free(&r);
	free(line);
	json_decref(run);
}

TEST(show, says_what_is_wrong_with_its_arguments)
{
	struct process_result r;

	PROCESS_RUN(&r, "show");
	CHECK_STATUS(&r, 2);
	CHECK_CONTAINS(r.err, "nothing to show: name a folder made by `iostudy run -o DIR`");
	process_free(&r);
	PROCESS_RUN(&r, "show", "--jsn", "x");
	CHECK_STATUS(&r, 2);
	CHECK_CONTAINS(r.err, "unknown option '--jsn'");
	process_free(&r);
	PROCESS_RUN(&r, "show", "/nowhere/results");
	CHECK_STATUS(&r, 1);
	CHECK_CONTAINS(r.err, "/nowhere/results: No such file or directory");
	CHECK_STRING(r.out, "");
	process_free(&r);
	PROCESS_RUN(&r, "show", "/dev/null");
	CHECK_STATUS(&r, 1);
	CHECK_CONTAINS(r.err, "/dev/null: it holds no run");
	process_free(&r);
	PROCESS_RUN(&r, "show", "--help");
	CHECK_STATUS(&r, 0);
	CHECK_CONTAINS(r.out, "iostudy show results --json");
	process_free(&r);
}

TEST(show, a_full_output_is_an_error)
{
	json_t *runs[] = {run_one_waiter()};
	char directory[256], results[300];
	struct process_result r;
	const char *const arguments[] = {"show", results, NULL};

	results_make(directory, results, runs, 1);
	process_run(&(struct process){.argv = arguments, .out = OUTPUT_FULL}, &r);
	CHECK_STATUS(&r, 1);
	CHECK_CONTAINS(r.err, "No space left on device");
	process_free(&r);
	process_remove_directory(directory);
}

TEST(report, is_written_to_a_file_or_printed)
{
	json_t *runs[] = {run_one_waiter(), run_thread_per_io()};
	char directory[256], results[300], path[320];
	struct process_result r;
	struct stat file;

	results_make(directory, results, runs, 2);
	snprintf(path, sizeof path, "%s/report.md", directory);
	PROCESS_RUN(&r, "report", results, "-o", path);
	CHECK_STATUS(&r, 0);
	CHECK_STRING(r.out, "");
	CHECK_CONTAINS(r.err, "wrote ");
	CHECK_EQUAL(stat(path, &file), 0);
	process_free(&r);
	PROCESS_RUN(&r, "report", results, "--format", "md", "-o", "-");
	CHECK_STATUS(&r, 0);
	CHECK_EQUAL((long long)file.st_size, (long long)r.out_bytes);
	CHECK_CONTAINS(r.out, "# Which threads waited for the I/O?");
	process_free(&r);
	process_remove_directory(directory);
}

TEST(report, never_takes_the_place_of_its_own_runs_and_leaves_a_link_a_link)
{
	json_t *runs[] = {run_one_waiter()};
	char directory[256], results[300], path[340], link[340];
	struct process_result r;
	struct stat before, after;

	results_make(directory, results, runs, 1);
	snprintf(path, sizeof path, "%s/runs.jsonl", results);
	CHECK_EQUAL(stat(path, &before), 0);
	for (int i = 0; i < 2; i++) {
		PROCESS_RUN(&r, "report", i ? path : results, "-o", path);
		CHECK_STATUS(&r, 2);
		CHECK_CONTAINS(r.err, "where the runs are kept");
		process_free(&r);
	}
	CHECK_EQUAL(stat(path, &after), 0);
	CHECK_EQUAL(after.st_size, before.st_size);
	snprintf(path, sizeof path, "%s/real.md", directory);
	snprintf(link, sizeof link, "%s/link.md", directory);
	CHECK_EQUAL(close(creat(path, 0640)), 0);
	CHECK_EQUAL(symlink("real.md", link), 0);
	PROCESS_RUN(&r, "report", results, "-o", link);
	CHECK_STATUS(&r, 0);
	process_free(&r);
	CHECK(lstat(link, &after) == 0 && S_ISLNK(after.st_mode));
	CHECK(stat(path, &after) == 0 && after.st_size > 100);
	CHECK_EQUAL(after.st_mode & 0777, 0640);
	process_remove_directory(directory);
}

TEST(report, a_place_that_cannot_be_written_is_named)
{
	json_t *runs[] = {run_one_waiter()};
	char directory[256], results[300];
	struct process_result r;

	results_make(directory, results, runs, 1);
	PROCESS_RUN(&r, "report", results, "-o", "/dev/full");
	CHECK_STATUS(&r, 1);
	CHECK_CONTAINS(r.err, "/dev/full: cannot be written: No space left on device; make room");
	process_free(&r);
	PROCESS_RUN(&r, "report", results, "-o", "/nowhere/report.md");
	CHECK_STATUS(&r, 1);
	CHECK_CONTAINS(r.err, "/nowhere/report.md: cannot be written: No such file or directory");
	process_free(&r);
	process_remove_directory(directory);
}

TEST(report, what_does_not_fit_leaves_the_old_document)
{
	json_t *runs[] = {run_one_waiter()};
	char directory[256], results[300], path[320], old[20] = "";
	struct process_result r;

	results_make(directory, results, runs, 1);
	snprintf(path, sizeof path, "%s/report.md", directory);
	FILE *file = fopen(path, "w");
	REQUIRE(file);
	fputs("old", file);
	fclose(file);
	const char *const arguments[] = {"-c",    "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\"",
	                                 NULL,    "report",
	                                 results, "-o",
	                                 path,    NULL};
	char program[300];
	snprintf(program, sizeof program, "%s/iostudy", test_build_directory());
	const char *argv[8];
	memcpy(argv, arguments, sizeof arguments);
	argv[2] = program;
	process_run(&(struct process){.program = "bash", .argv = argv}, &r);
	CHECK_STATUS(&r, 1);
	CHECK_CONTAINS(r.err, "cannot be written: File too large");
	process_free(&r);
	file = fopen(path, "r");
	REQUIRE(file);
	CHECK(fgets(old, sizeof old, file) != NULL);
	fclose(file);
	CHECK_STRING(old, "old");
	snprintf(path, sizeof path, "ls %.250s | grep -q tmp", directory);
	CHECK(system(path) != 0);
	process_remove_directory(directory);
}

TEST(report, says_what_is_wrong_with_its_arguments)
{
	struct process_result r;

	PROCESS_RUN(&r, "report", "results");
	CHECK_STATUS(&r, 2);
	CHECK_CONTAINS(r.err, "-o FILE is missing");
	process_free(&r);
	PROCESS_RUN(&r, "report", "-o", "x.md");
	CHECK_STATUS(&r, 2);
	CHECK_CONTAINS(r.err, "nothing to report on");
	process_free(&r);
	PROCESS_RUN(&r, "report", "results", "-o", "x", "--format", "pdf");
	CHECK_STATUS(&r, 2);
	CHECK_CONTAINS(r.err, "unknown format 'pdf'; the formats are: html, md, csv");
	process_free(&r);
	PROCESS_RUN(&r, "report", "/nowhere", "-o", "-");
	CHECK_STATUS(&r, 1);
	CHECK_CONTAINS(r.err, "no run to report on; nothing is written");
	process_free(&r);
}
