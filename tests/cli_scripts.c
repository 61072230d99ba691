/*
 * bpftrace scripts beside a run: each counts what the embedded probe counts on the same run, which
 * is one of a known number of operations, so that both see all of it. And `run --bpftrace` itself.
 */
#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/cli_runs.h"
#include "tests/test.h"

#define OPERATIONS "2000"

#define NEED_BPFTRACE()                                                                            \
	do {                                                                                       \
		if (!process_is_root())                                                            \
			SKIP("bpftrace needs root");                                               \
		if (!process_is_installed("bpftrace"))                                             \
			SKIP("bpftrace is not installed");                                         \
		if (access("/sys/kernel/tracing/events/sched", R_OK) &&                            \
		    access("/sys/kernel/debug/tracing/events/sched", R_OK))                        \
			SKIP("tracefs is not mounted, which plain tracepoints need");              \
	} while (0)

/* One run of OPERATIONS reads with the script beside it. */
#define SCRIPT_RUN(script, ...)                                                                    \
	cli_runs(                                                                                  \
	    (struct process){.argv = (const char *const[]){"--bpftrace", script, "--workload",     \
	                                                   "disk-randread", "--size", "16m",       \
	                                                   "--wait", "park", "--operations",       \
	                                                   OPERATIONS, __VA_ARGS__, NULL},         \
	                     .seconds = 120},                                                      \
	    0)

static const char *output_of(const json_t *run)
{
	return cli_text(run, "script.output");
}

/* The sum of the counts in lines that begin so: "@parked[READ_FIXED, f]: 12". */
static double sum_of(const json_t *run, const char *head)
{
	const char *line = output_of(run);
	double sum = 0;

	for (; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		char copy[300];

		snprintf(copy, sizeof copy, "%.*s", (int)strcspn(line, "\n"), line);
		if (!strncmp(copy, head, strlen(head)) && strstr(copy, ": "))
			sum += atof(strstr(copy, ": ") + 2);
	}
	return sum;
}

/* The sum of a number over the entries of a list. */
static double total(const json_t *list, const char *field)
{
	double sum = 0;

	for (size_t i = 0; i < json_array_size(list); i++)
		sum += cli_number(json_array_get(list, i), field);
	return sum;
}

/* The script and the probe agree, but for the few events that one of them is not shown. */
static void check_close(const char *what, double script, double probe)
{
	CHECK_MESSAGE(probe > 0 && fabs(script - probe) <= 0.05 * probe + 10,
	              "%s: the script counted %g, the probe %g", what, script, probe);
}

TEST(scripts, arrivals_bt_counts_completions_where_the_probe_does)
{
	NEED_BPFTRACE();
	json_t *runs = SCRIPT_RUN("arrivals", "--engine", "uring");
	const json_t *run = json_array_get(runs, 0);
	const json_t *in = cli_at(run, "probes.0.completions.arrived_in");
	const json_t *over = cli_at(run, "probes.0.completions.arrived_over");
	const double probe = cli_number(in, "hardirq") + cli_number(in, "softirq") +
	                     cli_number(in, "task");

	check_close("completions", sum_of(run, "@completions"), probe);
	check_close("in soft interrupts",
	            sum_of(run, "@arrivals[softirq, ") + sum_of(run, "@arrivals[hardirq, "),
	            cli_number(in, "softirq") + cli_number(in, "hardirq"));
	check_close("over idle and others",
	            sum_of(run, "@completions") - sum_of(run, "@arrivals[softirq, subject]") -
	                sum_of(run, "@arrivals[hardirq, subject]"),
	            cli_number(over, "idle") + cli_number(over, "other"));
	json_decref(runs);
}

TEST(scripts, workers_bt_counts_hand_overs_and_sleeps_with_the_file_in_hand)
{
	NEED_BPFTRACE();
	json_t *runs = SCRIPT_RUN("workers.bt", "--engine", "uring-async", "--direct", "0");
	const json_t *run = json_array_get(runs, 0);

	CHECK_EQUAL(cli_number(run, "probes.0.io_uring.punted"), atoi(OPERATIONS));
	CHECK_EQUAL(sum_of(run, "@handed["), atoi(OPERATIONS));
	check_close("parks", sum_of(run, "@parked["),
	            cli_number(run, "probes.0.io_uring.workers_parks"));
	CHECK_CONTAINS(output_of(run), ", iostudy.data]: ");
	CHECK_STRING(cli_text(run, "probes.0.io_uring.workers_parked_by.0.object.name"),
	             "iostudy.data");
	json_decref(runs);
}

TEST(scripts, offcpu_bt_counts_every_sleep_by_its_place)
{
	NEED_BPFTRACE();
	json_t *runs = SCRIPT_RUN("offcpu", "--engine", "blocking", "--depth", "4");
	const json_t *run = json_array_get(runs, 0);

	check_close("sleeps", sum_of(run, "@sleeps"),
	            total(cli_at(run, "probes.0.kinds"), "voluntary_switches"));
	CHECK_CONTAINS(output_of(run), "schedule+");
	json_decref(runs);
}

TEST(scripts, submitter_bt_counts_sleeps_inside_submissions)
{
	NEED_BPFTRACE();
	json_t *runs = SCRIPT_RUN("submitter", "--engine", "libaio", "--direct", "0");
	const json_t *run = json_array_get(runs, 0);

	check_close("sleeps", sum_of(run, "@slept_io_submit"),
	            total(cli_at(run, "probes.0.submitter_sleeps"), "count"));
	CHECK_CONTAINS(output_of(run), "filemap_");
	json_decref(runs);
}

TEST(scripts, request_bt_tells_one_life_in_its_order)
{
	static const char *const steps[] = {"begun by iostudy-subject", "issued to the device",
	                                    "its submitter", "completed by the device"};
	double took_ns;

	NEED_BPFTRACE();
	json_t *runs = cli_runs(
	    (struct process){.argv = (const char *const[]){"--bpftrace", "request", "--workload",
	                                                   "disk-randread", "--size", "16m",
	                                                   "--wait", "park", "--engine", "blocking",
	                                                   "--runtime", "600ms", NULL},
	                     .seconds = 120},
	    0);
	const json_t *run = json_array_get(runs, 0);
	const char *at = output_of(run);

	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		CHECK_CONTAINS(output_of(run), steps[i]);
		CHECK_MESSAGE(strstr(at, steps[i]), "\"%s\" comes too early: %s", steps[i],
		              output_of(run));
		at = strstr(at, steps[i]) ? strstr(at, steps[i]) : at;
	}
	took_ns = sum_of(run, "@took");
	CHECK_BETWEEN(took_ns, 1000, 60e9);
	json_decref(runs);
}

/* Whether a file of the directory holds this text. */
static bool is_kept(const char *directory, const char *name, const char *text)
{
	static char content[1 << 16];
	char path[600];
	FILE *file;

	snprintf(path, sizeof path, "%s/%s", directory, name);
	file = fopen(path, "re");
	if (!file)
		return false;
	content[fread(content, 1, sizeof content - 1, file)] = 0;
	fclose(file);
	return strcmp(content, text) == 0;
}

TEST(scripts, what_they_say_is_kept_beside_the_runs)
{
	char directory[256], kept[300];

	NEED_BPFTRACE();
	process_make_directory(directory);
	snprintf(kept, sizeof kept, "%s/kept", directory);
	json_t *runs = cli_runs(
	    (struct process){.argv = (const char *const[]){"--bpftrace", "offcpu", "--engine",
	                                                   "uring", "--workload", "timer-delay",
	                                                   "--wait", "park", "--runtime", "200ms",
	                                                   "-o", kept, NULL},
	                     .seconds = 120},
	    0);
	const json_t *run = json_array_get(runs, 0);

	CHECK_STRING(cli_text(run, "script.name"), "offcpu.bt");
	CHECK_STRING(cli_text(run, "script.file"), "offcpu-uring-timer-delay-park-1.txt");
	CHECK_CONTAINS(output_of(run), "@sleeps: ");
	/* the run is written after the file is named */
	CHECK(is_kept(kept, cli_text(run, "script.file"), output_of(run)));
	json_decref(runs);
	process_remove_directory(directory);
}

TEST(scripts, an_unknown_one_is_refused_with_the_nearest_name)
{
	struct process_result r;

	PROCESS_RUN(&r, "run", "--engine", "uring", "--bpftrace", "submiter");
	CHECK_STATUS(&r, 2);
	CHECK_CONTAINS(r.err, "unknown script 'submiter': did you mean submitter.bt?");
	process_free(&r);
}

TEST(scripts, without_bpftrace_the_run_is_skipped_and_says_what_to_install)
{
	json_t *runs = cli_runs(
	    (struct process){.argv = (const char *const[]){"--bpftrace", "offcpu", "--engine",
	                                                   "uring", "--workload", "timer-delay",
	                                                   "--wait", "park", NULL},
	                     .environment = (const char *const[]){"PATH=/nowhere", NULL}},
	    77);
	const json_t *run = json_array_get(runs, 0);

	if (strstr(cli_text(run, "why"), "io_uring"))
		SKIP("%s", cli_text(run, "why"));
	CHECK_STRING(cli_text(run, "status"), "skipped");
	CHECK_CONTAINS(cli_text(run, "why"), "apt-get install bpftrace");
	json_decref(runs);
}

TEST(scripts, end_with_a_run_that_is_interrupted)
{
	static const int64_t delays_ns[] = {700000000, 2500000000};

	NEED_BPFTRACE();
	for (size_t i = 0; i < sizeof delays_ns / sizeof *delays_ns; i++) {
		struct process p = {.argv = (const char *const[]){"--bpftrace", "offcpu",
		                                                  "--engine", "uring", "--workload",
		                                                  "timer-delay", "--wait", "park",
		                                                  "--runtime", "60s", NULL},
		                    .signal = SIGTERM,
		                    .signal_delay_ns = delays_ns[i],
		                    .seconds = 120};
		json_t *runs = cli_runs(p, 128 + SIGTERM); /* and nobody is left behind */

		CHECK_STRING(cli_text(json_array_get(runs, 0), "status"), "interrupted");
		json_decref(runs);
	}
}
