/* `iostudy serve`: the peers as commands. */
#ifndef IOSTUDY_CLI_SERVE_H
#define IOSTUDY_CLI_SERVE_H

#include <signal.h>

#include "bench/address.h"
#include "bench/server.h"

/* What a peer is told. */
struct serve_scene {
	struct address address; /* where it listens */
	int listener;
	const volatile sig_atomic_t *came; /* not 0: end */
	const sigset_t *wait;              /* the mask with which to wait: signals come then */
};

struct serve_entry {
	const char *name, *summary;
	const struct service *service;               /* served by server_run; or NULL: */
	int (*run)(const struct serve_scene *scene); /* serves until *came. 0, or -errno */
};

extern const struct serve_entry serve_table[]; /* ends with a name of NULL */

#endif
