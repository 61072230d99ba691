/* Runs of build/iostudy as tests need them: parsed, and reached into by path. */
#ifndef IOSTUDY_TESTS_CLI_RUNS_H
#define IOSTUDY_TESTS_CLI_RUNS_H

#include <jansson.h>

#include "tests/process.h"

/* Runs `iostudy run --json` with p (its argv are the options, --json left out), checks the exit
 * status and that stdout is nothing but strict JSON, a line for each run. An array of the runs;
 * NULL after a failure, which is recorded. */
json_t *cli_runs(struct process p, int status);

/* cli_runs with these options, in a directory of its own that is gone afterwards. */
#define CLI_RUNS(status, ...)                                                                      \
	cli_runs((struct process){.argv = (const char *const[]){__VA_ARGS__, NULL}}, status)

/* What lies at a path such as "probes.0.kinds.1.parked_direct_ns"; NULL when nothing does. */
const json_t *cli_at(const json_t *value, const char *path);

/* A number there; NaN for null, for nothing and for what is no number. */
double cli_number(const json_t *run, const char *path);

/* A text there, or "". */
const char *cli_text(const json_t *run, const char *path);

/* The finding with this tag, or NULL. */
const json_t *cli_finding(const json_t *run, const char *tag);

#endif
