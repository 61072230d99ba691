/*
 * iostudy serve: a peer as a command of its own, for runs on another host or in another network
 * namespace (`run --peer`). It listens on loopback unless told otherwise, and ends on a signal.
 */
#include "cli/serve.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/limits.h"
#include "cli/cli.h"
#include "cli/nearest.h"
#include "cli/options.h"
#include "cli/signals.h"

enum { KEY_LISTEN = 0x100, TABLE_MAX = 16 };

const struct serve_entry serve_table[] = {
    {"echo", "sends back what comes: the peer of socket-echo", &serve_echo, NULL},
    {"delay", "answers after the delay that each request names: the peer of socket-delay",
     &serve_delay, NULL},
    {NULL, NULL, NULL, NULL},
};

struct parsing {
	const struct serve_entry *entry;
	struct serve_scene scene;
};

static void choose(struct argp_state *state, struct parsing *p, const char *word)
{
	const char *names[TABLE_MAX];
	uint32_t n = 0;

	if (p->entry)
		argp_error(state, "one peer at a time, not also '%.60s'", word);
	for (const struct serve_entry *e = serve_table; e->name && n < TABLE_MAX; e++) {
		if (strcmp(e->name, word) == 0)
			p->entry = e;
		names[n++] = e->name;
	}
	if (p->entry)
		return;
	fprintf(stderr, "%s: unknown peer '%.60s'", state->name, word);
	nearest_print(stderr, word, names, n);
	fprintf(stderr, "; see %s --help\n", state->name);
	exit(EXIT_BAD_USAGE);
}

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct parsing *p = state->input;
	char why[ADDRESS_WHY_SIZE];

	switch (key) {
	case KEY_LISTEN:
		if (address_parse(&p->scene.address, value, why) == 0)
			return 0;
		fprintf(stderr, "%s: --listen %s\n", state->name, why);
		exit(EXIT_BAD_USAGE);
	case ARGP_KEY_ARG:
		choose(state, p, value);
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which peer? (echo, delay)");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int explain_listen(const struct serve_scene *scene, int err)
{
	char text[ADDRESS_TEXT_SIZE];

	fprintf(stderr, "iostudy serve: cannot listen on %s: %s%s\n",
	        address_text(&scene->address, text), strerror(-err),
	        err == -EADDRINUSE      ? "; take another port, or 0 for a free one"
	        : err == -EACCES        ? "; ports below 1024 are for root: take a higher one"
	        : err == -EADDRNOTAVAIL ? "; it is no address of this machine (ip address)"
	                                : "");
	return EXIT_RUN_FAILED;
}

/* Signals are blocked but while the peer waits: none comes between its look and its wait. */
static int serve(struct parsing *p)
{
	struct server server;
	sigset_t ends, before;
	int err;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigaddset(&ends, SIGQUIT);
	sigprocmask(SIG_BLOCK, &ends, &before);
	p->scene.came = signals_came();
	p->scene.wait = &before;
	if (p->entry->run)
		return p->entry->run(&p->scene);
	err = server_open(&server, p->entry->service, p->scene.listener);
	if (err)
		return err;
	server_run(&server, p->scene.came, p->scene.wait);
	server_close(&server);
	return 0;
}

int command_serve(int argc, char **argv)
{
	static const struct argp_option options[] = {
	    {"listen", KEY_LISTEN, "HOST:PORT", 0,
	     "where to listen; port 0: a free one [127.0.0.1:0]", 0},
	    {0},
	};
	static const char help[] =
	    "Serve as the other end of socket runs, until INT or TERM.\v"
	    "echo sends back what comes, for --workload socket-echo; delay answers each request "
	    "after the time that it names, for --workload socket-delay and socket-multiplex.\n\n"
	    "  iostudy serve delay --listen 0.0.0.0:4000\n"
	    "  iostudy run --workload socket-delay --peer HOST:4000";
	const struct argp argp = {
	    .options = options, .parser = parse, .args_doc = "echo|delay", .doc = help};
	struct parsing p = {0};
	char text[ADDRESS_TEXT_SIZE];
	int err;

	signals_catch();
	limits_raise();
	address_loopback(&p.scene.address);
	options_parse(&argp, argc, argv, &p);
	p.scene.listener = address_listen(&p.scene.address);
	if (p.scene.listener < 0)
		return explain_listen(&p.scene, p.scene.listener);
	if (printf("%s: listening on %s\n", p.entry->name, address_text(&p.scene.address, text)) <
	        0 ||
	    fflush(stdout) != 0) {
		fprintf(stderr, "iostudy serve: cannot write to standard output: %s\n",
		        strerror(errno));
		return EXIT_RUN_FAILED;
	}
	err = serve(&p);
	close(p.scene.listener);
	if (!err)
		return EXIT_DONE;
	fprintf(stderr, "iostudy serve: %s: %s\n", p.entry->name, strerror(-err));
	return EXIT_RUN_FAILED;
}
