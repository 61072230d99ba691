/*
 * iostudy study, run as a user would: exactly the planned runs, whatever happens meanwhile; and
 * mistakes in the file named with their line.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/store.h"
#include "bench/study.h"
#include "tests/cli_runs.h"
#include "tests/process.h"
#include "tests/schema_check.h"
#include "tests/test.h"

/* Runs of some hundredths of a second: timers, and a handful of operations. */
static const char tiny[] = "; Tiny runs.\n"
			   "[global]\n"
			   "probe = none\n"
			   "operations = 30\n"
			   "repeat = 3\n"
			   "[timers]\n"
			   "workload = timer-delay\n"
			   "engine = uring, epoll, libaio\n"
			   "delay = 2ms\n"
			   "depth = 1, 4\n"
			   "[nothing]\n"
			   "engine = null\n"
			   "workload = timer-delay\n";
enum { TINY_RUNS = 3 * (6 + 1 + 2 * 2) };

struct scene {
	char directory[256], file[300], output[300];
};

static void scene_make(struct scene *s, const char *text)
{
	process_make_directory(s->directory);
	snprintf(s->file, sizeof s->file, "%s/tiny.study", s->directory);
	snprintf(s->output, sizeof s->output, "%s/results", s->directory);
	FILE *file = fopen(s->file, "w");
	REQUIRE(file);
	fputs(text, file);
	fclose(file);
}

static void study_run(const struct scene *s, const char *option, const char *value,
                      struct process_result *r)
{
	const char *const arguments[] = {"study", s->file, "-o", s->output, option, value, NULL};

	process_run(&(struct process){.argv = arguments, .directory = s->directory}, r);
}

/* Checks that DIR holds each planned run once, all of them by the schema. */
static void check_runs(const struct scene *s, size_t expected)
{
	char why[STUDY_WHY_SIZE], schema_why[SCHEMA_WHY_SIZE];
	struct store_runs runs = {0};
	struct study study;
	json_t *schema = json_load_file("analysis/schema/run.json", 0, NULL);

	REQUIRE(study_read(&study, s->file, why) == 0);
	REQUIRE(store_read(&runs, s->output, NULL, NULL, why) == 0);
	bool *found = calloc(study.run_count, sizeof *found);
	CHECK_EQUAL(runs.count, expected);
	CHECK_EQUAL(runs.visitor.refused, 0);
	for (size_t i = 0; i < runs.count; i++) {
		const json_t *plan = json_object_get(runs.runs[i], "plan");
		const int64_t at = study_find(&study, plan);

		CHECK_MESSAGE(schema_holds(schema, runs.runs[i], schema_why), "%s", schema_why);
		CHECK_MESSAGE(at >= 0 && !found[at], "%s: planned by nobody, or twice",
		              cli_text(plan, "cell"));
		CHECK(strcmp(cli_text(runs.runs[i], "status"), "interrupted") != 0);
		if (at >= 0)
			found[at] = true;
	}
	free(found);
	study_free(&study);
	store_free(&runs);
	json_decref(schema);
}

static pid_t study_start(const struct scene *s)
{
	char program[300];
	const pid_t pid = fork();

	snprintf(program, sizeof program, "%s/iostudy", test_build_directory());
	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
		_exit(1);
	execl(program, "iostudy", "study", s->file, "-o", s->output, NULL);
	_exit(127);
}

static off_t size_of(const char *path)
{
	struct stat file;

	return stat(path, &file) == 0 ? file.st_size : 0;
}

/* Until the file has grown, or the process has ended. */
static void await_growth(const char *path, off_t from, pid_t pid)
{
	siginfo_t info = {0};

	for (int i = 0; i < 3000 && size_of(path) <= from && !info.si_pid; i++) {
		usleep(10000);
		waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT);
	}
}

TEST(study, killed_at_ten_moments_and_resumed_ends_with_exactly_the_planned_runs)
{
	struct process_result r;
	struct scene s;
	char path[320];
	unsigned state = 12345, cut = 0;

	scene_make(&s, tiny);
	snprintf(path, sizeof path, "%s/runs.jsonl", s.output);
	for (int i = 0; i < 10; i++) {
		const pid_t pid = study_start(&s);

		REQUIRE(pid > 0);
		state = state * 1103515245 + 12345;
		if (i % 2)
			await_growth(path, size_of(path), pid);
		usleep((state >> 16) % 200000);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		/* a power cut in the midst of an append, which a kill alone hardly hits */
		if (i % 3 == 2 && size_of(path) > 200) {
			CHECK_EQUAL(truncate(path, size_of(path) - 150), 0);
			cut++;
		}
	}
	study_run(&s, NULL, NULL, &r);
	CHECK_STATUS(&r, 0);
	CHECK_CONTAINS(r.out, "33 of 33 runs are in ");
	process_free(&r);
	CHECK_EQUAL(TINY_RUNS, 33);
	CHECK_MESSAGE(cut > 0, "no run was kept before the last start: nothing was resumed");
	check_runs(&s, TINY_RUNS);
	process_remove_directory(s.directory);
}

TEST(study, interrupted_keeps_what_is_done_and_says_how_to_go_on)
{
	struct process_result r;
	struct scene s;

	scene_make(&s, tiny);
	const char *const arguments[] = {"study", s.file, "-o", s.output, NULL};
	process_run(&(struct process){.argv = arguments,
	                              .directory = s.directory,
	                              .signal = SIGINT,
	                              .signal_group = true,
	                              .signal_when = "[1/33]",
	                              .signal_delay_ns = 300000000},
	            &r);
	CHECK_STATUS(&r, 128 + SIGINT);
	CHECK_CONTAINS(r.out, "the same command goes on with the others");
	process_free(&r);
	study_run(&s, NULL, NULL, &r);
	CHECK_STATUS(&r, 0);
	process_free(&r);
	check_runs(&s, TINY_RUNS);
	study_run(&s, NULL, NULL, &r);
	CHECK_STATUS(&r, 0);
	CHECK_CONTAINS(r.err, "33 of 33 runs are there already");
	process_free(&r);
	check_runs(&s, TINY_RUNS);
	process_remove_directory(s.directory);
}

TEST(study, shards_make_up_the_whole_and_a_changed_file_is_refused)
{
	struct process_result r;
	struct scene s;

	scene_make(&s, tiny);
	study_run(&s, "--shard", "1/2", &r);
	CHECK_STATUS(&r, 0);
	process_free(&r);
	study_run(&s, "--shard", "2/2", &r);
	CHECK_STATUS(&r, 0);
	process_free(&r);
	check_runs(&s, TINY_RUNS);
	FILE *file = fopen(s.file, "a");
	REQUIRE(file);
	fputs("depth = 2\n", file);
	fclose(file);
	study_run(&s, NULL, NULL, &r);
	CHECK_STATUS(&r, 2);
	CHECK_CONTAINS(r.err, "that its file plans no more");
	CHECK_CONTAINS(r.err, "nothing engine=null workload=timer-delay");
	process_free(&r);
	process_remove_directory(s.directory);
}

TEST(study, a_dry_run_prints_the_plan_and_runs_nothing)
{
	struct process_result r;
	struct scene s;

	scene_make(&s, tiny);
	study_run(&s, "--dry-run", NULL, &r);
	CHECK_STATUS(&r, 0);
	CHECK_CONTAINS(r.out, "timers engine=epoll workload=timer-delay");
	CHECK_CONTAINS(r.out, "twin: no-probe");
	CHECK_CONTAINS(r.out, "tiny: 7 cells, 3 repeats, 33 runs, about ");
	CHECK(access(s.output, F_OK) != 0);
	process_free(&r);
	process_remove_directory(s.directory);
}

#define NINE "1,2,3,4,5,6,7,8,9,"

TEST(study, names_a_mistake_with_file_line_and_the_nearest_valid_word)
{
	static const struct {
		const char *text, *message;
	} rows[] = {
	    {"[a]\ndpeth = 3\n",
	     "tiny.study, line 2: unknown setting 'dpeth': did you mean depth?"},
	    {"[a]\nengine = uring, urimg\n", "line 2: unknown engine 'urimg': did you mean uring?"},
	    {"[a]\nworkload = disk-ranread\n", "line 2: unknown workload 'disk-ranread'"},
	    {"[a]\ndepth = 1,\n  0\n", "line 3: --depth 0 is out of range: 1 to 131072"},
	    {"[a]\ndepth = 1,,2\n", "line 2: depth has an empty value"},
	    {"[a]\ndepth =\n", "line 2: depth has an empty value"},
	    {"[a]\ndepth = 1\niodepth = 2\n", "line 3: depth stands in [a] already, line 2"},
	    {"[a]\nwait = sleep\n", "line 2: --wait: 'sleep' is none of"},
	    {"[a]\nprobe = ebpf\n", "line 2: unknown probe 'ebpf': did you mean bpf?"},
	    {"[a]\nfilesystem = ext5\n", "unknown file system 'ext5': did you mean ext4?"},
	    {"[a]\nrepeat = 2\n", "line 2: repeat belongs into [global]"},
	    {"[global]\nrepeat = 0\n[a]\n", "line 2: repeat 0 is out of range: 1 to 1000"},
	    {"depth = 1\n", "line 1: depth stands before the first [section]"},
	    {"[a]\ndepth = 1\n[global]\n", "line 3: [global] must stand before the other"},
	    {"[a]\n[a]\n", "line 2: [a] stands in line 1 already"},
	    {"[a\ndepth = 1\n", "line 1: neither [section] nor setting = value"},
	    {"[a]\nhello\n", "line 2: neither [section] nor setting = value"},
	    {"[global]\ndepth = 1\n", "it has no section"},
	    {"", "it has no section"},
	    {"[a]\nbs = 1000\n", "nothing of [a] can be run: --bs 1000 is not a multiple"},
	    {"[global]\nrepeat = 1000\n[a]\ndepth = 1,2,4,8,16\nbatch = 1,2,4,8,16\nseed = 1,2,3\n",
	     "these are 77000 runs, and the limit is 65536"},
	    {"[a]\n\nseed = " NINE NINE NINE NINE NINE NINE NINE NINE NINE NINE NINE NINE "\n",
	     "line 3: longer than 198 bytes: go on with the list on a line of its own"},
	};
	struct process_result r;
	struct scene s;

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		scene_make(&s, rows[i].text);
		study_run(&s, NULL, NULL, &r);
		CHECK_STATUS(&r, 2);
		CHECK_CONTAINS(r.err, rows[i].message);
		CHECK(access(s.output, F_OK) != 0);
		process_free(&r);
		process_remove_directory(s.directory);
	}
}

TEST(study, says_what_is_wrong_with_its_arguments)
{
	static const struct {
		const char *arguments[6], *message;
	} rows[] = {
	    {{"study", "quick"}, "-o DIR is missing"},
	    {{"study", "-o", "x"}, "which study? A file, or a name of `iostudy list studies`"},
	    {{"study", "quik", "-o", "x"}, "no study 'quik': did you mean quick?"},
	    {{"study", "quick", "-o", "x", "--shard=3/2"}, "--shard 3/2: K/N, with K from 1 to N"},
	    {{"study", "/nowhere/a.study", "-o", "x"}, "/nowhere/a.study: No such file"},
	    {{"study", "/tmp", "-o", "x"}, "/tmp: cannot be read: Is a directory"},
	};
	struct process_result r;

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		process_run(&(struct process){.argv = rows[i].arguments}, &r);
		CHECK_STATUS(&r, 2);
		CHECK_CONTAINS(r.err, rows[i].message);
		process_free(&r);
	}
}

TEST(study, those_that_come_with_the_program_can_be_read_and_are_listed)
{
	static const char *const names[] = {"quick", "there-is-no-thread", "depth", "filesystems",
	                                    "punts"};
	struct process_result list, r;

	PROCESS_RUN(&list, "list", "studies");
	CHECK_STATUS(&list, 0);
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		CHECK_CONTAINS(list.out, names[i]);
		PROCESS_RUN(&r, "study", names[i], "--dry-run");
		CHECK_STATUS(&r, 0);
		CHECK(!strstr(r.out, "(skipped)"));
		process_free(&r);
	}
	process_free(&list);
}

TEST(study, file_systems_are_made_and_nothing_of_them_is_left)
{
	static const char text[] = "[a]\nfilesystem = ext4, xfs, btrfs, tmpfs, overlay\n"
				   "operations = 20\nsize = 1m\nprobe = none\nengine = blocking\n";
	struct store_runs runs = {0};
	char why[STORE_WHY_SIZE], path[340];
	struct process_result r;
	struct scene s;
	int found = 0;

	if (!process_is_root())
		SKIP("loop devices and mounts need root");
	if (access("/dev/loop-control", W_OK) != 0)
		SKIP("there are no loop devices here");
	scene_make(&s, text);
	study_run(&s, NULL, NULL, &r);
	CHECK_CONTAINS(r.out, "7 of 7 runs are in ");
	process_free(&r);
	REQUIRE(store_read(&runs, s.output, NULL, NULL, why) == 0);
	for (size_t i = 0; i < runs.count; i++) {
		const json_t *run = runs.runs[i];
		const char *filesystem = cli_text(run, "environment.filesystem");
		const bool skipped = strcmp(cli_text(run, "status"), "skipped") == 0;

		snprintf(path, sizeof path, "filesystem=%s", filesystem);
		CHECK_MESSAGE(skipped || strstr(cli_text(run, "plan.cell"), path), "%s on %s",
		              cli_text(run, "plan.cell"), filesystem);
		CHECK_MESSAGE(!skipped || strstr(cli_text(run, "why"), "filesystem="), "%s",
		              cli_text(run, "why"));
		found += !skipped;
	}
	CHECK_MESSAGE(found >= 1, "none of the file systems could be made");
	store_free(&runs);
	snprintf(path, sizeof path, "%s/mnt", s.output);
	CHECK_MESSAGE(access(path, F_OK) != 0, "%s is left", path);
	process_remove_directory(s.directory);
}
