/*
 * Reads the text of a study with inih. Lines are counted here, since inih does not tell its
 * handler where it is.
 */
#include "bench/study_file.h"

#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/filesystem.h"
#include "bench/nearest.h"
#include "bench/selection.h"
#include "bench/units.h"

/* Beside those of plan_settings. */
static const char *const own_keys[] = {
    "engine", "workload", "repeat", "probe", "directory", "filesystem", "overwrite", NULL,
};
static const char *const own_aliases[][2] = {{"ioengine", "engine"}, {NULL, NULL}};

enum { SECTION_NAME_MAX = 48 }; /* bytes; inih cuts longer ones */

struct reading {
	struct study_text *text;
	FILE *file;
	unsigned line;
	bool indented; /* it goes on with the setting before */
	int err;
	unsigned err_line;
	char *why;
};

static int complain(struct reading *r, int err, const char *format, ...)
{
	va_list arguments;
	int at;

	if (r->err)
		return r->err;
	r->err = err;
	r->err_line = r->line;
	at = snprintf(r->why, STUDY_WHY_SIZE, "%.300s, line %u: ", r->text->path, r->line);
	va_start(arguments, format);
	vsnprintf(r->why + at, STUDY_WHY_SIZE - (size_t)at, format, arguments);
	va_end(arguments);
	return err;
}

static struct study_section *section_find(const struct study_text *text, const char *name)
{
	for (uint32_t i = 0; i < text->count; i++)
		if (strcmp(text->sections[i]->name, name) == 0)
			return text->sections[i];
	return NULL;
}

static int section_add(struct reading *r, const char *name)
{
	struct study_text *text = r->text;
	struct study_section *section;

	if (text->count == STUDY_SECTIONS_MAX)
		return complain(r, -E2BIG, "more than %d sections", STUDY_SECTIONS_MAX - 1);
	section = calloc(1, sizeof *section);
	if (section)
		section->name = strdup(name);
	if (!section || !section->name) {
		free(section);
		return complain(r, -ENOMEM, "no memory");
	}
	section->line = r->line;
	text->sections[text->count++] = section;
	return 0;
}

/* "name]": inih tells of a section only together with its first setting. */
static int section_begin(struct reading *r, const char *line)
{
	const struct study_section *before;
	char name[SECTION_NAME_MAX + 2];

	snprintf(name, sizeof name, "%.*s", (int)strcspn(line, "]\n"), line);
	if (!*name || strlen(name) > SECTION_NAME_MAX)
		return complain(r, -EINVAL, "a section's name has 1 to %d bytes", SECTION_NAME_MAX);
	if (strcmp(name, "global") == 0 && r->text->count > 1)
		return complain(r, -EINVAL, "[global] must stand before the other sections");
	before = section_find(r->text, name);
	if (before && before->line)
		return complain(r, -EEXIST, "[%s] stands in line %u already", name, before->line);
	if (!before)
		return section_add(r, name);
	r->text->sections[0]->line = r->line;
	return 0;
}

/* As fgets. A line that inih would cut is an error. */
static char *line_get(char *line, int size, void *context)
{
	struct reading *r = context;

	if (r->err || !fgets(line, size, r->file))
		return NULL;
	r->line++;
	r->indented = *line == ' ' || *line == '\t';
	if (!strchr(line, '\n') && strlen(line) + 1 == (size_t)size) {
		complain(r, -EINVAL,
		         "longer than %d bytes: go on with the list on a line of its own that "
		         "begins with a blank",
		         size - 2);
		return NULL;
	}
	if (*line == '[' && section_begin(r, line + 1) != 0)
		return NULL;
	return line;
}

/* The name by which `run` knows a setting, or NULL. */
static const char *key_find(const char *key)
{
	for (const struct plan_setting *s = plan_settings; s->name; s++)
		if (strcmp(key, s->name) == 0 || (s->alias && strcmp(key, s->alias) == 0))
			return s->name;
	for (uint32_t i = 0; own_keys[i]; i++)
		if (strcmp(key, own_keys[i]) == 0)
			return own_keys[i];
	for (uint32_t i = 0; own_aliases[i][0]; i++)
		if (strcmp(key, own_aliases[i][0]) == 0)
			return own_aliases[i][1];
	return NULL;
}

static int unknown_key(struct reading *r, const char *key)
{
	const char *names[128];
	char nearest[NEAREST_SIZE];
	uint32_t n = 0;

	for (const struct plan_setting *s = plan_settings; s->name && n < 110; s++)
		names[n++] = s->name;
	for (uint32_t i = 0; own_keys[i]; i++)
		names[n++] = own_keys[i];
	return complain(r, -EINVAL, "unknown setting '%.60s'%s", key,
	                nearest_text(nearest, key, names, n));
}

static int check_number(const char *key, const char *value, uint64_t low, uint64_t high,
                        char why[PLAN_WHY_SIZE])
{
	uint64_t number;

	if (units_parse_count(value, &number) == 0 && number >= low && number <= high)
		return 0;
	snprintf(why, PLAN_WHY_SIZE, "%s %.60s is out of range: %llu to %llu", key, value,
	         (unsigned long long)low, (unsigned long long)high);
	return -ERANGE;
}

/* Whether the value can be one of that setting, by itself. */
static int check_value(const char *key, const char *value, char why[PLAN_WHY_SIZE])
{
	struct selection selection = {.count = 0};
	struct plan plan;

	if (!*value) {
		snprintf(why, PLAN_WHY_SIZE, "%s has an empty value", key);
		return -EINVAL;
	}
	if (strcmp(key, "engine") == 0)
		return selection_add_engine(&selection, value, why);
	if (strcmp(key, "workload") == 0)
		return selection_add_workload(&selection, value, why);
	if (strcmp(key, "probe") == 0)
		return selection_check_probes(value, why);
	if (strcmp(key, "repeat") == 0)
		return check_number(key, value, 1, STUDY_REPEATS_MAX, why);
	if (strcmp(key, "overwrite") == 0)
		return check_number(key, value, 0, 1, why);
	if (strcmp(key, "filesystem") == 0)
		return filesystem_check(value, why);
	if (strcmp(key, "directory") == 0)
		return 0;
	plan_default(&plan);
	return plan_set(&plan, key, value, why);
}

static int value_add(struct reading *r, struct study_setting *setting, const char *from,
                     size_t length)
{
	char why[PLAN_WHY_SIZE], **values;

	while (length && isspace((unsigned char)*from))
		from++, length--;
	while (length && isspace((unsigned char)from[length - 1]))
		length--;
	if (setting->count == STUDY_VALUES_MAX)
		return complain(r, -E2BIG, "%s has more than %d values", setting->key,
		                STUDY_VALUES_MAX);
	values = realloc(setting->values, (setting->count + 1) * sizeof *values);
	if (values)
		setting->values = values;
	if (!values || !(values[setting->count] = strndup(from, length)))
		return complain(r, -ENOMEM, "no memory");
	if (check_value(setting->key, values[setting->count++], why) != 0)
		return complain(r, -EINVAL, "%s", why);
	return 0;
}

/* "1, 2, 4". A comma at the end or at the beginning of a line joins it to the next. */
static int values_add(struct reading *r, struct study_setting *setting, const char *text)
{
	const bool whole = strcmp(setting->key, "probe") == 0;
	int err = 0;

	if (setting->count && *text == ',')
		text++;
	do {
		const size_t length = whole ? strlen(text) : strcspn(text, ",");

		if (text[length] == ',' || length || !setting->count)
			err = value_add(r, setting, text, length);
		text += length;
	} while (!err && *text++ == ',');
	return err;
}

static struct study_setting *setting_new(struct reading *r, struct study_section *section,
                                         const char *key)
{
	struct study_setting *setting = &section->settings[section->count];
	const char *known = key_find(key);

	if (!known) {
		unknown_key(r, key);
		return NULL;
	}
	for (uint32_t i = 0; i < section->count; i++)
		if (strcmp(section->settings[i].key, known) == 0) {
			complain(r, -EEXIST, "%s stands in [%.60s] already, line %u", known,
			         section->name, section->settings[i].line);
			return NULL;
		}
	if (section->count == STUDY_SETTINGS_MAX) {
		complain(r, -E2BIG, "more than %d settings in [%.60s]", STUDY_SETTINGS_MAX,
		         section->name);
		return NULL;
	}
	*setting = (struct study_setting){.key = strdup(known), .line = r->line};
	section->count++;
	return setting;
}

/* inih's handler: 1 goes on. */
static int setting_take(void *context, const char *name, const char *key, const char *value)
{
	struct reading *r = context;
	struct study_section *section = section_find(r->text, name);
	struct study_setting *setting;

	if (!*name)
		complain(r, -EINVAL, "%.60s stands before the first [section]", key);
	else if (strcmp(name, "global") != 0 && strcmp(key, "repeat") == 0)
		complain(r, -EINVAL, "repeat belongs into [global]: it is of the whole study");
	if (r->err || !section)
		return 0;
	setting = r->indented && section->count ? &section->settings[section->count - 1]
	                                        : setting_new(r, section, key);
	return setting && values_add(r, setting, value) == 0;
}

int study_text_read(struct study_text *text, const char *path, char why[STUDY_WHY_SIZE])
{
	struct reading r = {.text = text, .why = why};

	*text = (struct study_text){.path = strdup(path)};
	r.file = fopen(path, "re");
	if (!r.file || !text->path) {
		const int err = r.file ? ENOMEM : errno;
		snprintf(why, STUDY_WHY_SIZE, "%.300s: %s", path, strerror(err));
		if (r.file)
			fclose(r.file);
		return -err;
	}
	section_add(&r, "global");
	const int line = ini_parse_stream(line_get, &r, setting_take, &r);
	if (!r.err && ferror(r.file)) {
		snprintf(why, STUDY_WHY_SIZE, "%.300s: cannot be read: %s", path, strerror(errno));
		r.err = -EIO;
	} else if (line && (!r.err || (unsigned)line < r.err_line)) {
		r.err = 0;
		r.line = (unsigned)line;
		complain(&r, -EINVAL, "neither [section] nor setting = value");
	}
	fclose(r.file);
	return r.err;
}

void study_text_free(struct study_text *text)
{
	for (uint32_t i = 0; i < text->count; i++) {
		struct study_section *section = text->sections[i];

		for (uint32_t k = 0; k < section->count; k++) {
			for (uint32_t v = 0; v < section->settings[k].count; v++)
				free(section->settings[k].values[v]);
			free(section->settings[k].values);
			free(section->settings[k].key);
		}
		free(section->name);
		free(section);
	}
	free(text->path);
	*text = (struct study_text){0};
}

const struct study_setting *study_text_find(const struct study_text *text,
                                            const struct study_section *section, const char *key)
{
	const struct study_section *const places[] = {section, text->sections[0]};

	for (int p = 0; p < 2; p++)
		for (uint32_t i = 0; i < places[p]->count; i++)
			if (strcmp(places[p]->settings[i].key, key) == 0)
				return &places[p]->settings[i];
	return NULL;
}
