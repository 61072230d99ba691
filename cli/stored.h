/* Stored runs, read for the commands that show them. */
#ifndef IOSTUDY_STORED_H
#define IOSTUDY_STORED_H

#include "analysis/scenario_view.h"
#include "analysis/store.h"

/* Reads the runs of all these places and draws their summaries and findings. What cannot be read
 * is said on stderr. EXIT_DONE, or EXIT_RUN_FAILED when something was left out or nothing is
 * there; *runs holds what could be read, either way. */
int stored_read(struct store_runs *runs, const char *const *paths, size_t count,
                const char *program);

/* The same of cases of scenarios (DIR/scenarios.jsonl). There may be none; a place with nothing but
 * cases is none in which stored_read misses runs. */
int stored_cases(struct scenario_reader *cases, const char *const *paths, size_t count,
                 const char *program);

#endif
