/* The options of `iostudy study`: see study.h. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/options.h"
#include "cli/study.h"

enum { KEY_DRY_RUN = 0x100, KEY_SHARD, KEY_DIRECTORY, KEY_KEEP };

static const struct argp_option study_argp_options[] = {
    {"output", 'o', "DIR", 0, "keep each run in DIR/runs.jsonl, and go on where it ended", 0},
    {"dry-run", KEY_DRY_RUN, 0, 0, "print the plan and how long it takes, and run nothing", 0},
    {"shard", KEY_SHARD, "K/N", 0, "run part K of N; batches stay together", 0},
    {"directory", KEY_DIRECTORY, "DIR", 0, "where the files of the disk workloads are made [.]", 0},
    {"keep", KEY_KEEP, 0, 0, "keep those files for the next study", 0},
    {0},
};

static const char documentation[] =
    "Run a study: all combinations of the settings in FILE, again and again, in an order that is "
    "shuffled in each repeat. NAME is a study that comes with the program (iostudy list "
    "studies).\v"
    "Examples:\n"
    "  iostudy study quick -o results && iostudy report results -o report.md\n"
    "  iostudy study there-is-no-thread --dry-run\n"
    "  iostudy study my.study -o results --shard 1/2     on one machine\n"
    "  iostudy study my.study -o results --shard 2/2     on another\n"
    "\n"
    "Interrupted or killed, the same command goes on: each run is on the disk before the next "
    "begins, and none is lost or run twice. Results of several machines are read together by "
    "naming their folders. The man page explains the file.\n"
    "\n"
    "Exit status: 0 done, 1 a run failed or could not be kept, 2 bad usage, 77 nothing could run "
    "here, 128+n on signal n.";

static void shard_take(struct study_options *options, const char *text, struct argp_state *state)
{
	char rest;

	options->shard = text;
	if (sscanf(text, "%u/%u%c", &options->shard_number, &options->shards, &rest) != 2 ||
	    options->shard_number < 1 || options->shard_number > options->shards ||
	    options->shards > 10000)
		argp_error(state, "--shard %.40s: K/N, with K from 1 to N, as in 2/4", text);
}

static error_t option_take(int key, char *argument, struct argp_state *state)
{
	struct study_options *options = state->input;

	switch (key) {
	case 'o':
		if (!*argument)
			argp_error(state, "-o needs the name of a folder");
		options->output = argument;
		return 0;
	case KEY_DRY_RUN:
		options->dry_run = true;
		return 0;
	case KEY_SHARD:
		shard_take(options, argument, state);
		return 0;
	case KEY_DIRECTORY:
		if (!*argument)
			argp_error(state, "--directory is empty; . is the one where you are");
		options->directory = argument;
		return 0;
	case KEY_KEEP:
		options->keep = true;
		return 0;
	case ARGP_KEY_ARG:
		if (options->file)
			argp_error(state, "one study at a time: %.60s or %.60s", options->file,
			           argument);
		options->file = argument;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which study? A file, or a name of `iostudy list studies`");
		return 0;
	case ARGP_KEY_END:
		if (!options->output && !options->dry_run)
			argp_error(state, "-o DIR is missing: where the runs are kept");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

void study_options_parse(struct study_options *options, int argc, char **argv)
{
	static const struct argp argp = {
	    study_argp_options, option_take, "FILE|NAME", documentation, NULL, NULL, NULL};

	*options = (struct study_options){.directory = ".", .shard_number = 1, .shards = 1};
	options_parse(&argp, argc, argv, options);
}
