/* Runs kept in a file: each line wholly or not at all, and a bad one costs only itself. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/store.h"
#include "tests/analysis_runs.h"
#include "tests/process.h"
#include "tests/test.h"

struct heard {
	char text[2000];
	size_t count;
};

static void hear(void *context, const char *text)
{
	struct heard *heard = context;
	const size_t length = strlen(heard->text);

	snprintf(heard->text + length, sizeof heard->text - length, "%s\n", text);
	heard->count++;
}

static void file_write(const char *directory, const char *text, size_t length)
{
	char path[400];
	snprintf(path, sizeof path, "%s/runs.jsonl", directory);
	FILE *file = fopen(path, "a");
	REQUIRE(file);
	CHECK_EQUAL(fwrite(text, 1, length, file), length);
	fclose(file);
}

static void append(const char *directory, json_t *run)
{
	char why[STORE_WHY_SIZE];
	CHECK_MESSAGE(store_append(directory, run, why) == 0, "%s", why);
	json_decref(run);
}

TEST(store, gives_back_what_was_kept_and_makes_the_folders)
{
	char directory[256], deep[300], why[STORE_WHY_SIZE];
	struct store_runs runs = {0};
	struct heard heard = {0};
	json_t *run = run_no_thread();

	process_make_directory(directory);
	snprintf(deep, sizeof deep, "%s/a/b", directory);
	run_set(run, "environment.host", json_string("a b) R 1 1\n</script>"));
	CHECK_EQUAL(store_prepare(deep, why), 0);
	append(deep, json_incref(run));
	append(deep, run_failed());
	CHECK_EQUAL(store_read(&runs, deep, hear, &heard, why), 0);
	REQUIRE(runs.count == 2);
	CHECK(json_equal(runs.runs[0], run));
	CHECK_EQUAL(heard.count, 0);
	store_free(&runs);
	json_decref(run);
	process_remove_directory(directory);
}

TEST(store, names_bad_lines_and_uses_the_others)
{
	static const struct {
		const char *line, *message;
	} rows[] = {
	    {"{\"schema\": \"iostudy/run/1\", \"sta", "line 2: not JSON, or cut short"},
	    {"{\"schema\": \"iostudy/run/2\", \"status\": \"ok\"}", "its schema is iostudy/run/2"},
	    {"{\"schema\": \"iostudy/watch/1\"}", "which is no run"},
	    {"{}", "it has no \"schema\""},
	    {"[1, 2]", "not an object"},
	    {"{\"schema\": \"iostudy/run/1\", \"status\": \"splendid\"}", "status is \"splendid\""},
	    {"{\"schema\": \"iostudy/run/1\", \"status\": \"ok\", "
	     "\"measured\": {\"window_ns\": \"2\"}}",
	     "measured.window_ns is a string, but should be a number or null"},
	    {"{\"schema\": \"iostudy/run/1\", \"status\": \"ok\", \"measured\": {\"bytes\": -1}}",
	     "measured.bytes is -1, but should be at least 0"},
	    {"{\"schema\": \"iostudy/run/1\", \"status\": \"ok\", \"status\": \"ok\"}",
	     "duplicate"},
	    {"{\"schema\": \"iostudy/run/1\", \"status\": \"\xff\xfe\"}", "not JSON"},
	    {"{\"schema\": \"iostudy/run/1\", \"status\": \"ok\", \"n\": NaN}", "not JSON"},
	    {"{\"schema\": \"iostudy/run/1\", \"status\": \"ok\", \"n\": 1e999}", "not JSON"},
	    {"{\"schema\": \"iostudy/run/1\", \"status\": \"ok\", \"n\": \"\033[2J\"}", "not JSON"},
	};
	char why[STORE_WHY_SIZE];

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char directory[256];
		struct store_runs runs = {0};
		struct heard heard = {0};

		process_make_directory(directory);
		append(directory, run_one_waiter());
		file_write(directory, rows[i].line, strlen(rows[i].line));
		file_write(directory, "\n\n", 2);
		append(directory, run_thread_per_io());
		CHECK_EQUAL(store_read(&runs, directory, hear, &heard, why), 0);
		CHECK_EQUAL(runs.count, 2);
		CHECK_EQUAL(runs.visitor.refused, 1);
		CHECK_EQUAL(heard.count, 1);
		CHECK_CONTAINS(heard.text, "runs.jsonl, line 2: ");
		CHECK_CONTAINS(heard.text, rows[i].message);
		for (const char *c = heard.text; *c; c++)
			CHECK_MESSAGE(*c == '\n' || (unsigned char)*c >= 0x20, "byte %02x", *c);
		store_free(&runs);
		process_remove_directory(directory);
	}
}

TEST(store, a_line_cut_short_does_not_swallow_the_next_run)
{
	char directory[256], why[STORE_WHY_SIZE];
	struct store_runs runs = {0};
	struct heard heard = {0};

	process_make_directory(directory);
	append(directory, run_one_waiter());
	file_write(directory, "{\"schema\": \"iost", 16);
	append(directory, run_thread_per_io());
	CHECK_EQUAL(store_read(&runs, directory, hear, &heard, why), 0);
	CHECK_EQUAL(runs.count, 2);
	CHECK_EQUAL(heard.count, 1);
	store_free(&runs);
	process_remove_directory(directory);
}

TEST(store, a_full_disk_is_named_and_leaves_nothing_behind)
{
	char directory[256], path[300], why[STORE_WHY_SIZE];
	json_t *run = run_one_waiter();

	process_make_directory(directory);
	snprintf(path, sizeof path, "%s/runs.jsonl", directory);
	CHECK_EQUAL(symlink("/dev/full", path), 0);
	CHECK_EQUAL(store_append(directory, run, why), -ENOSPC);
	CHECK_CONTAINS(why, path);
	CHECK_CONTAINS(why, "No space left on device; make room there");
	json_decref(run);
	process_remove_directory(directory);
}

TEST(store, what_does_not_fit_is_taken_back)
{
	char directory[256], path[300], why[STORE_WHY_SIZE];
	struct rlimit old, small;
	struct stat before, after;
	json_t *run = run_one_waiter();

	process_make_directory(directory);
	snprintf(path, sizeof path, "%s/runs.jsonl", directory);
	append(directory, run_one_waiter());
	CHECK_EQUAL(stat(path, &before), 0);
	getrlimit(RLIMIT_FSIZE, &old);
	small = (struct rlimit){(rlim_t)before.st_size + 100, old.rlim_max};
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &small);
	const int status = store_append(directory, run, why);
	setrlimit(RLIMIT_FSIZE, &old);
	signal(SIGXFSZ, SIG_DFL);
	CHECK_MESSAGE(status < 0, "a run beyond the limit was kept");
	CHECK_CONTAINS(why, "this run could not be kept (those before it are)");
	CHECK_EQUAL(stat(path, &after), 0);
	CHECK_EQUAL(after.st_size, before.st_size);
	json_decref(run);
	process_remove_directory(directory);
}

TEST(store, a_folder_that_cannot_be_is_named)
{
	char why[STORE_WHY_SIZE];
	json_t *run = run_one_waiter();

	CHECK(store_append("/proc/nowhere/at/all", run, why) < 0);
	CHECK_CONTAINS(why, "/proc/nowhere/at/all: cannot make this folder");
	CHECK(store_append("/dev/null", run, why) < 0);
	CHECK_CONTAINS(why, "/dev/null/runs.jsonl: cannot be opened: Not a directory");
	CHECK(store_prepare("", why) < 0);
	json_decref(run);
}

TEST(store, what_is_not_there_is_named_with_a_remedy)
{
	char why[STORE_WHY_SIZE];
	struct store_runs runs = {0};

	CHECK_EQUAL(store_read(&runs, "/nowhere/results", NULL, NULL, why), -ENOENT);
	CHECK_CONTAINS(why, "/nowhere/results: No such file or directory; give a folder");
	CHECK_EQUAL(runs.count, 0);
	store_free(&runs);
}

TEST(store, ten_thousand_lines_are_read_in_a_moment)
{
	char directory[256], path[300], why[STORE_WHY_SIZE];
	struct store_runs runs = {0};
	json_t *run = run_one_waiter();

	process_make_directory(directory);
	snprintf(path, sizeof path, "%s/runs.jsonl", directory);
	FILE *file = fopen(path, "w");
	REQUIRE(file);
	for (int i = 0; i < 10000; i++) {
		run_number(run, "measured.operations", 1000 + i);
		char *line = store_line(run);
		fprintf(file, "%s\n", line);
		free(line);
	}
	fclose(file);
	CHECK_EQUAL(store_read(&runs, directory, NULL, NULL, why), 0);
	CHECK_EQUAL(runs.count, 10000);
	store_free(&runs);
	json_decref(run);
	process_remove_directory(directory);
}

TEST(store, a_file_merged_with_itself_counts_once)
{
	char directory[256], why[STORE_WHY_SIZE];
	struct store_runs runs = {0};
	struct heard heard = {0};

	process_make_directory(directory);
	append(directory, run_one_waiter());
	append(directory, run_skipped());
	append(directory, run_skipped()); /* nothing was measured: these may be alike */
	append(directory, run_one_waiter());
	CHECK_EQUAL(store_read(&runs, directory, hear, &heard, why), 0);
	CHECK_EQUAL(store_read(&runs, directory, hear, &heard, why), 0);
	CHECK_EQUAL(runs.count, 5);
	CHECK_EQUAL(runs.visitor.repeated, 3);
	CHECK_EQUAL(runs.visitor.refused, 0);
	CHECK_CONTAINS(heard.text, "runs.jsonl, line 4: the same run, to the last digit, as one "
	                           "read before (line 1 there); used once");
	store_free(&runs);
	process_remove_directory(directory);
}

TEST(store, a_line_that_no_run_can_be_is_passed_over)
{
	char directory[256], path[300], why[STORE_WHY_SIZE];
	struct store_runs runs = {0};
	struct heard heard = {0};

	process_make_directory(directory);
	append(directory, run_one_waiter());
	snprintf(path, sizeof path, "%s/runs.jsonl", directory);
	FILE *file = fopen(path, "a");
	REQUIRE(file);
	for (int i = 0; i < 20 << 10; i++)
		fprintf(file, "%1024s", "{");
	fputc('\n', file);
	fclose(file);
	append(directory, run_thread_per_io());
	CHECK_EQUAL(store_read(&runs, directory, hear, &heard, why), 0);
	CHECK_EQUAL(runs.count, 2);
	CHECK_EQUAL(heard.count, 1);
	CHECK_CONTAINS(heard.text, "line 2: longer than 16 MiB");
	store_free(&runs);
	process_remove_directory(directory);
}

TEST(store, mends_the_last_line_of_a_crash)
{
	static const struct {
		const char *tail;
		int mended;
		size_t runs;
	} rows[] = {
	    {"", 0, 1},
	    {"{\"schema\": \"iostudy/run/1\", \"sta", 1, 1},
	    {"{\"schema\": \"iostudy/run/1\", \"status\": \"skipped\"}", 1, 2},
	    {"not a run at all, but a line\n", 0, 1},
	};
	char directory[256], why[STORE_WHY_SIZE];

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct store_runs runs = {0};

		process_make_directory(directory);
		CHECK_EQUAL(store_repair(directory, why), 0);
		append(directory, run_one_waiter());
		file_write(directory, rows[i].tail, strlen(rows[i].tail));
		CHECK_EQUAL(store_repair(directory, why), rows[i].mended);
		CHECK_EQUAL(store_repair(directory, why), 0);
		CHECK_EQUAL(store_read(&runs, directory, NULL, NULL, why), 0);
		CHECK_EQUAL(runs.count, rows[i].runs);
		store_free(&runs);
		process_remove_directory(directory);
	}
}
