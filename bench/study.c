/* From the text of a study to its runs: see study.h. */
#include "bench/study.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/random.h"
#include "bench/selection.h"
#include "bench/study_file.h"
#include "bench/units.h"
#include "engines/engine.h"

const char *const study_twin_names[TWIN_COUNT] = {NULL, "null", "no-probe"};

/* The lists of one section, whose product is taken; the last changes first. */
struct matrix {
	struct study *study;
	const struct study_text *text;
	const struct study_section *section;
	uint32_t number; /* of the section */
	const struct study_setting *dimensions[STUDY_SETTINGS_MAX * 2];
	uint32_t count;
	struct selection engines, workloads;
	uint32_t first; /* its first cell */
	char *why;
};

/* " key=value", without a blank in the value. */
static void name_add(struct study_cell *cell, const char *key, const char *value)
{
	size_t at = strlen(cell->name);

	at += (size_t)snprintf(cell->name + at, sizeof cell->name - at, " %s=", key);
	for (; *value && at + 4 < sizeof cell->name; value++) {
		if (*value == ' ' || *value == '%')
			at += (size_t)snprintf(cell->name + at, 4, "%%%02x", *value);
		else
			cell->name[at++] = *value;
	}
	if (at < sizeof cell->name)
		cell->name[at] = 0;
}

static const struct plan_setting *plan_setting_find(const char *key)
{
	const struct plan_setting *s = plan_settings;

	while (s->name && strcmp(s->name, key) != 0)
		s++;
	return s->name ? s : NULL;
}

/* The same value has the same text, however it was written. */
static void name_add_setting(struct study_cell *cell, const char *key, const char *value)
{
	const struct plan_setting *s = plan_setting_find(key);
	char text[80] = "";

	if (s && !plan_uses(&cell->plan, s->use))
		return; /* it changes nothing here: what differs by it alone is one cell */
	if (s)
		plan_get(&cell->plan, s, text);
	name_add(cell, key, *text ? text : value);
}

/* The values were checked one by one when they were read. */
static void cell_set(struct study_cell *cell, const char *key, const char *value)
{
	char why[PLAN_WHY_SIZE];

	if (strcmp(key, "probe") == 0)
		snprintf(cell->probe, sizeof cell->probe, "%s", value);
	else if (strcmp(key, "directory") == 0)
		snprintf(cell->directory, sizeof cell->directory, "%s", value);
	else if (strcmp(key, "filesystem") == 0)
		snprintf(cell->filesystem, sizeof cell->filesystem, "%s", value);
	else if (strcmp(key, "overwrite") == 0)
		cell->plan.overwrite = strcmp(value, "1") == 0;
	else
		plan_set(&cell->plan, key, value, why);
}

static bool is_known(const struct matrix *m, const struct study_cell *cell)
{
	for (uint32_t i = m->first; i < m->study->cell_count; i++)
		if (strcmp(m->study->cells[i].name, cell->name) == 0)
			return true;
	return false;
}

/* The cell of these indices of the dimensions. An engine that blocks in submission parks whatever
 * --wait says, so it comes once. */
static int cell_make(struct matrix *m, const char *engine, const char *workload,
                     const uint32_t *indices)
{
	struct study *study = m->study;
	struct study_cell *cell = &study->cells[study->cell_count];
	struct plan completed;

	if (study->cell_count == STUDY_CELLS_MAX) {
		snprintf(m->why, STUDY_WHY_SIZE, "%.300s: [%s] leads beyond %d cells: fewer values",
		         m->text->path, m->section->name, STUDY_CELLS_MAX);
		return -E2BIG;
	}
	*cell = (struct study_cell){.section = m->number, .probe = "auto"};
	plan_default(&cell->plan);
	snprintf(cell->plan.engine, sizeof cell->plan.engine, "%s", engine);
	snprintf(cell->plan.workload, sizeof cell->plan.workload, "%s", workload);
	for (uint32_t i = 0; i < m->count; i++)
		cell_set(cell, m->dimensions[i]->key, m->dimensions[i]->values[indices[i]]);
	if (engine_find(engine)->caps & ENGINE_SYNCHRONOUS)
		cell->plan.wait = WAIT_PARK;
	snprintf(cell->name, sizeof cell->name, "%s", m->section->name);
	for (char *c = cell->name; *c; c++)
		if (*c == ' ')
			*c = '_';
	name_add(cell, "engine", engine);
	name_add(cell, "workload", workload);
	for (uint32_t i = 0; i < m->count; i++)
		name_add_setting(cell, m->dimensions[i]->key, m->dimensions[i]->values[indices[i]]);
	if (strlen(cell->name) + 5 > sizeof cell->name) {
		snprintf(m->why, STUDY_WHY_SIZE,
		         "%.300s: the settings of [%s] take more than %d bytes: shorter paths",
		         m->text->path, m->section->name, STUDY_CELL_SIZE - 5);
		return -ENAMETOOLONG;
	}
	completed = cell->plan;
	if (plan_complete(&completed, cell->impossible) == 0)
		cell->impossible[0] = 0;
	study->cell_count += !is_known(m, cell);
	return 0;
}

static int cells_make(struct matrix *m)
{
	uint32_t indices[STUDY_SETTINGS_MAX * 2] = {0}, at;
	int err = 0;

	do {
		for (uint32_t w = 0; w < m->workloads.count; w++)
			for (uint32_t e = 0; !err && e < m->engines.count; e++)
				err = cell_make(m, m->engines.names[e], m->workloads.names[w],
				                indices);
		for (at = m->count; at > 0; at--) {
			if (++indices[at - 1] < m->dimensions[at - 1]->count)
				break;
			indices[at - 1] = 0;
		}
	} while (!err && at > 0);
	return err;
}

static void dimensions_find(struct matrix *m)
{
	const struct study_section *const places[] = {m->text->sections[0], m->section};

	for (int p = 0; p < 2; p++)
		for (uint32_t i = 0; i < places[p]->count; i++) {
			const struct study_setting *s = &places[p]->settings[i];

			if (strcmp(s->key, "engine") == 0 || strcmp(s->key, "workload") == 0 ||
			    strcmp(s->key, "repeat") == 0 ||
			    study_text_find(m->text, m->section, s->key) != s)
				continue;
			m->dimensions[m->count++] = s;
		}
}

static void names_find(struct matrix *m, const char *key, struct selection *selection,
                       int (*add)(struct selection *, const char *, char[PLAN_WHY_SIZE]),
                       const char *usual)
{
	const struct study_setting *setting = study_text_find(m->text, m->section, key);
	char why[PLAN_WHY_SIZE];

	if (!setting)
		add(selection, usual, why);
	for (uint32_t i = 0; setting && i < setting->count; i++)
		add(selection, setting->values[i], why);
}

/* Nothing but a mistake leaves a section without any cell that can be run. */
static int section_check(const struct matrix *m)
{
	for (uint32_t i = m->first; i < m->study->cell_count; i++)
		if (!*m->study->cells[i].impossible)
			return 0;
	snprintf(m->why, STUDY_WHY_SIZE, "%.300s, line %u: nothing of [%s] can be run: %s",
	         m->text->path, m->section->line, m->section->name,
	         m->study->cells[m->first].impossible);
	return -EINVAL;
}

static int section_expand(struct study *study, const struct study_text *text, uint32_t number,
                          char *why)
{
	struct matrix m = {.study = study,
	                   .text = text,
	                   .section = text->sections[number + 1],
	                   .number = number,
	                   .first = study->cell_count,
	                   .why = why};
	int err;

	dimensions_find(&m);
	names_find(&m, "engine", &m.engines, selection_add_engine, "uring");
	names_find(&m, "workload", &m.workloads, selection_add_workload, "disk-randread");
	err = cells_make(&m);
	return err ? err : section_check(&m);
}

static void name_take(struct study *study, const char *path)
{
	const char *base = strrchr(path, '/'), *dot;

	base = base ? base + 1 : path;
	dot = strrchr(base, '.');
	snprintf(study->name, sizeof study->name, "%.*s",
	         (int)(dot && dot > base ? (size_t)(dot - base) : strlen(base)), base);
}

static int study_expand(struct study *study, const struct study_text *text, char *why)
{
	const struct study_section *global = text->sections[0];
	const struct study_setting *repeat = study_text_find(text, global, "repeat");
	const struct study_setting *seed = study_text_find(text, global, "seed");
	uint64_t number = 1;
	int err = 0;

	if (repeat)
		units_parse_count(repeat->values[0], &number);
	study->repeats = (uint32_t)number;
	study->seed = 1;
	if (seed)
		units_parse_count(seed->values[0], &study->seed);
	study->sections = text->count - 1;
	if (!study->sections) {
		snprintf(why, STUDY_WHY_SIZE,
		         "%.300s: it has no section: a study is [global] and one [section] or more",
		         text->path);
		return -EINVAL;
	}
	study->cells = calloc(STUDY_CELLS_MAX, sizeof *study->cells);
	if (!study->cells) {
		snprintf(why, STUDY_WHY_SIZE, "%.300s: no memory for its cells", text->path);
		return -ENOMEM;
	}
	for (uint32_t i = 0; !err && i < study->sections; i++)
		err = section_expand(study, text, i, why);
	return err;
}

int study_read(struct study *study, const char *path, char why[STUDY_WHY_SIZE])
{
	struct study_text text;
	int err;

	*study = (struct study){.cells = NULL};
	name_take(study, path);
	err = study_text_read(&text, path, why);
	if (!err)
		err = study_expand(study, &text, why);
	study_text_free(&text);
	return err ? err : study_order(study, path, why);
}

void study_free(struct study *study)
{
	free(study->cells);
	free(study->runs);
	*study = (struct study){.cells = NULL};
}
