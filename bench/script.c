/* Runs bpftrace beside a run: see script.h. */
#include "bench/script.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/child.h"

static const char ready_words[] = "watching process";
/* To detach, for which the kernel may take long on a busy machine, and to print. */
static const uint64_t end_grace_ns = 60000000000;
static const char killed_words[] =
    "\nbpftrace did not end in time and was killed: what it counted is missing\n";

enum {
	LOOK_MS = 20,
	READY_LOOKS = 3000, /* a minute: it compiles with LLVM, on a machine that may be busy */
	MISSING = 127,      /* the status of a child that found no bpftrace */
};

/* All that was written so far, as text without zeros, with room for one sentence more; NULL: no
 * memory. */
static char *read_all(int fd)
{
	char *text = malloc(SCRIPT_OUTPUT_MAX + sizeof killed_words);
	ssize_t got = 0, length = 0;

	if (!text)
		return NULL;
	while (length < SCRIPT_OUTPUT_MAX &&
	       (got = pread(fd, text + length, (size_t)(SCRIPT_OUTPUT_MAX - length), length)) > 0)
		length += got;
	for (ssize_t i = 0; i < length; i++)
		if (!text[i])
			text[i] = ' ';
	text[length] = 0;
	return text;
}

static bool says(int fd, const char *words)
{
	char *text = read_all(fd);
	const bool found = text && strstr(text, words);

	free(text);
	return found;
}

/* The child: becomes bpftrace. */
static void become(const struct script *script, const char *path, pid_t process)
{
	const struct rlimit most = {SCRIPT_OUTPUT_MAX, SCRIPT_OUTPUT_MAX};
	const struct rlimit unlimited = {RLIM_INFINITY, RLIM_INFINITY};
	char number[16];

	snprintf(number, sizeof number, "%d", (int)process);
	dup2(script->output, STDOUT_FILENO);
	dup2(script->message, STDERR_FILENO);
	close(STDIN_FILENO);
	child_close_others(NULL, 0);
	setrlimit(RLIMIT_FSIZE, &most);
	setrlimit(RLIMIT_MEMLOCK, &unlimited); /* it complains where it cannot */
	execlp("bpftrace", "bpftrace", "-B", "none", path, number, (char *)NULL);
	_exit(MISSING);
}

/* Why it ended, in its own words where it has any: its first line that tells of an error. */
static void explain(const struct script *script, const char *path, int status,
                    char why[PLAN_WHY_SIZE])
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	char *text = read_all(script->message);
	const char *line = text ? strstr(text, "ERROR: ") : NULL;

	while (line && strstr(line, "RLIMIT_MEMLOCK") &&
	       strstr(line, "RLIMIT_MEMLOCK") < line + strcspn(line, "\n"))
		line = strstr(line + 1, "ERROR: "); /* that one it survives */
	if (WIFEXITED(status) && WEXITSTATUS(status) == MISSING)
		snprintf(why, PLAN_WHY_SIZE,
		         "--bpftrace %s: bpftrace cannot be run; install it: apt-get install "
		         "bpftrace",
		         name);
	else if (line)
		snprintf(why, PLAN_WHY_SIZE, "--bpftrace %s: bpftrace refuses it: %.*s", name,
		         (int)strcspn(line, "\n"), line + strlen("ERROR: "));
	else if (geteuid())
		snprintf(why, PLAN_WHY_SIZE, "--bpftrace %s: bpftrace needs root: sudo iostudy",
		         name);
	else
		snprintf(why, PLAN_WHY_SIZE, "--bpftrace %s: bpftrace ended with status %d%s%.*s",
		         name, WEXITSTATUS(status), text && *text ? ": " : "",
		         text ? (int)strcspn(text, "\n") : 0, text ? text : "");
	free(text);
}

static int await_ready(struct script *script, const char *path, const volatile sig_atomic_t *stop,
                       char why[PLAN_WHY_SIZE])
{
	int status;

	for (int i = 0; i < READY_LOOKS; i++) {
		if (says(script->output, ready_words))
			return 0;
		if (*stop)
			return -EINTR;
		if (child_has_ended(script->pid, &status)) {
			explain(script, path, status, why);
			return -ECHILD;
		}
		poll(NULL, 0, LOOK_MS);
	}
	snprintf(why, PLAN_WHY_SIZE, "--bpftrace %s: bpftrace was not attached after %d s", path,
	         READY_LOOKS * LOOK_MS / 1000);
	return -ETIMEDOUT;
}

int script_start(struct script *script, const char *path, pid_t process,
                 const volatile sig_atomic_t *stop, char why[PLAN_WHY_SIZE])
{
	int error;

	script->output = memfd_create("output", MFD_CLOEXEC);
	script->message = memfd_create("message", MFD_CLOEXEC);
	script->pid = script->output < 0 || script->message < 0 ? -errno
	                                                        : child_fork("iostudy-script");
	if (script->pid == 0)
		become(script, path, process);
	if (script->pid < 0) {
		error = (int)script->pid;
		script->pid = 0;
		snprintf(why, PLAN_WHY_SIZE, "--bpftrace: cannot start bpftrace: %s%s",
		         strerror(-error), child_limits(error));
	} else {
		error = await_ready(script, path, stop, why);
	}
	if (error)
		free(script_end(script));
	return error;
}

static void close_file(int *fd)
{
	if (*fd > 0)
		close(*fd);
	*fd = 0;
}

char *script_end(struct script *script)
{
	char *text = NULL;

	if (script->pid > 0) {
		kill(script->pid, SIGINT);
		const int status = child_end(script->pid, end_grace_ns);
		text = read_all(script->output);
		if (text && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
			strcat(text, killed_words);
	}
	script->pid = 0;
	close_file(&script->output);
	close_file(&script->message);
	return text;
}
