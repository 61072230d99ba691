/* Latency of a cell as a curve over percentiles: see report_page.h. */
#include "analysis/report_page.h"

#include <math.h>

static const double quantiles[] = {0.01, 0.05, 0.1,   0.25,  0.5,    0.75,   0.9,
                                   0.95, 0.99, 0.995, 0.999, 0.9995, 0.9999, 0.99999};
enum { QUANTILES = sizeof quantiles / sizeof quantiles[0] };

json_t *report_page_quantiles(void)
{
	json_t *all = json_array();

	for (size_t i = 0; i < QUANTILES; i++)
		json_array_append_new(all, json_real(quantiles[i]));
	return all;
}

/* A percentile is the lower bound of its bucket, as in the summary; one that fewer than a request
 * lies beyond is not told. */
json_t *report_page_curve(const struct curve *c)
{
	json_t *curve;
	double below = 0;
	size_t i = 0;

	if (!c || !(c->requests > 0))
		return json_null();
	curve = json_array();
	for (size_t q = 0; q < QUANTILES; q++) {
		const double wanted = ceil(quantiles[q] * c->requests);

		while (i < c->count && below + c->buckets[i].count < wanted)
			below += c->buckets[i++].count;
		json_array_append_new(curve, i < c->count && (1 - quantiles[q]) * c->requests >= 1
		                                 ? json_from_number(c->buckets[i].lower)
		                                 : json_null());
	}
	json_array_append_new(curve, json_from_number(c->largest));
	return curve;
}
