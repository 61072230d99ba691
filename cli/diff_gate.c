/* The thresholds of diff: see diff_gate.h. */
#include "cli/diff_gate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int gate_parse(struct gate *gate, const char *text)
{
	const size_t length = strcspn(text, "<>");
	char name[64], *end;
	int metric;

	snprintf(name, sizeof name, "%.*s", (int)length, text);
	metric = diff_metric_find(name);
	if (metric < 0 || !text[length])
		return -EINVAL;
	const double percent = strtod(text + length + 1, &end);
	if (end == text + length + 1 || (*end && strcmp(end, "%") != 0) || !isfinite(percent) ||
	    percent <= -100)
		return -EINVAL;
	gate->metric = (size_t)metric;
	gate->more = text[length] == '>';
	gate->factor = 1 + percent / 100;
	return 0;
}

/* A difference from 0 is beyond any factor. */
static bool is_met(const struct gate *gate, const struct diff_comparison *c)
{
	if (c->metric != gate->metric || c->answer != (gate->more ? DIFF_MORE : DIFF_LESS))
		return false;
	if (!c->is_ratio)
		return true;
	return gate->more ? c->estimate > gate->factor : c->estimate < gate->factor;
}

bool gates_met(const struct gate *gates, size_t count, const struct diff *diff, FILE *out)
{
	bool met = false;

	for (size_t g = 0; g < count; g++)
		for (size_t i = 0; i < diff->comparison_count; i++) {
			const struct diff_comparison *c = &diff->comparisons[i];

			if (!is_met(&gates[g], c))
				continue;
			met = true;
			fprintf(out, "iostudy diff: --fail-on: %s of %s: %s, and %s was allowed\n",
			        summary_field_name(c->metric), diff->cells[c->cell].name,
			        c->is_ratio ? format_fixed(c->estimate, 3).text : "not 0 any more",
			        format_fixed(gates[g].factor, 3).text);
		}
	return met;
}
