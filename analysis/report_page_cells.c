/* Cells and runs of the page, as compact JSON: see report_page.h. */
#include "analysis/report_page.h"

#include <math.h>
#include <string.h>

/* Findings of further cells are told without evidence and advice: else thousands of cells make a
 * page that opens slowly. */
enum { CELLS_IN_FULL = 1000 };

/* An array of numbers; null where none was measured. */
static json_t *numbers_json(const double *numbers, size_t count)
{
	json_t *all = json_array();
	bool any = false;

	for (size_t i = 0; i < count; i++) {
		json_array_append_new(all, json_from_number(numbers[i]));
		any |= !isnan(numbers[i]);
	}
	if (any)
		return all;
	json_decref(all);
	return json_null();
}

/* [kind, at most, the states, in call running, in call ready, parks]: means of threads. */
static json_t *kinds_json(const struct view_probe *probe, const struct run_view *v)
{
	json_t *all = json_array();

	for (size_t k = 0; k < VIEW_KIND_COUNT; k++) {
		const struct view_kind *kind = &probe->kinds[k];
		double states[VIEW_STATE_COUNT];

		if (!kind->present)
			continue;
		for (size_t s = 0; s < VIEW_STATE_COUNT; s++)
			states[s] = probe_mean(probe, v, kind->state_ns[s]);
		json_array_append_new(
		    all,
		    json_pack("[s, o, o, o, o, o]", view_kind_names[k],
		              json_from_number(kind->threads_max),
		              numbers_json(states, VIEW_STATE_COUNT),
		              json_from_number(probe_mean(probe, v, kind->in_call_running_ns)),
		              json_from_number(probe_mean(probe, v, kind->in_call_runnable_ns)),
		              json_from_number(kind->parks)));
	}
	return all;
}

static json_t *probe_json(const struct view_probe *probe, const struct run_view *v)
{
	if (!probe)
		return json_null();
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name",
	                 report_page_name(probe->name), "lost", json_from_number(probe->lost),
	                 "kinds", kinds_json(probe, v), "arrived_in",
	                 numbers_json(probe->arrived_in, VIEW_ARRIVED_COUNT), "arrived_over",
	                 numbers_json(probe->arrived_over, VIEW_OVER_COUNT), "posted_in",
	                 numbers_json(probe->posted_in, VIEW_POSTED_COUNT), "borrowed_ns",
	                 numbers_json(probe->borrowed_ns, VIEW_BORROWED_COUNT));
}

/* In the order of report_page_figures. */
static json_t *summary_json(const struct summary *summary)
{
	struct summary copy = *summary;

	return numbers_json(summary_field(&copy, 0), SUMMARY_FIELD_COUNT);
}

json_t *report_page_figures(void)
{
	json_t *all = json_array();

	for (size_t i = 0; i < SUMMARY_FIELD_COUNT; i++)
		json_array_append_new(all, json_string(summary_field_name(i)));
	return all;
}

/* Safe strings of one finding, and its evidence as numbers; brief: without evidence and advice. */
static json_t *finding_copy(const json_t *finding, bool brief)
{
	static const char *const keys[] = {"tag", "class", "text", "confidence", "advice"};
	json_t *copy = json_object(), *evidence;
	const json_t *given = json_object_get(finding, "evidence"), *value;
	const char *name;

	for (size_t i = 0; i < (brief ? 3 : sizeof keys / sizeof keys[0]); i++) {
		const char *text = json_string_value(json_object_get(finding, keys[i]));
		if (text && *text)
			json_object_set_new(copy, keys[i], report_page_name(text));
	}
	if (brief)
		return copy;
	evidence = json_object();
	json_object_foreach((json_t *)given, name, value) if (json_is_number(value))
	    json_object_set(evidence, name, (json_t *)value);
	json_object_set_new(copy, "evidence", evidence);
	return copy;
}

static json_t *findings_json(const struct cell *cell, bool brief)
{
	const json_t *findings = json_object_get(cell->run, "findings"), *finding;
	json_t *all = json_array();
	size_t i;

	json_array_foreach((json_t *)findings, i, finding) if (cell->measured)
	    json_array_append_new(all, finding_copy(finding, brief));
	return all;
}

/* What was asked, as far as it tells cells apart. */
static json_t *settings_json(const struct run_view *v)
{
	const struct {
		const char *key;
		double value;
	} numbers[] = {
	    {"batch", v->batch},
	    {"threads", v->threads},
	    {"pool", v->pool},
	    {"connections", v->connections},
	    {"block_bytes", v->block_bytes},
	    {"rate_per_s", v->rate_per_s},
	    {"files", v->files},
	    {"fsync_every", v->fsync_every},
	    {"read_percent", v->read_percent},
	    {"delay_min_ns", v->delay_min_ns},
	    {"delay_max_ns", v->delay_max_ns},
	    {"direct", v->direct == VIEW_UNKNOWN ? NAN : v->direct == VIEW_TRUE},
	};
	const struct {
		const char *key, *value;
	} names[] = {
	    {"cache", v->cache}, {"transport", v->transport},   {"arrival", v->arrival},
	    {"peer", v->peer},   {"filesystem", v->filesystem}, {"host", v->host},
	};
	json_t *all = json_object();

	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
		if (!isnan(numbers[i].value))
			json_object_set_new(all, numbers[i].key,
			                    json_from_number(numbers[i].value));
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (names[i].value)
			json_object_set_new(all, names[i].key, report_page_name(names[i].value));
	return all;
}

static json_t *cell_json(const struct digest *d, size_t c)
{
	const struct cell *cell = &d->groups.cells[c];
	const struct curve_pair *curves = c < d->curves.room ? &d->curves.cells[c] : NULL;
	const struct run_view *v = &cell->view;
	const char *why = v->why          ? v->why
	                  : v->wrong > 0  ? "requests brought wrong data"
	                  : v->errors > 0 ? "requests failed"
	                                  : NULL;
	json_t *json = json_pack(
	    "{s:I, s:o, s:o, s:o, s:o, s:I, s:I, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "group",
	    (json_int_t)cell->group, "engine", report_page_name(v->engine), "workload",
	    report_page_name(v->workload), "wait", report_page_name(v->wait), "depth",
	    json_from_number(v->depth), "runs", (json_int_t)cell->runs, "measured",
	    (json_int_t)cell->measured, "status", view_status_names[v->status], "why",
	    cell->measured ? json_null() : report_page_name(why ? why : "no reason was kept"),
	    "summary", summary_json(&cell->summary), "iops_deviation",
	    json_from_number(cell->iops_deviation), "settings", settings_json(v), "probe",
	    cell->measured ? probe_json(view_headline(v), v) : json_null(), "findings",
	    findings_json(cell, c >= CELLS_IN_FULL), "submitted",
	    report_page_curve(curves ? &curves->submitted : NULL));

	json_object_set_new(json, "scheduled",
	                    report_page_curve(curves ? &curves->scheduled : NULL));
	return json;
}

json_t *report_page_cells(const struct digest *d)
{
	json_t *all = json_array();

	for (size_t c = 0; c < d->groups.cell_count; c++)
		if (json_array_append_new(all, cell_json(d, c)) != 0) {
			json_decref(all);
			return NULL;
		}
	return all;
}

/* Of the summary, in the order of a row. */
static const char *const run_figures[] = {"in_flight_mean",      "served_mean",
                                          "threads_parked_mean", "threads_held_mean",
                                          "held_per_served",     "iops",
                                          "latency_p50_ns",      "latency_p99_ns",
                                          "latency_max_ns",      "cpu_ns_per_operation"};
enum { RUN_FIGURES = sizeof run_figures / sizeof run_figures[0] };

json_t *report_page_run(const json_t *run, size_t cell)
{
	const json_t *summary = json_object_get(run, "summary");
	const json_t *probe = json_array_get(json_object_get(run, "probes"), 0);
	json_t *row = json_pack("[I, O?, O?, O?]", (json_int_t)cell,
	                        json_object_get(json_object_get(run, "plan"), "repeat"),
	                        json_object_get(run, "status"), json_object_get(probe, "lost"));

	for (size_t f = 0; f < RUN_FIGURES; f++) {
		json_t *value = json_object_get(summary, run_figures[f]);
		json_array_append(row, value ? value : json_null());
	}
	return row;
}

/* {"figures": names, "rows": [[cell, repeat, status, lost, figures ...]]}; no row for twins. */
json_t *report_page_runs(const struct digest *d)
{
	json_t *names = json_array();

	for (size_t f = 0; f < RUN_FIGURES; f++)
		json_array_append_new(names, json_string(run_figures[f]));
	return json_pack("{s:o, s:O?}", "figures", names, "rows", d->rows);
}
