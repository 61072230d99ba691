/* Stored runs, read for the commands that show them. */
#ifndef IOSTUDY_STORED_H
#define IOSTUDY_STORED_H

#include "analysis/scenario_view.h"
#include "analysis/store.h"

/* Reads the runs of all these places and draws their summaries and findings; hands each to take,
 * which owns it and answers 0, or -errno to end the reading. What cannot be read is said on
 * stderr. EXIT_DONE, or EXIT_RUN_FAILED when something was left out or nothing is there. */
int stored_visit(const char *const *paths, size_t count, const char *program,
                 int (*take)(void *context, json_t *run), void *context);

/* Reads cases of scenarios (DIR/scenarios.jsonl) into *cases. There may be none; a place with
 * nothing but cases is none in which stored_visit misses runs. */
int stored_cases(struct scenario_reader *cases, const char *const *paths, size_t count,
                 const char *program);

#endif
