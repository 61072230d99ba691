/* Processes of a run: see child.h. */
#include "bench/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

pid_t child_fork(const char *name)
{
	const pid_t parent = getpid();
	const pid_t pid = fork();
	sigset_t none;

	if (pid < 0)
		return -errno;
	if (pid > 0) {
		setpgid(pid, pid);
		return pid;
	}
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent) /* it died before the line above */
		_exit(1);
	prctl(PR_SET_NAME, name);
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a write beyond RLIMIT_FSIZE results in EFBIG */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	return 0;
}

const char *child_limits(int err)
{
	return err == -EAGAIN ? "; the limits are RLIMIT_NPROC (ulimit -u), kernel.threads-max and "
	                        "the control group's pids.max"
	                      : "";
}

void child_close_others(const int *keep, unsigned count)
{
	int sorted[16], from = 3;

	for (unsigned i = 0; i < count; i++)
		sorted[i] = keep[i];
	qsort(sorted, count, sizeof *sorted, by_number);
	for (unsigned i = 0; i < count; i++) {
		if (sorted[i] < from)
			continue;
		if (sorted[i] > from)
			close_range((unsigned)from, (unsigned)sorted[i] - 1, 0);
		from = sorted[i] + 1;
	}
	close_range((unsigned)from, ~0u, 0);
}

int child_end(pid_t pid, uint64_t grace_ns)
{
	struct pollfd end = {.events = POLLIN};
	int status = 0;

	end.fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (end.fd >= 0 && grace_ns)
		poll(&end, 1, (int)(grace_ns / 1000000));
	kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (end.fd >= 0)
		close(end.fd);
	return status;
}

int child_has_ended(pid_t pid, int *status)
{
	siginfo_t info = {0};

	if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0)
		return 0;
	*status = info.si_code == CLD_EXITED ? info.si_status << 8 : info.si_status;
	return 1;
}
