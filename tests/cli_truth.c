/*
 * What the main job must show on any machine: threads parked and held per request, engine by
 * engine. Ratios that follow from how each engine waits, never times.
 */
#include <math.h>
#include <string.h>

#include "tests/cli_runs.h"
#include "tests/test.h"

#define NEED_BPF()                                                                                 \
	do {                                                                                       \
		if (!process_is_root())                                                            \
			SKIP("the bpf probe needs root");                                          \
	} while (0)

/* The kind's entry of the first probe, or NULL. */
static const json_t *kind(const json_t *run, const char *name)
{
	const json_t *kinds = cli_at(run, "probes.0.kinds");

	for (size_t i = 0; i < json_array_size(kinds); i++)
		if (strcmp(cli_text(json_array_get(kinds, i), "kind"), name) == 0)
			return json_array_get(kinds, i);
	return NULL;
}

static void check_disk(const json_t *run)
{
	CHECK_STRING(cli_text(run, "status"), "ok");
	CHECK_STRING(cli_text(run, "probes.0.probe"), "bpf");
	CHECK_STRING(cli_text(run, "probes.0.self_test"), "ok");
	CHECK_EQUAL(cli_number(run, "measured.wrong"), 0);
	CHECK(json_is_true(cli_at(run, "measured.verified")));
}

TEST(truth, blocking_holds_one_thread_for_each_read)
{
	NEED_BPF();
	json_t *runs = CLI_RUNS(0, "--engine", "blocking", "--workload", "disk-randread",
	                        "--runtime", "1s", "--size", "64m");
	const json_t *run = json_array_get(runs, 0);

	check_disk(run);
	CHECK_EQUAL(cli_number(run, "plan.threads"), 32);
	CHECK_BETWEEN(cli_number(run, "summary.held_per_served"), 0.95, 1.04);
	CHECK_BETWEEN(cli_number(run, "summary.held_per_in_flight"), 0.95, 1.04);
	CHECK(cli_finding(run, "THREAD-PER-IO"));
	CHECK(!cli_finding(run, "ONE-WAITER"));
	CHECK(!cli_finding(run, "NO-THREAD"));
	json_decref(runs);
}

TEST(truth, a_pool_holds_one_thread_for_each_read_that_it_serves)
{
	NEED_BPF();
	json_t *runs = CLI_RUNS(0, "--engine", "pool", "--workload", "disk-randread", "--runtime",
	                        "1s", "--size", "64m", "--wait", "park");
	const json_t *run = json_array_get(runs, 0), *pool = kind(run, "pool");

	check_disk(run);
	CHECK_EQUAL(cli_number(pool, "threads_max"), 32);
	CHECK_BETWEEN((cli_number(pool, "parked_direct_ns") +
	               cli_number(pool, "in_call_running_ns") +
	               cli_number(pool, "in_call_runnable_ns")) /
	                  cli_number(run, "measured.served_ns"),
	              0.95, 1.04);
	CHECK(cli_number(run, "summary.held_per_in_flight") <= 1.04);
	/* the pool's threads, and the one that waits for them */
	CHECK_BETWEEN(cli_number(run, "summary.threads_held_mean") -
	                  cli_number(run, "measured.served_ns") /
	                      cli_number(run, "measured.window_ns"),
	              -0.5, 1.1);
	json_decref(runs);
}

TEST(truth, one_waiter_for_all_reads_and_none_when_it_computes)
{
	NEED_BPF();
	json_t *runs = CLI_RUNS(0, "--engine", "uring", "--workload", "disk-randread", "--runtime",
	                        "1s", "--size", "64m", "--wait", "park,compute");
	const json_t *park = json_array_get(runs, 0), *compute = json_array_get(runs, 1);

	check_disk(park);
	check_disk(compute);
	if (json_is_false(cli_at(park, "environment.nowait_read")))
		SKIP(
		    "this file system (%s) refuses RWF_NOWAIT: io_uring gives its reads to workers",
		    cli_text(park, "environment.filesystem"));
	CHECK_BETWEEN(cli_number(park, "summary.parked_per_in_flight"), 0, 0.08);
	CHECK_BETWEEN(cli_number(park, "summary.threads_held_mean"), 0, 1.02);
	CHECK(cli_finding(park, "ONE-WAITER"));
	CHECK(!cli_finding(park, "NO-THREAD"));
	CHECK(!cli_finding(park, "THREAD-PER-IO"));
	CHECK_BETWEEN(cli_number(compute, "summary.nobody_parked_share"), 0.999, 1);
	CHECK_BETWEEN(cli_number(compute, "summary.held_per_in_flight"), 0, 0.001);
	CHECK(cli_number(compute, "measured.compute_units_per_s") > 0);
	CHECK(cli_number(compute, "measured.compute_units_per_s_alone") > 0);
	CHECK(cli_finding(compute, "NO-THREAD"));
	CHECK(!cli_finding(compute, "ONE-WAITER"));
	json_decref(runs);
}

/* fio#718 */
TEST(truth, posix_aio_serves_one_file_by_one_hidden_helper)
{
	NEED_BPF();
	json_t *runs = CLI_RUNS(0, "--engine", "posix-aio", "--workload", "disk-randread",
	                        "--depth", "16", "--runtime", "1s", "--size", "64m", "--wait",
	                        "park");
	const json_t *run = json_array_get(runs, 0), *helper = kind(run, "aio-helper");

	check_disk(run);
	REQUIRE(helper);
	CHECK_EQUAL(cli_number(helper, "threads_max"), 1);
	CHECK_BETWEEN(cli_number(run, "summary.in_flight_mean"), 15, 16.01);
	CHECK_BETWEEN(cli_number(run, "summary.served_mean"), 0.4, 1.05);
	CHECK_BETWEEN(cli_number(run, "summary.held_per_served"), 1.5, 2.6);
	CHECK(cli_finding(run, "HIDDEN-WORKERS"));
	CHECK(cli_finding(run, "SERIAL-PER-FILE"));
	json_decref(runs);
}

/* No answer comes within the window: whoever serves then sleeps through all of it, however busy
 * the machine is. With answers, a helper that waits for a CPU is not parked. */
TEST(truth, of_64_socket_reads_posix_aio_serves_20)
{
	NEED_BPF();
	json_t *runs = CLI_RUNS(0, "--engine", "posix-aio", "--workload", "socket-delay", "--depth",
	                        "64", "--runtime", "1s", "--delay", "10s", "--wait", "park");
	const json_t *run = json_array_get(runs, 0), *helper = kind(run, "aio-helper");
	const double in_flight = cli_number(run, "measured.in_flight_ns");

	REQUIRE(helper);
	CHECK_EQUAL(cli_number(helper, "threads_max"), 20);
	CHECK_EQUAL(cli_number(run, "measured.operations"), 0);
	CHECK_BETWEEN(cli_number(run, "summary.served_mean"), 19.9, 20.01);
	CHECK_BETWEEN(cli_number(helper, "parked_direct_ns") / in_flight, 0.995 * 20 / 64,
	              1.001 * 20 / 64);
	CHECK(!cli_finding(run, "SERIAL-PER-FILE"));
	json_decref(runs);
}

TEST(truth, sockets_hold_a_thread_each_or_one_for_all_or_none)
{
	NEED_BPF();
	json_t *runs = CLI_RUNS(0, "--engine", "blocking,epoll,uring", "--workload", "socket-delay",
	                        "--depth", "64", "--runtime", "1s", "--wait", "park,compute");

	for (size_t i = 0; i < json_array_size(runs); i++) {
		const json_t *run = json_array_get(runs, i);
		const char *engine = cli_text(run, "plan.engine");
		const double parked = cli_number(run, "summary.parked_per_in_flight");
		const double held = cli_number(run, "summary.held_per_in_flight");

		CHECK_STRING(cli_text(run, "status"), "ok");
		if (strcmp(engine, "blocking") == 0) {
			CHECK_BETWEEN(held, 0.98, 1.01);
			CHECK_BETWEEN(parked, 0.9, 1.01);
		} else if (strcmp(cli_text(run, "plan.wait"), "compute") == 0) {
			CHECK_BETWEEN(held, 0, 0.001);
			CHECK(cli_finding(run, "NO-THREAD"));
		} else {
			CHECK_BETWEEN(held, 0.7 / 64, 1.02 / 64);
			CHECK(cli_finding(run, "ONE-WAITER"));
		}
		CHECK(cli_finding(run, "NO-INTERRUPT"));
	}
	CHECK_EQUAL(json_array_size(runs), 5);
	json_decref(runs);
}

TEST(truth, requests_in_flight_count_though_none_completes)
{
	NEED_BPF();
	json_t *runs = CLI_RUNS(0, "--engine", "blocking,epoll,uring", "--workload", "socket-delay",
	                        "--depth", "64", "--runtime", "1s", "--delay", "10s", "--wait",
	                        "park");

	for (size_t i = 0; i < json_array_size(runs); i++) {
		const json_t *run = json_array_get(runs, i);
		const double window = cli_number(run, "measured.window_ns");
		const bool blocks = i == 0;

		CHECK_STRING(cli_text(run, "status"), "ok");
		CHECK_EQUAL(cli_number(run, "measured.operations"), 0);
		CHECK_BETWEEN(cli_number(run, "measured.in_flight_ns") / (64 * window), 0.999,
		              1.001);
		CHECK_BETWEEN(cli_number(run, "summary.parked_per_in_flight"),
		              blocks ? 0.98 : 0.98 / 64, blocks ? 1.01 : 1.01 / 64);
		CHECK(isnan(cli_number(run, "summary.latency_p50_ns")));
	}
	json_decref(runs);
}

TEST(truth, spinning_parks_nobody_and_is_named)
{
	NEED_BPF();
	json_t *runs = CLI_RUNS(0, "--engine", "uring", "--workload", "timer-delay", "--runtime",
	                        "500ms", "--wait", "spin");
	const json_t *run = json_array_get(runs, 0);

	CHECK_BETWEEN(cli_number(run, "summary.threads_parked_mean"), 0, 0.001);
	CHECK(cli_finding(run, "SPINNING"));
	json_decref(runs);
}

TEST(truth, there_is_a_headline_without_privileges)
{
	struct process p = {.argv = (const char *const[]){"--engine", "blocking,uring",
	                                                  "--workload", "socket-delay", "--runtime",
	                                                  "1s", "--wait", "park", NULL},
	                    .user = process_is_root() ? 65534 : 0};
	json_t *runs = cli_runs(p, 0);

	for (size_t i = 0; i < json_array_size(runs); i++) {
		const json_t *run = json_array_get(runs, i);

		CHECK_STRING(cli_text(run, "status"), "ok");
		CHECK(strcmp(cli_text(run, "probes.0.probe"), "bpf") != 0);
		CHECK_CONTAINS(cli_text(run, "warnings.0"), "bpf");
		CHECK_BETWEEN(cli_number(run, "summary.parked_per_in_flight"),
		              i == 0 ? 0.9 : 0.7 / 32, i == 0 ? 1.01 : 1.01 / 32);
	}
	json_decref(runs);
}
