/* See watch_help.h. */
#include "tests/watch_help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/schema_check.h"
#include "tests/test.h"

enum { ARGUMENTS_MAX = 32 };

static json_t *parse(const char *text)
{
	char why[SCHEMA_WHY_SIZE];
	json_error_t error;
	json_t *schema = json_load_file("analysis/schema/watch.json", JSON_REJECT_DUPLICATES,
	                                &error);
	json_t *watch;

	CHECK_MESSAGE(schema, "analysis/schema/watch.json, line %d: %s", error.line, error.text);
	watch = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	CHECK_MESSAGE(watch, "not strict JSON: %s: %.300s", error.text, text);
	if (schema && watch)
		CHECK_MESSAGE(schema_holds(schema, watch, why), "%s", why);
	json_decref(schema);
	return watch;
}

json_t *watch_json(int status, const char *const *arguments)
{
	const char *all[ARGUMENTS_MAX] = {"watch", "--json", "--batch"};
	struct process_result result;
	json_t *watch;
	int n = 3;

	for (; *arguments && n < ARGUMENTS_MAX - 1; arguments++)
		all[n++] = *arguments;
	process_run(&(struct process){.argv = all}, &result);
	CHECK_STATUS(&result, status);
	watch = parse(result.out);
	if (test_has_failed())
		fprintf(stderr, "%s", result.err);
	process_free(&result);
	return watch;
}

json_t *watch_program(const char *const *arguments, const char *duration)
{
	return watch_named_program("parkers", arguments, duration);
}

json_t *watch_named_program(const char *name, const char *const *arguments, const char *duration)
{
	struct program program;
	json_t *watch = NULL;
	char pid[16];

	if (!program_start(&program, name, arguments) || !program_expect(&program, "ready")) {
		test_fail(__FILE__, __LINE__, "%s does not start", name);
		return NULL;
	}
	usleep(100000); /* for the last of them to fall asleep */
	snprintf(pid, sizeof pid, "%d", (int)program.pid);
	watch = watch_json(0, (const char *const[]){"-p", pid, "-d", duration, NULL});
	program_end(&program);
	return watch;
}

json_t *watch_engine(const char *engine, const char *workload, const char *depth)
{
	char directory[256], file[300], json[320], self[4200];
	const char *const arguments[] = {
	    "watch",  json,      "--",   self,        "run",       "--engine", engine, "--workload",
	    workload, "--depth", depth,  "--runtime", "700ms",     "--warmup", "10ms", "--size",
	    "16m",    "--wait",  "park", "--probe",   "schedstat", "--json",   NULL};
	struct process_result result;
	json_t *watch = NULL;
	char *text = NULL;
	size_t size = 0;
	FILE *stream;

	process_make_directory(directory);
	snprintf(file, sizeof file, "%s/watch.json", directory);
	snprintf(json, sizeof json, "--json=%s", file);
	snprintf(self, sizeof self, "%s/iostudy", test_build_directory());
	if (*self != '/' && realpath(self, NULL))
		snprintf(self, sizeof self, "%s", realpath(self, NULL));
	process_run(&(struct process){.argv = arguments, .directory = directory}, &result);
	CHECK_STATUS(&result, 0);
	CHECK_CONTAINS(result.out, "iostudy/run/1"); /* its own output is untouched */
	stream = fopen(file, "re");
	if (stream && getdelim(&text, &size, 0, stream) > 0)
		watch = parse(text);
	CHECK_MESSAGE(watch, "no result: %s", result.err);
	if (stream)
		fclose(stream);
	free(text);
	process_free(&result);
	process_remove_directory(directory);
	return watch;
}

double watch_places(const json_t *watch, const char *field, const char *state, const char *call,
                    const char *object)
{
	const json_t *place;
	double sum = 0;
	size_t i;

	json_array_foreach(json_object_get(watch, "places"), i, place)
	{
		if ((!state || strcmp(cli_text(place, "state"), state) == 0) &&
		    (!call || strcmp(cli_text(place, "syscall"), call) == 0) &&
		    (!object || strcmp(cli_text(place, "object.type"), object) == 0))
			sum += cli_number(place, field);
	}
	return sum;
}

const json_t *watch_kind_of(const json_t *watch, const char *kind)
{
	const json_t *one;
	size_t i;

	json_array_foreach(cli_at(watch, "probes.0.kinds"), i, one)
	{
		if (strcmp(cli_text(one, "kind"), kind) == 0)
			return one;
	}
	return NULL;
}

void watch_check_no_problem(const json_t *watch)
{
	const json_t *finding;
	size_t i;

	json_array_foreach(json_object_get(watch, "findings"), i, finding)
	    CHECK_MESSAGE(strcmp(cli_text(finding, "class"), "problem") != 0, "false: %s, %s",
	                  cli_text(finding, "tag"), cli_text(finding, "text"));
}
