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

static const struct serve_entry echo_entry = {
    .name = "echo",
    .summary = "sends back what comes: the peer of socket-echo",
    .service = &serve_echo,
};
static const struct serve_entry delay_entry = {
    .name = "delay",
    .summary =
	"answers after the delay that each request names: the peer of socket-delay; also over "
	"HTTP, GET /delay/MS",
    .service = &serve_delay,
};
const struct serve_entry *const serve_table[] = {&echo_entry, &delay_entry, &serve_gateway,
                                                 &serve_store, NULL};

struct parsing {
	const struct serve_entry *entry;
	struct serve_scene scene;
};

static const struct serve_entry *entry_find(const char *name)
{
	for (size_t i = 0; serve_table[i]; i++)
		if (strcmp(serve_table[i]->name, name) == 0)
			return serve_table[i];
	return NULL;
}

static void entry_take(struct parsing *p, const struct serve_entry *entry)
{
	p->entry = entry;
	p->scene.name = entry->name;
	if (!entry->own_bytes)
		return;
	p->scene.own = calloc(1, entry->own_bytes);
	if (!p->scene.own)
		abort();
	entry->defaults(p->scene.own);
}

static void choose(struct argp_state *state, struct parsing *p, const char *word)
{
	const char *names[TABLE_MAX];
	uint32_t n = 0;

	if (p->entry)
		argp_error(state, "one peer at a time, not also '%.60s'", word);
	for (; serve_table[n] && n < TABLE_MAX; n++)
		names[n] = serve_table[n]->name;
	if (entry_find(word)) {
		entry_take(p, entry_find(word));
		return;
	}
	fprintf(stderr, "%s: unknown peer '%.60s'", state->name, word);
	nearest_print(stderr, word, names, n);
	fprintf(stderr, "; see %s --help\n", state->name);
	exit(EXIT_BAD_USAGE);
}

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct parsing *p = state->input;
	char why[ADDRESS_WHY_SIZE], own_why[SERVE_WHY_SIZE];

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
		if (!p->entry)
			argp_error(state, "which peer? (echo, delay, gateway, store)");
		return 0;
	default:
		break;
	}
	if (key < SERVE_KEY_OWN || key >= SERVE_KEY_OWN + SERVE_OPTIONS_MAX || !p->entry ||
	    !p->entry->set)
		return ARGP_ERR_UNKNOWN;
	if (p->entry->set(p->scene.own, key, value, own_why) != 0)
		argp_error(state, "%s", own_why);
	return 0;
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

int serve_number_take(const struct serve_number *number, const char *text, uint64_t *value,
                      char why[SERVE_WHY_SIZE])
{
	uint64_t taken = 0;

	if (number->parse(text, &taken) == 0 && taken >= number->low && taken <= number->high) {
		*value = taken;
		return 0;
	}
	snprintf(why, SERVE_WHY_SIZE, "--%s '%.40s': it takes %s", number->name, text,
	         number->says);
	return -EINVAL;
}

int serve_announce(const struct serve_scene *scene)
{
	char text[ADDRESS_TEXT_SIZE];

	if (printf("%s: listening on %s\n", scene->name, address_text(&scene->address, text)) >=
	        0 &&
	    fflush(stdout) == 0)
		return 0;
	snprintf(scene->why, SERVE_WHY_SIZE, "cannot write to standard output: %s",
	         strerror(errno));
	return -EIO;
}

static int serve_service(const struct serve_scene *scene, const struct service *service)
{
	struct server server;
	int err = server_open(&server, service, scene->listener);

	if (err)
		return err;
	err = serve_announce(scene);
	if (!err)
		server_run(&server, scene->came, scene->wait);
	server_close(&server);
	return err;
}

/* Signals are blocked but while the peer waits: none comes between its look and its wait. */
static int serve(struct parsing *p, char why[SERVE_WHY_SIZE])
{
	sigset_t ends, before;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigaddset(&ends, SIGQUIT);
	sigprocmask(SIG_BLOCK, &ends, &before);
	*why = 0;
	p->scene.why = why;
	p->scene.came = signals_came();
	p->scene.wait = &before;
	return p->entry->run ? p->entry->run(&p->scene)
	                     : serve_service(&p->scene, p->entry->service);
}

static void parse_all(struct parsing *p, int argc, char **argv)
{
	static const struct argp_option common[] = {
	    {"listen", KEY_LISTEN, "HOST:PORT", 0,
	     "where to listen; port 0: a free one [127.0.0.1:0]", 0},
	    {0},
	};
	static const char help[] =
	    "Serve as the other end of socket runs, until INT or TERM.\v"
	    "echo sends back what comes, for --workload socket-echo; delay answers each request "
	    "after the time that it names, for --workload socket-delay and socket-multiplex. "
	    "gateway and store speak HTTP; iostudy serve gateway --help, and store --help, show "
	    "what they take.\n\n"
	    "  iostudy serve delay --listen 0.0.0.0:4000\n"
	    "  iostudy run --workload socket-delay --peer HOST:4000\n"
	    "  iostudy serve store --listen 127.0.0.1:4000\n"
	    "  curl -T FILE http://127.0.0.1:4000/bucket/key\n"
	    "  iostudy serve gateway --handler blocking --threads 8 --listen 127.0.0.1:4000\n"
	    "  curl http://127.0.0.1:4000/threads";
	struct argp_option options[SERVE_OPTIONS_MAX + 2] = {0};
	struct argp argp = {.options = options,
	                    .parser = parse,
	                    .args_doc = "echo|delay|gateway|store",
	                    .doc = help};
	const struct serve_entry *first = argc > 1 ? entry_find(argv[1]) : NULL;
	size_t n = 0;

	if (first) { /* its own options are known */
		for (; first->options && first->options[n].name && n < SERVE_OPTIONS_MAX; n++)
			options[n] = first->options[n];
		entry_take(p, first);
		argv[1] = argv[0];
		argc--;
		argv++;
	}
	memcpy(options + n, common, sizeof common);
	options_parse(&argp, argc, argv, p);
}

int command_serve(int argc, char **argv)
{
	struct parsing p = {0};
	char why[SERVE_WHY_SIZE];
	int err;

	signals_catch();
	limits_raise();
	address_loopback(&p.scene.address);
	parse_all(&p, argc, argv);
	p.scene.listener = address_listen(&p.scene.address);
	if (p.scene.listener < 0) {
		free(p.scene.own);
		return explain_listen(&p.scene, p.scene.listener);
	}
	err = serve(&p, why);
	close(p.scene.listener);
	free(p.scene.own);
	if (!err)
		return EXIT_DONE;
	fprintf(stderr, "iostudy serve: %s: %s\n", p.entry->name, *why ? why : strerror(-err));
	return EXIT_RUN_FAILED;
}
