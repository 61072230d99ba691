/* What the tests of `iostudy watch` share: a watch of a program, parsed and held to its schema. */
#ifndef IOSTUDY_TESTS_WATCH_HELP_H
#define IOSTUDY_TESTS_WATCH_HELP_H

#include "tests/cli_runs.h"
#include "tests/probe_help.h"
#include "tests/process.h"

#define NEED_BPF()                                                                                 \
	do {                                                                                       \
		if (!process_is_root())                                                            \
			SKIP("watching needs BPF, and so root");                                   \
	} while (0)

/* iostudy watch --json with these arguments, the last of them NULL. The object, or NULL after a
 * failure, which is recorded. */
json_t *watch_json(int status, const char *const *arguments);

/* Watches a program of tests/programs, once it is ready, for that time; the first is parkers. */
json_t *watch_program(const char *const *arguments, const char *duration);
json_t *watch_named_program(const char *name, const char *const *arguments, const char *duration);

/* The same of iostudy itself, run as a command with these arguments. */
json_t *watch_engine(const char *engine, const char *workload, const char *depth);

/* The sum of a field over the places of that state, call and type of object; NULL: of any. */
double watch_places(const json_t *watch, const char *field, const char *state, const char *call,
                    const char *object);

/* Fails for each problem found: these alone trip a gate. */
void watch_check_no_problem(const json_t *watch);

/* The object of a kind, or NULL. */
const json_t *watch_kind_of(const json_t *watch, const char *kind);

#endif
