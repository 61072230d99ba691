/* See scenario_help.h. */
#include "tests/scenario_help.h"

#include <string.h>

#include "tests/cli_runs.h"
#include "tests/schema_check.h"
#include "tests/test.h"

enum { ARGUMENTS_MAX = 40 };

static void add_case(json_t *cases, const json_t *schema, const char *line, size_t length)
{
	char why[SCHEMA_WHY_SIZE];
	json_error_t error;
	json_t *object = json_loadb(line, length, JSON_REJECT_DUPLICATES, &error);

	CHECK_MESSAGE(object, "not strict JSON: %s: %.300s", error.text, line);
	if (schema && object)
		CHECK_MESSAGE(schema_holds(schema, object, why), "%s: %s",
		              cli_text(object, "plan.mode"), why);
	if (object)
		json_array_append_new(cases, object);
}

json_t *scenario_cases(struct process p, int status)
{
	const char *arguments[ARGUMENTS_MAX] = {"scenario"};
	struct process_result r;
	json_error_t error;
	json_t *cases = json_array();
	json_t *schema = json_load_file("analysis/schema/scenario.json", JSON_REJECT_DUPLICATES,
	                                &error);
	int n = 1;

	CHECK_MESSAGE(schema, "analysis/schema/scenario.json, line %d: %s", error.line, error.text);
	for (; p.argv[n - 1] && n < ARGUMENTS_MAX - 2; n++)
		arguments[n] = p.argv[n - 1];
	arguments[n] = "--json";
	p.argv = arguments;
	process_run(&p, &r);
	CHECK_STATUS(&r, status);
	if (*r.err)
		test_fail(__FILE__, __LINE__, "%s", r.err);
	for (const char *at = r.out, *end; (end = strchr(at, '\n')); at = end + 1)
		add_case(cases, schema, at, (size_t)(end - at));
	process_free(&r);
	json_decref(schema);
	return cases;
}

void scenario_check_threads(const json_t *one, double threads)
{
#ifdef __SANITIZE_THREAD__
	const double most = threads + 2;
#else
	const double most = threads;
#endif
	const double had = cli_number(one, "measured.threads_max");

	CHECK_MESSAGE(had >= threads && had <= most, "%s: %g threads, not %g",
	              cli_text(one, "plan.mode"), had, threads);
}

const json_t *scenario_case_of(const json_t *cases, const char *mode)
{
	const json_t *object;
	size_t i;

	json_array_foreach((json_t *)cases, i, object) if (strcmp(cli_text(object, "plan.mode"),
	                                                          mode) == 0) return object;
	return NULL;
}
