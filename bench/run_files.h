/*
 * What a run does with its files before the subject begins and after it has ended.
 */
#ifndef IOSTUDY_RUN_FILES_H
#define IOSTUDY_RUN_FILES_H

#include <signal.h>
#include <stdbool.h>

#include "bench/run.h"

/* Brings the page cache into the state that the plan asks for, and makes the ledger of a workload
 * that writes. 0; -errno: the result says why the run has failed. */
int run_files_begin(struct run_result *result);

/* Reads back what was written, if the subject had begun (then it has ended), and drops the ledger.
 * The run has failed where that is not what must stand there. *stop != 0 ends it early. */
void run_files_finish(struct run_result *result, bool begun, const volatile sig_atomic_t *stop);

#endif
