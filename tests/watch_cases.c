/*
 * Watching programs from outside: each thread is found where the program put it, findings are
 * raised by what they name and by nothing else. Many are public reports of what other tools missed.
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/test.h"
#include "tests/http_talk.h"
#include "tests/served.h"
#include "tests/watch_help.h"

static double sum_of_states(const json_t *kind)
{
	static const char *const states[] = {
	    "running_ns",          "runnable_ns", "parked_direct_ns", "parked_waiter_ns",
	    "parked_on_result_ns", "idle_ns",     "other_ns",         "unseen_ns"};
	double sum = 0;

	for (size_t i = 0; i < sizeof states / sizeof *states; i++)
		sum += cli_number(kind, states[i]);
	return sum;
}

/* bcc#558: what began before the window and does not end in it must show. */
TEST(watch, who_is_parked_through_the_whole_window_is_listed_with_its_place)
{
	static const char *const program[] = {"hold",        "pipe=3",  "eventfd=2",
	                                      "socket=4",    "epoll=3", "poll=2",
	                                      "nanosleep=2", "futex=2", NULL};
	static const struct {
		const char *state, *call, *object;
		double threads;
	} rows[] = {
	    {"parked-direct", "read", "pipe", 3 + 1}, /* the first reads its input */
	    {"parked-direct", "read", "eventfd", 2},  {"parked-direct", "recvfrom", "socket", 4},
	    {"unseen", "epoll_wait", "epoll", 3},     {"unseen", "poll", NULL, 2},
	    {"unseen", "futex", "futex", 2},          {"other", "clock_nanosleep", NULL, 2},
	};
	NEED_BPF();
	json_t *watch = watch_program(program, "300ms");
	const json_t *kind = watch_kind_of(watch, "application");
	const double window = cli_number(watch, "window_ns");

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const char *state = rows[i].state, *call = rows[i].call, *object = rows[i].object;

		CHECK_EQUAL(watch_places(watch, "threads_now", state, call, object),
		            rows[i].threads);
		CHECK_EQUAL(watch_places(watch, "whole_window", state, call, object),
		            rows[i].threads);
		CHECK_BETWEEN(watch_places(watch, "parked_ns", state, call, object) / window,
		              0.9 * rows[i].threads, 1.1 * rows[i].threads);
	}
	CHECK_EQUAL(cli_number(kind, "threads_now"), 19);
	CHECK_BETWEEN(sum_of_states(kind) / cli_number(kind, "alive_ns"), 0.999999, 1.000001);
	CHECK_EQUAL(cli_number(watch, "lost.events"), 0);
	watch_check_no_problem(watch);
	json_decref(watch);
}

/* node#23220: four threads open FIFOs, and the loop sits in epoll. */
TEST(watch, a_pool_whose_threads_all_open_fifos_is_exhausted)
{
	static const char *const program[] = {"hold", "fifo=4", "epoll=1", NULL};
	char directory[256], fifo[300];
	const json_t *finding;
	json_t *watch;

	NEED_BPF();
	process_make_directory(directory);
	snprintf(fifo, sizeof fifo, "%s/fifo", directory);
	REQUIRE(mkfifo(fifo, 0600) == 0);
	setenv("PARKERS_FIFO", fifo, 1);
	watch = watch_program(program, "300ms");
	finding = cli_finding(watch, "POOL-EXHAUSTED");
	CHECK_EQUAL(watch_places(watch, "whole_window", "parked-direct", "openat", "fifo"), 4);
	REQUIRE_MESSAGE(finding, "POOL-EXHAUSTED is not raised");
	CHECK_EQUAL(cli_number(finding, "evidence.threads"), 4);
	CHECK_STRING(cli_text(finding, "confidence"), "likely");
	CHECK(!cli_finding(watch, "NOTHING-SEEN"));
	json_decref(watch);
	process_remove_directory(directory);
}

/* A server whose two threads wait for a slow service, and one that waits for it with none: five
 * clients want an answer of each. */
TEST(watch, a_pool_that_waits_for_a_service_is_exhausted_and_callbacks_park_nobody)
{
	static const char *const servers[][6] = {
	    {"--handler", "blocking", "--threads", "2", "--grace=0", NULL},
	    {"--handler", "callback", "--grace=0", NULL}};
	char pid[16];
	const char *const arguments[] = {"-p", pid, "-d", "300ms", NULL};

	NEED_BPF();
	for (int i = 0; i < 2; i++) {
		const json_t *finding;
		struct talk clients[5];
		struct served s;
		json_t *watch;

		REQUIRE(served_begin_with(&s, "gateway", servers[i]));
		for (int k = 0; k < 5; k++)
			REQUIRE(
			    talk_begin(&clients[k], s.address) &&
			    talk_say(&clients[k], "GET /delay/600000 HTTP/1.1\r\nHost: h\r\n\r\n"));
		usleep(200000);
		snprintf(pid, sizeof pid, "%d", (int)s.pid);
		watch = watch_json(0, arguments);
		finding = cli_finding(watch, "POOL-EXHAUSTED");
		CHECK_EQUAL(finding != NULL, i == 0);
		CHECK_EQUAL(
		    watch_places(watch, "whole_window", "parked-direct", "recvfrom", "socket"),
		    i == 0 ? 2 : 0);
		if (i == 0)
			CHECK_CONTAINS(cli_text(finding, "text"), "it has 5 clients");
		else
			watch_check_no_problem(watch);
		json_decref(watch);
		for (int k = 0; k < 5; k++)
			talk_end(&clients[k]);
		CHECK_EQUAL(served_end(&s, SIGTERM), 0);
	}
}

TEST(watch, findings_are_said_as_they_come)
{
	static const char *const program[] = {"hold", "fifo=2", "epoll=1", NULL};
	char directory[256], fifo[300], pid[16];
	const char *const arguments[] = {"watch", "--json", "-p",    pid, "-d",
	                                 "700ms", "-i",     "200ms", NULL};
	struct process_result result;
	struct program parkers;
	const char *first;

	NEED_BPF();
	process_make_directory(directory);
	snprintf(fifo, sizeof fifo, "%s/fifo", directory);
	REQUIRE(mkfifo(fifo, 0600) == 0);
	setenv("PARKERS_FIFO", fifo, 1);
	REQUIRE(program_start(&parkers, "parkers", program));
	REQUIRE(program_expect(&parkers, "ready"));
	usleep(100000);
	snprintf(pid, sizeof pid, "%d", (int)parkers.pid);
	process_run(&(struct process){.argv = arguments}, &result);
	CHECK_STATUS(&result, 0);
	first = strstr(result.err, "POOL-EXHAUSTED (likely)");
	CHECK_MESSAGE(first, "%s", result.err);
	CHECK(!first || !strstr(first + 1, "POOL-EXHAUSTED")); /* once */
	CHECK(process_widest_line(result.err) <= 80);
	process_free(&result);
	program_end(&parkers);
	process_remove_directory(directory);
}

/* liburing#943: a ring waits for a pipe, and the system shows iowait. */
TEST(watch, a_ring_on_an_empty_pipe_is_no_wait_for_a_disk)
{
	static const char *const program[] = {"hold", "ring=1", NULL};
	json_t *watch;

	NEED_BPF();
	watch = watch_program(program, "300ms");
	CHECK_EQUAL(cli_number(watch, "in_flight.disk.requests"), 0);
	CHECK_EQUAL(watch_places(watch, "whole_window", "unseen", "io_uring_enter", "ring"), 1);
	/* its request began before the watch, and does not end in it */
	CHECK_EQUAL(cli_number(watch, "in_flight.io_uring.max"), 1);
	CHECK_BETWEEN(cli_number(watch, "in_flight.io_uring.mean"), 0.999, 1.001);
	CHECK_EQUAL(watch_places(watch, "parked_ns", "parked-waiter", NULL, NULL), 0);
	CHECK(cli_finding(watch, "IDLE-WAITER"));
	if (cli_number(watch, "threads_iowait_now") > 0)
		CHECK(cli_finding(watch, "IOWAIT-IS-NOT-DISK"));
	watch_check_no_problem(watch);
	json_decref(watch);
}

/* An epoll server that idles, with a convoy on a futex and a sleeping cron; and a thread for each
 * connection. */
static const char *const controls[][5] = {
    {"hold", "epoll=2", "futex=8", "nanosleep=1", NULL},
    {"hold", "socket=6", "epoll=1", NULL},
};

TEST(watch, what_is_healthy_raises_no_problem)
{
	NEED_BPF();
	for (size_t i = 0; i < sizeof controls / sizeof *controls; i++) {
		json_t *watch = watch_program(controls[i], "200ms");

		watch_check_no_problem(watch);
		json_decref(watch);
	}
}

TEST(watch, ten_thousand_threads_are_all_told)
{
	static const char *const program[] = {"hold", "futex=10000", NULL};
	struct program threads;
	json_t *watch;
	char pid[16];

	NEED_BPF();
	if (!program_start(&threads, "parkers", program) || !program_expect(&threads, "ready")) {
		program_end(&threads);
		SKIP("ten thousand threads are not allowed here");
	}
	snprintf(pid, sizeof pid, "%d", (int)threads.pid);
	watch = watch_json(0, (const char *const[]){"-p", pid, "-d", "100ms", NULL});
	program_end(&threads);
	CHECK_EQUAL(cli_number(watch_kind_of(watch, "application"), "threads_now"), 10001);
	CHECK_EQUAL(watch_places(watch, "threads_now", NULL, "futex", "futex"), 10000);
	CHECK_EQUAL(cli_number(watch, "lost.events"), 0);
	json_decref(watch);
}

TEST(watch, no_io_seen_is_said_not_to_be_health)
{
	static const char *const program[] = {"hold", "nanosleep=1", NULL};
	json_t *watch;

	NEED_BPF();
	/* the first thread's read of its input is the only wait for I/O */
	watch = watch_program(program, "5ms");
	CHECK_EQUAL(json_array_size(json_object_get(watch, "checked")), 0);
	CHECK(json_array_size(json_object_get(watch, "cannot_tell")) >= 8);
	CHECK(json_array_size(json_object_get(watch, "not_visible")) >= 2);
	CHECK(cli_finding(watch, "TOO-SHORT"));
	json_decref(watch);
}

/* fio#718 */
TEST(watch, posix_aio_is_found_to_serve_by_a_hidden_thread)
{
	const json_t *helper;
	json_t *watch;

	NEED_BPF();
	watch = watch_engine("posix-aio", "disk-randread", "16");
	helper = watch_kind_of(watch, "aio-helper");
	REQUIRE_MESSAGE(helper, "no thread is told to be a helper");
	CHECK_EQUAL(cli_number(helper, "threads_max"), 1);
	if (cli_number(watch, "in_flight.disk.requests") > 100) {
		CHECK(cli_number(helper, "parked_direct_ns") > 0);
		CHECK(cli_finding(watch, "SERIAL-PER-FILE"));
	}
	json_decref(watch);
}

TEST(watch, a_ring_has_one_waiter_and_no_hidden_thread)
{
	json_t *watch;

	NEED_BPF();
	watch = watch_engine("uring", "disk-randread", "32");
	CHECK(!cli_finding(watch, "HIDDEN-WORKERS"));
	CHECK(!cli_finding(watch, "POOL-EXHAUSTED"));
	CHECK(watch_places(watch, "parked_ns", "parked-waiter", "io_uring_enter", "ring") > 0);
	CHECK(cli_number(watch, "in_flight.io_uring.submitted") > 100);
	json_decref(watch);
}

/* liburing#1466 */
TEST(watch, punted_is_not_taken_for_parked)
{
	json_t *watch;

	NEED_BPF();
	watch = watch_engine("uring-async", "disk-randread", "32");
	REQUIRE_MESSAGE(watch_kind_of(watch, "io-wq"), "no worker was seen");
	CHECK(cli_number(watch, "in_flight.io_uring.punted") > 100);
	CHECK(cli_finding(watch, "PUNTED-NOT-PARKED") || cli_finding(watch, "PUNTED-AND-PARKED"));
	CHECK(!watch_kind_of(watch, "sqpoll"));
	json_decref(watch);
}

TEST(watch, blocking_readers_are_a_thread_for_each_request)
{
	json_t *watch;

	NEED_BPF();
	watch = watch_engine("blocking", "disk-randread", "8");
	CHECK(watch_places(watch, "parked_ns", "parked-direct", "pread64", "file") > 0);
	CHECK(!cli_finding(watch, "HIDDEN-WORKERS"));
	CHECK(!cli_finding(watch, "POOL-EXHAUSTED"));
	json_decref(watch);
}
