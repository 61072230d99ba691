/* What changed over time in a case: see measure_json.h. */
#include "bench/scenario/measure_json.h"

enum { SLICES = 60 };

/* Calls that ended in one part of the time. */
struct slice {
	uint64_t succeeded, failed, latency_sum_ns, latency_most_ns;
};

static json_t *number(uint64_t value)
{
	return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

static json_t *series(const char *name, const char *unit, json_t *points)
{
	return json_pack("{s:s, s:s, s:o}", "name", name, "unit", unit, "points", points);
}

static json_t *census_points(const struct measurement *m, bool memory)
{
	const struct census *c = &m->census;
	json_t *points = json_array();

	for (uint32_t i = 0; i < c->moment_count; i++)
		json_array_append_new(
		    points,
		    json_pack("[o, o]", number(measurement_since(m, c->moments[i].time_ns)),
		              number(memory ? c->moments[i].memory_bytes : c->moments[i].threads)));
	return points;
}

/* The length of a slice. */
static uint64_t cut(const struct measurement *m, struct slice slices[SLICES])
{
	const struct board *b = m->side.board;
	const uint64_t each_ns = measurement_since(m, b->end_ns) / SLICES + 1;

	for (uint64_t i = 0; i < b->boxes && i < BOARD_BOXES; i++) {
		const struct board_box *box = &b->box[i];
		const uint64_t at = measurement_since(m, box->end_ns) / each_ns;
		struct slice *slice = &slices[at < SLICES ? at : SLICES - 1];

		if (!box->end_ns)
			continue;
		slice->failed += box->failed;
		slice->succeeded += !box->failed;
		slice->latency_sum_ns += box->latency_ns;
		if (box->latency_ns > slice->latency_most_ns)
			slice->latency_most_ns = box->latency_ns;
	}
	return each_ns;
}

enum what { SUCCEEDED, FAILED, LATENCY_MEAN, LATENCY_MOST };

static json_t *slice_points(const struct slice slices[SLICES], uint64_t each_ns, enum what what)
{
	json_t *points = json_array();

	for (uint64_t i = 0; i < SLICES; i++) {
		const struct slice *s = &slices[i];
		const uint64_t count = s->succeeded + s->failed;
		uint64_t value = what == SUCCEEDED ? s->succeeded : s->failed;

		if (what >= LATENCY_MEAN && !count)
			continue;
		if (what == LATENCY_MEAN)
			value = s->latency_sum_ns / count;
		if (what == LATENCY_MOST)
			value = s->latency_most_ns;
		json_array_append_new(points,
		                      json_pack("[o, o]", number(i * each_ns), number(value)));
	}
	return points;
}

json_t *measurement_series(const struct measurement *m)
{
	struct slice slices[SLICES] = {0};
	const uint64_t each_ns = cut(m, slices);

	return json_pack("[o, o, o, o, o, o]",
	                 series("threads", "threads", census_points(m, false)),
	                 series("memory", "bytes", census_points(m, true)),
	                 series("succeeded", "calls", slice_points(slices, each_ns, SUCCEEDED)),
	                 series("failed", "calls", slice_points(slices, each_ns, FAILED)),
	                 series("latency_mean", "ns", slice_points(slices, each_ns, LATENCY_MEAN)),
	                 series("latency_max", "ns", slice_points(slices, each_ns, LATENCY_MOST)));
}
