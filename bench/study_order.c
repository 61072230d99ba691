/* The runs of a study, their order, and the names by which they are known again: see study.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/json_text.h"
#include "bench/random.h"
#include "bench/study.h"

/* Streams of random numbers that must not be the same. */
enum { STREAM_ORDER = 1 << 20, STREAM_TWINS = 2 << 20 };

static void run_add(struct study *study, struct study_run run)
{
	study->runs[study->run_count++] = run;
}

/* A section's cells and their twins in one repeat. */
static void batch_add(struct study *study, uint32_t section, uint32_t repeat)
{
	struct study_run run = {.repeat = repeat,
	                        .batch = (repeat - 1) * study->sections + section};
	uint64_t state = random_stream(study->seed, STREAM_TWINS + run.batch);
	uint32_t possible = 0, chosen;

	for (uint32_t i = 0; i < study->cell_count; i++) {
		if (study->cells[i].section != section)
			continue;
		run.cell = i;
		run_add(study, run);
		possible += !*study->cells[i].impossible;
	}
	chosen = (uint32_t)random_below(&state, possible);
	for (uint32_t i = 0; i < study->cell_count; i++) {
		if (study->cells[i].section != section || *study->cells[i].impossible ||
		    chosen-- != 0)
			continue;
		run.cell = i;
		run.twin = TWIN_NULL;
		run_add(study, run);
		run.twin = TWIN_NO_PROBE;
		run_add(study, run);
	}
}

static void shuffle(struct study_run *runs, uint32_t count, uint64_t state)
{
	for (uint32_t i = count; i > 1; i--) {
		const uint32_t other = (uint32_t)random_below(&state, i);
		const struct study_run run = runs[i - 1];

		runs[i - 1] = runs[other];
		runs[other] = run;
	}
}

int study_order(struct study *study, const char *path, char why[STUDY_WHY_SIZE])
{
	const uint64_t count = (uint64_t)study->repeats *
	                       (study->cell_count + 2ull * study->sections);

	if (count > STUDY_RUNS_MAX) {
		snprintf(why, STUDY_WHY_SIZE,
		         "%.300s: these are %llu runs, and the limit is %d: a smaller repeat, or "
		         "fewer values",
		         path, (unsigned long long)count, STUDY_RUNS_MAX);
		return -E2BIG;
	}
	study->runs = calloc(count, sizeof *study->runs);
	if (!study->runs) {
		snprintf(why, STUDY_WHY_SIZE, "%.300s: no memory for its runs", path);
		return -ENOMEM;
	}
	for (uint32_t repeat = 1; repeat <= study->repeats; repeat++) {
		const uint32_t first = study->run_count;

		for (uint32_t section = 0; section < study->sections; section++)
			batch_add(study, section, repeat);
		shuffle(&study->runs[first], study->run_count - first,
		        random_stream(study->seed, STREAM_ORDER + repeat));
	}
	return 0;
}

bool study_is_in_shard(const struct study_run *run, uint32_t shard, uint32_t shards)
{
	return run->batch % shards == shard - 1;
}

const char *study_run_plan(const struct study *study, const struct study_run *run,
                           struct plan *plan)
{
	const struct study_cell *cell = &study->cells[run->cell];

	*plan = cell->plan;
	plan->repeat = run->repeat;
	if (run->twin == TWIN_NULL)
		snprintf(plan->engine, sizeof plan->engine, "null");
	return run->twin == TWIN_NO_PROBE ? "none" : cell->probe;
}

uint64_t study_run_ns(const struct study *study, const struct study_run *run)
{
	const struct study_cell *cell = &study->cells[run->cell];

	if (*cell->impossible || cell->plan.operations)
		return 0;
	return cell->plan.warmup_ns + cell->plan.duration_ns;
}

int study_label(const struct study *study, const struct study_run *run, const char *shard,
                json_t *plan)
{
	const char *twin = study_twin_names[run->twin];
	const int err = json_object_set_new(plan, "study", json_text(study->name)) |
	                json_object_set_new(plan, "cell", json_text(study->cells[run->cell].name)) |
	                json_object_set_new(plan, "twin", twin ? json_string(twin) : json_null()) |
	                json_object_set_new(plan, "shard",
	                                    shard ? json_string(shard) : json_null());

	return err ? -ENOMEM : 0;
}

static bool text_is(const json_t *object, const char *key, const char *wanted)
{
	const char *text = json_string_value(json_object_get(object, key));

	return wanted ? text && strcmp(text, wanted) == 0 : !text;
}

int64_t study_find(const struct study *study, const json_t *plan)
{
	const json_int_t repeat = json_integer_value(json_object_get(plan, "repeat"));

	if (!text_is(plan, "study", study->name))
		return -EINVAL;
	for (uint32_t i = 0; i < study->run_count; i++) {
		const struct study_run *run = &study->runs[i];

		if (run->repeat == repeat && text_is(plan, "twin", study_twin_names[run->twin]) &&
		    text_is(plan, "cell", study->cells[run->cell].name))
			return i;
	}
	return -ENOENT;
}
