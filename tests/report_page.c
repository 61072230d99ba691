/*
 * The page of iostudy report: what its data holds, and in a real browser, driven by
 * tests/page/check.mjs, that it is drawn, usable, quiet, and that no name can break it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/report_page.h"
#include "analysis/store.h"
#include "tests/analysis_runs.h"
#include "tests/process.h"
#include "tests/test.h"

enum { RUNS = 12, MANY = 10000, BROWSER_SECONDS = 240 };

static const char small_page[] = "<head>" REPORT_PAGE_MARK "<tail>";

/* Runs of every kind that the page shows. */
static void runs_make(json_t *runs[RUNS])
{
	static const double depths[] = {8, 32, 128};

	for (size_t i = 0; i < 3; i++) {
		runs[i] = run_one_waiter();
		runs[3 + i] = run_thread_per_io();
		for (size_t k = i; k < 6; k += 3) {
			run_number(runs[k], "plan.depth", depths[i]);
			run_number(runs[k], "measured.in_flight_ns", depths[i] * 2e9);
		}
	}
	runs[6] = run_no_thread();
	json_t *second = json_deep_copy(run_get(runs[0], "probes.0"));
	json_object_set_new(second, "probe", json_string("perf"));
	json_object_set_new(second, "parked_error_ns", json_integer(5000000));
	json_array_append_new((json_t *)run_get(runs[0], "probes"), second);
	runs[7] = run_posix_aio();
	runs[8] = run_socket();
	runs[9] = run_skipped();
	runs[10] = run_failed();
	runs[11] = run_bare("uring", "disk-randread", "park");
	run_number(runs[11], "plan.rate_per_s", 80000);
	run_set(runs[11], "measured.latency_scheduled_ns",
	        json_pack("{s:i, s:i, s:[[i,i], [i,i], [i,i]]}", "min", 101000, "max", 9000000,
	                  "buckets", 100000, 1000, 700000, 160000, 8000000, 8600));
}

/* These runs in a page. */
static char *page_of(json_t *const *runs, size_t count, const char *page)
{
	struct digest digest;

	runs_digest(&digest, runs, count);
	char *made = report_page(&digest, page, strlen(page));
	digest_free(&digest);
	return made;
}

/* The data in the page of these runs, which it takes. */
static json_t *page_data(json_t **runs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		run_conclude(runs[i]);
	char *page = page_of(runs, count, small_page);
	for (size_t i = 0; i < count; i++)
		json_decref(runs[i]);
	CHECK(page);
	if (!page)
		return NULL;
	CHECK(strncmp(page, "<head>", 6) == 0);
	char *tail = strstr(page, "<tail>");
	CHECK(tail && !tail[6]);
	if (tail)
		*tail = '\0';
	CHECK_MESSAGE(!strchr(page + 6, '<'), "a tag can begin within the data: %.80s",
	              strchr(page + 6, '<'));
	json_t *data = json_loads(page + 6, JSON_REJECT_DUPLICATES, NULL);
	CHECK(data);
	free(page);
	return data;
}

TEST(report_page, holds_cells_runs_curves_facts_findings_and_prose)
{
	json_t *runs[RUNS], *name;
	size_t i;

	runs_make(runs);
	json_t *data = page_data(runs, RUNS);
	CHECK_STRING(json_string_value(run_get(data, "schema")), "iostudy/page/1");
	CHECK_EQUAL(run_get_number(data, "run_count"), RUNS);
	CHECK_EQUAL(json_array_size(run_get(data, "runs.rows")), RUNS);
	CHECK_STRING(json_string_value(run_get(data, "cells.0.engine")), "uring");
	json_array_foreach((json_t *)run_get(data, "figures"), i,
	                   name) if (strcmp(json_string_value(name), "in_flight_mean") == 0)
	    CHECK_EQUAL(json_number_value(json_array_get(run_get(data, "cells.0.summary"), i)), 8);
	CHECK_STRING(json_string_value(run_get(data, "cells.0.findings.0.tag")), "ONE-WAITER");
	/* the median lies in the bucket that begins at 362 us, the largest was 2 ms */
	CHECK_EQUAL(run_get_number(data, "cells.0.submitted.4"), 362000);
	CHECK_EQUAL(run_get_number(data, "cells.0.submitted.14"), 2000000);
	CHECK(json_is_null(run_get(data, "cells.0.scheduled")));
	CHECK_STRING(json_string_value(run_get(data, "facts.0.number")), "1");
	CHECK_CONTAINS(json_string_value(run_get(data, "prose.1")), "## Method");
	CHECK_CONTAINS(json_string_value(run_get(data, "prose.2")),
	               "| uring disk-randread park (table 1) | perf |");
	CHECK_CONTAINS(json_string_value(run_get(data, "answer")), "held 0 threads; with blocking");
	json_decref(data);
}

TEST(report_page, a_percentile_that_too_few_requests_tell_is_null)
{
	json_t *run = run_bare("uring", "disk-randread", "park");

	run_set(run, "measured.latency_submitted_ns",
	        json_pack("{s:i, s:i, s:[[i,i],[i,i]]}", "min", 100, "max", 900, "buckets", 100, 19,
	                  800, 1));
	json_t *data = page_data(&run, 1);
	CHECK_EQUAL(run_get_number(data, "cells.0.submitted.6"), 100); /* 90 % */
	CHECK_EQUAL(run_get_number(data, "cells.0.submitted.7"), 100); /* 95 %: one is beyond */
	CHECK(json_is_null(run_get(data, "cells.0.submitted.8")));     /* 99 % */
	CHECK_EQUAL(run_get_number(data, "cells.0.submitted.14"), 900);
	json_decref(data);
}

TEST(report_page, repeats_are_one_cell_with_one_curve_and_a_row_each)
{
	json_t *runs[] = {run_one_waiter(), run_one_waiter()};

	run_number(runs[1], "measured.latency_submitted_ns.max", 3000000);
	json_t *data = page_data(runs, 2);
	CHECK_EQUAL(json_array_size(run_get(data, "cells")), 1);
	CHECK_EQUAL(json_array_size(run_get(data, "runs.rows")), 2);
	CHECK_EQUAL(run_get_number(data, "cells.0.submitted.14"), 3000000);
	json_decref(data);
}

/* Names that would be markup, in all places where one can stand. */
static void hostile_make(json_t *run)
{
	static const char *const paths[] = {"plan.workload",        "plan.transport",
	                                    "environment.host",     "environment.kernel",
	                                    "environment.device",   "environment.filesystem",
	                                    "environment.cpu_model"};

	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
		run_set(run, paths[i],
		        json_string("</script><script>hacked=1</script>\xe2\x80\xae\x07"));
	run_set(run, "plan.engine",
	        json_string("<img src=x onerror=\"hacked=1;document.title='hacked'\">"));
	run_set(run, "warnings", json_pack("[s]", "<!--<script>hacked=1//*a* [b](javascript:c)"));
}

TEST(report_page, names_stay_text_in_the_data)
{
	json_t *runs[] = {run_one_waiter(), run_skipped()};

	hostile_make(runs[0]);
	run_set(runs[1], "why", json_string("</script\x09><!-- \xc3\xa4"));
	json_t *data = page_data(runs, 2);
	CHECK_CONTAINS(json_string_value(run_get(data, "cells.0.workload")),
	               "</script><script>hacked=1");
	CHECK(!strstr(json_string_value(run_get(data, "cells.0.workload")), "\xe2\x80\xae"));
	json_decref(data);
}

TEST(report_page, the_same_runs_give_the_same_bytes)
{
	char *pages[2];

	for (size_t i = 0; i < 2; i++) {
		json_t *run = run_one_waiter();
		run_conclude(run);
		pages[i] = page_of(&run, 1, small_page);
		json_decref(run);
	}
	CHECK_STRING(pages[0], pages[1]);
	free(pages[0]);
	free(pages[1]);
}

TEST(report_page, a_page_without_its_mark_is_refused)
{
	json_t *run = run_one_waiter();

	run_conclude(run);
	CHECK(!page_of(&run, 1, "<html>"));
	json_decref(run);
}

/* runs.jsonl below directory, of these runs, which it takes; copies of the first make it many. */
static void results_write(const char *directory, json_t **runs, size_t count, size_t lines)
{
	char path[300];

	snprintf(path, sizeof path, "%s/runs.jsonl", directory);
	FILE *file = fopen(path, "w");
	REQUIRE(file);
	for (size_t i = 0; i < lines; i++) {
		json_t *run = runs[i % count];
		if (lines > count) {
			run_number(run, "plan.depth", (double)(1 + i / 25));
			run_number(run, "plan.repeat", (double)(1 + i % 25));
			run_number(run, "plan.seed", (double)i);
		}
		char *line = store_line(run);
		fprintf(file, "%s\n", line);
		free(line);
	}
	CHECK(fclose(file) == 0);
	for (size_t i = 0; i < count; i++)
		json_decref(runs[i]);
}

TEST(report_page, a_build_without_the_page_says_how_to_get_it_and_writes_the_rest)
{
	json_t *run = run_one_waiter();
	char directory[256], program[300], page[300], text[300];
	struct process_result r;

	process_make_directory(directory);
	results_write(directory, &run, 1, 1);
	snprintf(program, sizeof program, "%s/tests/pageless", test_build_directory());
	snprintf(page, sizeof page, "%s/x.html", directory);
	snprintf(text, sizeof text, "%s/x.txt", directory);
	process_run(
	    &(struct process){.program = program,
	                      .argv = (const char *const[]){"report", directory, "-o", page, NULL}},
	    &r);
	CHECK_STATUS(&r, 1);
	CHECK_CONTAINS(r.err, "built without the page; with node and npm installed `make page`");
	CHECK_MESSAGE(access(page, F_OK) != 0, "a page is written all the same");
	process_free(&r);
	process_run(
	    &(struct process){.program = program,
	                      .argv = (const char *const[]){"report", directory, "-o", text, NULL}},
	    &r);
	CHECK_STATUS(&r, 0);
	process_free(&r);
	process_remove_directory(directory);
}

TEST(report_page, the_end_of_the_name_or_the_format_chooses)
{
	static const struct {
		const char *name, *format, *begins;
	} rows[] = {{"x.html", NULL, "<!DOCTYPE html>"}, {"x.HTM", "html", "<!DOCTYPE html>"},
	            {"x.csv", NULL, "study,cell,"},      {"x.md", NULL, "# Which threads"},
	            {"x", NULL, "# Which threads"},      {"x.html", "md", "# Which threads"}};
	json_t *run = run_one_waiter();
	char directory[256], out[300], start[32];
	struct process_result r;
	size_t length;

	process_make_directory(directory);
	results_write(directory, &run, 1, 1);
	report_page_embedded(&length);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		if (!length && rows[i].begins[0] == '<')
			continue;
		snprintf(out, sizeof out, "%s/%s", directory, rows[i].name);
		const char *const arguments[] = {
		    "report",       directory, "-o", out, rows[i].format ? "--format" : NULL,
		    rows[i].format, NULL};
		process_run(&(struct process){.argv = arguments}, &r);
		CHECK_STATUS(&r, 0);
		process_free(&r);
		FILE *file = fopen(out, "r");
		REQUIRE(file);
		CHECK(fgets(start, sizeof start, file));
		fclose(file);
		CHECK_MESSAGE(strncmp(start, rows[i].begins, strlen(rows[i].begins)) == 0,
		              "%s begins with %s", rows[i].name, start);
	}
	process_remove_directory(directory);
}

static const char *browser_find(void)
{
	static const char *const names[] = {"chromium-headless-shell", "chromium"};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (process_is_installed(names[i]))
			return names[i];
	return NULL;
}

/* Why the page cannot be looked at here, or NULL. */
static const char *unseen_why(void)
{
	size_t length;

	report_page_embedded(&length);
	return !length                         ? "this build has no page: make page"
	       : !process_is_installed("node") ? "node is not installed"
	       : !browser_find() ? "no chromium-headless-shell or chromium is installed"
	                         : NULL;
}

/* Makes the page of the runs, which it takes, and looks at it. */
static void page_check(const char *check, json_t **runs, size_t count, size_t lines)
{
	char directory[256], page[300], pictures[300];
	struct process_result r;

	process_make_directory(directory);
	results_write(directory, runs, count, lines);
	snprintf(page, sizeof page, "%s/report.html", directory);
	snprintf(pictures, sizeof pictures, "%s/tests/page", test_build_directory());
	process_run(
	    &(struct process){.argv = (const char *const[]){"report", directory, "-o", page, NULL},
	                      .seconds = BROWSER_SECONDS},
	    &r);
	CHECK_STATUS(&r, 0);
	process_free(&r);
	process_run(
	    &(struct process){.program = "node",
	                      .argv = (const char *const[]){"tests/page/check.mjs", check, page,
	                                                    pictures, browser_find(), NULL},
	                      .seconds = BROWSER_SECONDS},
	    &r);
	CHECK_STATUS(&r, 0);
	CHECK_MESSAGE(r.out && strncmp(r.out, "checked ", 8) == 0, "%s", r.out ? r.out : r.err);
	process_free(&r);
	process_remove_directory(directory);
}

static void page_check_usual(const char *check)
{
	json_t *runs[RUNS];

	if (unseen_why())
		SKIP("%s", unseen_why());
	runs_make(runs);
	page_check(check, runs, RUNS, RUNS);
}

TEST(report_page, every_picture_is_drawn_and_the_browser_has_no_complaint)
{
	page_check_usual("drawn");
}

TEST(report_page, nothing_overflows_on_a_phone_a_tablet_and_a_desk_in_light_and_dark)
{
	page_check_usual("layout");
}

TEST(report_page, filter_tooltips_keys_and_saving_work)
{
	page_check_usual("use");
}

TEST(report_page, hostile_names_are_harmless_in_a_browser)
{
	json_t *runs[RUNS];

	if (unseen_why())
		SKIP("%s", unseen_why());
	runs_make(runs);
	hostile_make(runs[0]);
	hostile_make(runs[8]);
	page_check("hostile", runs, RUNS, RUNS);
}

TEST(report_page, ten_thousand_runs_still_open)
{
	if (unseen_why())
		SKIP("%s", unseen_why());
	json_t *runs[] = {run_one_waiter(), run_thread_per_io(), run_posix_aio(), run_no_thread(),
	                  run_pool()};
	page_check("many", runs, 5, MANY);
}
