/*
 * What threads wait for on futexes, told from who ends their waits: pools, results that an I/O
 * brings, and what looks like them. The truth is in tests/programs/waits.c.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/test.h"
#include "tests/watch_help.h"

static json_t *watch_waits(const char *mode, const char *argument)
{
	return watch_named_program("waits", (const char *const[]){mode, argument, NULL}, "700ms");
}

/* The same with a file on a disk. */
static json_t *watch_waits_file(const char *mode)
{
	char directory[256], file[300];
	json_t *watch;

	process_make_directory(directory);
	snprintf(file, sizeof file, "%s/data", directory);
	watch = watch_waits(mode, file);
	process_remove_directory(directory);
	return watch;
}

static double threads_of(const json_t *watch, const char *kind)
{
	const json_t *one = watch_kind_of(watch, kind);

	return one ? cli_number(one, "threads_now") : 0;
}

TEST(watch_waits, who_wait_at_one_place_for_work_are_a_pool_that_idles)
{
	json_t *watch;

	NEED_BPF();
	watch = watch_waits("pool", "4");
	CHECK_EQUAL(threads_of(watch, "pool"), 4);
	CHECK_EQUAL(threads_of(watch, "application"), 2);
	CHECK_STRING(cli_text(watch, "crews.0.pool"), "likely");
	CHECK_EQUAL(cli_number(watch, "crews.0.waits.sharing"), 4);
	CHECK_EQUAL(cli_number(watch, "crews.0.waits.passed_on"), 0);
	CHECK_STRING(cli_text(watch, "crews.0.waits.given_by.kind"), "application");
	/* from the moment when it is known, its waits are no riddle any more */
	CHECK(cli_number(watch_kind_of(watch, "pool"), "idle_ns") > 0);
	CHECK(!cli_finding(watch, "SYNC-OVER-ASYNC"));
	CHECK(!cli_finding(watch, "POOL-EXHAUSTED"));
	json_decref(watch);
}

TEST(watch_waits, each_at_a_place_of_its_own_may_be_a_pool_and_is_not_called_one)
{
	json_t *watch;

	NEED_BPF();
	watch = watch_waits("private", "4");
	CHECK_EQUAL(threads_of(watch, "pool"), 0);
	CHECK_STRING(cli_text(watch, "crews.0.pool"), "cannot-tell");
	json_decref(watch);
}

TEST(watch_waits, who_take_a_lock_in_turn_are_no_pool)
{
	json_t *watch;

	NEED_BPF();
	watch = watch_waits("convoy", "6");
	CHECK_EQUAL(threads_of(watch, "pool"), 0);
	CHECK(strcmp(cli_text(watch, "crews.0.pool"), "likely") != 0);
	watch_check_no_problem(watch);
	json_decref(watch);
}

/* The waits that were asked for and those that I/O ended; whether of one thread or of several. */
static unsigned sync_waits(const json_t *watch, double *asked, double *by_io)
{
	const json_t *wait;
	unsigned threads = 0;
	size_t i;

	*asked = *by_io = 0;
	json_array_foreach(json_object_get(watch, "sync_waits"), i, wait)
	{
		threads += cli_number(wait, "count") > 0;
		*by_io += cli_number(wait, "count");
		if (cli_number(wait, "asked") > *asked)
			*asked = cli_number(wait, "asked");
	}
	return threads;
}

TEST(watch_waits, a_result_that_another_thread_reads_is_sync_over_async)
{
	double asked, by_io;
	const json_t *finding;
	json_t *watch;

	NEED_BPF();
	watch = watch_waits_file("result");
	/* and not the other way round: the reader waits for work */
	CHECK(sync_waits(watch, &asked, &by_io) <= 1);
	if (watch_places(watch, "sleeps", "parked-direct", "pread64", "file") < 100 || asked < 50) {
		json_decref(watch);
		SKIP("the disk answers before a reader sleeps, or hardly anything runs here");
	}
	finding = cli_finding(watch, "SYNC-OVER-ASYNC");
	REQUIRE_MESSAGE(finding, "%s", json_dumps(json_object_get(watch, "sync_waits"), 0));
	CHECK_STRING(cli_text(finding, "confidence"), "likely");
	CHECK_STRING(cli_text(finding, "severity"), "info");
	CHECK_CONTAINS(cli_text(finding, "text"), "pread64");
	CHECK(cli_number(finding, "evidence.waker_tid") > 0);
	json_decref(watch);
}

TEST(watch_waits, a_result_that_another_thread_computes_is_not)
{
	double asked, by_io;
	json_t *watch;

	NEED_BPF();
	watch = watch_waits_file("computation");
	CHECK(!cli_finding(watch, "SYNC-OVER-ASYNC"));
	CHECK_EQUAL(sync_waits(watch, &asked, &by_io), 0);
	json_decref(watch);
}

TEST(watch_waits, a_stage_that_is_given_what_another_has_read_is_a_pool)
{
	json_t *watch;

	NEED_BPF();
	watch = watch_waits_file("stage");
	CHECK(!cli_finding(watch, "SYNC-OVER-ASYNC"));
	CHECK(!cli_finding(watch, "POOL-EXHAUSTED"));
	json_decref(watch);
}

TEST(watch_waits, who_slept_before_the_watch_is_known_to_have_slept_longer)
{
	static const char *const arguments[] = {"hold", "pipe=1", "futex=1", NULL};
	static const char *const calls[] = {"read", "futex"};
	const uint64_t started_ns = clock_ns();
	struct program program;
	json_t *watch;
	char pid[16];

	NEED_BPF();
	REQUIRE(program_start(&program, "parkers", arguments));
	REQUIRE(program_expect(&program, "ready"));
	usleep(400000);
	snprintf(pid, sizeof pid, "%d", (int)program.pid);
	watch = watch_json(0, (const char *const[]){"-p", pid, "-d", "100ms", NULL});
	for (size_t i = 0; i < 2; i++)
		CHECK_BETWEEN(watch_places(watch, "longest_ns", NULL, calls[i], NULL) /
		                  (i == 0 ? 2 : 1), /* two rows: a pipe and its input */
		              cli_number(watch, "window_ns") + 1e8,
		              (double)(clock_ns() - started_ns));
	json_decref(watch);
	program_end(&program);
}

TEST(watch_waits, a_single_futex_is_named_by_its_address_and_several_are_counted)
{
	static const char *const program[] = {"hold", "futex=3", NULL};
	const json_t *place;
	bool found = false;
	json_t *watch;
	size_t i;

	NEED_BPF();
	watch = watch_program(program, "50ms");
	json_array_foreach(json_object_get(watch, "places"), i, place)
	{
		if (strcmp(cli_text(place, "object.type"), "futex") != 0)
			continue;
		found = true;
		CHECK_EQUAL(cli_number(place, "object.count"), 3);
		CHECK(json_is_null(cli_at(place, "object.name")));
	}
	CHECK(found);
	json_decref(watch);
}

/* A server that has three clients and accepts none. */
static void accepts_nobody(void *unused, int input, int output)
{
	const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in address = {.sin_family = AF_INET,
	                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof address;
	char byte;

	(void)unused;
	if (bind(server, (struct sockaddr *)&address, sizeof address) || listen(server, 8) ||
	    getsockname(server, (struct sockaddr *)&address, &size))
		return;
	for (int i = 0; i < 3; i++)
		if (connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&address, size))
			return;
	(void)!write(output, "ready\n", 6);
	(void)!read(input, &byte, 1);
}

TEST(watch_waits, connections_that_nobody_accepts_are_ready_and_not_taken)
{
	struct program program;
	json_t *watch;
	char pid[16];

	NEED_BPF();
	REQUIRE(program_fork(&program, accepts_nobody, NULL));
	REQUIRE(program_expect(&program, "ready"));
	snprintf(pid, sizeof pid, "%d", (int)program.pid);
	watch = watch_json(0, (const char *const[]){"-p", pid, "-d", "100ms", NULL});
	program_end(&program);
	CHECK_EQUAL(json_array_size(json_object_get(watch, "ready")), 1);
	CHECK_STRING(cli_text(watch, "ready.0.waits"), "connections");
	CHECK_EQUAL(cli_number(watch, "ready.0.count"), 3);
	json_decref(watch);
}
