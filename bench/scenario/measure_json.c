/* A case as one JSON object (schema iostudy/scenario/1): see measure_json.h. */
#include "bench/scenario/measure_json.h"

#include <stdio.h>
#include <string.h>

#include "bench/json_text.h"
#include "bench/result.h"

static json_t *number(uint64_t value)
{
	return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

/* A parameter as it was used: times in ns, shrunk already. */
static json_t *parameter_json(const struct scenario_run *run, const struct scenario_parameter *p)
{
	uint64_t numbers[SCENARIO_LIST_MAX];
	json_t *list;

	switch (p->type) {
	case PARAMETER_NUMBERS:
		list = json_array();
		for (uint32_t i = 0, n = scenario_numbers(run, p->name, numbers); i < n; i++)
			json_array_append_new(list, number(numbers[i]));
		return list;
	case PARAMETER_TIME:
		return number(scenario_time_ns(run, p->name));
	case PARAMETER_NUMBER:
	case PARAMETER_SIZE:
		return number(scenario_number(run, p->name));
	default:
		return json_text(scenario_text(run, p->name));
	}
}

/* "delay" becomes "delay_ns", "make-zip" "make_zip". */
static void parameter_key(const struct scenario_parameter *p, char key[64])
{
	snprintf(key, 64, "%.50s%s", p->name,
	         p->type == PARAMETER_TIME   ? "_ns"
	         : p->type == PARAMETER_SIZE ? "_bytes"
	                                     : "");
	for (char *c = key; *c; c++)
		if (*c == '-')
			*c = '_';
}

static json_t *plan_json(const struct measurement *m)
{
	const struct scenario_run *run = m->run;
	json_t *parameters = json_object(), *plan;
	char key[64];

	for (const struct scenario_parameter *p = run->scenario->parameters; p->name; p++) {
		parameter_key(p, key);
		json_object_set_new(parameters, key, parameter_json(run, p));
	}
	plan = json_pack("{s:s, s:s, s:s, s:f, s:o, s:o}", "scenario", run->scenario->name, "mode",
	                 m->work->mode->name, "summary", m->work->mode->summary, "time_scale",
	                 run->time_scale, "seed", number(run->seed), "parameters", parameters);
	if (m->work->setting)
		json_object_set_new(plan, "setting", m->work->setting);
	else
		json_object_set_new(plan, "setting", json_object());
	return plan;
}

static json_t *published_json(const struct measurement *m)
{
	if (m->work->published)
		return m->work->published;
	return m->work->mode->published ? json_loads(m->work->mode->published, 0, NULL)
	                                : json_null();
}

static json_t *latency_json(const struct board *b)
{
	json_t *buckets = json_array();

	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++)
		if (b->latency.counts[i])
			json_array_append_new(buckets,
			                      json_pack("[o, o]", number(histogram_lowest(i)),
			                                number(b->latency.counts[i])));
	return json_pack("{s:o, s:o}", "max",
	                 b->latency_max_ns ? number(b->latency_max_ns) : json_null(), "buckets",
	                 buckets);
}

static json_t *failures_json(const struct board *b)
{
	json_t *failures = json_object();

	for (uint32_t i = 0; i < BOARD_FAILURES; i++)
		if (b->failures[i].count)
			json_object_set_new(failures, b->failures[i].reason,
			                    number(b->failures[i].count));
	return failures;
}

static json_t *threads_json(const struct census *c)
{
	json_t *names = json_object();

	for (uint32_t i = 0; i < c->name_count; i++)
		json_object_set_new(names, c->names[i].name, number(c->names[i].most));
	return names;
}

/* What the threads of each kind were named. */
static json_t *names_json(const struct board *b)
{
	json_t *names = json_object();

	for (uint32_t kind = 0; kind < KIND_COUNT; kind++)
		if (*b->names[kind])
			json_object_set_new(names, thread_kind_names[kind],
			                    json_text(b->names[kind]));
	return names;
}

static json_t *measured_json(const struct measurement *m)
{
	const struct board *b = m->side.board;
	const uint64_t end_ns = b->end_ns ? b->end_ns : m->end_ns;

	if (!m->has_window)
		return json_null();
	return json_pack(
	    "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "window_ns",
	    number(m->end_ns - m->begin_ns), "total_ns",
	    b->begin_ns && end_ns > b->begin_ns ? number(end_ns - b->begin_ns) : json_null(),
	    "calls", number(b->calls), "failed", number(b->failed), "failures", failures_json(b),
	    "in_flight_ns", number(b->in_flight_ns), "latency_ns", latency_json(b), "cpu_ns",
	    number(m->cpu_end_ns - m->cpu_begin_ns), "threads_max", number(m->census.threads_most),
	    "threads_by_name", threads_json(&m->census), "names_by_kind", names_json(b),
	    "memory_begin_bytes", number(m->census.memory_begin_bytes), "memory_max_bytes",
	    number(m->census.memory_most_bytes));
}

uint64_t measurement_since(const struct measurement *m, uint64_t time_ns)
{
	const uint64_t begin_ns = m->side.board->begin_ns;

	return time_ns > begin_ns ? time_ns - begin_ns : 0;
}

static json_t *calls_json(const struct measurement *m)
{
	const struct board *b = m->side.board;
	json_t *calls = json_array();

	for (uint64_t i = 0; i < b->boxes && i < BOARD_BOXES; i++)
		if (b->box[i].end_ns)
			json_array_append_new(
			    calls,
			    json_pack("[o, o, o]", number(measurement_since(m, b->box[i].start_ns)),
			              number(measurement_since(m, b->box[i].end_ns)),
			              number(b->box[i].row)));
	return calls;
}

static json_t *probes_json(const struct measurement *m)
{
	json_t *probes = json_array();

	for (uint32_t i = 0; i < m->outcome->probe_count; i++) {
		const struct run_probe *probe = &m->outcome->probes[i];

		if (probe->reading)
			json_array_append_new(
			    probes, result_probe(probe->name, probe->self_test, probe->reading));
	}
	return probes;
}

static json_t *warnings_json(const struct measurement *m)
{
	json_t *warnings = json_array();

	for (uint32_t i = 0; i < m->outcome->warning_count; i++)
		json_array_append_new(warnings, json_text(m->outcome->warnings[i]));
	return warnings;
}

json_t *measurement_json(struct measurement *m)
{
	json_t *measured = measured_json(m), *series = json_array(), *calls = json_array();
	const uint64_t boxes = m->has_window ? m->side.board->boxes : 0;
	char because[SCENARIO_WHY_SIZE] = "";
	struct environment environment;

	environment_read(&environment, m->run->directory);
	if (m->has_window) {
		json_decref(calls);
		calls = calls_json(m);
		json_decref(series);
		series = measurement_series(m);
		if (m->work->conclude && m->outcome->status == OUTCOME_OK)
			m->work->conclude(&m->side, m->work, measured, series, because);
	}
	return json_pack(
	    "{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o}", "schema",
	    "iostudy/scenario/1", "status", run_outcome_names[m->outcome->status], "why",
	    m->outcome->status == OUTCOME_OK ? json_null() : json_text(m->outcome->why),
	    "environment", result_environment(&environment), "plan", plan_json(m), "published",
	    published_json(m), "measured", measured, "calls", calls, "calls_from",
	    m->work->load ? "load" : "subject", "calls_dropped",
	    number(boxes > BOARD_BOXES ? boxes - BOARD_BOXES : 0), "series", series, "because",
	    *because ? json_text(because) : json_null(), "probes", probes_json(m), "warnings",
	    warnings_json(m));
}
