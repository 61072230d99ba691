/* Bad weather for the whole process: signals at every thread, and no descriptor left. */
#include "tests/engine_clauses.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Who sends signals, and to whom. */
struct pest {
	pid_t self; /* is left alone */
	uint32_t stop;
	uint64_t sent;
};

static void on_signal(int number)
{
	(void)number;
}

static void pest_round(struct pest *pest, int number)
{
	DIR *threads = opendir("/proc/self/task");
	const struct dirent *entry;

	while (threads && (entry = readdir(threads))) {
		const pid_t thread = atoi(entry->d_name);

		if (thread > 0 && thread != pest->self &&
		    syscall(SYS_tgkill, getpid(), thread, number) == 0)
			pest->sent++;
	}
	if (threads)
		closedir(threads);
}

static void *pester(void *argument)
{
	struct pest *pest = argument;

	pest->self = gettid();
	while (!__atomic_load_n(&pest->stop, __ATOMIC_ACQUIRE)) {
		pest_round(pest, SIGURG);
		pest_round(pest, SIGWINCH);
		usleep(200);
	}
	return NULL;
}

/* The storm of requests, while each thread, the engine's own too, is interrupted all the time and
 * no call is taken up again by the kernel. */
void clause_signal_storm(const struct engine_ops *ops)
{
	const struct sigaction action = {.sa_handler = on_signal};
	struct sigaction old[2];
	struct pest pest = {0};
	pthread_t thread;

	sigaction(SIGURG, &action, &old[0]);
	sigaction(SIGWINCH, &action, &old[1]);
	REQUIRE(pthread_create(&thread, NULL, pester, &pest) == 0);
	clause_storm(ops);
	__atomic_store_n(&pest.stop, 1, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	sigaction(SIGURG, &old[0], NULL);
	sigaction(SIGWINCH, &old[1], NULL);
	CHECK(pest.sent > 0);
}

/* What makes a descriptor fails as a request where there is none, and goes on when there is. */
void clause_no_descriptor(const struct engine_ops *ops)
{
	char address[128];
	uint32_t length = sizeof address;
	const int listener = bed_listen(address, &length, true, 8);
	struct rlimit limit, none;
	int32_t client, server;
	struct bed b;
	int next;

	if (listener < 0 || !bed_open(&b, ops, 4, ENGINE_CONNECTIONS))
		return;
	client = bed_call(&b, IO_CONNECT, -1, address, length, 0);
	CHECK(client >= 0);
	next = open("/dev/null", O_RDONLY | O_CLOEXEC);
	close(next);
	getrlimit(RLIMIT_NOFILE, &limit);
	none = (struct rlimit){(rlim_t)next, limit.rlim_max};
	setrlimit(RLIMIT_NOFILE, &none);
	CHECK_EQUAL(bed_call(&b, IO_ACCEPT, listener, NULL, 0, 0), -EMFILE);
	CHECK_EQUAL(bed_call(&b, IO_CONNECT, -1, address, length, 0), -EMFILE);
	setrlimit(RLIMIT_NOFILE, &limit);
	server = bed_call(&b, IO_ACCEPT, listener, NULL, 0, 0);
	CHECK_MESSAGE(server >= 0, "the connection waited, and accept says %d", server);
	close(server);
	close(client);
	bed_close(&b);
	close(listener);
}
