/* The options of `iostudy run`: see request.h. Settings of a run come from bench/plan's table. */
#include "cli/request.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/file.h"
#include "bench/units.h"
#include "bench/workload.h"
#include "cli/cli.h"
#include "cli/nearest.h"
#include "cli/options.h"
#include "engines/engine.h"

enum { KEY_OWN = 0x100, KEY_SETTING = 0x200, OPTIONS_MAX = 96 };
enum {
	KEY_ENGINE = KEY_OWN,
	KEY_WORKLOAD,
	KEY_REPEAT,
	KEY_PROBE,
	KEY_DIRECTORY,
	KEY_JSON,
	KEY_ASCII,
	KEY_KEEP,
	KEY_OVERWRITE,
	KEY_RW,
	KEY_AS_IT_IS, /* fio's users ask for what is so anyway */
	KEY_NAME,
	KEY_BPFTRACE,
};

static const struct argp_option own_options[] = {
    {"engine", KEY_ENGINE, "NAME,...", 0, "engines: names, basic, or all [uring]", 1},
    {"ioengine", KEY_ENGINE, 0, OPTION_ALIAS, 0, 1},
    {"workload", KEY_WORKLOAD, "NAME,...", 0,
     "workloads: names, or all [disk-randread,socket-delay]", 1},
    {"rw", KEY_RW, "randread", 0, "fio's word for --workload disk-...", 1},
    {"readwrite", KEY_RW, 0, OPTION_ALIAS, 0, 1},
    {"repeat", KEY_REPEAT, "N", 0, "run everything N times, and show medians [1]", 1},
    {"probe", KEY_PROBE, "NAME,...", 0, "auto, none, or probes that are required [auto]", 3},
    {"bpftrace", KEY_BPFTRACE, "NAME", 0, "run a script beside (iostudy list scripts)", 3},
    {"directory", KEY_DIRECTORY, "DIR", 0, "where " FILE_NAME_DEFAULT " is made [.]", 3},
    {"overwrite", KEY_OVERWRITE, 0, 0, "the file of --filename may be written to", 3},
    {"keep", KEY_KEEP, 0, 0, "keep " FILE_NAME_DEFAULT " for the next run", 3},
    {"output", 'o', "DIR", 0, "keep each run in DIR/runs.jsonl", 4},
    {"json", KEY_JSON, 0, 0, "one JSON object per run on stdout, and nothing else", 4},
    {"ascii", KEY_ASCII, 0, 0, "no character beyond ASCII, no colour", 4},
    {"time_based", KEY_AS_IT_IS, "0|1", OPTION_HIDDEN | OPTION_ARG_OPTIONAL, "as every run is", 4},
    {"group_reporting", KEY_AS_IT_IS, 0, OPTION_ALIAS | OPTION_HIDDEN, 0, 4},
    {"thread", KEY_AS_IT_IS, 0, OPTION_ALIAS | OPTION_HIDDEN, 0, 4},
    {"name", KEY_NAME, "NAME", OPTION_HIDDEN, "of a fio job", 4},
    {0},
};

static const char documentation[] =
    "Run real disk and socket work through the ways that Linux offers to wait for I/O, and count "
    "the threads that are parked meanwhile.\v"
    "Examples:\n"
    "  iostudy --engine uring\n"
    "  iostudy --engine blocking --depth 32 --workload disk-randread\n"
    "  iostudy --engine basic --runtime 5s --repeat 3 -o results\n"
    "  iostudy --engine uring --wait compute --json\n"
    "  iostudy --ioengine io_uring --iodepth 64 --bs 16k --filename /dev/vdb\n"
    "\n"
    "Sizes take k, m, g (powers of 1024); times take ns, us, ms, s, m, h, and a bare time is in "
    "seconds. --depth is the total over all threads. The file ./" FILE_NAME_DEFAULT
    " is made, filled and removed again; a file of your own is never written to unless "
    "--overwrite. The man page explains the words and every option.\n"
    "\n"
    "Exit status: 0 done, 1 a run failed or data was wrong, 2 bad usage, 77 nothing could run "
    "here, 128+n on signal n.";

/* Calls add for each name of "a,b,c". */
static void add_names(struct argp_state *state, struct selection *list, const char *text,
                      int (*add)(struct selection *, const char *, char[PLAN_WHY_SIZE]))
{
	char *copy = strdup(text), *rest = copy, *name, why[PLAN_WHY_SIZE];

	while (copy && (name = strsep(&rest, ","))) {
		if (add(list, name, why) == 0)
			continue;
		fprintf(stderr, "%s: %s\n", state->name, why);
		exit(EXIT_BAD_USAGE);
	}
	free(copy);
}

static void set(struct argp_state *state, struct request *r, const char *name, const char *value)
{
	char why[PLAN_WHY_SIZE];

	if (plan_set(&r->plan, name, value, why) == 0)
		return;
	fprintf(stderr, "%s: %s\n", state->name, why);
	exit(EXIT_BAD_USAGE);
}

/* "park,compute": a list, of which each cell has one. */
static void set_waits(struct argp_state *state, struct request *r, const char *text)
{
	char *copy = strdup(text), *rest = copy, *name;

	r->wait_count = 0;
	while (copy && (name = strsep(&rest, ","))) {
		bool known = false;

		set(state, r, "wait", name);
		for (uint32_t i = 0; i < r->wait_count; i++)
			known |= r->waits[i] == r->plan.wait;
		if (!known)
			r->waits[r->wait_count++] = r->plan.wait;
	}
	free(copy);
}

static void set_repeat(struct argp_state *state, struct request *r, const char *text)
{
	uint64_t n;

	if (units_parse_count(text, &n) != 0 || n < 1 || n > 1000) {
		fprintf(stderr, "%s: --repeat %.60s is out of range: 1 to 1000\n", state->name,
		        text);
		exit(EXIT_BAD_USAGE);
	}
	r->repeat = (uint32_t)n;
}

static void set_probes(struct argp_state *state, struct request *r, const char *names)
{
	char why[PLAN_WHY_SIZE];

	r->probe = names;
	if (selection_check_probes(names, why) == 0)
		return;
	fprintf(stderr, "%s: %s\n", state->name, why);
	exit(EXIT_BAD_USAGE);
}

/* By its name, with or without the .bt. */
static void set_script(struct argp_state *state, struct request *r, const char *name)
{
	const char *names[SCRIPTS_MAX];
	struct scripts scripts;

	scripts_find(&scripts);
	for (unsigned i = 0; i < scripts.count; i++) {
		const size_t stem = strlen(scripts.list[i].name) - strlen(".bt");

		names[i] = scripts.list[i].name;
		if (strcmp(name, names[i]) != 0 &&
		    (strlen(name) != stem || strncmp(name, names[i], stem) != 0))
			continue;
		snprintf(r->script, sizeof r->script, "%s/%s", scripts.directory, names[i]);
		return;
	}
	fprintf(stderr, "%s: unknown script '%.60s'", state->name, name);
	nearest_print(stderr, name, names, scripts.count);
	fputs(" (iostudy list scripts)\n", stderr);
	exit(EXIT_BAD_USAGE);
}

static error_t parse_own(int key, char *value, struct argp_state *state)
{
	struct request *r = state->input;

	switch (key) {
	case KEY_ENGINE:
		add_names(state, &r->engines, value, selection_add_engine);
		return 0;
	case KEY_WORKLOAD:
		add_names(state, &r->workloads, value, selection_add_workload);
		return 0;
	case KEY_RW:
		add_names(state, &r->workloads, value, selection_add_rw);
		return 0;
	case KEY_REPEAT:
		set_repeat(state, r, value);
		return 0;
	case KEY_PROBE:
		set_probes(state, r, value);
		return 0;
	case KEY_BPFTRACE:
		set_script(state, r, value);
		return 0;
	case KEY_DIRECTORY:
		r->directory = value;
		return 0;
	case KEY_JSON:
		r->json = true;
		return 0;
	case KEY_ASCII:
		r->ascii = true;
		return 0;
	case KEY_KEEP:
		r->keep = true;
		return 0;
	case KEY_OVERWRITE:
		r->plan.overwrite = true;
		return 0;
	case KEY_AS_IT_IS:
	case KEY_NAME:
		return 0;
	case 'o':
		r->output = value;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "what is '%.60s'? A run takes options only", value);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
	if (key >= KEY_SETTING && key < KEY_SETTING + OPTIONS_MAX) {
		const char *name = plan_settings[key - KEY_SETTING].name;
		struct request *r = state->input;

		r->given[key - KEY_SETTING] = true;
		if (strcmp(name, "wait") == 0)
			set_waits(state, r, value);
		else
			set(state, r, name, value);
		return 0;
	}
	return parse_own(key, value, state);
}

/* The options, those of plan_settings with their defaults in helps. */
static void make_options(struct argp_option options[OPTIONS_MAX], char helps[OPTIONS_MAX][160],
                         const struct plan *defaults)
{
	uint32_t n = 0;

	for (uint32_t i = 0; own_options[i].name; i++)
		options[n++] = own_options[i];
	for (int i = 0; plan_settings[i].name; i++) {
		const struct plan_setting *s = &plan_settings[i];
		char value[80];

		plan_get(defaults, s, value);
		snprintf(helps[i], 160, "%s%s%s%s", s->help, *value ? " [" : "", value,
		         *value ? "]" : "");
		options[n++] = (struct argp_option){s->name, KEY_SETTING + i, s->argument,
		                                    0,       helps[i],        2};
		if (s->alias)
			options[n++] = (struct argp_option){s->alias, 0, 0, OPTION_ALIAS, 0, 2};
	}
	options[n] = (struct argp_option){0};
}

void request_parse(struct request *r, int argc, char **argv)
{
	struct argp_option options[OPTIONS_MAX];
	char helps[OPTIONS_MAX][160], why[PLAN_WHY_SIZE];
	struct argp argp = {.options = options, .parser = parse_option, .doc = documentation};

	*r = (struct request){.repeat = 1, .probe = "auto", .directory = "."};
	plan_default(&r->plan);
	make_options(options, helps, &r->plan);
	options_parse(&argp, argc, argv, r);
	if (!r->engines.count)
		selection_add_engine(&r->engines, "uring", why);
	if (!r->workloads.count) {
		selection_add_workload(&r->workloads, "disk-randread", why);
		selection_add_workload(&r->workloads, "socket-delay", why);
	}
	if (!r->wait_count) {
		r->waits[r->wait_count++] = WAIT_PARK;
		if (r->engines.count == 1)
			r->waits[r->wait_count++] = WAIT_COMPUTE;
	}
	if (!*r->directory) {
		fprintf(stderr, "%s: --directory is empty; . is the one where you are\n", argv[0]);
		exit(EXIT_BAD_USAGE);
	}
	if (!r->plan.file_named &&
	    snprintf(r->plan.file, sizeof r->plan.file, "%s/%s", r->directory, FILE_NAME_DEFAULT) >=
	        (int)sizeof r->plan.file) {
		fprintf(stderr, "%s: --directory is longer than %d bytes\n", argv[0],
		        PLAN_PATH_SIZE - 16);
		exit(EXIT_BAD_USAGE);
	}
	request_check(r, argv[0]);
}

uint32_t request_cells(const struct request *r, struct plan *cells, uint32_t max)
{
	uint32_t n = 0;

	for (uint32_t repeat = 1; repeat <= r->repeat; repeat++)
		for (uint32_t w = 0; w < r->workloads.count; w++)
			for (uint32_t e = 0; e < r->engines.count; e++) {
				const struct engine_ops *engine = engine_find(r->engines.names[e]);
				const bool blocks = engine->caps & ENGINE_SYNCHRONOUS;

				for (uint32_t i = 0; i < (blocks ? 1 : r->wait_count); i++) {
					struct plan *plan = &cells[n];

					if (n++ == max)
						return max;
					*plan = r->plan;
					plan->repeat = repeat;
					plan->wait = blocks ? WAIT_PARK : r->waits[i];
					snprintf(plan->engine, sizeof plan->engine, "%s",
					         engine->name);
					snprintf(plan->workload, sizeof plan->workload, "%s",
					         r->workloads.names[w]);
				}
			}
	return n;
}
