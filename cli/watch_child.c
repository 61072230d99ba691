/* A command that waits to be let go, so that it is watched from its first instruction on. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/watch.h"

enum { COULD_NOT_RUN = 126, NOT_FOUND = 127 };

static void become(char **command, int gate, int failed)
{
	char byte;
	int error;

	signal(SIGPIPE, SIG_DFL); /* what we ignore is not for it */
	signal(SIGXFSZ, SIG_DFL);
	if (read(gate, &byte, 1) != 1)
		_exit(COULD_NOT_RUN);
	execvp(command[0], command);
	error = errno;
	if (write(failed, &error, sizeof error) != sizeof error)
		_exit(COULD_NOT_RUN);
	_exit(error == ENOENT ? NOT_FOUND : COULD_NOT_RUN);
}

int watch_child_start(struct watch_child *child, char **command)
{
	int gate[2], failed[2];

	if (pipe2(gate, O_CLOEXEC))
		return -errno;
	if (pipe2(failed, O_CLOEXEC)) {
		const int error = errno;

		close(gate[0]);
		close(gate[1]);
		return -error;
	}
	child->pid = fork();
	if (child->pid == 0) {
		close(gate[1]);
		become(command, gate[0], failed[1]);
	}
	close(gate[0]);
	close(failed[1]);
	child->gate = gate[1];
	child->failed = failed[0];
	return child->pid < 0 ? -errno : 0;
}

int watch_child_release(struct watch_child *child)
{
	int error = 0;
	ssize_t got;

	if (write(child->gate, "", 1) != 1)
		error = errno;
	close(child->gate);
	do
		got = read(child->failed, &error, sizeof error);
	while (got < 0 && errno == EINTR);
	close(child->failed);
	return -error;
}

int watch_child_status(struct watch_child *child)
{
	int status;
	const pid_t pid = waitpid(child->pid, &status, WNOHANG);

	if (pid == 0)
		return -1;
	if (pid < 0)
		return EXIT_FAILURE;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
