/* `iostudy diff`: two sets of results, or two engines, against each other. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/diff.h"
#include "analysis/store.h"
#include "cli/cli.h"
#include "cli/diff_gate.h"
#include "cli/nearest.h"
#include "cli/options.h"
#include "cli/simple.h"

enum {
	KEY_ENGINE = 0x100,
	KEY_METRIC,
	KEY_PAIRED,
	KEY_CONFIDENCE,
	KEY_FAIL_ON,
	KEY_ACROSS,
	KEY_JSON,
	PATHS_MAX = 64
};

static const struct argp_option diff_argp_options[] = {
    {"engine", KEY_ENGINE, "A,B", 0, "compare two engines within the same results", 0},
    {"metric", KEY_METRIC, "NAME,...", 0, "what is compared, or all; fewer tell more", 0},
    {"paired", KEY_PAIRED, 0, 0, "the n-th repeats of both were run side by side", 0},
    {"confidence", KEY_CONFIDENCE, "PERCENT", 0, "over all comparisons together [95]", 0},
    {"fail-on", KEY_FAIL_ON, "NAME>N%", 0,
     "status 3 when B surely has more, and by over N %; NAME<-N%: less", 0},
    {"across", KEY_ACROSS, 0, 0, "also between machines that differ in what matters", 0},
    {"json", KEY_JSON, 0, 0, "one JSON object, and nothing else", 0},
    {0},
};

static const char documentation[] =
    "Compare two sets of results, setting by setting: by which factor B differs from A, with an "
    "interval, and whether the repeats are enough to say so. A and B are folders made by `iostudy "
    "run -o` or `study -o`, or files.\v"
    "Examples:\n"
    "  iostudy diff before after\n"
    "  iostudy diff results --engine blocking,uring\n"
    "  iostudy diff before after --fail-on 'cpu_ns_per_operation>5%'\n"
    "\n"
    "A difference is told only when it holds after Holm's correction over all comparisons; else "
    "the answer is ?, not enough evidence. The tests are by ranks, so that no wild run can make "
    "or hide a difference; they need repeats: at least 4 on each side for one comparison.\n"
    "\n"
    "Exit status: 0 done, 1 something could not be read, 2 bad usage, or results of machines "
    "that do not compare, 3 a --fail-on was met.";

struct asked {
	struct diff diff;
	const char *paths[PATHS_MAX];
	size_t path_count;
	struct gate gates[GATES_MAX];
	size_t gate_count;
	char *engines;
	bool across, json, unread, metrics_said;
};

static void metric_add(struct argp_state *state, struct diff_options *options, const char *name)
{
	const char *names[SUMMARY_FIELD_COUNT];
	const int metric = diff_metric_find(name);

	for (size_t i = 0; i < SUMMARY_FIELD_COUNT; i++) {
		names[i] = summary_field_name(i);
		if (strcmp(name, "all") == 0 && options->metric_count < DIFF_METRICS_MAX)
			options->metrics[options->metric_count++] = i;
	}
	for (size_t i = 0; i < options->metric_count; i++)
		if ((int)options->metrics[i] == metric)
			return;
	if (metric >= 0 && options->metric_count < DIFF_METRICS_MAX)
		options->metrics[options->metric_count++] = (size_t)metric;
	if (metric >= 0 || strcmp(name, "all") == 0)
		return;
	fprintf(stderr, "%s: unknown metric '%.60s'", state->name, name);
	nearest_print(stderr, name, names, SUMMARY_FIELD_COUNT);
	fputs("\n", stderr);
	exit(EXIT_BAD_USAGE);
}

static void metrics_take(struct argp_state *state, struct asked *asked, const char *text)
{
	char *copy = strdup(text), *rest = copy, *name;

	while (copy && (name = strsep(&rest, ",")))
		metric_add(state, &asked->diff.options, name);
	free(copy);
}

static void engines_take(struct argp_state *state, struct asked *asked, const char *text)
{
	char *comma;

	asked->engines = strdup(text);
	comma = asked->engines ? strchr(asked->engines, ',') : NULL;
	if (!comma || comma == asked->engines || !comma[1] || strchr(comma + 1, ',')) {
		argp_error(state, "--engine %.60s: two engines, as in blocking,uring", text);
		return;
	}
	*comma = 0;
	asked->diff.options.engines[DIFF_A] = asked->engines;
	asked->diff.options.engines[DIFF_B] = comma + 1;
}

static void confidence_take(struct argp_state *state, struct asked *asked, const char *text)
{
	char *end;
	const double percent = strtod(text, &end);

	if (end == text || (*end && strcmp(end, "%") != 0) || !(percent >= 50 && percent < 100))
		argp_error(state, "--confidence %.40s: from 50 to under 100 percent", text);
	asked->diff.options.confidence = percent / 100;
}

static void gate_take(struct argp_state *state, struct asked *asked, const char *text)
{
	struct gate *gate = &asked->gates[asked->gate_count];

	if (asked->gate_count == GATES_MAX)
		argp_error(state, "more than %d --fail-on", GATES_MAX);
	if (gate_parse(gate, text) != 0)
		argp_error(state,
		           "--fail-on %.80s: a metric, > or <, and percent, as in "
		           "'cpu_ns_per_operation>5%%' or 'iops<-5%%'",
		           text);
	asked->gate_count++;
	metric_add(state, &asked->diff.options, summary_field_name(gate->metric));
}

static void finish(struct argp_state *state, struct asked *asked)
{
	struct diff_options *options = &asked->diff.options;

	if (!options->engines[DIFF_A] && asked->path_count != 2)
		argp_error(state, "two sets of results are compared, and %zu %s named",
		           asked->path_count, asked->path_count == 1 ? "is" : "are");
	if (options->engines[DIFF_A] && !asked->path_count)
		argp_error(state, "whose results? Name a folder or a file");
	for (size_t i = 0; !asked->metrics_said && !asked->gate_count && diff_usual_metrics[i]; i++)
		metric_add(state, options, diff_usual_metrics[i]);
}

static error_t option_take(int key, char *argument, struct argp_state *state)
{
	struct asked *asked = state->input;

	switch (key) {
	case KEY_ENGINE:
		engines_take(state, asked, argument);
		return 0;
	case KEY_METRIC:
		asked->metrics_said = true;
		metrics_take(state, asked, argument);
		return 0;
	case KEY_PAIRED:
		asked->diff.options.paired = true;
		return 0;
	case KEY_CONFIDENCE:
		confidence_take(state, asked, argument);
		return 0;
	case KEY_FAIL_ON:
		gate_take(state, asked, argument);
		return 0;
	case KEY_ACROSS:
		asked->across = true;
		return 0;
	case KEY_JSON:
		asked->json = true;
		return 0;
	case ARGP_KEY_ARG:
		if (asked->path_count == PATHS_MAX)
			argp_error(state, "more than %d places", PATHS_MAX);
		asked->paths[asked->path_count++] = argument;
		return 0;
	case ARGP_KEY_END:
		finish(state, asked);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

struct side_reading {
	struct diff *diff;
	enum diff_side side;
};

static int run_take(void *context, json_t *run)
{
	struct side_reading *reading = context;
	const int err = diff_add(reading->diff, reading->side, run);

	json_decref(run);
	return err;
}

static void complain(void *context, const char *text)
{
	(void)context;
	fprintf(stderr, "iostudy diff: %s\n", text);
}

/* Each side knows its own repeats of a line: A and B may be the same file. */
static bool read_all(struct asked *asked)
{
	const bool engines = asked->diff.options.engines[DIFF_A];
	struct side_reading reading = {&asked->diff, DIFF_A};
	struct store_visitor visitor = {.run = run_take, .message = complain, .context = &reading};
	char why[STORE_WHY_SIZE];
	bool good = true;

	for (size_t i = 0; i < asked->path_count; i++) {
		if (!engines && i == 1) {
			store_visitor_free(&visitor);
			reading.side = DIFF_B;
		}
		if (store_visit(&visitor, asked->paths[i], why) != 0) {
			complain(NULL, why);
			good = false;
		}
	}
	store_visitor_free(&visitor);
	asked->unread = visitor.refused > 0;
	return good;
}

static int print(const struct asked *asked, const char *name_a, const char *name_b)
{
	struct text out = {0};
	int status;

	if (asked->json)
		return simple_put_json(diff_json(&asked->diff, name_a, name_b));
	diff_text(&asked->diff, name_a, name_b, &out);
	status = out.data && !out.broken ? simple_put(out.data) : EXIT_RUN_FAILED;
	text_free(&out);
	return status;
}

static bool refuse_across(const struct asked *asked)
{
	const struct diff *d = &asked->diff;

	if (asked->across || !diff_is_across(d))
		return false;
	for (size_t i = 0; i < d->difference_count; i++)
		if (d->differences[i].matters)
			fprintf(stderr, "iostudy diff: %s: %s in A, %s in B\n",
			        d->differences[i].field, d->differences[i].values[DIFF_A],
			        d->differences[i].values[DIFF_B]);
	fputs("iostudy diff: the machines differ in what matters, so nothing is compared; "
	      "--across compares them all the same\n",
	      stderr);
	return true;
}

static int conclude(struct asked *asked)
{
	const char *const *engines = asked->diff.options.engines;
	const char *a = engines[DIFF_A] ? engines[DIFF_A] : asked->paths[0];
	const char *b = engines[DIFF_B] ? engines[DIFF_B] : asked->paths[1];
	int status;

	if (!asked->diff.comparison_count) {
		fprintf(stderr,
		        "iostudy diff: no setting was run on both sides: %zu runs in A, %zu in B\n",
		        asked->diff.runs[DIFF_A], asked->diff.runs[DIFF_B]);
		return EXIT_RUN_FAILED;
	}
	if (refuse_across(asked))
		return EXIT_BAD_USAGE;
	status = print(asked, a, b);
	if (status == EXIT_DONE && gates_met(asked->gates, asked->gate_count, &asked->diff, stderr))
		return EXIT_GATE;
	return status == EXIT_DONE && asked->unread ? EXIT_RUN_FAILED : status;
}

int command_diff(int argc, char **argv)
{
	static const struct argp argp = {
	    diff_argp_options, option_take, "A B", documentation, NULL, NULL, NULL};
	struct asked *asked = calloc(1, sizeof *asked);
	int status = EXIT_RUN_FAILED;

	if (!asked) {
		fputs("iostudy diff: out of memory\n", stderr);
		return status;
	}
	asked->diff.options.confidence = 0.95;
	options_parse(&argp, argc, argv, asked);
	if (read_all(asked)) {
		if (diff_conclude(&asked->diff) == 0)
			status = conclude(asked);
		else
			fputs("iostudy diff: out of memory\n", stderr);
	}
	diff_free(&asked->diff);
	free(asked->engines);
	free(asked);
	return status;
}
