/* Prints stored results again: iostudy show. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/findings.h"
#include "analysis/store.h"
#include "analysis/summary.h"
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

static bool show_json(json_t *const *objects, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char *line = store_line(objects[i]);
		const bool good = line && puts(line) != EOF;

		free(line);
		if (!good)
			return false;
	}
	return true;
}

static bool show_text(const struct store_runs *runs, const struct scenario_reader *cases,
                      bool ascii)
{
	const struct text_style style = screen_style(ascii);
	char *text = NULL, *more = NULL;
	bool good = true;

	if (runs->count || !cases->count)
		text = text_render(runs->runs, runs->count, &style);
	if (cases->count)
		more = scenario_render(cases->results, cases->count, &style);
	if (runs->count || !cases->count)
		good = text && fputs(text, stdout) != EOF;
	if (cases->count)
		good = good && more && fputs(more, stdout) != EOF;
	free(text);
	free(more);
	return good;
}

int command_show(int argc, char **argv)
{
	static const struct argp argp = {show_options, option_take, "DIR|FILE...", documentation,
	                                 NULL,         NULL,        NULL};
	struct show show = {.path_count = 0};
	struct store_runs runs = {0};
	struct scenario_reader cases = {0};

	options_parse(&argp, argc, argv, &show);
	int status = stored_read(&runs, show.paths, show.path_count, argv[0]);
	errno = 0;
	if (stored_cases(&cases, show.paths, show.path_count, argv[0]) != EXIT_DONE)
		status = EXIT_RUN_FAILED;
	const bool good = show.json ? show_json(runs.runs, runs.count) &&
	                                  show_json(cases.results, cases.count)
	                            : show_text(&runs, &cases, show.ascii);
	if (!good || fflush(stdout) != 0) {
		fprintf(stderr, "%s: cannot write to standard output: %s\n", argv[0],
		        strerror(errno ? errno : ENOMEM));
		status = EXIT_RUN_FAILED;
	}
	store_free(&runs);
	scenario_reader_free(&cases);
	return status;
}
