/*
 * iostudy list: the engines, workloads and probes that this program holds, from their tables,
 * and the scripts and studies that come with it.
 */
#include "cli/cli.h"
#include "cli/scripts.h"
#include "cli/simple.h"

#include "analysis/format.h"
#include "bench/json_text.h"
#include "bench/scenario/scenario.h"
#include "bench/workload.h"
#include "engines/engine.h"
#include "probes/probe.h"

#include <stdio.h>
#include <string.h>

enum { NAME_COLUMNS = 18, SCREEN_COLUMNS = 80 };

enum list_kind {
	LIST_ENGINES,
	LIST_WORKLOADS,
	LIST_PROBES,
	LIST_SCRIPTS,
	LIST_STUDIES,
	LIST_SCENARIOS,
	LIST_COUNT
};
static const char *const kind_names[LIST_COUNT + 1] = {"engines", "workloads", "probes",
                                                       "scripts", "studies",   "scenarios"};

static const struct {
	uint32_t cap;
	const char *name;
} cap_names[] = {
    {ENGINE_FILES, "files"},
    {ENGINE_SOCKETS, "sockets"},
    {ENGINE_TIMERS, "timers"},
};
enum { CAP_NAMES = sizeof cap_names / sizeof *cap_names };

/* --- as text ------------------------------------------------------------------------------- */

static void row_add(struct text *text, const char *name, const char *summary)
{
	text_add(text, "  ");
	text_cell(text, NAME_COLUMNS, name);
	text_wrap(text, 2 + NAME_COLUMNS, 2 + NAME_COLUMNS, SCREEN_COLUMNS, summary);
}

static void engines_text(struct text *text)
{
	for (const struct engine_ops *const *ops = engine_table; *ops; ops++) {
		struct text summary = {0};
		const char *between = " (";
		text_add(&summary, "%s", (*ops)->summary);
		for (unsigned i = 0; i < CAP_NAMES; i++) {
			if (!((*ops)->caps & cap_names[i].cap))
				continue;
			text_add(&summary, "%s%s", between, cap_names[i].name);
			between = ", ";
		}
		text_add(&summary, "%s", *between == ',' ? ")" : "");
		row_add(text, (*ops)->name, summary.data ? summary.data : "");
		text_free(&summary);
	}
}

static void scripts_text(struct text *text, bool ascii)
{
	char place[SCRIPT_PATH_SIZE];
	struct scripts scripts;

	scripts_find(&scripts);
	format_name(place, sizeof place, *scripts.directory ? scripts.directory : scripts.looked,
	            sizeof place, ascii);
	if (!*scripts.directory) {
		text_add(text, "  not found; looked in ");
		text_wrap(text, 23, 2, SCREEN_COLUMNS, place);
		return;
	}
	for (unsigned i = 0; i < scripts.count; i++) {
		row_add(text, scripts.list[i].name, scripts.list[i].summary);
		text_add(text, "    bpftrace %s/%s PID\n", place, scripts.list[i].name);
	}
	text_add(text, "  Attach as root to any process by its PID; Ctrl-C ends and reports.\n"
	               "  Beside a run: iostudy run --bpftrace NAME ...\n");
}

static void studies_text(struct text *text, bool ascii)
{
	char place[SCRIPT_PATH_SIZE];
	struct scripts studies;

	studies_find(&studies);
	for (unsigned i = 0; i < studies.count; i++) {
		*strrchr(studies.list[i].name, '.') = 0;
		row_add(text, studies.list[i].name, studies.list[i].summary);
	}
	format_name(place, sizeof place, *studies.directory ? studies.directory : studies.looked,
	            sizeof place, ascii);
	if (studies.count)
		text_add(text, "  Run one with iostudy study NAME -o DIR; they are files in %s\n",
		         place);
	else
		text_add(text, "  not found; looked in %s\n", place);
}

static void kind_text(struct text *text, enum list_kind kind, bool ascii)
{
	text_add(text, "%s%s\n", text->length ? "\n" : "", kind_names[kind]);
	switch (kind) {
	case LIST_ENGINES:
		engines_text(text);
		break;
	case LIST_WORKLOADS:
		for (const struct workload_ops *const *ops = workload_table; *ops; ops++)
			row_add(text, (*ops)->name, (*ops)->summary);
		break;
	case LIST_PROBES:
		for (const struct probe_ops *const *ops = probe_table; *ops; ops++)
			row_add(text, (*ops)->name, (*ops)->summary);
		break;
	case LIST_STUDIES:
		studies_text(text, ascii);
		break;
	case LIST_SCENARIOS:
		for (const struct scenario *const *s = scenario_table; *s; s++)
			row_add(text, (*s)->name, (*s)->summary);
		break;
	default:
		scripts_text(text, ascii);
	}
}

/* --- as JSON ------------------------------------------------------------------------------- */

static json_t *entry_json(const char *name, const char *summary)
{
	return json_pack("{s:o, s:o}", "name", json_text(name), "summary", json_text(summary));
}

static json_t *engines_json(void)
{
	json_t *list = json_array();
	for (const struct engine_ops *const *ops = engine_table; *ops; ops++) {
		json_t *entry = entry_json((*ops)->name, (*ops)->summary), *serves = json_array();
		for (unsigned i = 0; i < CAP_NAMES; i++)
			if ((*ops)->caps & cap_names[i].cap)
				json_array_append_new(serves, json_string(cap_names[i].name));
		json_object_set_new(entry, "serves", serves);
		json_array_append_new(list, entry);
	}
	return list;
}

static json_t *scripts_json(void)
{
	struct scripts scripts;
	json_t *list = json_array();

	scripts_find(&scripts);
	for (unsigned i = 0; i < scripts.count; i++) {
		json_t *entry = entry_json(scripts.list[i].name, scripts.list[i].summary);
		char path[SCRIPT_PATH_SIZE + 64], attach[SCRIPT_PATH_SIZE + 80];
		snprintf(path, sizeof path, "%s/%s", scripts.directory, scripts.list[i].name);
		snprintf(attach, sizeof attach, "bpftrace %s PID", path);
		json_object_set_new(entry, "path", json_text(path));
		json_object_set_new(entry, "attach", json_text(attach));
		json_array_append_new(list, entry);
	}
	return list;
}

static json_t *studies_json(void)
{
	struct scripts studies;
	json_t *list = json_array();

	studies_find(&studies);
	for (unsigned i = 0; i < studies.count; i++) {
		char path[SCRIPT_PATH_SIZE + 64], name[64];
		snprintf(name, sizeof name, "%s", studies.list[i].name);
		*strrchr(name, '.') = 0;
		json_t *entry = entry_json(name, studies.list[i].summary);
		snprintf(path, sizeof path, "%s/%s", studies.directory, studies.list[i].name);
		json_object_set_new(entry, "path", json_text(path));
		json_array_append_new(list, entry);
	}
	return list;
}

static json_t *kind_json(enum list_kind kind)
{
	json_t *list;
	if (kind == LIST_ENGINES)
		return engines_json();
	if (kind == LIST_SCRIPTS)
		return scripts_json();
	if (kind == LIST_STUDIES)
		return studies_json();
	list = json_array();
	for (const struct workload_ops *const *ops = workload_table; kind == LIST_WORKLOADS && *ops;
	     ops++)
		json_array_append_new(list, entry_json((*ops)->name, (*ops)->summary));
	for (const struct probe_ops *const *ops = probe_table; kind == LIST_PROBES && *ops; ops++)
		json_array_append_new(list, entry_json((*ops)->name, (*ops)->summary));
	for (const struct scenario *const *s = scenario_table; kind == LIST_SCENARIOS && *s; s++)
		json_array_append_new(list, entry_json((*s)->name, (*s)->summary));
	return list;
}

static bool is_wanted(const struct simple_options *options, enum list_kind kind)
{
	for (unsigned i = 0; i < options->word_count; i++)
		if (strcmp(options->words[i], kind_names[kind]) == 0)
			return true;
	return options->word_count == 0;
}

int command_list(int argc, char **argv)
{
	const struct simple_command command = {
	    .summary = "Names what this program holds; without a word, all of it.",
	    .argument = "[engines|workloads|probes|scripts|studies|scenarios...]",
	    .words = kind_names,
	};
	struct simple_options options;
	struct text text = {0};

	simple_parse(&options, &command, argc, argv);
	if (options.json) {
		json_t *object = json_pack("{s:s}", "schema", "iostudy/list/1");
		for (enum list_kind kind = 0; kind < LIST_COUNT; kind++)
			if (is_wanted(&options, kind))
				json_object_set_new(object, kind_names[kind], kind_json(kind));
		return simple_put_json(object);
	}
	for (enum list_kind kind = 0; kind < LIST_COUNT; kind++)
		if (is_wanted(&options, kind))
			kind_text(&text, kind, options.ascii);
	const int put = simple_put(text.data ? text.data : "");
	text_free(&text);
	return put;
}
