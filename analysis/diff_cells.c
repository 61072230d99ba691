/* Which runs are of one cell: those that were asked for the same. See diff.h. */
#include "analysis/diff_cells.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a plan, what does not make a cell: which run it was, and where its file lay. */
static const char *const passing[] = {"repeat", "study", "cell", "twin",
                                      "shard",  "file",  "seed", NULL};
/* And what belongs to an engine, when engines are compared. */
static const char *const of_engine[] = {"engine", "threads", "pool", "synchronous", NULL};

/* " key=value" of the name of a study's cell, as the value of that key. */
static int place_add(json_t *plan, const char *cell, const char *key)
{
	char pattern[40];
	const char *at;

	snprintf(pattern, sizeof pattern, " %s=", key);
	at = cell ? strstr(cell, pattern) : NULL;
	if (!at)
		return 0;
	at += strlen(pattern);
	return json_object_set_new(plan, key, json_stringn(at, strcspn(at, " ")));
}

/* What makes the cell of a run. NULL: no memory. */
static json_t *cell_plan(const json_t *run, bool engines)
{
	const json_t *plan = json_object_get(run, "plan");
	const char *cell = json_string_value(json_object_get(plan, "cell"));
	json_t *copy = json_is_object(plan) ? json_copy((json_t *)plan) : json_object();

	if (!copy)
		return NULL;
	for (size_t i = 0; passing[i]; i++)
		json_object_del(copy, passing[i]);
	for (size_t i = 0; engines && of_engine[i]; i++)
		json_object_del(copy, of_engine[i]);
	if (place_add(copy, cell, "filesystem") != 0 || place_add(copy, cell, "directory") != 0) {
		json_decref(copy);
		return NULL;
	}
	return copy;
}

static struct diff_cell *cell_get(struct diff *d, json_t *plan)
{
	for (size_t i = 0; i < d->cell_count; i++)
		if (json_equal(d->cells[i].plan, plan)) {
			json_decref(plan);
			return &d->cells[i];
		}
	if (d->cell_count == d->cell_capacity) {
		const size_t capacity = d->cell_capacity ? 2 * d->cell_capacity : 64;
		struct diff_cell *more = realloc(d->cells, capacity * sizeof *more);
		if (!more) {
			json_decref(plan);
			return NULL;
		}
		d->cells = more;
		d->cell_capacity = capacity;
	}
	d->cells[d->cell_count] = (struct diff_cell){.plan = plan};
	return &d->cells[d->cell_count++];
}

static int sample_add(struct diff_samples *s, struct summary *summary, double repeat)
{
	if (s->count == s->capacity) {
		const size_t capacity = s->capacity ? 2 * s->capacity : 8;
		double *values = realloc(s->values,
		                         capacity * SUMMARY_FIELD_COUNT * sizeof *values);
		if (values)
			s->values = values;
		double *repeats = realloc(s->repeats, capacity * sizeof *repeats);
		if (repeats)
			s->repeats = repeats;
		if (!values || !repeats)
			return -ENOMEM;
		s->capacity = capacity;
	}
	for (size_t i = 0; i < SUMMARY_FIELD_COUNT; i++)
		s->values[s->count * SUMMARY_FIELD_COUNT + i] = *summary_field(summary, i);
	s->repeats[s->count++] = isnan(repeat) ? 1 : repeat;
	return 0;
}

/* Keeps each value of the environment, or that there were several. */
static int environment_add(struct diff *d, enum diff_side side, const json_t *environment)
{
	json_t *all = d->environments[side], *value;
	const char *key;

	if (!all)
		all = d->environments[side] = json_object();
	json_object_foreach((json_t *)environment, key, value)
	{
		const json_t *before = json_object_get(all, key);

		if (!before && json_object_set(all, key, value) != 0)
			return -ENOMEM;
		if (before && !json_equal(before, value) &&
		    json_object_set_new(all, key, json_string("several")) != 0)
			return -ENOMEM;
	}
	return all ? 0 : -ENOMEM;
}

/* In the window the CPUs were also somebody else's. */
static bool is_noisy(const struct run_view *v)
{
	return v->steal_ns / v->window_ns > 0.02 ||
	       v->others_cpu_ns / (v->window_ns * v->cpus) > 0.5;
}

/* Which side it is on when engines are compared; DIFF_SIDES: on none. */
static enum diff_side side_of_engine(const struct diff *d, const char *engine)
{
	for (int side = 0; side < DIFF_SIDES; side++)
		if (name_is(engine, d->options.engines[side]))
			return side;
	return DIFF_SIDES;
}

int diff_add(struct diff *d, enum diff_side side, const json_t *run)
{
	const bool engines = d->options.engines[DIFF_A] != NULL;
	const json_t *twin = json_object_get(json_object_get(run, "plan"), "twin");
	char why[RUN_WHY_SIZE];
	struct summary summary;
	struct run_view view;
	struct diff_cell *cell;
	json_t *plan;

	if (run_view_read(&view, run, why) != 0 || view.status != VIEW_OK ||
	    view_has_failed(&view) || json_is_string(twin)) {
		d->left_out++;
		return 0;
	}
	if (engines)
		side = side_of_engine(d, view.engine);
	if (side == DIFF_SIDES)
		return 0;
	summary_compute(&summary, &view);
	d->runs[side]++;
	d->noisy[side] += is_noisy(&view);
	if (environment_add(d, side, json_object_get(run, "environment")) != 0)
		return -ENOMEM;
	plan = cell_plan(run, engines);
	cell = plan ? cell_get(d, plan) : NULL;
	return cell ? sample_add(&cell->samples[side], &summary, view.repeat) : -ENOMEM;
}

/* By insertion: it keeps the order of equals, and there are few. */
void diff_cell_sort(struct diff_cell *cell)
{
	const size_t row = SUMMARY_FIELD_COUNT;
	double values[SUMMARY_FIELD_COUNT];

	for (int side = 0; side < DIFF_SIDES; side++) {
		struct diff_samples *s = &cell->samples[side];

		for (size_t i = 1; i < s->count; i++) {
			const double repeat = s->repeats[i];
			size_t at = i;

			memcpy(values, s->values + i * row, sizeof values);
			for (; at && s->repeats[at - 1] > repeat; at--) {
				s->repeats[at] = s->repeats[at - 1];
				memcpy(s->values + at * row, s->values + (at - 1) * row,
				       sizeof values);
			}
			s->repeats[at] = repeat;
			memcpy(s->values + at * row, values, sizeof values);
		}
	}
}

/* --- names ---------------------------------------------------------------------------------- */

static bool is_the_same_in_all(const struct diff *d, const char *key)
{
	const json_t *first = json_object_get(d->cells[0].plan, key);

	for (size_t i = 1; i < d->cell_count; i++) {
		const json_t *other = json_object_get(d->cells[i].plan, key);
		if (first != other && !(first && other && json_equal(first, other)))
			return false;
	}
	return true;
}

static void value_show(const json_t *value, char *out, size_t size)
{
	if (json_is_string(value))
		format_name(out, size, json_string_value(value), 40, true);
	else if (json_is_number(value))
		snprintf(out, size, "%.10g", json_number_value(value));
	else
		snprintf(out, size, "%s",
		         json_is_true(value)    ? "1"
		         : json_is_false(value) ? "0"
		                                : "-");
}

static void cell_name(const struct diff *d, struct diff_cell *cell)
{
	static const char *const always[] = {"engine", "workload", "wait"};
	char value[120], key_name[60];
	const json_t *member;
	const char *key;
	size_t at = 0;

	for (size_t i = 0; i < 3; i++) {
		member = json_object_get(cell->plan, always[i]);
		if (!json_is_string(member))
			continue;
		value_show(member, value, sizeof value);
		at += (size_t)snprintf(cell->name + at, DIFF_NAME_SIZE - at, "%s%s", at ? " " : "",
		                       value);
	}
	json_object_foreach(cell->plan, key, member)
	{
		if (strcmp(key, "engine") == 0 || strcmp(key, "workload") == 0 ||
		    strcmp(key, "wait") == 0 || json_is_null(member) || is_the_same_in_all(d, key))
			continue;
		value_show(member, value, sizeof value);
		if (at < DIFF_NAME_SIZE)
			at += (size_t)snprintf(
			    cell->name + at, DIFF_NAME_SIZE - at, " %s=%s",
			    format_name(key_name, sizeof key_name, key, 40, true), value);
	}
}

int diff_cells_name(struct diff *d)
{
	for (size_t i = 0; i < d->cell_count; i++)
		cell_name(d, &d->cells[i]);
	return 0;
}

/* --- environments --------------------------------------------------------------------------- */

void diff_environments_compare(struct diff *d)
{
	/* what one may mean to compare is told; what makes figures of another kind matters */
	static const struct {
		const char *field;
		bool matters;
	} fields[] = {
	    {"machine", true},      {"cpu_model", true},    {"cpus", true},
	    {"cpus_allowed", true}, {"virtualised", true},  {"clocksource", true},
	    {"filesystem", true},   {"device", true},       {"rotational", true},
	    {"io_poll", true},      {"nr_requests", true},  {"scheduler", true},
	    {"in_memory", true},    {"nowait_read", false}, {"memory_bytes", false},
	    {"host", false},        {"kernel", false},      {"iostudy", false},
	};

	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
		struct diff_environment *to = &d->differences[d->difference_count];
		const json_t *a = json_object_get(d->environments[DIFF_A], fields[i].field);
		const json_t *b = json_object_get(d->environments[DIFF_B], fields[i].field);

		if (!a || !b || json_equal(a, b))
			continue;
		to->field = fields[i].field;
		to->matters = fields[i].matters;
		value_show(a, to->values[DIFF_A], sizeof to->values[DIFF_A]);
		value_show(b, to->values[DIFF_B], sizeof to->values[DIFF_B]);
		d->difference_count++;
	}
}
