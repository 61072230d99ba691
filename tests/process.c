/*
 * Runs a program to its end: reads its outputs, sends it the signal of the test, keeps the time
 * limit, and afterwards looks for processes that it has left behind.
 */
#include "tests/process.h"
#include "tests/process_child.h"
#include "tests/process_left.h"
#include "tests/test.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { OUTPUT_MAX = 64 << 20, SIGNAL_AGAIN_NS = 10000000, SECOND_NS = 1000000000 };

struct text {
	char *bytes;
	size_t length, size;
	int fd; /* -1 once at its end */
};

/* A run in progress. */
struct running {
	const struct process *p;
	struct process_result *result;
	struct process_left before;
	pid_t pid;
	int pid_fd, input_fd;
	size_t input_done;
	struct text out, err;
	int64_t started_ns, deadline_ns;
	int64_t signal_ns; /* when the next one is due; INT64_MAX: none, or not yet */
	unsigned signals_left;
	bool ended;
};

static int64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * SECOND_NS + now.tv_nsec;
}

static void text_read(struct text *text)
{
	if (text->size - text->length < 4096) {
		text->size = text->size ? 2 * text->size : 16384;
		char *bytes = realloc(text->bytes, text->size);
		if (!bytes)
			abort();
		text->bytes = bytes;
	}
	const ssize_t got = read(text->fd, text->bytes + text->length,
	                         text->size - text->length - 1);
	if (got > 0)
		text->length += (size_t)got;
	if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN) ||
	    text->length > OUTPUT_MAX) {
		close(text->fd);
		text->fd = -1;
	}
	text->bytes[text->length] = 0;
}

static void input_write(struct running *r)
{
	const size_t left = strlen(r->p->input) - r->input_done;
	const ssize_t put = write(r->input_fd, r->p->input + r->input_done, left);
	if (put > 0)
		r->input_done += (size_t)put;
	if ((size_t)(put > 0 ? put : 0) == left || (put < 0 && errno != EINTR && errno != EAGAIN)) {
		close(r->input_fd);
		r->input_fd = -1;
	}
}

static bool text_holds(const struct text *text, const char *part)
{
	return text->bytes && strstr(text->bytes, part);
}

static void signal_step(struct running *r)
{
	const struct process *p = r->p;
	if (r->signals_left == 0 || r->ended)
		return;
	if (r->signal_ns == INT64_MAX &&
	    (text_holds(&r->out, p->signal_when) || text_holds(&r->err, p->signal_when)))
		r->signal_ns = now_ns() + p->signal_delay_ns;
	if (now_ns() < r->signal_ns)
		return;
	kill(p->signal_group ? -r->pid : r->pid, p->signal);
	r->signals_left--;
	r->signal_ns = now_ns() + SIGNAL_AGAIN_NS;
}

/* Waits for the next thing to happen, and takes it. */
static void step(struct running *r)
{
	int64_t until_ns = r->deadline_ns;
	if (r->signals_left && r->signal_ns < until_ns)
		until_ns = r->signal_ns;
	const int64_t wait_ns = until_ns - now_ns();
	const int wait_ms = wait_ns <= 0 ? 0 : (int)(wait_ns / 1000000 + 1);
	struct pollfd fds[] = {
	    {.fd = r->pid_fd, .events = POLLIN},
	    {.fd = r->out.fd, .events = POLLIN},
	    {.fd = r->err.fd, .events = POLLIN},
	    {.fd = r->input_fd, .events = POLLOUT},
	};
	if (poll(fds, 4, wait_ms) < 0)
		return;
	if (fds[1].revents)
		text_read(&r->out);
	if (fds[2].revents)
		text_read(&r->err);
	if (fds[3].revents)
		input_write(r);
	signal_step(r);
	if (fds[0].revents)
		r->ended = true;
	if (!r->ended && now_ns() >= r->deadline_ns) {
		r->result->timed_out = true;
		kill(r->pid, SIGKILL);
		r->deadline_ns = now_ns() + 10ll * SECOND_NS;
	}
}

static void watch_to_end(struct running *r)
{
	siginfo_t info = {0};
	int status = 0;

	while (!r->ended)
		step(r);
	r->result->elapsed_ns = now_ns() - r->started_ns;
	/* Not collected yet: so its number stays its own while the others are looked for. */
	waitid(P_PID, (id_t)r->pid, &info, WEXITED | WNOWAIT);
	r->result->left_behind = process_left_end(&r->before, r->pid, r->result->left_name,
	                                          sizeof r->result->left_name);
	waitpid(r->pid, &status, 0);
	r->result->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	r->result->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	while (r->out.fd >= 0)
		text_read(&r->out);
	while (r->err.fd >= 0)
		text_read(&r->err);
}

static int pipe_for(bool wanted, int ends[2])
{
	ends[0] = ends[1] = -1;
	return wanted ? pipe2(ends, O_CLOEXEC) : 0;
}

static void close_some(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static char *text_end(struct text *text, size_t *bytes)
{
	close_some(&text->fd);
	*bytes = text->length;
	return text->bytes ? text->bytes : strdup("");
}

void process_run(const struct process *p, struct process_result *result)
{
	int in[2], out[2], err[2], failure[2];
	struct text broken = {.fd = -1};

	memset(result, 0, sizeof *result);
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	signal(SIGPIPE, SIG_IGN);
	if (pipe_for(p->input != NULL, in) || pipe_for(p->out == OUTPUT_CAPTURED, out) ||
	    pipe_for(p->err == OUTPUT_CAPTURED, err) || pipe_for(true, failure))
		abort();
	struct running r = {
	    .p = p, .result = result, .input_fd = in[1], .out.fd = out[0], .err.fd = err[0]};
	process_left_note(&r.before);
	r.started_ns = now_ns();
	r.deadline_ns = r.started_ns +
	                (int64_t)(p->seconds ? p->seconds : PROCESS_SECONDS) * SECOND_NS;
	r.signal_ns = p->signal_when ? INT64_MAX : r.started_ns + p->signal_delay_ns;
	r.signals_left = p->signal ? 1 + p->signal_again : 0;
	fflush(NULL);
	r.pid = fork();
	if (r.pid < 0)
		abort();
	if (r.pid == 0)
		process_become(p, &(struct process_pipes){in[0], out[1], err[1], failure[1]});
	close_some(&in[0]);
	close_some(&out[1]);
	close_some(&err[1]);
	close_some(&failure[1]);
	broken.fd = failure[0];
	while (broken.fd >= 0)
		text_read(&broken);
	r.pid_fd = (int)syscall(SYS_pidfd_open, r.pid, 0);
	watch_to_end(&r);
	close_some(&r.pid_fd);
	close_some(&r.input_fd);
	result->started = broken.length == 0;
	result->out = text_end(&r.out, &result->out_bytes);
	result->err = text_end(result->started ? &r.err : &broken, &result->err_bytes);
	free(result->started ? broken.bytes : r.err.bytes);
	close_some(&r.err.fd);
}

void process_free(struct process_result *result)
{
	free(result->out);
	free(result->err);
	result->out = result->err = NULL;
}

void process_check_status(const struct process_result *r, int expected, const char *file, int line)
{
	if (!r->started)
		test_fail(file, line, "could not be started: %s", r->err);
	else if (r->timed_out)
		test_fail(file, line, "did not end in time\nstdout: %.1000s\nstderr: %.1000s",
		          r->out, r->err);
	else if (r->signal)
		test_fail(file, line,
		          "ended by signal %d (%s), not with status %d\nstderr: %.1000s", r->signal,
		          strsignal(r->signal), expected, r->err);
	else if (r->status != expected)
		test_fail(file, line, "status %d, not %d\nstdout: %.1000s\nstderr: %.1000s",
		          r->status, expected, r->out, r->err);
	if (r->left_behind)
		test_fail(file, line, "left %u processes behind, one of them %s", r->left_behind,
		          r->left_name);
}

void process_make_directory(char path[256])
{
	snprintf(path, 256, "/var/tmp/iostudy-test-XXXXXX");
	if (!mkdtemp(path) || chmod(path, 0777) != 0)
		abort();
}

static int entry_remove(const char *path, const struct stat *st, int type, struct FTW *walk)
{
	(void)st, (void)type, (void)walk;
	return remove(path);
}

void process_remove_directory(const char *path)
{
	nftw(path, entry_remove, 16, FTW_DEPTH | FTW_PHYS);
}

bool process_is_root(void)
{
	return geteuid() == 0;
}

bool process_is_installed(const char *program)
{
	char script[128];
	const char *const arguments[] = {"-c", script, NULL};
	struct process_result r;

	snprintf(script, sizeof script, "command -v %.80s", program);
	process_run(&(struct process){.program = "sh", .argv = arguments}, &r);
	const bool found = r.started && r.status == 0;
	process_free(&r);
	return found;
}

size_t process_widest_line(const char *text)
{
	size_t width = 0, widest = 0;
	for (; *text; text++) {
		if (*text == '\033') {
			text += strcspn(text, "mK");
			if (!*text)
				break;
			continue;
		}
		width = *text == '\n' ? 0 : width + ((*text & 0xc0) != 0x80);
		widest = width > widest ? width : widest;
	}
	return widest;
}
