/* Networks of a test's own: see network.h. */
#include "tests/network.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/process.h"

/* A process that lives in a new network; -errno where it cannot be made. */
static pid_t holder_fork(void)
{
	int ends[2], err = 0;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return -errno;
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		/* with mounts of its own: the files of /sys are those of a network */
		err = unshare(CLONE_NEWNET | CLONE_NEWNS) ? errno : 0;
		if (!err && (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		             mount("sysfs", "/sys", "sysfs", 0, NULL)))
			err = errno;
		if (write(ends[1], &err, sizeof err) != sizeof err || err)
			_exit(1);
		for (;;)
			pause();
	}
	close(ends[1]);
	if (pid > 0 && read(ends[0], &err, sizeof err) != sizeof err)
		err = EIO;
	close(ends[0]);
	if (pid > 0 && err)
		waitpid(pid, NULL, 0);
	return pid < 0 || err ? -(err ? err : EAGAIN) : pid;
}

static bool hold(pid_t *pid, char why[200])
{
	*pid = holder_fork();
	if (*pid > 0)
		return true;
	snprintf(why, 200, "a network namespace cannot be had here: %s", strerror(-*pid));
	*pid = 0;
	return false;
}

static bool shell(const char *script, char why[200])
{
	const char *const arguments[] = {"-ec", script, NULL};
	struct process_result result;
	bool done;

	process_run(&(struct process){.program = "sh", .argv = arguments}, &result);
	done = result.started && result.status == 0;
	if (!done)
		snprintf(why, 200, "the network cannot be made: %.150s", result.err);
	process_free(&result);
	return done;
}

bool network_open(struct network *network, char why[200])
{
	char script[200];

	*network = (struct network){0};
	if (!process_is_root()) {
		snprintf(why, 200, "a network namespace needs root");
		return false;
	}
	if (!process_is_installed("ip") || !process_is_installed("nsenter")) {
		snprintf(why, 200, "ip (iproute2) or nsenter is not installed");
		return false;
	}
	if (!hold(&network->here, why))
		return false;
	snprintf(script, sizeof script, "nsenter -n -t %d ip link set lo up", network->here);
	if (shell(script, why))
		return true;
	network_close(network);
	return false;
}

bool network_open_pair(struct network *network, const char *steer, char why[200])
{
	char script[1200];

	if (!network_open(network, why))
		return false;
	if (hold(&network->there, why)) {
		const int here = network->here, there = network->there;

		snprintf(script, sizeof script,
		         "h='nsenter -n -m -t %d'; t='nsenter -n -m -t %d'\n"
		         "$h ip link add v0 type veth peer name v1 netns %d\n"
		         "$h ip address add %s/24 dev v0; $t ip address add %s/24 dev v1\n"
		         "$h ip link set v0 up; $t ip link set v1 up\n"
		         "$h sh -c 'echo %s > /sys/class/net/v0/queues/rx-0/rps_cpus'\n",
		         here, there, there, NETWORK_HERE, NETWORK_THERE, steer);
		if (shell(script, why))
			return true;
	}
	network_close(network);
	return false;
}

static void holder_end(pid_t pid)
{
	if (pid <= 0)
		return;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

void network_close(struct network *network)
{
	holder_end(network->here);
	holder_end(network->there);
	*network = (struct network){0};
}

bool network_set(pid_t inside, const char *setting, const char *value)
{
	char script[300], why[200];

	snprintf(script, sizeof script, "nsenter -n -t %d sh -c \"echo '%s' > /proc/sys/%s\"",
	         inside, value, setting);
	return shell(script, why);
}
