/* `iostudy scenario NAME`: the classic experiments, on real sockets and files. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/scenario_view.h"
#include "analysis/store.h"
#include "bench/limits.h"
#include "bench/scenario/scenario.h"
#include "bench/selection.h"
#include "cli/cli.h"
#include "cli/nearest.h"
#include "cli/options.h"
#include "cli/screen.h"
#include "cli/signals.h"

enum {
	KEY_TIME_SCALE = 0x100,
	KEY_JSON,
	KEY_ASCII,
	KEY_ONLY,
	KEY_PROBE,
	KEY_SEED,
	KEY_DIRECTORY,
	KEY_PARAMETER, /* and those after it */
	RESULTS_MAX = 4096,
	OPTIONS_MAX = 16 + SCENARIO_PARAMETERS_MAX,
	NAMES_MAX = 32,
};

static const struct argp_option own_options[] = {
    {"compare-only", KEY_ONLY, "MODE,...", 0, "only these modes against what was published", 2},
    {"time-scale", KEY_TIME_SCALE, "X", 0, "shrink every time by this factor [1]", 2},
    {"seed", KEY_SEED, "N", 0, "of what is random [1]", 2},
    {"probe", KEY_PROBE, "NAME,...", 0, "auto, none, or probes that are required [auto]", 3},
    {"directory", KEY_DIRECTORY, "DIR", 0, "where files may be made [.]", 3},
    {"output", 'o', "DIR", 0, "keep each result in DIR/" STORE_SCENARIOS, 4},
    {"json", KEY_JSON, 0, 0, "one JSON object per case on stdout, and nothing else", 4},
    {"ascii", KEY_ASCII, 0, 0, "no character beyond ASCII, no colour", 4},
    {0},
};

struct session {
	struct scenario_run run;
	const char *output; /* or NULL */
	bool json, ascii;
	json_t *results[RESULTS_MAX];
	size_t count, all, ok, skipped;
	int put_errno;
};

static void parse_scale(struct argp_state *state, struct session *s, const char *value)
{
	char *end;
	const double scale = strtod(value, &end);

	if (end == value || *end || !(scale >= 0.0001 && scale <= 100))
		argp_error(state, "--time-scale '%.40s': it takes a number from 0.0001 to 100",
		           value);
	s->run.time_scale = scale;
}

static void parse_seed(struct argp_state *state, struct session *s, const char *value)
{
	char *end;

	errno = 0;
	s->run.seed = strtoull(value, &end, 10);
	if (end == value || *end || errno)
		argp_error(state, "--seed '%.40s': it takes a whole number", value);
}

static void parse_probes(struct argp_state *state, struct session *s, const char *names)
{
	char why[PLAN_WHY_SIZE];

	if (selection_check_probes(names, why) != 0)
		argp_error(state, "%s", why);
	s->run.probe = names;
}

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct session *s = state->input;

	switch (key) {
	case KEY_TIME_SCALE:
		parse_scale(state, s, value);
		return 0;
	case KEY_SEED:
		parse_seed(state, s, value);
		return 0;
	case KEY_PROBE:
		parse_probes(state, s, value);
		return 0;
	case KEY_JSON:
		s->json = true;
		return 0;
	case KEY_ASCII:
		s->ascii = true;
		return 0;
	case KEY_ONLY:
		s->run.only = value;
		return 0;
	case KEY_DIRECTORY:
		s->run.directory = value;
		return 0;
	case 'o':
		s->output = value;
		return 0;
	default:
		break;
	}
	if (key < KEY_PARAMETER || key >= KEY_PARAMETER + SCENARIO_PARAMETERS_MAX)
		return ARGP_ERR_UNKNOWN;
	if (scenario_set(&s->run, s->run.scenario->parameters[key - KEY_PARAMETER].name, value) !=
	    0)
		argp_error(state, "%s", s->run.why);
	return 0;
}

/* The options of one scenario: its parameters, then those of all. help must outlive them. */
static void collect_options(const struct scenario *scenario, struct argp_option *options,
                            char help[SCENARIO_PARAMETERS_MAX][200])
{
	size_t n = 0;

	for (; scenario->parameters[n].name; n++) {
		const struct scenario_parameter *p = &scenario->parameters[n];

		snprintf(help[n], 200, *p->value ? "%s [%s]" : "%s", p->help, p->value);
		options[n] = (struct argp_option){.name = p->name,
		                                  .key = KEY_PARAMETER + (int)n,
		                                  .arg = p->argument,
		                                  .doc = help[n],
		                                  .group = 1};
	}
	memcpy(options + n, own_options, sizeof own_options);
}

static void parse_options(struct session *s, int argc, char **argv)
{
	static char help[SCENARIO_PARAMETERS_MAX][200];
	struct argp_option options[OPTIONS_MAX] = {0};
	const struct scenario *scenario = s->run.scenario;
	struct text doc = {0};

	collect_options(scenario, options, help);
	text_add(&doc, "%s.\vModes:\n", scenario->summary);
	for (const struct scenario_mode *m = scenario->modes; m->name; m++)
		text_add(&doc, "  %-18s %s\n", m->name, m->summary);
	const struct argp argp = {.options = options, .parser = parse, .doc = doc.data};
	options_parse(&argp, argc, argv, s);
	text_free(&doc);
}

static int usage(FILE *out, int status)
{
	fputs(
	    "Usage: iostudy scenario NAME [OPTION...]\n"
	    "The classic experiments, on real sockets and files; published numbers beside ours.\n",
	    out);
	for (size_t i = 0; scenario_table[i]; i++)
		fprintf(out, "  %-18s %s\n", scenario_table[i]->name, scenario_table[i]->summary);
	fputs("iostudy scenario NAME --help shows its modes and options.\n", out);
	return status;
}

static int unknown_scenario(const char *name)
{
	const char *names[NAMES_MAX];
	uint32_t n = 0;

	for (; scenario_table[n]; n++)
		names[n] = scenario_table[n]->name;
	fprintf(stderr, "iostudy scenario: unknown scenario '%.60s'", name);
	nearest_print(stderr, name, names, n);
	fputs("; see iostudy scenario --help\n", stderr);
	return EXIT_BAD_USAGE;
}

static void tell(void *context, const char *what)
{
	(void)context;
	screen_progress_clear();
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "%s", what);
}

/* Keeps and prints one object at once: what was measured is never lost. */
static int take(void *context, json_t *result)
{
	struct session *s = context;
	const char *status = json_string_value(json_object_get(result, "status"));
	char why[STORE_WHY_SIZE], *line;
	int error = scenario_conclude(result);

	screen_progress_clear();
	s->all++;
	s->ok += strcmp(status, "ok") == 0;
	s->skipped += strcmp(status, "skipped") == 0;
	if (!error && s->output)
		error = store_append_as(s->output, STORE_SCENARIOS, result, why);
	if (error)
		snprintf(s->run.why, sizeof s->run.why, "%s", s->output ? why : strerror(-error));
	if (s->json) {
		line = store_line(result);
		if (!line || puts(line) == EOF || fflush(stdout) != 0)
			s->put_errno = errno ? errno : ENOMEM;
		free(line);
	}
	if (s->json || s->count == RESULTS_MAX)
		json_decref(result);
	else
		s->results[s->count++] = result;
	return error ? error : s->put_errno ? -EPIPE : 0;
}

static void print_text(struct session *s)
{
	const struct text_style style = screen_style(s->ascii);
	char *text = scenario_render(s->results, s->count, &style);

	if (s->count && (!text || fputs(text, stdout) == EOF || fflush(stdout) != 0))
		s->put_errno = errno ? errno : ENOMEM;
	free(text);
}

static int conclude(struct session *s, int error)
{
	screen_progress_clear();
	if (!s->json)
		print_text(s);
	for (size_t i = 0; i < s->count; i++)
		json_decref(s->results[i]);
	if (s->put_errno) {
		fprintf(stderr, "iostudy scenario: cannot write to standard output: %s\n",
		        strerror(s->put_errno));
		return EXIT_RUN_FAILED;
	}
	if (*s->run.signal)
		return 128 + (int)*s->run.signal;
	if (error)
		fprintf(stderr, "iostudy scenario: %s\n",
		        *s->run.why ? s->run.why : strerror(-error));
	if (error)
		return error == -EINVAL ? EXIT_BAD_USAGE : EXIT_RUN_FAILED;
	if (*s->run.why) /* all that was asked for was a file, say */
		fprintf(stderr, "iostudy scenario: %s\n", s->run.why);
	if (s->all && s->skipped == s->all)
		return EXIT_NOTHING;
	return s->ok + s->skipped == s->all ? EXIT_DONE : EXIT_RUN_FAILED;
}

int command_scenario(int argc, char **argv)
{
	struct session *s;
	int status;

	if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-?") == 0))
		return usage(stdout, EXIT_DONE);
	if (argc < 2 || argv[1][0] == '-')
		return usage(stderr, EXIT_BAD_USAGE);
	if (!scenario_find(argv[1]))
		return unknown_scenario(argv[1]);
	s = calloc(1, sizeof *s);
	if (!s)
		return EXIT_RUN_FAILED;
	s->run = (struct scenario_run){.scenario = scenario_find(argv[1]),
	                               .time_scale = 1,
	                               .seed = 1,
	                               .probe = "auto",
	                               .directory = ".",
	                               .signal = signals_came(),
	                               .result = take,
	                               .progress = tell,
	                               .context = s};
	argv[1] = argv[0];
	parse_options(s, argc - 1, argv + 1);
	signals_catch();
	limits_raise();
	const int error = scenario_carry_out(&s->run);
	status = conclude(s, error);
	free(s);
	return status;
}
