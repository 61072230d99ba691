/* Writes a document from stored results: iostudy report. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/report.h"
#include "analysis/report_page.h"
#include "analysis/scenario_view.h"
#include "cli/cli.h"
#include "cli/document.h"
#include "cli/options.h"
#include "cli/stored.h"

enum { KEY_FORMAT = 0x100, PATHS_MAX = 256, PATH_SIZE = 4200 };

enum format { FORMAT_BY_NAME, FORMAT_HTML, FORMAT_MD, FORMAT_CSV, FORMAT_COUNT };
static const char *const format_names[FORMAT_COUNT] = {"", "html", "md", "csv"};

static const struct argp_option report_options[] = {
    {"output", 'o', "FILE", 0, "where the document goes; - is the standard output", 0},
    {"format", KEY_FORMAT, "html|md|csv", 0,
     "a page, Markdown, or a row for each run and metric [by the end of FILE, else md]", 0},
    {0},
};

static const char documentation[] =
    "Write one document from stored results: the answer, tables, requests in flight against "
    "threads as bars, findings, what the threads did, what is said of Linux against what was "
    "measured, environment, method and losses.\v"
    "Examples:\n"
    "  iostudy run --engine basic --repeat 5 -o results\n"
    "  iostudy report results -o report.html\n"
    "  iostudy report monday tuesday -o -\n"
    "  iostudy report results --format csv -o results.csv\n"
    "\n"
    "The page needs nothing but itself: it opens offline, and asks nothing of a network.\n"
    "\n"
    "DIR is what `iostudy run -o DIR` made, or a file with a run on each line. Cases that "
    "`iostudy scenario -o DIR` kept there stand in Markdown. FILE is replaced in one step, so a "
    "reader never sees half a document.\n"
    "\n"
    "Exit status: 0 done, 1 something could not be read or written, 2 bad usage.";

struct report {
	const char *paths[PATHS_MAX], *output;
	size_t path_count;
	enum format format;
	struct document document;
	struct digest digest;
	size_t runs;         /* in the document */
	int written, status; /* -errno of the document; an exit status of what was read */
};

static enum format format_find(const char *name)
{
	for (int f = FORMAT_HTML; f < FORMAT_COUNT; f++)
		if (strcmp(name, format_names[f]) == 0)
			return (enum format)f;
	return FORMAT_BY_NAME;
}

/* What the end of a file's name says. */
static enum format format_of_file(const char *path)
{
	const char *dot = strrchr(path, '.');
	enum format format;

	if (!dot)
		return FORMAT_MD;
	format = strcmp(dot, ".htm") == 0 ? FORMAT_HTML : format_find(dot + 1);
	return format == FORMAT_BY_NAME ? FORMAT_MD : format;
}

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
		report->format = format_find(argument);
		if (report->format == FORMAT_BY_NAME)
			argp_error(state, "unknown format '%.40s'; the formats are: html, md, csv",
			           argument);
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
		if (report->format == FORMAT_BY_NAME)
			report->format = format_of_file(report->output);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
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

static int digest_take(void *context, json_t *run)
{
	struct report *report = context;

	report->written = digest_add(&report->digest, run);
	report->runs += !report->written;
	json_decref(run);
	return report->written;
}

static int text_write(struct report *report, const char *text)
{
	int err = text ? document_open(&report->document, report->output) : -ENOMEM;

	if (err)
		return err;
	err = document_add(&report->document, text, strlen(text));
	return document_close(&report->document, err);
}

/* The runs, then the cases of scenarios. */
static char *markdown(const struct report *report, const struct scenario_reader *cases)
{
	struct text text = {0};
	char *document = report->runs ? report_markdown(&report->digest) : NULL;

	if (document)
		text_add(&text, "%s", document);
	if (report->runs && !document)
		text.broken = true;
	free(document);
	if (cases->count && !report->runs)
		text_add(&text, "# The classic experiments\n\n");
	scenario_markdown(&text, cases->results, cases->count);
	if (text.broken)
		text_free(&text);
	return text.data;
}

/* One document from all the runs. */
static int whole_write(struct report *report, const char *program)
{
	struct digest *digest = &report->digest;
	struct scenario_reader cases = {0};
	char *text = NULL;
	size_t page_length;
	const char *page = report_page_embedded(&page_length);
	int err;

	digest->for_page = report->format == FORMAT_HTML;
	report->status = stored_visit(report->paths, report->path_count, program, digest_take,
	                              report);
	err = report->written ? report->written : digest_finish(digest);
	if (!err && report->format == FORMAT_MD &&
	    stored_cases(&cases, report->paths, report->path_count, program) != EXIT_DONE)
		report->status = EXIT_RUN_FAILED;
	if (!err && report->runs + cases.count) {
		text = digest->for_page ? report_page(digest, page, page_length)
		                        : markdown(report, &cases);
		err = text_write(report, text);
	}
	report->runs += cases.count;
	free(text);
	digest_free(digest);
	scenario_reader_free(&cases);
	return err;
}

static int csv_take(void *context, json_t *run)
{
	struct report *report = context;
	struct text rows = {0};
	int err = report->runs ? 0 : document_open(&report->document, report->output);

	if (!err && !report->runs++)
		report_csv_head(&rows);
	if (!err) {
		report_csv_run(&rows, run);
		err = rows.broken ? -ENOMEM : 0;
	}
	if (!err)
		err = document_add(&report->document, rows.data, rows.length);
	text_free(&rows);
	json_decref(run);
	report->written = err;
	return err;
}

static int csv_write(struct report *report, const char *program)
{
	report->status = stored_visit(report->paths, report->path_count, program, csv_take, report);
	return report->runs ? document_close(&report->document, report->written) : report->written;
}

int command_report(int argc, char **argv)
{
	static const struct argp argp = {report_options, option_take, "DIR|FILE...", documentation,
	                                 NULL,           NULL,        NULL};
	struct report report = {.output = NULL};
	size_t page_length;

	report_page_embedded(&page_length);
	options_parse(&argp, argc, argv, &report);
	if (is_input(&report)) {
		fprintf(
		    stderr,
		    "%s: -o %s is where the runs are kept; name another file for the document\n",
		    argv[0], report.output);
		return EXIT_BAD_USAGE;
	}
	if (report.format == FORMAT_HTML && !page_length) {
		fprintf(stderr,
		        "%s: this program was built without the page; with node and npm installed "
		        "`make page` builds it in, and -o report.md needs neither\n",
		        argv[0]);
		return EXIT_RUN_FAILED;
	}
	const int written = report.format == FORMAT_CSV ? csv_write(&report, argv[0])
	                                                : whole_write(&report, argv[0]);
	if (written) {
		fprintf(stderr, "%s: %s: cannot be written: %s%s\n", argv[0], report.output,
		        strerror(-written),
		        written == -ENOSPC ? "; make room there, or name another file with -o"
		                           : "");
		return EXIT_RUN_FAILED;
	}
	if (!report.runs) {
		fprintf(stderr,
		        "%s: no run to report on; nothing is written (cases of scenarios stand in "
		        "Markdown alone: -o report.md)\n",
		        argv[0]);
		return EXIT_RUN_FAILED;
	}
	if (strcmp(report.output, "-") != 0)
		fprintf(stderr, "%s: wrote %s (%zu runs)\n", argv[0], report.output, report.runs);
	return report.status;
}
