/*
 * What the small commands share: a handful of options, and output that is told when it fails.
 */
#include "cli/simple.h"
#include "cli/cli.h"

#include "cli/nearest.h"
#include "cli/options.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPTION_JSON = 256, OPTION_ASCII, OPTION_DIRECTORY };

struct parsing {
	const struct simple_command *command;
	struct simple_options *options;
};

static void word_take(struct argp_state *state, struct parsing *parsing, const char *word)
{
	const char *const *valid = parsing->command->words;
	struct simple_options *options = parsing->options;
	uint32_t count = 0;

	for (; valid && valid[count]; count++) {
		if (strcmp(valid[count], word) != 0)
			continue;
		if (options->word_count == SIMPLE_WORDS_MAX)
			argp_error(state, "too many words");
		options->words[options->word_count++] = valid[count];
		return;
	}
	fprintf(stderr, "%s: unknown word '%.60s'", state->name, word);
	nearest_print(stderr, word, valid, count);
	fprintf(stderr, "; see %s --help\n", state->name);
	exit(EXIT_BAD_USAGE);
}

static error_t option_take(int key, char *argument, struct argp_state *state)
{
	struct parsing *parsing = state->input;

	switch (key) {
	case OPTION_JSON:
		parsing->options->json = true;
		return 0;
	case OPTION_ASCII:
		parsing->options->ascii = true;
		return 0;
	case OPTION_DIRECTORY:
		parsing->options->directory = argument;
		return 0;
	case ARGP_KEY_ARG:
		word_take(state, parsing, argument);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

void simple_parse(struct simple_options *options, const struct simple_command *command, int argc,
                  char **argv)
{
	const struct argp_option all[] = {
	    {"json", OPTION_JSON, NULL, 0, "One JSON object on one line", 0},
	    {"ascii", OPTION_ASCII, NULL, 0, "Nothing but ASCII", 0},
	    {"directory", OPTION_DIRECTORY, "DIR", command->directory ? 0 : OPTION_HIDDEN,
	     "Look at this place for the measured file (here)", 0},
	    {0},
	};
	const struct argp argp = {
	    .options = all,
	    .parser = option_take,
	    .args_doc = command->argument,
	    .doc = command->summary,
	};
	struct parsing parsing = {command, options};

	memset(options, 0, sizeof *options);
	options_parse(&argp, argc, argv, &parsing);
}

int simple_put(const char *text)
{
	if (fputs(text, stdout) >= 0 && fflush(stdout) == 0)
		return EXIT_DONE;
	fprintf(stderr, "iostudy: cannot write to standard output: %s\n", strerror(errno));
	return EXIT_RUN_FAILED;
}

int simple_put_json(json_t *object)
{
	char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;
	int status = EXIT_RUN_FAILED;
	json_decref(object);
	if (!text) {
		fputs("iostudy: not enough memory for the result\n", stderr);
		return status;
	}
	char *line = malloc(strlen(text) + 2);
	if (line) {
		sprintf(line, "%s\n", text);
		status = simple_put(line);
	}
	free(line);
	free(text);
	return status;
}
