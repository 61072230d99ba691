/*
 * Two sets of results against each other: cell by cell and metric by metric, with intervals that
 * are corrected over all comparisons, and "not enough evidence" as an answer.
 */
#ifndef IOSTUDY_DIFF_H
#define IOSTUDY_DIFF_H

#include <stdbool.h>

#include <jansson.h>

#include "analysis/format.h"
#include "analysis/run_view.h"
#include "analysis/summary.h"

enum { DIFF_METRICS_MAX = SUMMARY_FIELD_COUNT, DIFF_NAME_SIZE = 400, DIFF_ENGINE_SIZE = 64 };

enum diff_side { DIFF_A, DIFF_B, DIFF_SIDES };
enum diff_answer { DIFF_NOT_ENOUGH, DIFF_MORE, DIFF_LESS }; /* B has more, or less */

/* What is asked for. */
struct diff_options {
	bool paired;       /* the n-th repeats of both were run side by side */
	double confidence; /* over all comparisons together: 0.95 */
	size_t metrics[DIFF_METRICS_MAX], metric_count; /* by number, of summary_field */
	/* not NULL: engines are compared, within the same results */
	const char *engines[DIFF_SIDES];
};

struct diff_samples {
	double *values; /* [count][SUMMARY_FIELD_COUNT] */
	double *repeats;
	size_t count, capacity;
};

/* One setting, that both sides have or one. */
struct diff_cell {
	json_t *plan; /* what makes it itself: without the repeat, the file ... */
	char name[DIFF_NAME_SIZE];
	struct diff_samples samples[DIFF_SIDES];
};

/* One metric of one cell. */
struct diff_comparison {
	size_t cell, metric, counts[DIFF_SIDES]; /* samples: of pairs, both the same */
	double medians[DIFF_SIDES];
	bool is_ratio;              /* else a difference, since something is 0 */
	double estimate, low, high; /* infinite where nothing bounds it */
	double p, adjusted, level;
	enum diff_answer answer;
};

/* A fact of the machine that is not the same on both sides. */
struct diff_environment {
	const char *field;
	char values[DIFF_SIDES][120];
	bool matters; /* then figures of the two do not compare */
};

enum { DIFF_ENVIRONMENT_MAX = 24 };

struct diff {
	struct diff_options options;
	struct diff_cell *cells;
	size_t cell_count, cell_capacity, unmatched; /* cells of one side only */
	struct diff_comparison *comparisons;
	size_t comparison_count, different;
	size_t runs[DIFF_SIDES], noisy[DIFF_SIDES]; /* noisy: others had the CPUs too */
	size_t left_out;                            /* failed, skipped, interrupted, and twins */
	json_t *environments[DIFF_SIDES];           /* by field: its value, or "several" */
	struct diff_environment differences[DIFF_ENVIRONMENT_MAX];
	size_t difference_count;
	double least_p; /* the smallest p that any comparison could have reached */
};

/* The metrics that are compared unless others are asked for. */
extern const char *const diff_usual_metrics[]; /* ends with NULL */

/* The number of a metric by its name, or -1. */
int diff_metric_find(const char *name);

/* Adds a run to a side; which of them in engine mode the run itself says. 0 or -ENOMEM. */
int diff_add(struct diff *diff, enum diff_side side, const json_t *run);

/* After all runs: compares. 0 or -ENOMEM. */
int diff_conclude(struct diff *diff);
void diff_free(struct diff *diff);

/* Some fact of the machine that matters differs. */
bool diff_is_across(const struct diff *diff);

/* The whole as JSON, schema iostudy/diff/1; and as text of at most 80 columns. */
json_t *diff_json(const struct diff *diff, const char *name_a, const char *name_b);
void diff_text(const struct diff *diff, const char *name_a, const char *name_b, struct text *out);

#endif
