/* What diff found, in words and as JSON: see diff.h. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "analysis/diff.h"
#include "analysis/statistics.h"

enum { COLUMNS = 80, NAME_COLUMNS = 78 };

static const char *const answer_names[] = {"not enough evidence", "more", "less"};

static struct number value_format(const char *metric, double value)
{
	const size_t length = strlen(metric);

	if ((length > 3 && strcmp(metric + length - 3, "_ns") == 0) ||
	    strstr(metric, "ns_per_operation"))
		return format_time(value);
	if (strcmp(metric, "iops") == 0 || strcmp(metric, "bytes_per_s") == 0)
		return format_compact(value);
	return strstr(metric, "_mean") ? format_mean(value) : format_ratio(value);
}

/* "1.053 [1.041, 1.066]", or as a difference "+0.50 [0.40, 0.61]". */
static void estimate_format(const struct diff_comparison *c, const char *metric, char out[200])
{
	if (c->is_ratio)
		snprintf(out, 200, "x %s [%s, %s]", format_fixed(c->estimate, 3).text,
		         c->low > 0 ? format_fixed(c->low, 3).text : "?",
		         isfinite(c->high) ? format_fixed(c->high, 3).text : "?");
	else
		snprintf(out, 200, "%s%s [%s, %s]", c->estimate < 0 ? "-" : "+",
		         value_format(metric, fabs(c->estimate)).text,
		         isfinite(c->low) ? format_fixed(c->low, 3).text : "?",
		         isfinite(c->high) ? format_fixed(c->high, 3).text : "?");
}

static void comparison_text(const struct diff *d, const struct diff_comparison *c, struct text *out)
{
	const char *metric = summary_field_name(c->metric);
	char estimate[200], medians[100];

	estimate_format(c, metric, estimate);
	snprintf(medians, sizeof medians, "%s -> %s", value_format(metric, c->medians[DIFF_A]).text,
	         value_format(metric, c->medians[DIFF_B]).text);
	text_add(out, "    ");
	text_cell(out, 21, metric);
	text_cell(out, 20, medians);
	text_cell(out, 25, estimate);
	text_add(out, "%s\n", c->answer == DIFF_NOT_ENOUGH ? "?" : answer_names[c->answer]);
	(void)d;
}

static void environment_text(const struct diff *d, struct text *out)
{
	char line[400];

	for (size_t i = 0; i < d->difference_count; i++) {
		const struct diff_environment *e = &d->differences[i];

		snprintf(line, sizeof line, "%s %s: %s in A, %s in B%s",
		         e->matters ? "WARNING" : "note", e->field, e->values[DIFF_A],
		         e->values[DIFF_B],
		         e->matters ? "; what differs may be the machine, and nothing else" : "");
		text_wrap(out, 0, 2, COLUMNS, line);
	}
	for (int side = 0; side < DIFF_SIDES; side++) {
		if (!d->noisy[side])
			continue;
		snprintf(line, sizeof line,
		         "note: in %zu of the %zu runs of %s a hypervisor or other processes took "
		         "CPU time; more repeats make up for noise, not for a trend",
		         d->noisy[side], d->runs[side], side ? "B" : "A");
		text_wrap(out, 0, 2, COLUMNS, line);
	}
}

/* How many repeats a side would need so that any one comparison can be told. */
static size_t repeats_needed(const struct diff *d)
{
	const double alpha = 1 - d->options.confidence;
	size_t n = 1;

	while (n < STATISTICS_SAMPLES_MAX &&
	       comparison_least_p(n, n, d->options.paired) * (double)d->comparison_count > alpha)
		n++;
	return n;
}

static void conclusion_text(const struct diff *d, struct text *out)
{
	const size_t count = d->comparison_count;
	char line[600];

	snprintf(line, sizeof line,
	         "%zu of %zu comparisons differ. The intervals and answers hold together with "
	         "%.4g %% confidence (Holm's correction over all %zu); ? is not enough evidence, "
	         "which is not the same as no difference.",
	         d->different, count, d->options.confidence * 100, count);
	text_wrap(out, 0, 0, COLUMNS, line);
	if (!d->different && count && d->least_p * (double)count > 1 - d->options.confidence) {
		snprintf(line, sizeof line,
		         "So few repeats cannot tell any difference over %zu comparisons: at least "
		         "%zu on each side, or fewer comparisons (--metric).",
		         count, repeats_needed(d));
		text_wrap(out, 0, 0, COLUMNS, line);
	}
}

void diff_text(const struct diff *d, const char *name_a, const char *name_b, struct text *out)
{
	char a[300], b[300], name[DIFF_NAME_SIZE];
	size_t cell = SIZE_MAX;

	text_add(out, "A: %s, %zu runs\nB: %s, %zu runs\n",
	         format_name(a, sizeof a, name_a, 60, true), d->runs[DIFF_A],
	         format_name(b, sizeof b, name_b, 60, true), d->runs[DIFF_B]);
	environment_text(d, out);
	for (size_t i = 0; i < d->comparison_count; i++) {
		const struct diff_comparison *c = &d->comparisons[i];

		if (c->cell != cell)
			text_add(out, "\n  %s\n",
			         format_name(name, sizeof name, d->cells[c->cell].name,
			                     NAME_COLUMNS, true));
		if (c->cell != cell)
			text_add(out, "    %-20s %-19s %-24s B has\n", "", "A -> B (medians)",
			         "B / A [interval]");
		cell = c->cell;
		comparison_text(d, c, out);
	}
	text_add(out, "\n");
	if (d->unmatched)
		text_add(out, "%zu settings are on one side only, and are left out.\n",
		         d->unmatched);
	conclusion_text(d, out);
}

/* --- JSON ----------------------------------------------------------------------------------- */

static json_t *comparison_json(const struct diff *d, const struct diff_comparison *c)
{
	return json_pack(
	    "{s:s, s:O, s:s, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s}", "cell",
	    d->cells[c->cell].name, "plan", d->cells[c->cell].plan, "metric",
	    summary_field_name(c->metric), "a_count", (json_int_t)c->counts[DIFF_A], "b_count",
	    (json_int_t)c->counts[DIFF_B], "a_median", json_from_number(c->medians[DIFF_A]),
	    "b_median", json_from_number(c->medians[DIFF_B]), "ratio",
	    c->is_ratio ? json_from_number(c->estimate) : json_null(), "difference",
	    c->is_ratio ? json_null() : json_from_number(c->estimate), "low",
	    c->is_ratio && c->low == 0 ? json_null() : json_from_number(c->low), "high",
	    json_from_number(c->high), "p", json_from_number(c->p), "p_adjusted",
	    json_from_number(c->adjusted), "answer", answer_names[c->answer]);
}

static json_t *environment_json(const struct diff_environment *e)
{
	return json_pack("{s:s, s:s, s:s, s:b}", "field", e->field, "a", e->values[DIFF_A], "b",
	                 e->values[DIFF_B], "matters", e->matters);
}

static json_t *side_json(const struct diff *d, enum diff_side side, const char *name)
{
	char safe[300];

	return json_pack("{s:s, s:I, s:I}", "name", format_name(safe, sizeof safe, name, 250, true),
	                 "runs", (json_int_t)d->runs[side], "noisy_runs",
	                 (json_int_t)d->noisy[side]);
}

json_t *diff_json(const struct diff *d, const char *name_a, const char *name_b)
{
	json_t *comparisons = json_array(), *environment = json_array();

	for (size_t i = 0; i < d->comparison_count; i++)
		json_array_append_new(comparisons, comparison_json(d, &d->comparisons[i]));
	for (size_t i = 0; i < d->difference_count; i++)
		json_array_append_new(environment, environment_json(&d->differences[i]));
	return json_pack("{s:s, s:o, s:o, s:b, s:f, s:I, s:I, s:o, s:o}", "schema",
	                 "iostudy/diff/1", "a", side_json(d, DIFF_A, name_a), "b",
	                 side_json(d, DIFF_B, name_b), "paired", d->options.paired, "confidence",
	                 d->options.confidence, "different", (json_int_t)d->different,
	                 "unmatched_cells", (json_int_t)d->unmatched, "environment", environment,
	                 "comparisons", comparisons);
}
