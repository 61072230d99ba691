/*
 * iperf#95, sysstat#215, memtier PR#325: a signal at any moment. Valid JSON marked interrupted,
 * status 128 + n, no child left.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engines/engine.h"
#include "tests/cli_runs.h"
#include "tests/test.h"

/* Sends the signal so long after the start; the runs that were printed are all strict JSON. */
static void interrupt(const char *engine, const char *workload, int sig, int64_t delay_ns)
{
	struct process p = {.argv = (const char *const[]){"--engine", engine, "--workload",
	                                                  workload, "--runtime", "20s", "--wait",
	                                                  "park", NULL},
	                    .signal = sig,
	                    .signal_group = true,
	                    .signal_delay_ns = delay_ns};
	json_t *runs = cli_runs(p, 128 + sig);
	const size_t count = json_array_size(runs);

	CHECK_MESSAGE(count == 1, "%s: %zu runs", engine, count);
	for (size_t i = 0; i < count; i++) {
		const char *status = cli_text(json_array_get(runs, i), "status");

		CHECK_MESSAGE(strcmp(status, "interrupted") == 0, "%s: %s", engine, status);
	}
	json_decref(runs);
}

TEST(signals, interrupt_every_engine_in_mid_run)
{
	for (const struct engine_ops *const *ops = engine_table; *ops; ops++)
		if ((*ops)->caps & ENGINE_SOCKETS)
			interrupt((*ops)->name, "socket-delay", SIGINT, 1500000000);
}

TEST(signals, keep_what_was_measured)
{
	struct process p = {.argv = (const char *const[]){"--engine", "uring", "--workload",
	                                                  "timer-delay", "--runtime", "20s",
	                                                  "--warmup", "100ms", "--wait", "park",
	                                                  NULL},
	                    .signal = SIGTERM,
	                    .signal_delay_ns = 3000000000};
	json_t *runs = cli_runs(p, 128 + SIGTERM);
	const json_t *run = json_array_get(runs, 0);

	CHECK_STRING(cli_text(run, "status"), "interrupted");
	CHECK_CONTAINS(cli_text(run, "why"), "signal 15");
	CHECK(cli_number(run, "measured.operations") > 0);
	CHECK(cli_number(run, "measured.window_ns") < 2e10);
	json_decref(runs);
}

TEST(signals, at_any_moment_of_the_set_up)
{
	enum { TRIES = 24 };
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	int told = 0;

	for (int i = 0; i < TRIES; i++) {
		const char *const arguments[] = {"run",
		                                 "--json",
		                                 "--engine",
		                                 i % 2 ? "uring" : "pool",
		                                 "--workload",
		                                 i % 3 ? "disk-randread" : "socket-delay",
		                                 "--runtime",
		                                 "20s",
		                                 i % 3 ? "--size" : "--depth",
		                                 i % 3 ? "8m" : "8",
		                                 NULL};
		struct process p = {.argv = arguments,
		                    .signal = signals[i % 3],
		                    .signal_group = true,
		                    .signal_delay_ns = 10000000 + 25000000 * i};
		struct process_result result;
		char directory[256];

		process_make_directory(directory);
		p.directory = directory;
		process_run(&p, &result);
		CHECK_EQUAL(result.left_behind, 0);
		/* A loader that takes its time has not come to the program's first line. */
		if (result.signal == p.signal && !result.out_bytes) {
			process_free(&result);
			process_remove_directory(directory);
			continue;
		}
		told++;
		CHECK_STATUS(&result, 128 + p.signal);
		CHECK_CONTAINS(result.out, "\"status\":\"interrupted\"");
		process_free(&result);
		process_remove_directory(directory);
	}
	CHECK(told >= TRIES / 2);
}

TEST(signals, a_second_one_ends_it_at_once_and_leaves_nothing)
{
	const char *const arguments[] = {"run",           "--engine", "blocking", "--workload",
	                                 "disk-randread", "--size",   "8m",       "--runtime",
	                                 "20s",           "--json",   NULL};
	struct process p = {.argv = arguments,
	                    .signal = SIGINT,
	                    .signal_group = true,
	                    .signal_delay_ns = 1500000000,
	                    .signal_again = 100}; /* a second and more: some come as the second */
	struct process_result result;
	char directory[256], path[300];

	process_make_directory(directory);
	p.directory = directory;
	process_run(&p, &result);
	CHECK_STATUS(&result, 128 + SIGINT);
	snprintf(path, sizeof path, "%s/iostudy.data", directory);
	CHECK_MESSAGE(access(path, F_OK) != 0, "%s was left behind", path);
	process_free(&result);
	process_remove_directory(directory);
}

TEST(signals, a_closed_pipe_ends_it_like_sigpipe)
{
	const char *const arguments[] = {"run",        "--engine",    "null",
	                                 "--workload", "timer-delay", "--runtime",
	                                 "50ms",       "--json",      NULL};
	struct process p = {.argv = arguments, .out = OUTPUT_BROKEN_PIPE};
	struct process_result result;

	process_run(&p, &result);
	CHECK_STATUS(&result, 128 + SIGPIPE);
	process_free(&result);
}
