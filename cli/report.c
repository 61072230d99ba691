/* Writes a document from stored results: iostudy report. */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/report.h"
#include "cli/cli.h"
#include "cli/options.h"
#include "cli/stored.h"

enum { KEY_FORMAT = 0x100, PATHS_MAX = 256, PATH_SIZE = 4200 };

static const struct argp_option report_options[] = {
    {"output", 'o', "FILE", 0, "where the document goes; - is the standard output", 0},
    {"format", KEY_FORMAT, "md", 0, "md (Markdown) is the only one so far", 0},
    {0},
};

static const char documentation[] =
    "Write one document from stored results: the answer, tables, requests in flight against "
    "threads as bars, findings, what the threads did, environment, method and losses.\v"
    "Examples:\n"
    "  iostudy run --engine basic --repeat 5 -o results\n"
    "  iostudy report results -o report.md\n"
    "  iostudy report monday tuesday -o -\n"
    "\n"
    "DIR is what `iostudy run -o DIR` made, or a file with a run on each line. FILE is replaced "
    "in one step, so a reader never sees half a document.\n"
    "\n"
    "Exit status: 0 done, 1 something could not be read or written, 2 bad usage.";

struct report {
	const char *paths[PATHS_MAX], *output;
	size_t path_count;
};

static error_t option_take(int key, char *argument, struct argp_state *state)
{
	struct report *report = state->input;

	switch (key) {
	case 'o':
		if (!*argument)
			argp_error(state, "-o needs the name of a file, or -");
		report->output = argument;
		return 0;
	case KEY_FORMAT:
		if (strcmp(argument, "md") != 0)
			argp_error(state, "unknown format '%.40s'; the formats are: md", argument);
		return 0;
	case ARGP_KEY_ARG:
		if (report->path_count == PATHS_MAX)
			argp_error(state, "more than %d places; give fewer", PATHS_MAX);
		report->paths[report->path_count++] = argument;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state,
		           "nothing to report on: name a folder made by `iostudy run -o DIR`");
		return 0;
	case ARGP_KEY_END:
		if (!report->output)
			argp_error(state,
			           "-o FILE is missing: where the document goes; -o - prints it");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int write_all(int fd, const char *data, size_t length)
{
	while (length) {
		const ssize_t written = write(fd, data, length);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -errno;
		data += written;
		length -= (size_t)written;
	}
	return 0;
}

/* Writes beside the file and puts it in its place, or leaves everything as it was. */
static int file_replace(const char *path, const char *document)
{
	char temporary[PATH_SIZE];
	struct stat old;
	int status;

	char *target = realpath(path, NULL); /* behind a link: the link stays */

	if (target)
		path = target;
	if (snprintf(temporary, sizeof temporary, "%s.%d.tmp", path, (int)getpid()) >= PATH_SIZE) {
		free(target);
		return -ENAMETOOLONG;
	}
	const int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0) {
		status = -errno;
		free(target);
		return status;
	}
	status = write_all(fd, document, strlen(document));
	if (!status && stat(path, &old) == 0 && fchmod(fd, old.st_mode & 07777) != 0)
		status = -errno;
	if (!status && fsync(fd) != 0 && errno != EINVAL)
		status = -errno;
	if (close(fd) != 0 && !status)
		status = -errno;
	if (!status && rename(temporary, path) != 0)
		status = -errno;
	if (status)
		unlink(temporary);
	free(target);
	return status;
}

/* Whether the document would take the place of the runs that it is made from. */
static bool is_input(const struct report *report)
{
	struct stat output, input;
	char path[PATH_SIZE];

	if (stat(report->output, &output) != 0)
		return false;
	for (size_t i = 0; i < report->path_count; i++) {
		for (int inside = 0; inside < 2; inside++) {
			snprintf(path, sizeof path, "%s%s", report->paths[i],
			         inside ? "/runs.jsonl" : "");
			if (stat(path, &input) == 0 && input.st_dev == output.st_dev &&
			    input.st_ino == output.st_ino)
				return true;
		}
	}
	return false;
}

/* A device or a pipe is written to; anything else is replaced. */
static int document_write(const char *path, const char *document)
{
	struct stat file;

	if (strcmp(path, "-") == 0)
		return write_all(STDOUT_FILENO, document, strlen(document));
	if (stat(path, &file) != 0 || S_ISREG(file.st_mode))
		return file_replace(path, document);
	const int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	int status = write_all(fd, document, strlen(document));
	if (close(fd) != 0 && !status)
		status = -errno;
	return status;
}

int command_report(int argc, char **argv)
{
	static const struct argp argp = {report_options, option_take, "DIR|FILE...", documentation,
	                                 NULL,           NULL,        NULL};
	struct report report = {.output = NULL};
	struct store_runs runs = {0};

	options_parse(&argp, argc, argv, &report);
	if (is_input(&report)) {
		fprintf(
		    stderr,
		    "%s: -o %s is where the runs are kept; name another file for the document\n",
		    argv[0], report.output);
		return EXIT_BAD_USAGE;
	}
	int status = stored_read(&runs, report.paths, report.path_count, argv[0]);
	if (!runs.count) {
		fprintf(stderr, "%s: no run to report on; nothing is written\n", argv[0]);
		store_free(&runs);
		return EXIT_RUN_FAILED;
	}
	char *document = report_markdown(runs.runs, runs.count);
	const int written = document ? document_write(report.output, document) : -ENOMEM;
	if (written) {
		fprintf(stderr, "%s: %s: cannot be written: %s%s\n", argv[0], report.output,
		        strerror(-written),
		        written == -ENOSPC ? "; make room there, or name another file with -o"
		                           : "");
		status = EXIT_RUN_FAILED;
	} else if (strcmp(report.output, "-") != 0) {
		fprintf(stderr, "%s: wrote %s (%zu runs)\n", argv[0], report.output, runs.count);
	}
	free(document);
	store_free(&runs);
	return status;
}
