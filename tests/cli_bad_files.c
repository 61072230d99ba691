/*
 * Results that somebody cut, merged twice, edited or wrote with another version: each command
 * names the line, uses the others, and does not need the memory of the whole.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "analysis/store.h"
#include "tests/analysis_runs.h"
#include "tests/process.h"
#include "tests/test.h"

enum { LARGE_LINES = 1000, MEMORY_BYTES = 80 << 20 };

/* Good runs with everything bad between them. The number of the last line. */
static void bad_file_make(const char *path)
{
	static const char *const bad[] = {
	    "{\"schema\": \"iostudy/run/1\", \"status\": \"ok\", \"measured\": {\"bytes\": NaN}}",
	    "{\"schema\": \"iostudy/run/9\", \"status\": \"ok\"}",
	    "{\"schema\": \"iostudy/run/1\", \"status\": \"ok\", \"status\": \"failed\"}",
	    "{\"schema\": \"iostudy/run/1\", \"status\": \"ok\", \"plan\": {\"engine\": [[[[]]]]}}",
	    "\xff\xfe\x01\033[2J",
	    "{\"schema\": \"iostudy/run/1\", \"stat",
	};
	FILE *file = fopen(path, "w");
	json_t *run = run_one_waiter();

	REQUIRE(file);
	run_set(run, "environment.host", json_string("=1+1\",\n</script>\033[2J\xe2\x80\xae"));
	run_set(run, "plan.engine", json_string("a,\"b\"\r\n|`c`"));
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		run_number(run, "measured.operations", 1000 + (double)i);
		char *line = store_line(run);
		fprintf(file, "%s\n%s\n", line, bad[i]);
		if (i == 0) /* merged twice */
			fprintf(file, "%s\n", line);
		free(line);
	}
	fseek(file, -1, SEEK_END); /* the last line has no end */
	fclose(file);
	json_decref(run);
}

TEST(bad_files, are_named_by_line_and_their_good_runs_are_used)
{
	static const struct {
		const char *arguments[9];
	} rows[] = {
	    {{"show", "bad.jsonl"}},
	    {{"show", "bad.jsonl", "--json"}},
	    {{"report", "bad.jsonl", "-o", "-"}},
	    {{"report", "bad.jsonl", "--format", "csv", "-o", "-"}},
	    {{"diff", "bad.jsonl", "bad.jsonl"}},
	};
	static const char *const lines[] = {
	    "line 2: not JSON, or cut short",
	    "line 3: the same run, to the last digit",
	    "line 5: its schema is iostudy/run/9",
	    "line 7: not JSON, or cut short: duplicate object key",
	    "line 9: plan.engine is an array",
	    "line 11: not JSON",
	    "line 13: not JSON",
	};
	char directory[256], path[300];

	process_make_directory(directory);
	snprintf(path, sizeof path, "%s/bad.jsonl", directory);
	bad_file_make(path);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct process_result r;

		process_run(&(struct process){.argv = rows[i].arguments, .directory = directory},
		            &r);
		CHECK_STATUS(&r, 1);
		CHECK(r.out_bytes > 100);
		for (size_t k = 0; k < sizeof lines / sizeof lines[0]; k++)
			CHECK_CONTAINS(r.err, lines[k]);
		for (const char *c = r.err; *c; c++)
			CHECK(*c == '\n' || (unsigned char)*c >= 0x20);
		process_free(&r);
	}
	process_remove_directory(directory);
}

/* A file of some dozens of megabytes. */
static void large_file_make(const char *path)
{
	FILE *file = fopen(path, "w");
	json_t *run = run_one_waiter(), *buckets = json_array();

	REQUIRE(file);
	for (int i = 0; i < 500; i++)
		json_array_append_new(buckets, json_pack("[i, i]", 1000 + i * 100, 20));
	run_set(run, "measured.latency_submitted_ns.buckets", buckets);
	char *line = store_line(run);
	char *measured = line ? strstr(line, "\"measured\":") : NULL;
	char *operations = measured ? strstr(measured, "\"operations\":") : NULL;
	REQUIRE(operations);
	operations += strlen("\"operations\":");
	for (int i = 0; i < LARGE_LINES; i++)
		fprintf(file, "%.*s%d%s\n", (int)(operations - line), line, 100000 + i,
		        operations + strspn(operations, "0123456789"));
	fclose(file);
	free(line);
	json_decref(run);
}

TEST(bad_files, a_large_one_is_read_run_by_run)
{
	static const struct {
		const char *arguments[9];
	} rows[] = {
	    {{"report", "large.jsonl", "--format", "csv", "-o", "/dev/null"}},
	    {{"report", "large.jsonl", "--format", "md", "-o", "/dev/null"}},
	    {{"report", "large.jsonl", "--format", "html", "-o", "/dev/null"}},
	    {{"show", "large.jsonl"}},
	    {{"show", "large.jsonl", "--json"}},
	    {{"diff", "large.jsonl", "large.jsonl", "--metric", "iops"}},
	};
	char directory[256], path[300];

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	SKIP("a sanitizer takes more address space than the limit");
#endif
	process_make_directory(directory);
	snprintf(path, sizeof path, "%s/large.jsonl", directory);
	large_file_make(path);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct process_result r;

		process_run(&(struct process){.argv = rows[i].arguments,
		                              .directory = directory,
		                              .limits = {{RLIMIT_AS, MEMORY_BYTES}},
		                              .limit_count = 1},
		            &r);
		CHECK_STATUS(&r, 0);
		if (test_has_failed())
			fprintf(stderr, "%.500s", r.err);
		process_free(&r);
	}
	process_remove_directory(directory);
}
