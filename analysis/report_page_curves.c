/* Latency of a cell as a curve over percentiles: see report_page.h. */
#include "analysis/report_page.h"

#include <math.h>
#include <stdlib.h>

static const double quantiles[] = {0.01, 0.05, 0.1,   0.25,  0.5,    0.75,   0.9,
                                   0.95, 0.99, 0.995, 0.999, 0.9995, 0.9999, 0.99999};
enum { QUANTILES = sizeof quantiles / sizeof quantiles[0] };

struct bucket {
	double lower, count;
};

struct buckets {
	struct bucket *all;
	size_t count, capacity;
	double requests, largest;
};

json_t *report_page_quantiles(void)
{
	json_t *all = json_array();

	for (size_t i = 0; i < QUANTILES; i++)
		json_array_append_new(all, json_real(quantiles[i]));
	return all;
}

static bool buckets_add(struct buckets *b, const json_t *histogram)
{
	const json_t *buckets = json_object_get(histogram, "buckets"), *bucket;
	const size_t more = json_array_size(buckets);
	size_t i;

	if (b->count + more > b->capacity) {
		const size_t capacity = 2 * (b->count + more);
		struct bucket *grown = realloc(b->all, capacity * sizeof *grown);

		if (!grown)
			return false;
		b->all = grown;
		b->capacity = capacity;
	}
	json_array_foreach((json_t *)buckets, i, bucket)
	{
		b->all[b->count].lower = json_number_value(json_array_get(bucket, 0));
		b->all[b->count].count = json_number_value(json_array_get(bucket, 1));
		b->requests += b->all[b->count++].count;
	}
	b->largest = fmax(b->largest, json_number_value(json_object_get(histogram, "max")));
	return true;
}

static int bucket_compare(const void *a, const void *b)
{
	const double x = ((const struct bucket *)a)->lower, y = ((const struct bucket *)b)->lower;

	return (x > y) - (x < y);
}

/* A percentile is the lower bound of its bucket, as in the summary; one that fewer than a request
 * lies beyond is not told. */
static json_t *curve_of(struct buckets *b)
{
	json_t *curve = json_array();
	double below = 0;
	size_t i = 0;

	qsort(b->all, b->count, sizeof b->all[0], bucket_compare);
	for (size_t q = 0; q < QUANTILES; q++) {
		const double wanted = ceil(quantiles[q] * b->requests);

		while (i < b->count && below + b->all[i].count < wanted)
			below += b->all[i++].count;
		json_array_append_new(curve, i < b->count && (1 - quantiles[q]) * b->requests >= 1
		                                 ? json_from_number(b->all[i].lower)
		                                 : json_null());
	}
	json_array_append_new(curve, json_from_number(b->largest));
	return curve;
}

json_t *report_page_curve(const struct groups *g, json_t *const *runs, size_t cell, const char *key)
{
	struct buckets b = {0};
	json_t *curve = NULL;
	bool enough = true;

	for (size_t i = 0; i < g->run_count && enough; i++) {
		const json_t *p50;

		if (g->cell_of[i] != cell)
			continue;
		/* a run that failed has no percentiles */
		p50 = json_object_get(json_object_get(runs[i], "summary"), "latency_p50_ns");
		if (json_is_number(p50))
			enough = buckets_add(
			    &b, json_object_get(json_object_get(runs[i], "measured"), key));
	}
	if (enough)
		curve = b.requests > 0 ? curve_of(&b) : json_null();
	free(b.all);
	return curve;
}
