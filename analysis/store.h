/*
 * Runs kept in a file: DIR/runs.jsonl, one JSON object on each line, appended at once.
 */
#ifndef IOSTUDY_STORE_H
#define IOSTUDY_STORE_H

#include <stddef.h>

#include <jansson.h>

enum {
	STORE_WHY_SIZE = 400,
	STORE_LINE_MAX = 16 << 20, /* bytes of a line that is read */
	STORE_RUNS_MAX = 1 << 20,  /* lines that are read of one file */
};

struct store_runs {
	json_t **runs;
	size_t count, capacity;
	size_t refused; /* lines that were not used; each gave a message */
};

/* Adds the runs of path to *runs (all zero before the first): a file, a folder that holds
 * runs.jsonl, or "-" for the standard input. A line that cannot be used gives a message with its
 * number (one sentence, safe for a terminal; message may be NULL), and the others are used all
 * the same. 0, or -errno with why when nothing can be read. */
int store_read(struct store_runs *runs, const char *path,
               void (*message)(void *context, const char *text), void *context,
               char why[STORE_WHY_SIZE]);
void store_free(struct store_runs *runs);

/* Makes DIR, what leads there, and an empty DIR/runs.jsonl where there is none: before a long study
 * begins, not after it. 0, or -errno with why. */
int store_prepare(const char *directory, char why[STORE_WHY_SIZE]);

/* Appends one run to DIR/runs.jsonl in one piece and waits until it is on the disk; makes DIR and
 * what leads there. On failure nothing of the run stays behind, and what was kept before stays. */
int store_append(const char *directory, const json_t *run, char why[STORE_WHY_SIZE]);

/* The run on one line, without the line's end, as --json prints it. Free it with free(). */
char *store_line(const json_t *run);

#endif
