/*
 * What `iostudy run` was asked for: the options, and the runs that follow from them.
 */
#ifndef IOSTUDY_REQUEST_H
#define IOSTUDY_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/plan.h"
#include "bench/selection.h"
#include "cli/scripts.h"

enum { REQUEST_CELLS_MAX = 4096, REQUEST_SETTINGS_MAX = 64 };

struct request {
	struct plan plan; /* the settings that all cells share */
	struct selection engines, workloads;
	uint32_t waits[WAIT_COUNT];
	uint32_t wait_count; /* 0: not said */
	uint32_t repeat;
	const char *probe;                  /* auto, none, or names */
	const char *directory;              /* where ./iostudy.data and the self-test go */
	const char *output;                 /* -o: a directory that keeps the runs, or NULL */
	char script[SCRIPT_PATH_SIZE + 64]; /* a bpftrace script to run beside; empty: none */
	bool json, ascii, keep;
	bool given[REQUEST_SETTINGS_MAX]; /* which of plan_settings were named */
};

/* Reads argv. Ends the program on a wrong option (status 2) and after --help (status 0). */
void request_parse(struct request *request, int argc, char **argv);

/* For request_parse: ends the program, with one sentence, where settings do not go together, and
 * where one was given that none of the runs would heed. */
void request_check(const struct request *request, const char *program);

/* The runs, in their order: repeats outermost, then workloads, then engines. Returns how many;
 * at most max. */
uint32_t request_cells(const struct request *request, struct plan *cells, uint32_t max);

#endif
