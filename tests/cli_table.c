/*
 * Everything beside everything: each engine through each workload is a row of one table, with
 * figures or with the reason why it has none, and the screen stays within 80 columns.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/workload.h"
#include "engines/engine.h"
#include "tests/process.h"
#include "tests/test.h"

/* The first line that begins with name; NULL: none before end. */
static const char *line_find(const char *from, const char *end, const char *name)
{
	const size_t length = strlen(name);

	for (const char *line = from; line && line < end; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, length) == 0)
			return line;
	}
	return NULL;
}

/* Checks one row: its figures, or its reason, which may be that of an earlier one. */
static void row_check(const char *row, const char *engine, const char *workload)
{
	char line[200] = "", *rest;

	snprintf(line, sizeof line, "%.*s", (int)strcspn(row, "\n"), row);
	rest = line + strcspn(line, " ");
	rest += strspn(rest, " ");
	CHECK_MESSAGE(*rest == '4', "%s through %s: asked for: %s", engine, workload, line);
	rest += strcspn(rest, " ");
	rest += strspn(rest, " ");
	CHECK_MESSAGE(isdigit((unsigned char)*rest) || strncmp(rest, "skipped: ", 9) == 0,
	              "%s through %s has neither figures nor a reason: %s", engine, workload, line);
}

TEST(table, holds_every_engine_through_every_workload_in_80_columns)
{
	struct process_result result;
	char directory[256], name[32];
	struct process p = {
	    .argv = (const char *const[]){"run", "--engine", "all", "--workload", "all",
	                                  "--runtime", "5ms", "--warmup", "0", "--size", "2m",
	                                  "--depth", "4", "--delay", "1ms", "--probe", "none",
	                                  "--ascii", NULL},
	    .directory = directory,
	    .seconds = 300,
	};
	uint32_t heads = 0;

	process_make_directory(directory);
	process_run(&p, &result);
	CHECK_STATUS(&result, 0);
	CHECK_MESSAGE(process_widest_line(result.out) <= 80, "%zu columns",
	              process_widest_line(result.out));
	for (const char *at = result.out; (at = strstr(at, "asked flight served")); at++)
		heads++;
	CHECK_EQUAL(heads, 1);
	for (const struct workload_ops *const *w = workload_table; *w; w++) {
		char title[64];
		snprintf(title, sizeof title, "%s, --wait park", (*w)->name);
		const char *part = line_find(result.out, result.out + result.out_bytes, title);
		const char *end = part ? strstr(part, "\n\n") : NULL;

		CHECK_MESSAGE(part, "no part for %s", (*w)->name);
		if (!end)
			end = result.out + result.out_bytes;
		for (const struct engine_ops *const *e = engine_table; part && *e; e++) {
			if (strcmp((*e)->name, "null") == 0)
				continue;
			snprintf(name, sizeof name, "%s ", (*e)->name);
			const char *row = line_find(part, end, name);

			CHECK_MESSAGE(row, "no row for %s through %s", (*e)->name, (*w)->name);
			if (row)
				row_check(row, (*e)->name, (*w)->name);
		}
	}
	process_free(&result);
	process_remove_directory(directory);
}

TEST(table, says_a_reason_in_full_and_then_where_it_stands)
{
	struct process_result result;
	char directory[256];
	struct process p = {
	    .argv = (const char *const[]){"run", "--engine", "epoll,null", "--workload",
	                                  "disk-randread,disk-seqread", "--runtime", "5ms",
	                                  "--warmup", "0", "--size", "2m", "--probe", "none",
	                                  "--ascii", NULL},
	    .directory = directory,
	};

	process_make_directory(directory);
	process_run(&p, &result);
	CHECK_STATUS(&result, 0);
	CHECK_CONTAINS(result.out, "skipped: epoll: a regular file is always ready");
	CHECK_CONTAINS(result.out, "skipped: as with disk-randread\n");
	process_free(&result);
	process_remove_directory(directory);
}
