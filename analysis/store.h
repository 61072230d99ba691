/*
 * Runs kept in a file: DIR/runs.jsonl, one JSON object on each line, appended at once.
 */
#ifndef IOSTUDY_STORE_H
#define IOSTUDY_STORE_H

#include <stddef.h>

#include <jansson.h>

#define STORE_RUNS      "runs.jsonl"      /* iostudy/run/1 */
#define STORE_SCENARIOS "scenarios.jsonl" /* iostudy/scenario/1 */

enum {
	STORE_WHY_SIZE = 400,
	STORE_LINE_MAX = 16 << 20, /* bytes of a line that is read */
	STORE_RUNS_MAX = 1 << 20,  /* lines that are read in all */
};

/* A message is one sentence, safe for a terminal, with the file and the line that it is about. */
struct store_visitor {
	/* Is handed each good run, which it owns, in turn. 0 goes on; -errno ends the reading. */
	int (*run)(void *context, json_t *run);
	void (*message)(void *context, const char *text); /* may be NULL */
	void *context;
	size_t used, refused; /* lines; each refused one gave a message */
	size_t repeated;      /* measured twice to the last digit: the second is left out */
	struct store_seen *seen;
};

/* Reads the runs of path, one at a time, so that a file of any length takes little memory: a
 * file, a folder that holds runs.jsonl, or "-" for the standard input. A line that cannot be used
 * gives a message, and the others are used all the same. Several calls may follow each other with
 * one visitor (all zero but the functions before the first); store_visitor_free ends it. 0, or
 * -errno with why when nothing can be read. */
int store_visit(struct store_visitor *visitor, const char *path, char why[STORE_WHY_SIZE]);
void store_visitor_free(struct store_visitor *visitor);

struct store_runs {
	json_t **runs;
	size_t count, capacity;
	struct store_visitor visitor;
};

/* Adds the runs of path to *runs (all zero before the first), as store_visit does. */
int store_read(struct store_runs *runs, const char *path,
               void (*message)(void *context, const char *text), void *context,
               char why[STORE_WHY_SIZE]);
void store_free(struct store_runs *runs);

/* Makes DIR, what leads there, and an empty DIR/runs.jsonl where there is none: before a long study
 * begins, not after it. 0, or -errno with why. */
int store_prepare(const char *directory, char why[STORE_WHY_SIZE]);

/* Mends the end of DIR/runs.jsonl, if there is one: a last line that a crash cut short is taken
 * away, one that lacks only its end gets it. 1: something was mended, and why says what; 0; or
 * -errno with why. */
int store_repair(const char *directory, char why[STORE_WHY_SIZE]);

/* Appends one run to DIR/runs.jsonl in one piece and waits until it is on the disk; makes DIR and
 * what leads there. On failure nothing of the run stays behind, and what was kept before stays. */
int store_append(const char *directory, const json_t *run, char why[STORE_WHY_SIZE]);
/* The same to DIR/NAME. */
int store_append_as(const char *directory, const char *name, const json_t *run,
                    char why[STORE_WHY_SIZE]);

/* The run on one line, without the line's end, as --json prints it. Free it with free(). */
char *store_line(const json_t *run);

#endif
