/* `iostudy serve` beside a test: see served.h. */
#include "tests/served.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/test.h"

/* How it is to run; all zero but service: as we are. */
struct surroundings {
	const char *service, *listen;
	const char *const *options; /* ends with NULL; or NULL */
	unsigned descriptors;
	pid_t namespace_of;
	int cpu; /* -1: any */
};

static void become(const struct surroundings *around, int output)
{
	char program[512], path[64];
	const char *arguments[4 + SERVED_OPTIONS_MAX + 1] = {
	    "iostudy", "serve", around->service, "--listen",
	    around->listen ? around->listen : "127.0.0.1:0"};

	for (size_t i = 0; around->options && around->options[i] && i + 1 < SERVED_OPTIONS_MAX; i++)
		arguments[5 + i] = around->options[i];
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(output, 1);
	snprintf(program, sizeof program, "%s/iostudy", test_build_directory());
	if (around->namespace_of) {
		snprintf(path, sizeof path, "/proc/%d/ns/net", around->namespace_of);
		if (setns(open(path, O_RDONLY | O_CLOEXEC), CLONE_NEWNET) != 0)
			_exit(126);
	}
	if (around->cpu >= 0) {
		cpu_set_t one;

		CPU_ZERO(&one);
		CPU_SET(around->cpu, &one);
		sched_setaffinity(0, sizeof one, &one);
	}
	if (around->descriptors) {
		const struct rlimit limit = {around->descriptors, around->descriptors};

		setrlimit(RLIMIT_NOFILE, &limit);
	}
	execv(program, (char *const *)(uintptr_t)arguments);
	_exit(127);
}

static bool begin(struct served *served, const struct surroundings *around)
{
	char line[256] = "", *address;
	int ends[2];
	FILE *output;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return false;
	served->pid = fork();
	if (served->pid == 0)
		become(around, ends[1]);
	close(ends[1]);
	output = fdopen(ends[0], "r");
	if (served->pid < 0 || !output || !fgets(line, sizeof line, output) ||
	    !(address = strstr(line, "listening on "))) {
		test_fail(__FILE__, __LINE__, "serve %s did not begin: %s", around->service, line);
		return false;
	}
	fclose(output);
	snprintf(served->address, sizeof served->address, "%.*s",
	         (int)strcspn(address + strlen("listening on "), "\n"),
	         address + strlen("listening on "));
	return true;
}

bool served_begin(struct served *served, const char *service, const char *listen)
{
	return begin(served,
	             &(struct surroundings){.service = service, .listen = listen, .cpu = -1});
}

bool served_begin_with(struct served *served, const char *service, const char *const *options)
{
	return begin(served,
	             &(struct surroundings){.service = service, .options = options, .cpu = -1});
}

bool served_begin_limited(struct served *served, const char *service, unsigned descriptors)
{
	return begin(served, &(struct surroundings){
				 .service = service, .descriptors = descriptors, .cpu = -1});
}

bool served_begin_inside(struct served *served, const char *service, const char *listen,
                         pid_t namespace_of, int cpu)
{
	return begin(served, &(struct surroundings){.service = service,
	                                            .listen = listen,
	                                            .namespace_of = namespace_of,
	                                            .cpu = cpu});
}

int served_end(struct served *served, int signal)
{
	int status = 0;

	kill(served->pid, signal);
	if (waitpid(served->pid, &status, 0) < 0)
		return -1;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
