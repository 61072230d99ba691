/*
 * iostudy doctor: what this machine and this user may do, why not, the one command that allows
 * more, and how to undo it. Shown from one list of checks as text or as JSON.
 */
#include "cli/doctor.h"
#include "cli/cli.h"
#include "cli/screen.h"
#include "cli/simple.h"

#include "analysis/format.h"
#include "bench/json_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCREEN_COLUMNS = 80, STATE_COLUMNS = 7, NAME_COLUMNS = 20 };
enum { VALUE_COLUMN = STATE_COLUMNS + NAME_COLUMNS };

static const char *const section_names[DOCTOR_SECTIONS] = {"engines", "probes", "place",
                                                           "limits",  "user",   "kernel"};
static const char *const section_titles[DOCTOR_SECTIONS] = {
    "Engines: each opened, and one request served",
    "Probes: each opened, best first",
    "Place of the measured file",
    "Limits, and what they allow",
    "User",
    "Kernel",
};
static const char *const state_names[DOCTOR_STATES] = {"ok", "note", "no", "info"};

struct doctor_check *doctor_add(struct doctor *d, enum doctor_section section,
                                enum doctor_state state, const char *name, const char *format, ...)
{
	va_list arguments;

	if (d->count == DOCTOR_CHECKS_MAX)
		abort();
	struct doctor_check *check = &d->checks[d->count++];
	memset(check, 0, sizeof *check);
	check->section = section;
	check->state = state;
	snprintf(check->name, sizeof check->name, "%s", name);
	va_start(arguments, format);
	vsnprintf(check->value, sizeof check->value, format, arguments);
	va_end(arguments);
	return check;
}

void doctor_explain(struct doctor_check *check, const char *why, const char *allow,
                    const char *undo)
{
	if (why)
		snprintf(check->why, sizeof check->why, "%s", why);
	if (allow)
		snprintf(check->allow, sizeof check->allow, "%s", allow);
	if (undo)
		snprintf(check->undo, sizeof check->undo, "%s", undo);
}

bool doctor_can(const struct doctor *d, unsigned capability)
{
	return d->user.capabilities >> capability & 1;
}

/* --- as text ------------------------------------------------------------------------------- */

static void state_add(struct text *text, enum doctor_state state, bool colour)
{
	static const char *const colours[DOCTOR_STATES] = {"\033[32m", "\033[33m", "\033[1;31m",
	                                                   ""};
	const char *name = state == DOCTOR_INFO ? "-" : state_names[state];
	const int pad = STATE_COLUMNS - 2 - (int)strlen(name);
	const bool coloured = colour && *colours[state];

	text_add(text, "  %s%s%s%*s", coloured ? colours[state] : "", name,
	         coloured ? "\033[0m" : "", pad, "");
}

/* Where to break a command so that room columns hold its first part: at a space outside of
 * quotes. 0: nowhere, or it fits. */
static size_t command_break(const char *command, size_t room)
{
	bool quoted = false;
	size_t at = 0;

	if (text_columns(command) <= room)
		return 0;
	for (size_t i = 0; command[i] && (i < room || !at); i++) {
		if (command[i] == '\'')
			quoted = !quoted;
		else if (command[i] == ' ' && !quoted)
			at = i;
	}
	return at;
}

/* A command is to be copied: where it must be broken, the shell goes on with the next line. */
static void command_add(struct text *text, const char *label, const char *command)
{
	enum { INDENT = STATE_COLUMNS + 2, LABEL = 7 };
	size_t at;

	if (!*command)
		return;
	text_add(text, "%*s%-*s", INDENT, "", LABEL, label);
	while ((at = command_break(command, SCREEN_COLUMNS - INDENT - LABEL - 2)) > 0) {
		text_add(text, "%.*s \\\n%*s", (int)at, command, INDENT + LABEL, "");
		command += at + 1;
	}
	text_add(text, "%s\n", command);
}

static void check_add(struct text *text, const struct doctor_check *check, bool ascii, bool colour)
{
	char safe[4 * DOCTOR_TEXT_SIZE];

	state_add(text, check->state, colour);
	text_cell(text, NAME_COLUMNS, check->name);
	size_t at = text_columns(check->name) < NAME_COLUMNS
	                ? VALUE_COLUMN
	                : STATE_COLUMNS + text_columns(check->name);
	if (at > VALUE_COLUMN) {
		text_add(text, " ");
		at++;
	}
	format_name(safe, sizeof safe, check->value, sizeof safe, ascii);
	text_wrap(text, at, VALUE_COLUMN, SCREEN_COLUMNS, safe);
	if (*check->why) {
		format_name(safe, sizeof safe, check->why, sizeof safe, ascii);
		text_add(text, "%*s", STATE_COLUMNS + 2, "");
		text_wrap(text, STATE_COLUMNS + 2, STATE_COLUMNS + 2, SCREEN_COLUMNS, safe);
	}
	command_add(text, "allow:", check->allow);
	command_add(text, "undo:", check->undo);
}

static void verdict_make(const struct doctor *d, char *verdict, size_t size)
{
	if (!d->engines_open)
		snprintf(verdict, size, "No engine could be opened: nothing can run here.");
	else if (!*d->best_probe)
		snprintf(verdict, size,
		         "Runs are possible with %u engines, but no probe could be opened: "
		         "speed and latency are measured, threads are not counted.",
		         d->engines_open);
	else
		snprintf(verdict, size,
		         "Runs are possible with %u engines; the threads parked meanwhile are "
		         "counted by %s.",
		         d->engines_open, d->best_probe);
}

static int put_text(const struct doctor *d, bool ascii)
{
	const struct environment *env = &d->environment;
	const bool colour = screen_style(ascii).colour;
	struct text text = {0};
	char line[1024], safe[1024];

	snprintf(line, sizeof line, "iostudy %s on %s: Linux %s, %d CPUs%s%s, %s hypervisor",
	         env->iostudy, env->host, env->kernel, env->cpus, *env->cpu_model ? " " : "",
	         env->cpu_model, strcmp(env->virtualised, "none") == 0 ? "no" : env->virtualised);
	format_name(safe, sizeof safe, line, sizeof safe, ascii);
	text_wrap(&text, 0, 2, SCREEN_COLUMNS, safe);
	for (enum doctor_section section = 0; section < DOCTOR_SECTIONS; section++) {
		text_add(&text, "\n%s\n", section_titles[section]);
		for (unsigned i = 0; i < d->count; i++)
			if (d->checks[i].section == section)
				check_add(&text, &d->checks[i], ascii, colour);
	}
	verdict_make(d, line, sizeof line);
	text_add(&text, "\n");
	text_wrap(&text, 0, 0, SCREEN_COLUMNS, line);
	const int status = simple_put(text.data && !text.broken ? text.data : "");
	text_free(&text);
	return status;
}

/* --- as JSON ------------------------------------------------------------------------------- */

static json_t *text_or_null(const char *text)
{
	return *text ? json_text(text) : json_null();
}

static int put_json(const struct doctor *d)
{
	json_t *object = json_pack("{s:s, s:b}", "schema", "iostudy/doctor/1", "can_run",
	                           d->engines_open > 0);
	char verdict[512];

	verdict_make(d, verdict, sizeof verdict);
	json_object_set_new(object, "verdict", json_text(verdict));
	json_object_set_new(object, "probe", text_or_null(d->best_probe));
	for (enum doctor_section section = 0; section < DOCTOR_SECTIONS; section++) {
		json_t *list = json_array();
		for (unsigned i = 0; i < d->count; i++) {
			const struct doctor_check *check = &d->checks[i];
			if (check->section != section)
				continue;
			json_array_append_new(list, json_pack("{s:s, s:s, s:o, s:o, s:o, s:o}",
			                                      "name", check->name, "state",
			                                      state_names[check->state], "value",
			                                      text_or_null(check->value), "why",
			                                      text_or_null(check->why), "allow",
			                                      text_or_null(check->allow), "undo",
			                                      text_or_null(check->undo)));
		}
		json_object_set_new(object, section_names[section], list);
	}
	return simple_put_json(object);
}

int command_doctor(int argc, char **argv)
{
	const struct simple_command command = {
	    .summary = "Tries what this machine and this user may do, and says what allows more.",
	    .directory = true,
	};
	struct simple_options options;

	simple_parse(&options, &command, argc, argv);
	struct doctor *d = calloc(1, sizeof *d);
	if (!d)
		abort();
	d->directory = options.directory ? options.directory : ".";
	d->environment_error = environment_read(&d->environment, d->directory);
	doctor_user_read(&d->user);
	doctor_check_engines(d);
	doctor_check_probes(d);
	doctor_check_place(d);
	doctor_check_limits(d);
	doctor_check_user(d);
	doctor_check_kernel(d);
	int status = options.json ? put_json(d) : put_text(d, options.ascii);
	if (status == EXIT_DONE && !d->engines_open)
		status = EXIT_NOTHING;
	free(d);
	return status;
}
