/*
 * Which engines only look asynchronous: requests that go to io_uring's workers, and submissions
 * that sleep. Counts and their ratios, which hold on a busy machine too; never times.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "tests/cli_runs.h"
#include "tests/test.h"

#define NEED_BPF()                                                                                 \
	do {                                                                                       \
		if (!process_is_root())                                                            \
			SKIP("the bpf probe needs root");                                          \
	} while (0)

/* One short run over 16 MiB, with these options besides. */
#define SHORT_RUNS(...)                                                                            \
	CLI_RUNS(0, "--workload", "disk-randread", "--size", "16m", "--runtime", "300ms",          \
	         "--warmup", "100ms", __VA_ARGS__)

static bool takes_nowait(const json_t *run)
{
	return !json_is_false(cli_at(run, "environment.nowait_read"));
}

/* The entry of a list whose key is the value, or NULL. */
static const json_t *entry(const json_t *list, const char *key, const char *value)
{
	for (size_t i = 0; i < json_array_size(list); i++)
		if (strcmp(cli_text(json_array_get(list, i), key), value) == 0)
			return json_array_get(list, i);
	return NULL;
}

/* All was handed over, and for this reason. */
static void check_punted(const json_t *run, const char *reason)
{
	const double submitted = cli_number(run, "probes.0.io_uring.submitted");
	const json_t *by = entry(cli_at(run, "probes.0.io_uring.punted_by"), "reason", reason);

	CHECK_STRING(cli_text(run, "status"), "ok");
	CHECK(submitted > 0);
	CHECK_BETWEEN(cli_number(run, "probes.0.io_uring.punted"), 0.999 * submitted,
	              1.001 * submitted);
	CHECK(by);
	CHECK_BETWEEN(cli_number(by, "count"), 0.999 * submitted, 1.001 * submitted);
}

TEST(workers, libaio_and_a_deferring_ring_hold_one_waiter_or_nobody)
{
	NEED_BPF();
	json_t *runs = SHORT_RUNS("--engine", "libaio,uring-defer", "--wait", "park,compute");

	CHECK_EQUAL(json_array_size(runs), 4);
	for (size_t i = 0; i < json_array_size(runs); i++) {
		const json_t *run = json_array_get(runs, i);
		const bool computes = strcmp(cli_text(run, "plan.wait"), "compute") == 0;
		const bool aio = strcmp(cli_text(run, "plan.engine"), "libaio") == 0;
		const double operations = cli_number(run, "measured.operations");

		CHECK_STRING(cli_text(run, "status"), "ok");
		if (!takes_nowait(run))
			SKIP("io_uring gives reads to workers on %s",
			     cli_text(run, "environment.filesystem"));
		CHECK_BETWEEN(cli_number(run, "summary.parked_per_in_flight"), 0, 0.08);
		if (computes) {
			CHECK_BETWEEN(cli_number(run, "summary.nobody_parked_share"), 0.999, 1);
			CHECK(cli_finding(run, "NO-THREAD"));
		}
		/* one is posted where the device's interrupt came, the other by its owner */
		const double posted = cli_number(run,
		                                 aio ? "probes.0.completions.posted_in.interrupt"
		                                     : "probes.0.completions.posted_in.submitter");
		CHECK_BETWEEN(posted, 0.9 * operations - 64, 1.1 * operations + 64);
		CHECK_EQUAL(cli_number(run, aio ? "probes.0.completions.posted_in.submitter"
		                                : "probes.0.completions.posted_in.interrupt"),
		            0);
	}
	json_decref(runs);
}

TEST(workers, buffered_libaio_sleeps_inside_io_submit)
{
	NEED_BPF();
	json_t *runs = SHORT_RUNS("--engine", "libaio", "--direct", "0", "--wait", "park");
	const json_t *run = json_array_get(runs, 0);
	const json_t *sleeps = entry(cli_at(run, "probes.0.submitter_sleeps"), "cause",
	                             "buffered-read");

	REQUIRE(run && sleeps);
	CHECK_STRING(cli_text(sleeps, "call"), "io_submit");
	CHECK(cli_number(sleeps, "count") > 0.5 * cli_number(run, "measured.operations"));
	CHECK(cli_number(sleeps, "parked_ns") > 0);
	CHECK_CONTAINS(cli_text(cli_finding(run, "SUBMIT-BLOCKED"), "text"),
	               "synchronous in practice");
	CHECK(!cli_finding(run, "TAG-WAIT"));
	json_decref(runs);
}

TEST(workers, a_submission_poller_spins_and_nobody_parks)
{
	NEED_BPF();
	json_t *runs = SHORT_RUNS("--engine", "uring-sqpoll", "--wait", "compute");
	const json_t *run = json_array_get(runs, 0);
	const json_t *poller = entry(cli_at(run, "probes.0.kinds"), "kind", "sqpoll");

	REQUIRE(poller);
	CHECK_EQUAL(cli_number(poller, "threads_max"), 1);
	CHECK_BETWEEN(cli_number(run, "summary.threads_parked_mean"), 0, 0.01);
	CHECK_CONTAINS(cli_text(cli_finding(run, "SPINNING"), "text"), "iou-sqp");
	json_decref(runs);
}

TEST(workers, what_is_forced_through_workers_parks_none_of_them_on_the_disk)
{
	NEED_BPF();
	json_t *runs = SHORT_RUNS("--engine", "uring-async", "--wait", "park");
	const json_t *run = json_array_get(runs, 0);

	if (!takes_nowait(run))
		SKIP("direct reads wait for %s", cli_text(run, "environment.filesystem"));
	check_punted(run, "forced");
	CHECK(cli_number(run, "probes.0.io_uring.workers_parks") <
	      0.1 * cli_number(run, "probes.0.io_uring.punted"));
	CHECK(cli_finding(run, "PUNTED-NOT-PARKED"));
	CHECK(!cli_finding(run, "PUNTED-AND-PARKED"));
	CHECK(!cli_finding(run, "NO-NOWAIT"));
	json_decref(runs);
}

TEST(workers, buffered_and_forced_they_park_and_are_counted_beside_their_limits)
{
	NEED_BPF();
	json_t *runs = SHORT_RUNS("--engine", "uring-async", "--direct", "0", "--wait", "park");
	const json_t *run = json_array_get(runs, 0);

	check_punted(run, "forced");
	CHECK(cli_finding(run, "PUNTED-AND-PARKED"));
	CHECK(cli_number(run, "probes.0.io_uring.workers_parks") > 0);
	CHECK(cli_number(run, "probes.0.io_uring.workers_parked_ns") > 0);
	/* the kernel's own rule: the ring's entries, or four for each CPU */
	CHECK_BETWEEN(cli_number(run, "probes.0.io_uring.workers_limit"), 1,
	              4 * cli_number(run, "environment.cpus"));
	CHECK_BETWEEN(cli_number(run, "probes.0.io_uring.workers_max"), 1, 40);
	CHECK_BETWEEN(cli_number(run, "probes.0.io_uring.workers_unbounded"), 0,
	              cli_number(run, "probes.0.io_uring.workers_max"));
	json_decref(runs);
}

TEST(workers, each_fsync_of_a_ring_parks_a_worker)
{
	NEED_BPF();
	json_t *runs = CLI_RUNS(0, "--engine", "uring", "--workload", "disk-fsync", "--direct", "0",
	                        "--size", "16m", "--runtime", "500ms", "--warmup", "100ms",
	                        "--wait", "park", "--depth", "8");
	const json_t *run = json_array_get(runs, 0);
	const json_t *by = cli_at(run, "probes.0.io_uring.punted_by");

	CHECK(cli_number(entry(by, "reason", "fsync-class"), "count") > 0);
	CHECK_STRING(cli_text(entry(by, "reason", "fsync-class"), "operation"), "FSYNC");
	CHECK(cli_finding(run, "PUNTED-AND-PARKED"));
	CHECK(entry(cli_at(run, "probes.0.io_uring.workers_parked_by"), "operation", "FSYNC"));
	json_decref(runs);
}

TEST(workers, more_than_the_device_takes_make_the_submitter_wait_for_tags)
{
	NEED_BPF();
	json_t *runs = SHORT_RUNS("--engine", "uring", "--wait", "park", "--depth", "512");
	const json_t *run = json_array_get(runs, 0);
	const json_t *tags = entry(cli_at(run, "probes.0.submitter_sleeps"), "cause", "tags");

	if (!(cli_number(run, "environment.nr_requests") <= 256) || !takes_nowait(run))
		SKIP("the device takes 512 requests at once, or io_uring's reads go to workers");
	REQUIRE(tags);
	CHECK_STRING(cli_text(tags, "call"), "io_uring_enter");
	CHECK(cli_number(tags, "count") >= 1);
	CHECK(cli_finding(run, "TAG-WAIT"));
	CHECK(!cli_finding(run, "SUBMIT-BLOCKED"));
	json_decref(runs);
}

static void check_refuses(const char *directory, const char *filesystem)
{
	json_t *runs = SHORT_RUNS("--engine", "uring", "--wait", "park", "--directory", directory);
	const json_t *run = json_array_get(runs, 0);

	CHECK_STRING(cli_text(run, "environment.filesystem"), filesystem);
	check_punted(run, "no-nowait");
	CHECK_CONTAINS(cli_text(cli_finding(run, "NO-NOWAIT"), "text"), filesystem);
	json_decref(runs);
}

TEST(workers, tmpfs_gives_every_read_to_a_worker)
{
	struct stat status;

	NEED_BPF();
	if (stat("/dev/shm", &status))
		SKIP("there is no /dev/shm");
	check_refuses("/dev/shm", "tmpfs");
}

TEST(workers, an_overlay_gives_every_read_to_a_worker)
{
	char directory[256], options[1000], merged[300], path[300];
	static const char *const parts[] = {"lower", "upper", "work", "merged"};

	NEED_BPF();
	process_make_directory(directory);
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		snprintf(path, sizeof path, "%s/%s", directory, parts[i]);
		mkdir(path, 0700);
	}
	snprintf(merged, sizeof merged, "%s/merged", directory);
	snprintf(options, sizeof options, "lowerdir=%s/lower,upperdir=%s/upper,workdir=%s/work",
	         directory, directory, directory);
	if (mount("overlay", merged, "overlay", 0, options)) {
		process_remove_directory(directory);
		SKIP("an overlay cannot be mounted here");
	}
	check_refuses(merged, "overlay");
	CHECK_EQUAL(umount2(merged, MNT_DETACH), 0);
	process_remove_directory(directory);
}
