/* Signals while runs happen: see signals.h. */
#include "cli/signals.h"

#include <unistd.h>

#include "bench/witness.h"

enum {
	SECOND_SIGNAL_NS = 500000000, /* sooner it is the first one, sent to a whole group too */
	GUARDED_MAX = 16,
};

static volatile sig_atomic_t came;
static volatile uint64_t came_ns;

/* Our own files, for a second signal. */
static const struct file_lease *volatile guarded[GUARDED_MAX];

static void on_signal(int sig)
{
	const uint64_t now_ns = witness_now_ns();

	if (!came) {
		came_ns = now_ns;
		came = sig;
	} else if (now_ns - came_ns > SECOND_SIGNAL_NS) {
		for (int i = 0; i < GUARDED_MAX; i++)
			if (guarded[i])
				file_unlink(guarded[i]);
		_exit(128 + sig);
	}
}

void signals_catch(void)
{
	const int caught[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

	for (size_t i = 0; i < sizeof caught / sizeof *caught; i++) {
		struct sigaction old;

		/* what nohup(1) ignores stays ignored */
		if (sigaction(caught[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(caught[i], &action, NULL);
	}
	signal(SIGXFSZ, SIG_IGN); /* and a file that grows beyond its limit as EFBIG */
	signal(SIGPIPE, SIG_IGN); /* a closed pipe shows as EPIPE when it is written to */
}

const volatile sig_atomic_t *signals_came(void)
{
	return &came;
}

void signals_guard(const struct file_lease *lease)
{
	for (int i = 0; i < GUARDED_MAX; i++) {
		if (guarded[i])
			continue;
		guarded[i] = lease;
		return;
	}
}

void signals_forget(const struct file_lease *lease)
{
	for (int i = 0; i < GUARDED_MAX; i++)
		if (guarded[i] == lease)
			guarded[i] = NULL;
}
