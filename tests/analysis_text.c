/* The screen: what it says, in which order, and that it fits. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/text.h"
#include "tests/analysis_runs.h"
#include "tests/test.h"

enum { RUNS_MAX = 16 };

/* The screen of these runs, which it takes. */
static char *screen(json_t **runs, size_t count, struct text_style style)
{
	for (size_t i = 0; i < count; i++)
		run_conclude(runs[i]);
	char *text = text_render(runs, count, &style);
	CHECK(text);
	for (size_t i = 0; i < count; i++)
		json_decref(runs[i]);
	return text ? text : strdup("");
}

static void check_fits(const char *text, bool ascii)
{
	for (const char *line = text; *line;) {
		const size_t length = strcspn(line, "\n");
		size_t columns = 0;

		for (size_t i = 0; i < length; i++) {
			const unsigned char c = (unsigned char)line[i];
			columns += (c & 0xc0) != 0x80;
			CHECK_MESSAGE(c >= 0x20 && c != 0x7f, "byte %02x in: %.*s", c, (int)length,
			              line);
			CHECK_MESSAGE(!ascii || c < 0x80, "not ASCII: %.*s", (int)length, line);
		}
		CHECK_MESSAGE(columns <= 80, "%zu columns: %.*s", columns, (int)length, line);
		CHECK_MESSAGE(!length || line[length - 1] != ' ', "ends in a space: %.*s",
		              (int)length, line);
		line += length + (line[length] == '\n');
	}
}

static size_t place(const char *text, const char *part)
{
	const char *found = strstr(text, part);

	CHECK_MESSAGE(found, "\"%s\" is not in: %s", part, text);
	return found ? (size_t)(found - text) : 0;
}

TEST(text, proposes_nothing_where_nothing_was_measured)
{
	json_t *runs[] = {run_failed()};
	char *text = screen(runs, 1, (struct text_style){.ascii = true});

	CHECK_CONTAINS(text, "failed: slot 3: the block at 4096");
	CHECK_MESSAGE(!strstr(text, "Try next:"), "%s", text);
	free(text);
}

TEST(text, one_engine_shows_what_was_asked_and_the_answers)
{
	json_t *runs[] = {run_one_waiter(), run_no_thread()};
	char *text = screen(runs, 2, (struct text_style){.ascii = true});

	CHECK_CONTAINS(text,
	               "io_uring, 32 requests wanted in flight.\nThreads counted by BPF: exact, "
	               "0 events lost.\n");
	CHECK_CONTAINS(text, "disk-randread  park      32.0   32.0   0.74    0.93  0.029  84,800"
	                     "  362us  619us\n");
	CHECK_CONTAINS(text, "parked: off the CPU until I/O completes.");
	CHECK(place(text, "ONE-WAITER  ") < place(text, "NO-THREAD   "));
	CHECK(place(text, "NO-THREAD   ") < place(text, "Try next:"));
	CHECK_CONTAINS(text, "99.65 % in hard interrupts");
	CHECK_CONTAINS(text, "kept\n    77 % of its speed");
	check_fits(text, true);
	free(text);
}

TEST(text, many_engines_stand_in_one_table)
{
	json_t *runs[] = {run_thread_per_io(), run_posix_aio(), run_one_waiter(), run_skipped(),
	                  run_failed()};
	run_number(runs[1], "plan.depth", 32);
	run_set(runs[4], "plan.engine", json_string("libaio"));
	char *text = screen(runs, 5, (struct text_style){.ascii = true});

	CHECK_CONTAINS(text, "5 engines, 32 requests wanted in flight.");
	CHECK_CONTAINS(text, "\nengine           asked flight served");
	CHECK_CONTAINS(text, "blocking            32");
	CHECK_CONTAINS(text, "skipped: epoll: a regular file is always ready");
	CHECK_CONTAINS(text, "failed: slot 3: the block at 4096");
	CHECK_CONTAINS(text, "The larger difference is in threads held: blocking 31.9, uring 0.93 "
	                     "(34.3");
	CHECK_CONTAINS(text, "Equal in speed, CPU per operation.");
	CHECK_CONTAINS(text, "One run each: differences in speed");
	CHECK(place(text, "THREAD-PER-IO blocking") < place(text, "Problems:"));
	check_fits(text, true);
	free(text);
}

TEST(text, the_verdict_names_differences_before_what_is_equal)
{
	json_t *runs[] = {run_thread_per_io(), run_one_waiter()};
	run_number(runs[0], "measured.cpu_user_ns", 3e9);
	char *text = screen(runs, 2, (struct text_style){.ascii = true});
	CHECK_CONTAINS(text,
	               "(34.3\n  times). In CPU per operation: blocking 21.8us, uring 5.90us");
	CHECK_CONTAINS(text, "times).\n  Equal in speed.\n");
	free(text);
}

TEST(text, limits_are_said_once_of_all_that_share_them)
{
	json_t *runs[] = {run_socket(), run_socket()};
	run_set(runs[1], "plan.engine", json_string("uring"));
	char *text = screen(runs, 2, (struct text_style){0});

	const char *first = strstr(text, "No device interrupt");
	REQUIRE(first);
	CHECK(!strstr(first + 1, "No device interrupt"));
	CHECK_CONTAINS(text, "NO-INTERRUPT epoll; uring:");
	free(text);
}

TEST(text, repeats_are_medians_with_their_deviation)
{
	json_t *runs[RUNS_MAX];
	for (size_t i = 0; i < 10; i++) {
		runs[i] = i % 2 ? run_thread_per_io() : run_one_waiter();
		run_number(runs[i], "measured.operations",
		           (i % 2 ? 120000 : 160000) + (double)i * 500);
		run_number(runs[i], "plan.repeat", (double)(i / 2 + 1));
	}
	char *text = screen(runs, 10, (struct text_style){.ascii = true});
	CHECK_CONTAINS(text, "median of 5 runs");
	CHECK_CONTAINS(text, "+- is one standard");
	CHECK_CONTAINS(text, "uring ran 1.3");
	CHECK_CONTAINS(text, " +- 0.0");
	check_fits(text, true);
	free(text);
	for (size_t i = 0; i < 4; i++) {
		runs[i] = i % 2 ? run_thread_per_io() : run_one_waiter();
		run_number(runs[i], "measured.operations", 100000 + (double)i * 20000);
	}
	text = screen(runs, 4, (struct text_style){0});
	CHECK_CONTAINS(text, "± is one standard deviation");
	CHECK(!strstr(text, "+-"));
	check_fits(text, false);
	free(text);
}

TEST(text, repeats_that_differ_by_their_noise_are_equal)
{
	json_t *runs[6];
	for (size_t i = 0; i < 6; i++) {
		runs[i] = run_one_waiter();
		if (i % 2)
			run_set(runs[i], "plan.engine", json_string("uring-defer"));
		run_number(runs[i], "measured.operations",
		           160000 + (double)(i / 2) * 20000 + (i % 2));
	}
	char *text = screen(runs, 6, (struct text_style){.ascii = true});
	CHECK_CONTAINS(text, "No difference here that one could rely on: equal in threads held, "
	                     "speed,");
	free(text);
}

TEST(text, an_interrupted_run_says_of_how_long_its_figures_are)
{
	json_t *run = run_one_waiter();
	run_set(run, "status", json_string("interrupted"));
	run_set(run, "why", json_string("signal 2"));
	char *text = screen(&run, 1, (struct text_style){.ascii = true});
	CHECK_CONTAINS(text, "interrupted: the figures are those of 2.00s.");
	free(text);
}

TEST(text, a_run_that_measured_nothing_has_dashes_and_no_zeros)
{
	json_t *run = run_bare("uring", "disk-randread", "park");
	run_set(run, "probes", json_array());
	run_set(run, "measured.latency_submitted_ns", json_null());
	run_set(run, "measured.served_ns", json_null());
	char *text = screen(&run, 1, (struct text_style){.ascii = true});
	CHECK_CONTAINS(text, "No probe: threads were not counted.");
	CHECK_CONTAINS(text, "32.0      -      -       -      -  84,800      -      -\n");
	free(text);
}

TEST(text, colour_never_says_anything_alone)
{
	json_t *runs[] = {run_one_waiter(), run_failed()};
	run_conclude(runs[0]);
	run_conclude(runs[1]);
	char *plain = text_render(runs, 2, &(struct text_style){.ascii = true});
	char *bright = text_render(runs, 2, &(struct text_style){.ascii = true, .colour = true});
	REQUIRE(plain && bright);
	CHECK(!strchr(plain, '\033'));
	CHECK(strchr(bright, '\033'));
	char *out = bright; /* take the escapes away */
	for (const char *in = bright; *in; in++) {
		if (*in == '\033')
			in += strcspn(in, "m");
		else
			*out++ = *in;
	}
	*out = '\0';
	CHECK_STRING(bright, plain);
	free(plain);
	free(bright);
	json_decref(runs[0]);
	json_decref(runs[1]);
}

TEST(text, odd_names_and_huge_numbers_fit_as_well)
{
	static const char *const names[] = {
	    "a b) R 1 1",
	    "new\\nline",
	    "</script><script>alert(1)</script>",
	    "",
	    "\\u001b[2J\\u202e",
	    "a-name-that-is-far-too-long-for-any-column-of-any-table-that-anybody-prints"};
	static const char *const paths[] = {"plan.engine",
	                                    "plan.workload",
	                                    "plan.wait",
	                                    "plan.file",
	                                    "plan.transport",
	                                    "plan.cache",
	                                    "environment.filesystem",
	                                    "environment.host",
	                                    "why"};

	for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
		json_t *runs[2] = {run_one_waiter(), run_failed()};
		char quoted[200];

		snprintf(quoted, sizeof quoted, "\"%s\"", names[n]);
		for (size_t p = 0; p < sizeof paths / sizeof paths[0]; p++)
			run_set(runs[p % 2], paths[p], json_loads(quoted, JSON_DECODE_ANY, NULL));
		run_number(runs[0], "plan.depth", 1e15);
		run_number(runs[0], "measured.in_flight_ns", 8e15);
		run_number(runs[0], "measured.operations", 8e15);
		run_set(runs[0], "measured.latency_submitted_ns",
		        json_loads("{\"buckets\":[[9000000000000000000,1]]}", 0, NULL));
		char *text = screen(runs, 2, (struct text_style){.ascii = true});
		check_fits(text, true);
		free(text);
	}
}

TEST(text, nothing_at_all_is_an_empty_screen)
{
	char *text = text_render(NULL, 0, &(struct text_style){0});
	CHECK_STRING(text, "");
	free(text);
}
