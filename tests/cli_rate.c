/*
 * The open loop: a peer that stands still must show in the latency from the scheduled moment,
 * in every kind of engine; and waiting for the next moment is not waiting for I/O.
 */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "engines/engine.h"
#include "tests/cli_runs.h"
#include "tests/served.h"
#include "tests/test.h"

enum { STOP_NS = 600000000, STOP_AFTER_NS = 900000000 };

/* Requests of a histogram that took so long or longer, as a share. */
static double share_over(const json_t *histogram, double time_ns)
{
	const json_t *buckets = cli_at(histogram, "buckets"), *bucket;
	double over = 0, all = 0;
	size_t i;

	json_array_foreach((json_t *)buckets, i, bucket)
	{
		const double count = json_number_value(json_array_get(bucket, 1));

		all += count;
		if (json_number_value(json_array_get(bucket, 0)) >= time_ns)
			over += count;
	}
	return over / all;
}

static void *stop_for_a_while(void *argument)
{
	const struct served *served = argument;

	usleep(STOP_AFTER_NS / 1000);
	kill(served->pid, SIGSTOP);
	usleep(STOP_NS / 1000);
	kill(served->pid, SIGCONT);
	return NULL;
}

/* A peer that stops for 0.6 s of 2 s. At 200 requests per s, 120 were due meanwhile, of which at
 * most depth were under way: the others had to wait for their turn. */
static void stop_the_peer(const char *engine, const char *depth)
{
	struct served served;
	pthread_t stopper;
	const json_t *run;
	json_t *runs;

	REQUIRE(served_begin(&served, "delay", NULL));
	pthread_create(&stopper, NULL, stop_for_a_while, &served);
	runs = CLI_RUNS(0, "--engine", engine, "--workload", "socket-delay", "--peer",
	                served.address, "--depth", depth, "--rate", "200/s", "--delay", "1ms",
	                "--runtime", "2s", "--warmup", "0", "--wait", "park");
	pthread_join(stopper, NULL);
	run = json_array_get(runs, 0);
	CHECK_EQUAL(cli_number(run, "plan.rate_per_s"), 200);
	CHECK_STRING(cli_text(run, "plan.arrival"), "constant");
	/* nobody was left out: who was due at the stop's beginning waited for all of it */
	CHECK_MESSAGE(cli_number(run, "measured.latency_scheduled_ns.max") >= 0.9 * STOP_NS,
	              "%s: max %g", engine, cli_number(run, "measured.latency_scheduled_ns.max"));
	CHECK_MESSAGE(share_over(cli_at(run, "measured.latency_scheduled_ns"), STOP_NS / 4) >= 0.1,
	              "%s: %g", engine,
	              share_over(cli_at(run, "measured.latency_scheduled_ns"), STOP_NS / 4));
	/* all that were due came to an end but the last */
	CHECK_MESSAGE(cli_number(run, "measured.operations") >= 200, "%s: %g", engine,
	              cli_number(run, "measured.operations"));
	CHECK(cli_finding(run, "BEHIND-SCHEDULE"));
	CHECK(!cli_finding(run, "DEPTH-NOT-REACHED"));
	json_decref(runs);
	CHECK_EQUAL(served_end(&served, SIGTERM), 0);
}

TEST(rate, a_peer_that_stands_still_shows_in_the_scheduled_latency_of_blocking)
{
	stop_the_peer("blocking", "4");
}

TEST(rate, a_peer_that_stands_still_shows_in_the_scheduled_latency_of_epoll)
{
	stop_the_peer("epoll", "4");
}

TEST(rate, a_peer_that_stands_still_shows_in_the_scheduled_latency_of_uring)
{
	stop_the_peer("uring", "32");
}

TEST(rate, every_engine_keeps_to_it_and_is_idle_between)
{
	for (const struct engine_ops *const *ops = engine_table; *ops; ops++) {
		const bool timers = (*ops)->caps & ENGINE_TIMERS;
		const json_t *run;
		json_t *runs;

		if (!((*ops)->caps & (ENGINE_SOCKETS | ENGINE_TIMERS)))
			continue;
		/* 12 requests of 1 ms in 400 ms; a closed loop would make hundreds */
		runs = CLI_RUNS(0, "--engine", (*ops)->name, "--workload",
		                timers ? "timer-delay" : "socket-delay", "--rate", "30", "--depth",
		                "2", "--delay", "1ms", "--operations", "12", "--wait", "park",
		                "--probe", "schedstat");
		run = json_array_get(runs, 0);
		CHECK_EQUAL(cli_number(run, "measured.operations"), 12);
		CHECK_MESSAGE(cli_number(run, "measured.window_ns") >= 11e9 / 30, "%s: %g",
		              (*ops)->name, cli_number(run, "measured.window_ns"));
		CHECK_MESSAGE(cli_number(run, "measured.in_flight_ns") <
		                  cli_number(run, "measured.window_ns"),
		              "%s", (*ops)->name);
		CHECK_MESSAGE(cli_number(run, "probes.0.kinds.0.idle_ns") > 1e8, "%s: idle %g",
		              (*ops)->name, cli_number(run, "probes.0.kinds.0.idle_ns"));
		json_decref(runs);
	}
}

TEST(rate, is_read_as_people_and_fio_write_it)
{
	static const struct {
		const char *option, *value;
		double rate;
		const char *arrival;
	} rows[] = {
	    {"--rate", "2000/s", 2000, "constant"},
	    {"--rate", "2k", 2048, "constant"},
	    {"--rate_iops", "2000", 2000, "poisson"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const bool poisson = strcmp(rows[i].arrival, "poisson") == 0;
		json_t *runs = CLI_RUNS(0, "--engine", "null", "--workload", "timer-delay",
		                        "--runtime", "50ms", "--warmup", "0", "--wait", "spin",
		                        "--probe", "none", rows[i].option, rows[i].value,
		                        "--rate_process", poisson ? "poisson" : "linear");
		const json_t *run = json_array_get(runs, 0);

		CHECK_EQUAL(cli_number(run, "plan.rate_per_s"), rows[i].rate);
		CHECK_STRING(cli_text(run, "plan.arrival"), rows[i].arrival);
		json_decref(runs);
	}
}

TEST(rate, refuses_nonsense)
{
	static const struct {
		const char *arguments[5];
		const char *says;
	} rows[] = {
	    {{"run", "--rate", "0", NULL}, "out of range"},
	    {{"run", "--rate", "/s", NULL}, "is not a number"},
	    {{"run", "--rate", "5/m", NULL}, "is not a number"},
	    {{"run", "--rate=5", "--arrival", "daily", NULL}, "constant, poisson"},
	    {{"run", "--arrival", "poisson", NULL}, "an open loop (--rate)"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct process p = {.argv = rows[i].arguments};
		struct process_result r;

		process_run(&p, &r);
		CHECK_STATUS(&r, 2);
		CHECK_CONTAINS(r.err, rows[i].says);
		process_free(&r);
	}
}
