/*
 * Stored runs as one page of HTML that needs nothing else: the built page (analysis/page), and in
 * the middle of it the results as compact JSON, schema iostudy/page/1.
 *
 * The page is a file of its own until the program is linked, which embeds it. A build without it
 * works all the same, and has nothing embedded.
 */
#ifndef IOSTUDY_REPORT_PAGE_H
#define IOSTUDY_REPORT_PAGE_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "analysis/digest.h"

/* Where the results go in the built page. It stands there once. */
#define REPORT_PAGE_MARK "@RESULTS@"

/* The page of this build; *length is 0 when it has none. */
const char *report_page_embedded(size_t *length);

/* These runs in that page; the digest was made for one. Free it with free(). NULL: no memory, or
 * page does not hold the mark. The same runs give the same bytes. */
char *report_page(const struct digest *digest, const char *page, size_t page_length);

/* Parts of the data; NULL: no memory. */
json_t *report_page_cells(const struct digest *digest);
json_t *report_page_figures(void); /* the names of a cell's figures, in their order */
json_t *report_page_runs(const struct digest *digest);
json_t *report_page_facts(const struct expectation_tests *tests);

/* A run's row in the table of runs: see report_page_runs. cell: into which it was put. */
json_t *report_page_run(const json_t *run, size_t cell);

/* Latency as a curve: a value for each of report_page_quantiles, null where too few requests tell
 * it, and the largest at the end. Null: not measured. */
json_t *report_page_curve(const struct curve *curve);
json_t *report_page_quantiles(void);

/* A name that somebody else chose, with nothing in it that could lead a reader astray. */
json_t *report_page_name(const char *name);

#endif
