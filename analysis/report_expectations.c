/* What is said of Linux, against what these runs measured: a part of the report. */
#include <math.h>
#include <stdio.h>

#include "analysis/expectations.h"
#include "analysis/report.h"

static const char *limits_text(const struct expectation *e, char out[120])
{
	if (isinf(e->high))
		snprintf(out, 120, "at least %.4g", e->low);
	else if (e->low == e->high)
		snprintf(out, 120, "%.4g", e->low);
	else if (e->low == 0)
		snprintf(out, 120, "at most %.4g", e->high);
	else
		snprintf(out, 120, "%.4g to %.4g", e->low, e->high);
	return out;
}

static void row_add(struct text *out, const struct expectation *e,
                    const struct expectation_result *r)
{
	char limits[120], escaped[REPORT_NAME_SIZE];

	text_add(out, "| %s | %s |", e->number, report_escape(escaped, e->says));
	if (e->untestable)
		text_add(out, " | |");
	else
		text_add(out, " %s: %s |", report_escape(escaped, e->figure),
		         limits_text(e, limits));
	if (r->measured && !isnan(r->low))
		text_add(out, " %s (%s to %s, %zu runs) |", format_ratio(r->figure).text,
		         format_ratio(r->low).text, format_ratio(r->high).text, r->measured);
	else if (r->measured)
		text_add(out, " %s (one run) |", format_ratio(r->figure).text);
	else if (!e->untestable)
		text_add(out, " |");
	text_add(out, " %s%s", r->verdict == VERDICT_CONTRADICTS ? "**" : "",
	         expectation_verdict_names[r->verdict]);
	text_add(out, "%s%s%s |\n", r->verdict == VERDICT_CONTRADICTS ? "**" : "",
	         *r->why ? ": " : "", report_escape(escaped, *r->why ? r->why : " "));
}

int report_expectations(struct text *out, const struct expectation_tests *tests)
{
	size_t verdicts[VERDICT_UNDECIDED + 1] = {0};
	struct expectation_result result;
	struct text rows = {0};
	int err = 0;

	for (const struct expectation *e = expectations; !err && e->number; e++) {
		err = expectation_test(e, tests, &result);
		if (err)
			break;
		verdicts[result.verdict]++;
		row_add(&rows, e, &result);
	}
	text_add(out,
	         "## What is said of Linux, and what was measured here\n\n"
	         "Each was seen once, on Linux 6.18 with ext4 on a virtio disk, and is tested anew "
	         "by these runs: %zu agree, %zu contradict, %zu cannot be told, %zu cannot be "
	         "tested here. Measured is the median of the runs that test it, with the interval "
	         "of 95 %% by bootstrap over them.\n\n"
	         "| | expected | figure and limits | measured here | |\n|---|---|---|--:|---|\n"
	         "%s\n",
	         verdicts[VERDICT_AGREES], verdicts[VERDICT_CONTRADICTS],
	         verdicts[VERDICT_UNDECIDED], verdicts[VERDICT_UNTESTED],
	         rows.data ? rows.data : "");
	err = err || rows.broken ? -1 : 0;
	text_free(&rows);
	return err;
}
