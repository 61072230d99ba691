/*
 * Every finding of a watch has figures that must raise it and some that must not; lost events and
 * a short window withhold what they could change. The programs with known truth are in watch_*.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/watch.h"
#include "tests/analysis_runs.h"
#include "tests/test.h"

/* A second of a program of two threads, one of them in a futex; nothing was in flight. */
static json_t *healthy(void)
{
	static const char text[] =
	    "{'window_ns': 1000000000, 'environment': {'cpus': 2}, 'targets': [], 'crews': [],"
	    " 'places': [], 'sync_waits': [], 'workers': [], 'threads_iowait_now': 0,"
	    " 'submitter_sleeps': [], 'lost': {'events': 0}, 'in_flight':"
	    " {'disk': {'mean': 0, 'max': 0, 'requests': 0}, 'io_uring': {'submitted': 0,"
	    "  'punted': 0, 'punted_by': [], 'workers_max': 0, 'workers_limit': 8,"
	    "  'workers_unbounded': 0}},"
	    " 'probes': [{'kinds': [{'kind': 'application', 'threads_now': 2, 'threads_max': 2,"
	    "  'alive_ns': 2000000000, 'running_ns': 1000000000, 'runnable_ns': 0,"
	    "  'parked_direct_ns': 0, 'parked_waiter_ns': 0, 'idle_ns': 0, 'other_ns': 1000000000,"
	    "  'unseen_ns': 0, 'parks': 0}]}]}";
	char strict[sizeof text];

	for (size_t i = 0; i < sizeof text; i++)
		strict[i] = text[i] == '\'' ? '"' : text[i];
	return json_loads(strict, 0, NULL);
}

/* What changes, as {path: value}. */
static json_t *changed(const char *changes)
{
	json_t *watch = healthy(), *all, *value;
	char strict[2000];
	const char *path;

	snprintf(strict, sizeof strict, "%s", changes);
	for (char *at = strict; *at; at++)
		*at = *at == '\'' ? '"' : *at;
	all = json_loads(strict, 0, NULL);
	CHECK_MESSAGE(watch && all, "%s", strict);
	json_object_foreach(all, path, value) run_set(watch, path, json_incref(value));
	json_decref(all);
	return watch;
}

#define DISK       "'in_flight.disk.requests': 1000, 'in_flight.disk.mean': "
#define APP        "'probes.0.kinds.0."
#define KIND(kind) "'probes.0.kinds.1': {'kind': '" kind "', 'alive_ns': 1000000000, "
#define FILE_PLACE(kind)                                                                           \
	"'places.0': {'kind': '" kind "', 'state': 'parked-direct', 'syscall': 'pread64', "        \
	"'object': {'type': 'file'}, 'parked_ns': "
#define PUNTED(reason)                                                                             \
	"'in_flight.io_uring.submitted': 100, 'in_flight.io_uring.punted': 100, "                  \
	"'in_flight.io_uring.punted_by': [{'operation': 'READ', 'reason': '" reason                \
	"', 'count': 100}]"
#define SLEEPS(cause) "'submitter_sleeps': [{'call': 'io_submit', 'cause': '" cause "', "
#define CREW                                                                                       \
	"'crews.0': {'name': 'worker', 'threads_now': 2, 'parked_now': 2, 'on_files_now': 2, "     \
	"'alive_ns': 2000000000, 'parked_direct_ns': 2000000000, 'futex_ns': 0, 'whole_window': "
#define CALLS                                                                                      \
	"'probes.0.kinds.0.threads_now': 3, 'crews.0': {'name': 'worker', 'threads_now': 2, "      \
	"'parked_now': 2, 'on_files_now': 0, 'on_calls_now': 2, 'alive_ns': 2000000000, "          \
	"'parked_direct_ns': 1900000000, 'futex_ns': 0, 'whole_window': 0, 'clients_now': "
#define WAITS(by)                                                                                  \
	"'sync_waits.0': {'thread': {'tid': 1, 'name': 'a', 'kind': 'application'}, "              \
	"'waker': {'tid': 2, 'name': 'b', 'kind': '" by "'}, 'waker_syscall': 'pread64', "         \
	"'waited_ns': 1, 'asked': 40, 'count': "

static const struct {
	const char *tag, *raises, *does_not;
} rows[] = {
    {"NO-THREAD", "{" DISK "8}", "{" DISK "8, " APP "parked_waiter_ns': 100000000}"},
    {"NO-THREAD", "{" DISK "8}", "{" DISK "8, " APP "unseen_ns': 100000000}"},
    {"ONE-WAITER", "{" DISK "8, " APP "parked_waiter_ns': 900000000}",
     "{" DISK "1, " APP "parked_waiter_ns': 900000000}"},
    {"THREAD-PER-IO", "{" DISK "2, " FILE_PLACE("application") "1900000000}}",
     "{" DISK "16, " FILE_PLACE("aio-helper") "1000000000}}"},
    {"PUNTED-NOT-PARKED", "{" PUNTED("forced") "}",
     "{" PUNTED("forced") ", " KIND("io-wq") "'parked_direct_ns': 500000000}}"},
    {"IOWAIT-IS-NOT-DISK", "{'threads_iowait_now': 1}", "{'threads_iowait_now': 1, " DISK "1}"},
    {"IDLE-WAITER", "{'places.0': {'syscall': 'epoll_wait', 'whole_window': 1}}",
     "{'places.0': {'syscall': 'epoll_wait', 'whole_window': 0}}"},
    {"POOL-EXHAUSTED", "{'probes.0.kinds.0.threads_now': 3, " CREW "2}}",
     "{'probes.0.kinds.0.threads_now': 3, " CREW "1}}"},
    {"POOL-EXHAUSTED", "{'probes.0.kinds.0.threads_now': 3, " CREW "2}}",
     "{'probes.0.kinds.0.threads_now': 2, " CREW "2}}"},
    {"POOL-EXHAUSTED", "{" CALLS "3}}", "{" CALLS "2}}"}, /* no more clients than threads */
    {"SYNC-OVER-ASYNC", "{" WAITS("application") "30}}", "{" WAITS("application") "19}}"},
    {"SYNC-OVER-ASYNC", "{" WAITS("application") "30}}", "{" WAITS("aio-helper") "30}}"},
    {"HIDDEN-WORKERS", "{" KIND("io-wq") "'threads_max': 4, 'parked_direct_ns': 500000000}}",
     "{" KIND("io-wq") "'threads_max': 4, 'parked_direct_ns': 50000000}}"},
    {"SERIAL-PER-FILE",
     "{" KIND("aio-helper") "'threads_max': 1, 'parks': 99, 'unseen_ns': 100000000}}",
     "{" KIND("aio-helper") "'threads_max': 1, 'parks': 99, 'unseen_ns': 900000000}}"},
    {"PUNTED-AND-PARKED",
     "{" PUNTED("fsync-class") ", " KIND("io-wq") "'parked_direct_ns': 500000000}}",
     "{" PUNTED("fsync-class") "}"},
    {"NO-NOWAIT", "{" PUNTED("no-nowait") "}", "{" PUNTED("forced") "}"},
    {"TAG-WAIT", "{" SLEEPS("tags") "'count': 20, 'parked_ns': 20000000}]}",
     "{" SLEEPS("lock") "'count': 20, 'parked_ns': 20000000}]}"},
    {"SUBMIT-BLOCKED", "{" SLEEPS("lock") "'count': 20, 'parked_ns': 60000000}]}",
     "{" SLEEPS("lock") "'count': 19, 'parked_ns': 60000000}]}"},
    {"WORKERS-OVER-LIMIT", "{'in_flight.io_uring.workers_max': 9}",
     "{'in_flight.io_uring.workers_max': 64, 'in_flight.io_uring.workers_unbounded': 64}"},
    {"POLLERS-OVER-CPUS",
     "{" KIND("sqpoll") "'threads_now': 3, 'running_ns': 2000000000, "
                        "'runnable_ns': 900000000}}",
     "{" KIND("sqpoll") "'threads_now': 3, 'running_ns': 0, 'runnable_ns': 0}}"},
    {"SPINNING", "{" KIND("sqpoll") "'threads_now': 1, 'running_ns': 900000000, 'runnable_ns': 0}}",
     "{" KIND("sqpoll") "'threads_now': 1, 'running_ns': 100000000, 'runnable_ns': 0}}"},
    {"NOTHING-SEEN", "{}", "{" DISK "1}"},
    {"TOO-SHORT", "{'window_ns': 99000000}", "{}"},
    {"LOSS", "{'lost.events': 1}", "{}"},
};
enum { ROWS = sizeof rows / sizeof *rows };

static bool raised(json_t *watch, const char *tag)
{
	return run_finding(watch, tag) != NULL;
}

static bool is_listed(const json_t *watch, const char *list, const char *tag)
{
	const json_t *one;
	size_t i;

	json_array_foreach(json_object_get(watch, list), i, one)
	{
		if (strcmp(json_string_value(one), tag) == 0)
			return true;
	}
	return false;
}

static bool is_problem(const char *tag)
{
	json_t *watch = changed("{}");
	const bool is = watch_conclude(watch) == 0 && is_listed(watch, "checked", tag);

	json_decref(watch);
	return is;
}

TEST(analysis_watch, each_finding_is_raised_by_its_figures_and_by_nothing_close_to_them)
{
	for (size_t i = 0; i < ROWS; i++) {
		json_t *watch = changed(rows[i].raises);

		CHECK_EQUAL(watch_conclude(watch), 0);
		CHECK_MESSAGE(raised(watch, rows[i].tag), "row %zu: no %s", i, rows[i].tag);
		CHECK(!is_listed(watch, "checked", rows[i].tag));
		json_decref(watch);
		watch = changed(rows[i].does_not);
		CHECK_EQUAL(watch_conclude(watch), 0);
		CHECK_MESSAGE(!raised(watch, rows[i].tag), "row %zu: %s", i, rows[i].tag);
		json_decref(watch);
	}
}

TEST(analysis_watch, every_tag_has_a_row_here)
{
	for (size_t i = 0; watch_tag(i); i++) {
		bool found = false;

		for (size_t row = 0; row < ROWS; row++)
			found |= strcmp(rows[row].tag, watch_tag(i)) == 0;
		CHECK_MESSAGE(found, "%s", watch_tag(i));
	}
}

TEST(analysis_watch, each_problem_has_evidence_advice_and_a_confidence)
{
	for (size_t i = 0; i < ROWS; i++) {
		json_t *watch = changed(rows[i].raises);
		const json_t *finding;

		CHECK_EQUAL(watch_conclude(watch), 0);
		finding = run_finding(watch, rows[i].tag);
		CHECK(json_object_size(json_object_get(finding, "evidence")) > 0);
		CHECK(*watch_string(finding, "confidence"));
		CHECK(strlen(watch_string(finding, "text")) > 20);
		if (strcmp(watch_string(finding, "class"), "problem") == 0)
			CHECK_MESSAGE(*watch_string(finding, "advice"), "%s", rows[i].tag);
		json_decref(watch);
	}
}

TEST(analysis_watch, what_is_not_there_in_a_short_window_or_beside_a_loss_cannot_be_told)
{
	static const char *const changes[] = {"{'window_ns': 99000000}", "{'lost.events': 1}"};

	for (size_t i = 0; i < 2; i++) {
		json_t *watch = changed(changes[i]);

		CHECK_EQUAL(watch_conclude(watch), 0);
		CHECK_EQUAL(json_array_size(json_object_get(watch, "checked")), 0);
		CHECK(is_listed(watch, "cannot_tell", "POOL-EXHAUSTED"));
		CHECK(is_listed(watch, "cannot_tell", "TAG-WAIT"));
		json_decref(watch);
	}
}

TEST(analysis_watch, what_is_there_in_a_short_window_trips_no_gate)
{
	for (size_t i = 0; i < ROWS; i++) {
		json_t *watch = changed(rows[i].raises);
		const json_t *finding;

		/* the same shares of a window a thousand times shorter would raise it too */
		run_number(watch, "window_ns", 99e6);
		CHECK_EQUAL(watch_conclude(watch), 0);
		CHECK(!watch_trips(watch, "warn"));
		finding = run_finding(watch, rows[i].tag);
		if (finding && is_problem(rows[i].tag))
			CHECK_STRING(watch_string(finding, "confidence"), "cannot-tell");
		json_decref(watch);
	}
}

TEST(analysis_watch, a_loss_withholds_that_nobody_was_there_and_names_it)
{
	static const char *const tags[] = {"NO-THREAD", "POOL-EXHAUSTED", "SYNC-OVER-ASYNC"};

	for (size_t i = 0; i < ROWS; i++)
		for (size_t k = 0; k < 3; k++) {
			json_t *watch;

			if (strcmp(rows[i].tag, tags[k]) != 0)
				continue;
			watch = changed(rows[i].raises);
			run_number(watch, "lost.events", 1);
			CHECK_EQUAL(watch_conclude(watch), 0);
			CHECK(!raised(watch, tags[k]));
			CHECK(strstr(watch_string(run_finding(watch, "LOSS"), "text"), tags[k]));
			json_decref(watch);
		}
}

TEST(analysis_watch, what_the_probe_does_not_measure_cannot_be_told)
{
	json_t *watch = changed("{'in_flight.io_uring': null, 'submitter_sleeps': null, "
	                        "'crews': null, 'in_flight.disk': null}");

	CHECK_EQUAL(watch_conclude(watch), 0);
	CHECK(is_listed(watch, "cannot_tell", "TAG-WAIT"));
	CHECK(is_listed(watch, "cannot_tell", "NO-NOWAIT"));
	CHECK(is_listed(watch, "cannot_tell", "POOL-EXHAUSTED"));
	CHECK(is_listed(watch, "checked", "HIDDEN-WORKERS"));
	json_decref(watch);
}

TEST(analysis_watch, the_text_ends_with_what_was_not_found_and_not_seen)
{
	static const struct text_style style = {0};
	json_t *watch = changed(rows[0].raises);
	char *text;

	CHECK_EQUAL(watch_conclude(watch), 0);
	text = watch_text(watch, &style);
	REQUIRE(text);
	CHECK(strstr(text, "Looked for and not found: POOL-EXHAUSTED"));
	CHECK(strstr(strstr(text, "Looked for"), "Not visible:"));
	free(text);
	json_decref(watch);
}
