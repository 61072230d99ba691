/* Cases of `iostudy scenario` as tests need them: parsed, and held against the schema. */
#ifndef IOSTUDY_TESTS_SCENARIO_HELP_H
#define IOSTUDY_TESTS_SCENARIO_HELP_H

#include <jansson.h>

#include "tests/process.h"

/* Runs `iostudy scenario --json` with p (its argv: the scenario's name, then options), checks the
 * exit status, that stdout is nothing but objects, a line for each, and each against the schema. An
 * array of them. */
json_t *scenario_cases(struct process p, int status);

#define SCENARIO_CASES(status, ...)                                                                \
	scenario_cases((struct process){.argv = (const char *const[]){__VA_ARGS__, NULL}}, status)

/* Checks how many threads the measured process had at most; ThreadSanitizer adds some of its own.
 */
void scenario_check_threads(const json_t *one, double threads);

/* The first case of that mode, or NULL. */
const json_t *scenario_case_of(const json_t *cases, const char *mode);

#endif
