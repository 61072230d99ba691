/* `iostudy serve`: the peers as commands. */
#ifndef IOSTUDY_CLI_SERVE_H
#define IOSTUDY_CLI_SERVE_H

#include <argp.h>
#include <signal.h>

#include "bench/address.h"
#include "bench/server.h"

enum { SERVE_WHY_SIZE = 400, SERVE_KEY_OWN = 0x200, SERVE_OPTIONS_MAX = 24 };

/* What a peer is told. */
struct serve_scene {
	struct address address; /* where it listens */
	int listener;
	const volatile sig_atomic_t *came; /* not 0: end */
	const sigset_t *wait;              /* the mask with which to wait: signals come then */
	void *own;                         /* of the peer: what its options say */
	const char *name;                  /* of the peer */
	char *why;                         /* [SERVE_WHY_SIZE]: of what returned -errno, or empty */
};

struct serve_entry {
	const char *name, *summary;
	const struct service *service; /* served by server_run; or NULL: */
	/* Calls serve_announce when it serves, until *came. 0, or -errno. */
	int (*run)(const struct serve_scene *scene);
	/* Options of its own, where it has some: their keys begin at SERVE_KEY_OWN. */
	const struct argp_option *options; /* ends with {0} */
	size_t own_bytes;
	void (*defaults)(void *own);
	int (*set)(void *own, int key, const char *value, char why[SERVE_WHY_SIZE]);
};

extern const struct serve_entry *const serve_table[]; /* ends with NULL */

/* Prints where it listens. 0, or -errno: nobody can read it. */
int serve_announce(const struct serve_scene *scene);

/* A number that an option takes, with its limits. */
struct serve_number {
	const char *name, *says;
	int (*parse)(const char *text, uint64_t *value); /* of bench/units.h */
	uint64_t low, high;
};

/* 0, or -EINVAL with why; *value stays then. */
int serve_number_take(const struct serve_number *number, const char *text, uint64_t *value,
                      char why[SERVE_WHY_SIZE]);

extern const struct serve_entry serve_store, serve_gateway;

#endif
