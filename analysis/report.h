/*
 * Stored runs as one document: the answer, tables, bars, findings, states, environment, method
 * and losses. It depends on the runs alone, so the same runs give the same bytes.
 */
#ifndef IOSTUDY_REPORT_H
#define IOSTUDY_REPORT_H

#include <jansson.h>

#include "analysis/format.h"
#include "analysis/digest.h"

enum { REPORT_NAME_SIZE = 1200 };

/* The document in Markdown. Free it with free(); NULL: no memory. */
char *report_markdown(const struct digest *digest);

/* A name that somebody else chose, so that neither Markdown nor HTML reads anything into it. */
char *report_escape(char out[REPORT_NAME_SIZE], const char *name);

/* Parts of it. */
void report_bars(struct text *out, const struct groups *groups);
void report_arrivals(struct text *out, const struct groups *groups);
void report_findings(struct text *out, const struct groups *groups);
void report_states(struct text *out, const struct groups *groups);
void report_probes(struct text *out, const struct groups *groups); /* where a run had several */
void report_completions(struct text *out, const struct groups *groups);
void report_workers(struct text *out, const struct groups *groups);
void report_environment(struct text *out, const struct groups *groups);
void report_method(struct text *out, const struct groups *groups);
void report_losses(struct text *out, const struct groups *groups);

/* What is said of Linux against what these runs measured. Returns 0 or -ENOMEM. */
int report_expectations(struct text *out, const struct expectation_tests *tests);
/* The harness's floor and the probe's cost, from a study's twins; nothing without any. */
int report_twins(struct text *out, const struct twins *twins);

/* One row for each run and metric, RFC 4180; the first row names the columns. */
void report_csv_head(struct text *out);
void report_csv_run(struct text *out, const json_t *run);

/* "uring disk-randread park", escaped; where there are several tables, with its own: "(table 5)".
 */
char *report_cell_name(char out[REPORT_NAME_SIZE], const struct groups *g, const struct cell *cell);

#endif
