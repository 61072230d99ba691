/* Histograms of many runs, added up: see curves.h. */
#include "analysis/curves.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int bucket_compare(const void *a, const void *b)
{
	const double x = ((const struct curve_bucket *)a)->lower;
	const double y = ((const struct curve_bucket *)b)->lower;

	return (x > y) - (x < y);
}

/* Sorts the buckets, and makes one of those with the same bound. */
static void curve_tidy(struct curve *c)
{
	size_t kept = 0;

	if (c->count)
		qsort(c->buckets, c->count, sizeof c->buckets[0], bucket_compare);
	for (size_t i = 0; i < c->count; i++)
		if (kept && c->buckets[kept - 1].lower == c->buckets[i].lower)
			c->buckets[kept - 1].count += c->buckets[i].count;
		else
			c->buckets[kept++] = c->buckets[i];
	c->count = c->tidy = kept;
}

static int curve_room(struct curve *c, size_t more)
{
	if (c->count + more > c->room && c->count > 2 * c->tidy)
		curve_tidy(c);
	if (c->count + more <= c->room)
		return 0;
	const size_t room = 2 * (c->count + more);
	struct curve_bucket *buckets = realloc(c->buckets, room * sizeof *buckets);
	if (!buckets)
		return -ENOMEM;
	c->buckets = buckets;
	c->room = room;
	return 0;
}

static int curve_add(struct curve *c, const json_t *histogram)
{
	const json_t *buckets = json_object_get(histogram, "buckets"), *bucket;
	size_t i;

	if (!json_is_array(buckets))
		return 0;
	if (curve_room(c, json_array_size(buckets)) != 0)
		return -ENOMEM;
	json_array_foreach((json_t *)buckets, i, bucket)
	{
		c->buckets[c->count].lower = json_number_value(json_array_get(bucket, 0));
		c->buckets[c->count].count = json_number_value(json_array_get(bucket, 1));
		c->requests += c->buckets[c->count++].count;
	}
	c->largest = fmax(c->largest, json_number_value(json_object_get(histogram, "max")));
	return 0;
}

int curves_add(struct curves *curves, size_t cell, const json_t *run)
{
	const json_t *measured = json_object_get(run, "measured");

	if (cell >= curves->room) {
		const size_t room = cell + cell / 2 + 64;
		struct curve_pair *cells = realloc(curves->cells, room * sizeof *cells);
		if (!cells)
			return -ENOMEM;
		memset(cells + curves->room, 0, (room - curves->room) * sizeof *cells);
		curves->cells = cells;
		curves->room = room;
	}
	struct curve_pair *pair = &curves->cells[cell];
	const int err = curve_add(&pair->submitted,
	                          json_object_get(measured, "latency_submitted_ns"));
	return err ? err
	           : curve_add(&pair->scheduled, json_object_get(measured, "latency_scheduled_ns"));
}

void curves_finish(struct curves *curves)
{
	for (size_t i = 0; i < curves->room; i++) {
		curve_tidy(&curves->cells[i].submitted);
		curve_tidy(&curves->cells[i].scheduled);
	}
}

int curves_move(struct curves *curves, const size_t *moved, size_t cells)
{
	struct curve_pair *pairs = calloc(cells + 1, sizeof *pairs);

	if (!pairs)
		return -ENOMEM;
	for (size_t c = 0; c < cells && c < curves->room; c++)
		pairs[moved[c]] = curves->cells[c];
	free(curves->cells);
	*curves = (struct curves){pairs, cells};
	return 0;
}

void curves_free(struct curves *curves)
{
	for (size_t i = 0; i < curves->room; i++) {
		free(curves->cells[i].submitted.buckets);
		free(curves->cells[i].scheduled.buckets);
	}
	free(curves->cells);
	*curves = (struct curves){NULL};
}
