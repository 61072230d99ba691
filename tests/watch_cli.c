/* `iostudy watch` as people call it: targets, commands, statuses, names, and what it leaves. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/test.h"
#include "tests/watch_help.h"

TEST(watch_cli, a_process_that_does_not_exist_is_status_1)
{
	struct process_result result;

	NEED_BPF();
	PROCESS_RUN(&result, "watch", "-p", "4000000", "-d", "1");
	CHECK_STATUS(&result, 1);
	CHECK_CONTAINS(result.err, "there is no process 4000000");
	CHECK_STRING(result.out, "");
	process_free(&result);
}

TEST(watch_cli, wrong_words_are_refused_with_what_is_right)
{
	static const struct {
		const char *arguments[6], *says;
	} rows[] = {
	    {{"watch", "-p", "1", "--", "sleep", NULL}, "use -d 10"},
	    {{"watch", NULL}, "-p PID"},
	    {{"watch", "-p", "x", NULL}, "-p 12,34"},
	    {{"watch", "-p", "1,", "-d", "0", NULL}, "above 0"},
	    {{"watch", "-p", "1", "--fail-on", "all", NULL}, "warn or crit"},
	    {{"watch", "sleep", NULL}, "after --"},
	    {{"watch", "--json", "--", "true", NULL}, "--json=FILE"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct process_result result;

		process_run(&(struct process){.argv = rows[i].arguments}, &result);
		CHECK_STATUS(&result, 2);
		CHECK_CONTAINS(result.err, rows[i].says);
		process_free(&result);
	}
}

TEST(watch_cli, stdout_and_status_are_the_commands)
{
	struct process_result result;

	NEED_BPF();
	PROCESS_RUN(&result, "--", "sh", "-c", "echo its own; exit 5");
	CHECK_STATUS(&result, 5);
	CHECK_STRING(result.out, "its own\n");
	CHECK_CONTAINS(result.err, "watched");
	CHECK(process_widest_line(result.err) <= 80);
	process_free(&result);
	PROCESS_RUN(&result, "watch", "--", "sh", "-c", "kill -9 $$");
	CHECK_STATUS(&result, 128 + 9);
	process_free(&result);
	PROCESS_RUN(&result, "watch", "--", "/no/such/command");
	CHECK_STATUS(&result, 127);
	CHECK_CONTAINS(result.err, "cannot run /no/such/command");
	process_free(&result);
}

TEST(watch_cli, ctrl_c_is_the_normal_end_and_term_is_not)
{
	static const struct {
		int signal, status;
		const char *says;
	} rows[] = {{SIGINT, 0, "\"ok\""}, {SIGTERM, 128 + SIGTERM, "\"interrupted\""}};
	char self[16];

	NEED_BPF();
	snprintf(self, sizeof self, "%d", (int)getpid());
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const char *const arguments[] = {"watch", "-p",    self, "--json",
		                                 "-i",    "100ms", NULL};
		const struct process p = {
		    .argv = arguments, .signal = rows[i].signal, .signal_when = "threads;"};
		struct process_result result;

		process_run(&p, &result);
		CHECK_STATUS(&result, rows[i].status);
		CHECK_CONTAINS(result.out, rows[i].says);
		process_free(&result);
	}
}

TEST(watch_cli, a_problem_trips_the_gate_and_an_answer_does_not)
{
	static const char *const program[] = {"hold", "fifo=2", "epoll=1", NULL};
	char directory[256], fifo[300], pid[16];
	struct program parkers;

	NEED_BPF();
	process_make_directory(directory);
	snprintf(fifo, sizeof fifo, "%s/fifo", directory);
	REQUIRE(mkfifo(fifo, 0600) == 0);
	setenv("PARKERS_FIFO", fifo, 1);
	REQUIRE(program_start(&parkers, "parkers", program));
	REQUIRE(program_expect(&parkers, "ready"));
	usleep(100000);
	snprintf(pid, sizeof pid, "%d", (int)parkers.pid);
	json_decref(watch_json(
	    3, (const char *const[]){"-p", pid, "-d", "200ms", "--fail-on", "crit", NULL}));
	program_end(&parkers);
	process_remove_directory(directory);
	setenv("PARKERS_FIFO", "", 1);
	snprintf(pid, sizeof pid, "%d", (int)getpid());
	json_decref(watch_json(
	    0, (const char *const[]){"-p", pid, "-d", "200ms", "--fail-on", "warn", NULL}));
}

/* A process with children of its own; prints nothing. */
static void has_children(void *unused, int input, int output)
{
	char byte;

	(void)unused;
	for (int i = 0; i < 3; i++)
		if (fork() == 0) {
			pause();
			_exit(0);
		}
	(void)!write(output, "ready\n", 6);
	(void)!read(input, &byte, 1);
	kill(0, SIGKILL);
}

static void has_children_alone(void *unused, int input, int output)
{
	setpgid(0, 0);
	has_children(unused, input, output);
}

TEST(watch_cli, children_are_watched_when_asked_for_and_counted_when_not)
{
	struct program program;
	char pid[16];
	json_t *watch;

	NEED_BPF();
	REQUIRE(program_fork(&program, has_children_alone, NULL));
	REQUIRE(program_expect(&program, "ready"));
	snprintf(pid, sizeof pid, "%d", (int)program.pid);
	watch = watch_json(0, (const char *const[]){"-p", pid, "-d", "100ms", NULL});
	CHECK_EQUAL(cli_number(watch, "targets.0.children_not_watched"), 3);
	CHECK_EQUAL(json_array_size(json_object_get(watch, "targets")), 1);
	json_decref(watch);
	watch = watch_json(0, (const char *const[]){"-f", "-p", pid, "-d", "100ms", NULL});
	CHECK_EQUAL(cli_number(watch, "targets.0.children_not_watched"), 0);
	CHECK_EQUAL(json_array_size(json_object_get(watch, "targets")), 4);
	CHECK_EQUAL(cli_number(watch_kind_of(watch, "application"), "threads_now"), 4);
	CHECK_EQUAL(watch_places(watch, "whole_window", NULL, "pause", NULL), 3);
	json_decref(watch);
	kill(-program.pid, SIGKILL);
	program_end(&program);
}

/* bcc#1329: the same process by its number outside, and both numbers shown. */
TEST(watch_cli, a_process_in_its_own_pid_namespace_is_found_and_both_ids_are_shown)
{
	static const char script[] = "\"$0\" hold pipe=2 </dev/zero >/dev/null & sleep 0.3; "
				     "\"$1\" watch --json --batch -p $! -d 200ms; kill $!; wait";
	char parkers[4200], self[4200];
	const char *const arguments[] = {"-p",   "-f",    "--mount-proc", "sh", "-c",
	                                 script, parkers, self,           NULL};
	struct process_result result;
	json_t *watch;

	NEED_BPF();
	if (!process_is_installed("unshare"))
		SKIP("unshare is not installed");
	snprintf(parkers, sizeof parkers, "%s/tests/programs/parkers", test_build_directory());
	snprintf(self, sizeof self, "%s/iostudy", test_build_directory());
	process_run(&(struct process){.program = "unshare", .argv = arguments}, &result);
	watch = json_loads(result.out, 0, NULL);
	REQUIRE_MESSAGE(watch, "from inside: %.200s %.300s", result.out, result.err);
	CHECK_BETWEEN(cli_number(watch, "targets.0.pid"), 2, 100);
	CHECK_EQUAL(cli_number(watch, "targets.0.pid"), cli_number(watch, "targets.0.pid_inside"));
	CHECK_EQUAL(watch_places(watch, "whole_window", "parked-direct", "read", "pipe"), 2);
	json_decref(watch);
	process_free(&result);
}

/* A process that is the first of a namespace of its own; its parent is ours. */
static void in_namespace(void *unused, int input, int output)
{
	const char *const arguments[] = {
	    "unshare", "-p", "-f", "--kill-child", "sh", "-c", "echo ready; read x", NULL};

	(void)unused;
	dup2(input, STDIN_FILENO);
	dup2(output, STDOUT_FILENO);
	execvp(arguments[0], (char *const *)arguments);
}

TEST(watch_cli, from_outside_a_namespace_the_inner_number_is_shown_too)
{
	struct program program;
	json_t *watch;
	char pid[16];

	NEED_BPF();
	if (!process_is_installed("unshare"))
		SKIP("unshare is not installed");
	REQUIRE(program_fork(&program, in_namespace, NULL));
	REQUIRE(program_expect(&program, "ready"));
	snprintf(pid, sizeof pid, "%d", (int)program.pid);
	watch = watch_json(0, (const char *const[]){"-f", "-p", pid, "-d", "100ms", NULL});
	CHECK_EQUAL(json_array_size(json_object_get(watch, "targets")), 2);
	CHECK_EQUAL(cli_number(watch, "targets.1.pid_inside"), 1);
	CHECK(cli_number(watch, "targets.1.pid") > 1);
	json_decref(watch);
	program_end(&program);
}

/* pixie#678, psgo#66: /proc is read from the last ")", and no name breaks the result. */
TEST(watch_cli, odd_names_break_neither_the_reading_nor_the_result)
{
	static const char *const names[] = {"a b) R 1 1", "x\ny", "\xff\xfe", "<script>", "\xc3"};
	char directory[256], path[300], source[4200];

	NEED_BPF();
	process_make_directory(directory);
	snprintf(source, sizeof source, "%s/tests/programs/parkers", test_build_directory());
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const char *const arguments[] = {"watch", "--batch", "-d", "100ms",
		                                 "--",    path,      NULL};
		struct process_result result;

		snprintf(path, sizeof path, "%s/%s", directory, names[i]);
		REQUIRE(symlink("/bin/true", path) == 0);
		process_run(&(struct process){.argv = arguments}, &result);
		CHECK_STATUS(&result, 0);
		CHECK_CONTAINS(result.err, "watched");
		for (const char *at = result.err; *at; at++)
			CHECK(*at == '\n' || (*at >= ' ' && *at < 127));
		process_free(&result);
	}
	process_remove_directory(directory);
}

TEST(watch_cli, without_privileges_it_says_what_would_allow_it)
{
	char self[16];

	snprintf(self, sizeof self, "%d", (int)getpid());
	const char *const arguments[] = {"watch", "-p", self, "-d", "100ms", NULL};
	const struct process p = {.argv = arguments, .user = process_is_root() ? 65534 : 0};
	struct process_result result;

	process_run(&p, &result);
	CHECK_CONTAINS(result.err, "setcap");
	process_free(&result);
}
