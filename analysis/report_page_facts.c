/* What is said of Linux, for the page: see report_page.h. */
#include "analysis/expectations.h"
#include "analysis/report_page.h"

#include <math.h>

static json_t *fact_json(const struct expectation *e, const struct expectation_result *r)
{
	return json_pack("{s:s, s:s, s:s?, s:o, s:o, s:s, s:I, s:o, s:o, s:o, s:o}", "number",
	                 e->number, "says", e->says, "figure", e->untestable ? NULL : e->figure,
	                 "least", e->untestable ? json_null() : json_from_number(e->low), "most",
	                 e->untestable || isinf(e->high) ? json_null() : json_from_number(e->high),
	                 "verdict", expectation_verdict_names[r->verdict], "measured",
	                 (json_int_t)r->measured, "value",
	                 r->measured ? json_from_number(r->figure) : json_null(), "low",
	                 json_from_number(r->low), "high", json_from_number(r->high), "why",
	                 report_page_name(r->why));
}

json_t *report_page_facts(const struct expectation_tests *tests)
{
	struct expectation_result result;
	json_t *all = json_array();

	for (const struct expectation *e = expectations; e->number; e++)
		if (expectation_test(e, tests, &result) != 0 ||
		    json_array_append_new(all, fact_json(e, &result)) != 0) {
			json_decref(all);
			return NULL;
		}
	return all;
}
