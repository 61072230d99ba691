/*
 * Each finding about rings, native AIO and POSIX AIO has a program that must raise it, and one like
 * it that must not. Several are public reports. What a program does is in tests/programs/submits.c;
 * counts decide, and never times.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/test.h"
#include "tests/watch_help.h"

enum { FEW = 200 }; /* requests; with fewer the machine is too busy to tell */

static json_t *watch_in(const char *directory, const char *mode, const char *depth)
{
	char file[300];

	snprintf(file, sizeof file, "%s/data", directory);
	return watch_named_program("submits", (const char *const[]){mode, file, depth, NULL},
	                           "400ms");
}

static json_t *watch_on_disk(const char *mode, const char *depth)
{
	char directory[256];
	json_t *watch;

	process_make_directory(directory);
	watch = watch_in(directory, mode, depth);
	process_remove_directory(directory);
	return watch;
}

static bool is_found(const json_t *watch, const char *tag)
{
	return cli_finding(watch, tag) != NULL;
}

/* Problems that a healthy program of its kind must not raise. */
static void check_none_of(const json_t *watch, const char *const *tags)
{
	for (; *tags; tags++)
		CHECK_MESSAGE(!is_found(watch, *tags), "false: %s, %s", *tags,
		              cli_text(cli_finding(watch, *tags), "text"));
}

static double handed_over(const json_t *watch, const char *operation, const char *reason)
{
	const json_t *one;
	double sum = 0;
	size_t i;

	json_array_foreach(cli_at(watch, "in_flight.io_uring.punted_by"), i, one)
	{
		if (strcmp(cli_text(one, "operation"), operation) == 0 &&
		    strcmp(cli_text(one, "reason"), reason) == 0)
			sum += cli_number(one, "count");
	}
	return sum;
}

static bool takes_nowait(const json_t *watch)
{
	return handed_over(watch, "READ", "no-nowait") == 0;
}

/* The control of those that follow. */
TEST(watch_submits, a_ring_of_direct_reads_has_no_problem)
{
	static const char *const tags[] = {"HIDDEN-WORKERS",
	                                   "PUNTED-AND-PARKED",
	                                   "NO-NOWAIT",
	                                   "SUBMIT-BLOCKED",
	                                   "WORKERS-OVER-LIMIT",
	                                   "POLLERS-OVER-CPUS",
	                                   "SYNC-OVER-ASYNC",
	                                   "POOL-EXHAUSTED",
	                                   "SERIAL-PER-FILE",
	                                   "SPINNING",
	                                   NULL};
	json_t *watch;

	NEED_BPF();
	watch = watch_on_disk("ring", "16");
	if (takes_nowait(watch)) { /* an overlay gives each read to a worker */
		check_none_of(watch, tags);
		CHECK_EQUAL(json_array_size(json_object_get(watch, "workers")), 0);
	}
	/* attached in mid-flight: those that were under way count */
	if (!json_is_null(cli_at(watch, "in_flight.io_uring.max"))) {
		CHECK_BETWEEN(cli_number(watch, "in_flight.io_uring.max"), 1, 16);
		CHECK_BETWEEN(cli_number(watch, "in_flight.io_uring.mean"), 0, 16);
	}
	json_decref(watch);
}

/* A control, too: workers that do not sleep. */
TEST(watch_submits, forced_direct_reads_are_punted_and_park_nobody)
{
	static const char *const tags[] = {"HIDDEN-WORKERS", "PUNTED-AND-PARKED",  "NO-NOWAIT",
	                                   "POOL-EXHAUSTED", "WORKERS-OVER-LIMIT", NULL};
	json_t *watch;

	NEED_BPF();
	watch = watch_on_disk("forced", "16");
	check_none_of(watch, tags);
	CHECK_EQUAL(handed_over(watch, "READ", "forced"),
	            cli_number(watch, "in_flight.io_uring.punted"));
	if (handed_over(watch, "READ", "forced") >= FEW)
		CHECK(is_found(watch, "PUNTED-NOT-PARKED"));
	json_decref(watch);
}

/* liburing#1466, #420 */
TEST(watch_submits, workers_that_sleep_are_named_with_owner_and_bound)
{
	json_t *watch;

	NEED_BPF();
	watch = watch_on_disk("forced-buffered", "16");
	CHECK_BETWEEN(cli_number(watch, "in_flight.io_uring.workers_max"), 2, 64);
	CHECK(cli_number(watch, "in_flight.io_uring.workers_limit") > 0);
	CHECK_EQUAL(cli_number(watch, "workers.0.owner.tid"), cli_number(watch, "targets.0.pid"));
	CHECK_STRING(cli_text(watch, "workers.0.owner.name"), "submits");
	CHECK(*cli_text(watch, "workers.0.bound"));
	CHECK_EQUAL(cli_number(watch, "workers.0.threads_now"),
	            cli_number(watch_kind_of(watch, "io-wq"), "threads_now"));
	CHECK(cli_number(watch_kind_of(watch, "io-wq"), "idle_ns") > 0);
	if (handed_over(watch, "READ", "forced") >= FEW &&
	    cli_number(watch_kind_of(watch, "io-wq"), "parked_direct_ns") >
	        0.05 * cli_number(watch, "window_ns")) {
		CHECK(is_found(watch, "PUNTED-AND-PARKED"));
		CHECK_CONTAINS(cli_text(cli_finding(watch, "PUNTED-AND-PARKED"), "advice"),
		               "IOSQE_ASYNC");
	}
	json_decref(watch);
}

/* liburing#1568: "we do nothing blocking" */
TEST(watch_submits, what_needed_a_worker_is_told_by_operation_and_reason)
{
	const json_t *finding;
	json_t *watch;

	NEED_BPF();
	watch = watch_on_disk("sync", "8");
	finding = cli_finding(watch, "PUNTED-AND-PARKED");
	if (cli_number(watch, "in_flight.disk.requests") < 50) {
		json_decref(watch);
		SKIP("hardly anything runs here");
	}
	CHECK(handed_over(watch, "FSYNC", "fsync-class") > 0);
	REQUIRE_MESSAGE(finding, "PUNTED-AND-PARKED is not raised");
	CHECK(*cli_text(finding, "advice"));
	CHECK(cli_number(finding, "evidence.workers_parked_mean") > 0);
	CHECK(watch_places(watch, "sleeps", "parked-direct", NULL, "file") > 0);
	json_decref(watch);
}

/* foundationdb#2158, fio#512 */
TEST(watch_submits, io_submit_that_reads_the_page_cache_is_synchronous)
{
	const json_t *sleep;
	json_t *watch;

	NEED_BPF();
	watch = watch_on_disk("aio-buffered", "16");
	sleep = cli_at(watch, "submitter_sleeps.0");
	if (!sleep || cli_number(sleep, "parked_ns") < 0.06 * cli_number(watch, "window_ns")) {
		json_decref(watch);
		SKIP("the disk answers before a reader sleeps, or hardly anything runs here");
	}
	CHECK_STRING(cli_text(sleep, "call"), "io_submit");
	CHECK_STRING(cli_text(sleep, "cause"), "buffered-read");
	CHECK_CONTAINS(cli_text(sleep, "knob"), "O_DIRECT");
	CHECK(is_found(watch, "SUBMIT-BLOCKED"));
	CHECK(!is_found(watch, "TAG-WAIT"));
	json_decref(watch);
	watch = watch_on_disk("aio", "16");
	CHECK(!is_found(watch, "SUBMIT-BLOCKED"));
	json_decref(watch);
}

TEST(watch_submits, more_requests_than_the_device_takes_are_a_wait_for_tags)
{
	const json_t *sleep;
	json_t *watch;

	NEED_BPF();
	watch = watch_on_disk("ring", "600");
	sleep = cli_at(watch, "submitter_sleeps.0");
	if (!sleep || strcmp(cli_text(sleep, "cause"), "tags") != 0 ||
	    cli_number(sleep, "count") < 40 ||
	    cli_number(sleep, "parked_ns") < 0.02 * cli_number(watch, "window_ns")) {
		json_decref(watch);
		SKIP("the device takes 600 requests, or hardly anything runs here");
	}
	CHECK(is_found(watch, "TAG-WAIT"));
	CHECK(!is_found(watch, "NO-THREAD"));
	CHECK_CONTAINS(cli_text(sleep, "knob"), "nr_requests");
	json_decref(watch);
}

static void check_no_nowait(const char *directory)
{
	json_t *watch = watch_in(directory, "ring", "8");

	if (cli_number(watch, "in_flight.io_uring.submitted") >= FEW)
		CHECK(is_found(watch, "NO-NOWAIT"));
	CHECK_EQUAL(handed_over(watch, "READ", "no-nowait"),
	            cli_number(watch, "in_flight.io_uring.punted"));
	json_decref(watch);
}

TEST(watch_submits, tmpfs_and_an_overlay_know_no_nowait)
{
	static const char *const names[] = {"lower", "upper", "work", "merged"};
	char directory[256], path[300], options[1000];

	NEED_BPF();
	process_make_directory(directory);
	for (size_t i = 0; i < 4; i++) {
		snprintf(path, sizeof path, "%s/%s", directory, names[i]);
		REQUIRE(mkdir(path, 0700) == 0);
	}
	snprintf(options, sizeof options, "lowerdir=%s/lower,upperdir=%s/upper,workdir=%s/work",
	         directory, directory, directory);
	if (mount("overlay", path, "overlay", 0, options) == 0) {
		check_no_nowait(path);
		CHECK_EQUAL(umount2(path, MNT_DETACH), 0); /* a ring lets go of its file later */
	}
	if (mount("tmpfs", path, "tmpfs", 0, "size=32m") == 0) {
		check_no_nowait(path);
		CHECK_EQUAL(umount2(path, MNT_DETACH), 0);
	}
	process_remove_directory(directory);
}

TEST(watch_submits, workers_that_were_more_than_a_new_limit_are_over_it)
{
	json_t *watch;

	NEED_BPF();
	watch = watch_on_disk("over-limit", "8");
	if (cli_number(watch, "in_flight.io_uring.workers_max") < 2) {
		json_decref(watch);
		SKIP("the workers had ended before the watch");
	}
	REQUIRE_MESSAGE(is_found(watch, "WORKERS-OVER-LIMIT"), "WORKERS-OVER-LIMIT is not raised");
	CHECK_EQUAL(cli_number(cli_finding(watch, "WORKERS-OVER-LIMIT"), "evidence.workers_limit"),
	            1);
	CHECK_STRING(cli_text(watch, "workers.0.bound"), "bounded");
	json_decref(watch);
}

/* liburing#1399: a thread of the process that burns a CPU and is never parked. */
TEST(watch_submits, pollers_burn_cpus_and_are_never_parked)
{
	const char *const count = sysconf(_SC_NPROCESSORS_ONLN) < 4 ? "5" : "1";
	const json_t *kind;
	json_t *watch;

	NEED_BPF();
	watch = watch_on_disk("pollers", count);
	kind = watch_kind_of(watch, "sqpoll");
	REQUIRE_MESSAGE(kind, "no poller was seen");
	CHECK_EQUAL(cli_number(kind, "threads_now"), atoi(count));
	CHECK_EQUAL(cli_number(kind, "parked_direct_ns") + cli_number(kind, "parked_waiter_ns"), 0);
	CHECK(cli_number(kind, "running_ns") > 0);
	CHECK(is_found(watch, "SPINNING"));
	CHECK_EQUAL(is_found(watch, "POLLERS-OVER-CPUS"), atoi(count) > 1);
	json_decref(watch);
}

/* fio#718: asked against served. The C library's list is looked at now and then, one more than
 * there are when an entry has just been served. */
TEST(watch_submits, posix_aio_is_asked_for_many_and_serves_one)
{
	const json_t *finding, *asked;
	json_t *watch;

	NEED_BPF();
	watch = watch_on_disk("posix", "16");
	finding = cli_finding(watch, "SERIAL-PER-FILE");
	asked = cli_at(watch, "in_flight.posix_aio");
	CHECK_EQUAL(cli_number(watch_kind_of(watch, "aio-helper"), "threads_max"), 1);
	if (json_is_object(asked))
		CHECK_BETWEEN(cli_number(asked, "per_file_max"), 1, 17);
	if (json_is_object(asked) && finding)
		CHECK_CONTAINS(cli_text(finding, "text"), "served: 1");
	CHECK(!is_found(watch, "SYNC-OVER-ASYNC"));
	json_decref(watch);
}
