/* Prints stored results again: iostudy show. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/digest.h"
#include "analysis/store.h"
#include "analysis/text.h"
#include "cli/cli.h"
#include "cli/options.h"
#include "cli/screen.h"
#include "cli/stored.h"

enum { KEY_JSON = 0x100, KEY_ASCII, PATHS_MAX = 256 };

static const struct argp_option show_options[] = {
    {"json", KEY_JSON, 0, 0, "one JSON object per run on stdout, and nothing else", 0},
    {"ascii", KEY_ASCII, 0, 0, "no character beyond ASCII, no colour", 0},
    {0},
};

static const char documentation[] =
    "Print stored results again, as `iostudy run` printed them. DIR is what `iostudy run -o DIR` "
    "made; FILE holds a run on each line, as --json prints it; - is the standard input.\v"
    "Examples:\n"
    "  iostudy show results\n"
    "  iostudy show results more-results/runs.jsonl\n"
    "  iostudy show results --json | jq .summary.held_per_served\n"
    "  ssh server cat results/runs.jsonl | iostudy show -\n"
    "\n"
    "Several places are shown together. A line that cannot be read is named on stderr, and the "
    "others are shown all the same. Summary and findings are drawn anew from the figures.\n"
    "\n"
    "Exit status: 0 done, 1 something could not be read, 2 bad usage.";

struct show {
	const char *paths[PATHS_MAX];
	size_t path_count;
	bool json, ascii;
	struct digest digest;
	size_t runs;
	int err; /* -errno of what was to be printed */
};

static error_t option_take(int key, char *argument, struct argp_state *state)
{
	struct show *show = state->input;

	switch (key) {
	case KEY_JSON:
		show->json = true;
		return 0;
	case KEY_ASCII:
		show->ascii = true;
		return 0;
	case ARGP_KEY_ARG:
		if (show->path_count == PATHS_MAX)
			argp_error(state, "more than %d places; give fewer", PATHS_MAX);
		show->paths[show->path_count++] = argument;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state,
		           "nothing to show: name a folder made by `iostudy run -o DIR`, or a "
		           "file");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int json_print(const json_t *object)
{
	char *line = store_line(object);
	const int err = !line ? -ENOMEM : puts(line) == EOF ? -(errno ? errno : EIO) : 0;

	free(line);
	return err;
}

/* A run at a time, so that results of any size take little memory. */
static int run_take(void *context, json_t *run)
{
	struct show *show = context;

	show->err = show->json ? json_print(run) : digest_add(&show->digest, run);
	show->runs++;
	json_decref(run);
	return show->err;
}

/* Prints the text, which it takes; NULL: there was no memory for it. */
static int text_print(char *text)
{
	const int err = !text ? -ENOMEM : fputs(text, stdout) == EOF ? -(errno ? errno : EIO) : 0;

	free(text);
	return err;
}

/* The runs, if they are not printed yet, then the cases of scenarios. */
static int rest_print(struct show *show, const struct scenario_reader *cases)
{
	const struct text_style style = screen_style(show->ascii);
	int err = 0;

	for (size_t i = 0; show->json && !err && i < cases->count; i++)
		err = json_print(cases->results[i]);
	if (show->json)
		return err;
	if (show->runs || !cases->count) {
		err = digest_finish(&show->digest);
		if (!err)
			err = text_print(text_render_groups(&show->digest.groups, &style));
	}
	if (!err && cases->count)
		err = text_print(scenario_render(cases->results, cases->count, &style));
	return err;
}

int command_show(int argc, char **argv)
{
	static const struct argp argp = {show_options, option_take, "DIR|FILE...", documentation,
	                                 NULL,         NULL,        NULL};
	struct show show = {.path_count = 0};
	struct scenario_reader cases = {0};

	options_parse(&argp, argc, argv, &show);
	errno = 0;
	int status = stored_visit(show.paths, show.path_count, argv[0], run_take, &show);
	if (!show.err && stored_cases(&cases, show.paths, show.path_count, argv[0]) != EXIT_DONE)
		status = EXIT_RUN_FAILED;
	errno = 0;
	if (!show.err)
		show.err = rest_print(&show, &cases);
	if (!show.err && fflush(stdout) != 0)
		show.err = -(errno ? errno : EIO);
	if (show.err) {
		fprintf(stderr, "%s: cannot write to standard output: %s\n", argv[0],
		        strerror(-show.err));
		status = EXIT_RUN_FAILED;
	}
	digest_free(&show.digest);
	scenario_reader_free(&cases);
	return status;
}
