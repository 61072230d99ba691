/*
 * What a child does between fork and exec: it makes itself the surroundings that the test asked
 * for. Order matters: descriptors and limits first, the user last, the filter at the very end.
 */
#include "tests/process_child.h"
#include "tests/test.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ARGUMENTS_MAX = 128, VARIABLES_MAX = 512 };

static void fail(const struct process_pipes *pipes, const char *what) __attribute__((noreturn));
static void fail(const struct process_pipes *pipes, const char *what)
{
	char text[512];
	const int length = snprintf(text, sizeof text, "%s: %s", what, strerror(errno));
	const ssize_t written = write(pipes->failure, text, (size_t)length);
	_exit(written < 0 ? 126 : 127);
}

static void output_set(enum process_output output, int pipe_end, int fd,
                       const struct process_pipes *pipes)
{
	const char *path = output == OUTPUT_FULL ? "/dev/full" : "/dev/null";
	int from = pipe_end;

	if (output == OUTPUT_CLOSED) {
		close(fd);
		return;
	}
	if (output == OUTPUT_NULL || output == OUTPUT_FULL)
		from = open(path, O_WRONLY | O_CLOEXEC);
	if (output == OUTPUT_BROKEN_PIPE) {
		int ends[2];
		if (pipe2(ends, O_CLOEXEC) != 0)
			fail(pipes, "pipe");
		close(ends[0]);
		from = ends[1];
	}
	if (from < 0 || dup2(from, fd) < 0)
		fail(pipes, path);
}

static void descriptors_set(const struct process *p, const struct process_pipes *pipes)
{
	int in = pipes->in >= 0 ? pipes->in : open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (in < 0 || dup2(in, STDIN_FILENO) < 0)
		fail(pipes, "stdin");
	output_set(p->out, pipes->out, STDOUT_FILENO, pipes);
	output_set(p->err, pipes->err, STDERR_FILENO, pipes);
	if (p->input_closed)
		close(STDIN_FILENO);
}

/* The variables of p beside our own; an entry without '=' takes a variable away. */
static void variables_set(const struct process *p)
{
	for (size_t i = 0; p->environment && p->environment[i]; i++) {
		if (strchr(p->environment[i], '='))
			putenv((char *)p->environment[i]);
		else
			unsetenv(p->environment[i]);
	}
}

static void user_set(const struct process *p, const struct process_pipes *pipes)
{
	if (p->user == 0)
		return;
	if (setgroups(0, NULL) != 0 || setresgid(p->user, p->user, p->user) != 0 ||
	    setresuid(p->user, p->user, p->user) != 0)
		fail(pipes, "becoming another user");
}

static void network_enter(const struct process *p, const struct process_pipes *pipes)
{
	char path[64];
	int fd;

	if (p->network_of == 0)
		return;
	snprintf(path, sizeof path, "/proc/%d/ns/net", p->network_of);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET) != 0)
		fail(pipes, "entering another network");
	close(fd);
}

static void filter_set(const struct process *p, const struct process_pipes *pipes)
{
	struct sock_filter code[2 * PROCESS_DENIED_MAX + 2];
	unsigned short length = 0;

	if (p->denied_count == 0)
		return;
	code[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
	                                              offsetof(struct seccomp_data, nr));
	for (unsigned i = 0; i < p->denied_count; i++) {
		code[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
		                                              (uint32_t)p->denied[i], 0, 1);
		code[length++] = (struct sock_filter)BPF_STMT(
		    BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (EPERM & SECCOMP_RET_DATA));
	}
	code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	const struct sock_fprog program = {.len = length, .filter = code};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		fail(pipes, "the filter on system calls");
}

static void arguments_set(const struct process *p, const char *program,
                          const char *arguments[ARGUMENTS_MAX])
{
	size_t count = 0;
	arguments[count++] = program;
	for (size_t i = 0; p->argv && p->argv[i] && count < ARGUMENTS_MAX - 1; i++)
		arguments[count++] = p->argv[i];
	arguments[count] = NULL;
}

void process_become(const struct process *p, const struct process_pipes *pipes)
{
	const char *arguments[ARGUMENTS_MAX];
	char program[PATH_MAX], built[PATH_MAX];
	int program_fd = -1;

	setsid();
	signal(SIGPIPE, SIG_DFL);
	snprintf(built, sizeof built, "%s/iostudy", test_build_directory());
	if (p->program && !strchr(p->program, '/'))
		snprintf(program, sizeof program, "%s", p->program);
	else if (!realpath(p->program ? p->program : built, program))
		fail(pipes, p->program ? p->program : built);
	/* Another user may not be let through to the build's folder: the open file will do. */
	if (p->user != 0 && *program == '/' && (program_fd = open(program, O_PATH | O_CLOEXEC)) < 0)
		fail(pipes, program);
	descriptors_set(p, pipes);
	variables_set(p);
	if (p->directory && chdir(p->directory) != 0)
		fail(pipes, p->directory);
	arguments_set(p, program, arguments);
	for (unsigned i = 0; i < p->limit_count; i++) {
		const struct rlimit limit = {p->limits[i].value, p->limits[i].value};
		if (setrlimit(p->limits[i].resource, &limit) != 0)
			fail(pipes, "setrlimit");
	}
	network_enter(p, pipes);
	user_set(p, pipes);
	filter_set(p, pipes);
	if (program_fd >= 0)
		syscall(SYS_execveat, program_fd, "", arguments, environ,
		        0x1000 /* AT_EMPTY_PATH */);
	else
		execvp(program, (char *const *)arguments);
	fail(pipes, program);
}
