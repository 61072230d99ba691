/* Runs of build/iostudy, parsed: see cli_runs.h. */
#include "tests/cli_runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

enum { ARGUMENTS_MAX = 64 };

static json_t *parse_lines(char *text)
{
	json_t *runs = json_array();
	char *rest = text, *line;

	while ((line = strsep(&rest, "\n")) && rest) {
		json_error_t error;
		json_t *run = json_loads(line, JSON_REJECT_DUPLICATES, &error);

		CHECK_MESSAGE(run, "not strict JSON: %s: %.200s", error.text, line);
		if (run)
			json_array_append_new(runs, run);
	}
	CHECK_MESSAGE(!line || !*line, "stdout does not end with a line: %.200s", line);
	return runs;
}

json_t *cli_runs(struct process p, int status)
{
	const char *arguments[ARGUMENTS_MAX] = {"run", "--json"};
	struct process_result result;
	char directory[256];
	json_t *runs = NULL;
	unsigned n = 2;

	while (*p.argv && n < ARGUMENTS_MAX - 1)
		arguments[n++] = *p.argv++;
	arguments[n] = NULL;
	p.argv = arguments;
	process_make_directory(directory);
	if (!p.directory)
		p.directory = directory;
	process_run(&p, &result);
	CHECK_STATUS(&result, status);
	CHECK_MESSAGE(!strcasestr(result.out, "nan") && !strstr(result.out, "inf,"),
	              "nan or inf: %.200s", result.out);
	if (result.out)
		runs = parse_lines(result.out);
	if (test_has_failed())
		fprintf(stderr, "%s", result.err);
	process_free(&result);
	process_remove_directory(directory);
	return runs;
}

const json_t *cli_at(const json_t *value, const char *path)
{
	char copy[256], *rest = copy, *step;

	snprintf(copy, sizeof copy, "%s", path);
	while (value && (step = strsep(&rest, "."))) {
		if (json_is_array(value))
			value = json_array_get(value, strtoul(step, NULL, 10));
		else
			value = json_object_get(value, step);
	}
	return value;
}

double cli_number(const json_t *run, const char *path)
{
	const json_t *value = cli_at(run, path);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

const char *cli_text(const json_t *run, const char *path)
{
	const char *text = json_string_value(cli_at(run, path));

	return text ? text : "";
}

const json_t *cli_finding(const json_t *run, const char *tag)
{
	const json_t *findings = json_object_get(run, "findings");

	for (size_t i = 0; i < json_array_size(findings); i++)
		if (strcmp(cli_text(json_array_get(findings, i), "tag"), tag) == 0)
			return json_array_get(findings, i);
	return NULL;
}
