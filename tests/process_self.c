/*
 * The helper that runs programs, held against the shell: a test that judges by it must be able
 * to trust it.
 */
#include "tests/process.h"
#include "tests/test.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>

static void shell_run(struct process p, const char *script, struct process_result *result)
{
	const char *const arguments[] = {"-c", script, NULL};
	p.program = "sh";
	p.argv = arguments;
	process_run(&p, result);
}

TEST(process, tells_status_and_both_outputs_apart)
{
	struct process_result r;
	shell_run((struct process){.input = "hello\n"}, "cat; echo oops >&2; exit 3", &r);
	CHECK(r.started);
	CHECK_STATUS(&r, 3);
	CHECK_STRING(r.out, "hello\n");
	CHECK_STRING(r.err, "oops\n");
	process_free(&r);
}

TEST(process, reads_more_than_a_pipe_holds_and_a_zero_byte)
{
	struct process_result r;
	shell_run((struct process){0}, "head -c 3000000 /dev/zero", &r);
	CHECK_STATUS(&r, 0);
	CHECK_EQUAL(r.out_bytes, 3000000);
	process_free(&r);
}

TEST(process, says_what_cannot_be_started)
{
	struct process_result r;
	process_run(&(struct process){.program = "/nonexistent/program"}, &r);
	CHECK(!r.started);
	CHECK_CONTAINS(r.err, "No such file");
	process_free(&r);
}

TEST(process, gives_the_outputs_that_break_programs)
{
	struct process_result r;
	shell_run((struct process){.out = OUTPUT_FULL}, "exec cat /proc/version", &r);
	CHECK(r.status != 0);
	CHECK_CONTAINS(r.err, "No space left");
	process_free(&r);
	shell_run((struct process){.out = OUTPUT_BROKEN_PIPE}, "exec cat /proc/self/status", &r);
	CHECK_EQUAL(r.signal, SIGPIPE);
	process_free(&r);
	shell_run((struct process){.out = OUTPUT_CLOSED, .input_closed = true},
	          "test ! -e /proc/$$/fd/0 && test ! -e /proc/$$/fd/1", &r);
	CHECK_STATUS(&r, 0);
	process_free(&r);
}

TEST(process, signals_after_a_text_was_seen)
{
	struct process_result r;
	shell_run((struct process){.signal = SIGINT, .signal_when = "ready"},
	          "trap 'echo bye; exit 5' INT; echo ready; while :; do sleep 0.01; done", &r);
	CHECK_STATUS(&r, 5);
	CHECK_CONTAINS(r.out, "bye");
	process_free(&r);
}

TEST(process, ends_what_takes_too_long)
{
	struct process_result r;
	shell_run((struct process){.seconds = 1}, "exec sleep 30", &r);
	CHECK(r.timed_out);
	CHECK_EQUAL(r.signal, SIGKILL);
	CHECK_BETWEEN(r.elapsed_ns, 1e9, 5e9);
	process_free(&r);
}

TEST(process, finds_children_left_behind_in_any_session)
{
	struct process_result r;
	shell_run((struct process){0}, "sleep 30 & setsid sleep 31 & sleep 0.1", &r);
	CHECK_EQUAL(r.left_behind, 2);
	CHECK_STRING(r.left_name, "sleep");
	process_free(&r);
	shell_run((struct process){0}, "sleep 0.01 & wait", &r);
	CHECK_STATUS(&r, 0);
	process_free(&r);
}

TEST(process, applies_limits_variables_and_directory)
{
	struct process_result r;
	const char *const variables[] = {"IOSTUDY_TEST=x y", "HOME", NULL};
	const struct process p = {.environment = variables,
	                          .directory = "/proc",
	                          .limits = {{RLIMIT_NOFILE, 33}},
	                          .limit_count = 1};
	shell_run(p, "ulimit -n; pwd; echo \"$IOSTUDY_TEST\" \"${HOME-none}\"", &r);
	CHECK_STRING(r.out, "33\n/proc\nx y none\n");
	process_free(&r);
}

TEST(process, becomes_another_user_without_capabilities)
{
	struct process_result r;
	if (!process_is_root())
		SKIP("only root can become another user");
	shell_run((struct process){.user = 65534},
	          "id -u; id -G; grep CapEff /proc/self/status | tr -d '\\t'", &r);
	CHECK_STRING(r.out, "65534\n65534\nCapEff:0000000000000000\n");
	process_free(&r);
}

TEST(process, denies_a_system_call)
{
	struct process_result r;
	const struct process p = {.denied = {SYS_mkdir, SYS_mkdirat}, .denied_count = 2};
	shell_run(p, "mkdir /tmp/iostudy-denied; uname >/dev/null", &r);
	CHECK_STATUS(&r, 0);
	CHECK_CONTAINS(r.err, "Operation not permitted");
	process_free(&r);
}

TEST(process, measures_lines_as_a_screen_does)
{
	CHECK_EQUAL(process_widest_line("ab\n\033[1mxyz\033[0m\n"), 3);
	CHECK_EQUAL(process_widest_line("\xe2\x94\x80\xe2\x94\x80\n"), 2);
}
