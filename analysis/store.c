/*
 * Runs read from a file that anybody may have edited or cut short.
 */
#include "analysis/store.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/format.h"
#include "analysis/run_view.h"
#include "analysis/store_seen.h"

struct source {
	FILE *file;
	const char *path;
	size_t line;
	struct store_visitor *visitor;
};

static void source_complain(const struct source *s, const char *what)
{
	char path[300], safe[400], text[800];

	if (!s->visitor->message)
		return;
	snprintf(text, sizeof text, "%s, line %zu: %s",
	         format_name(path, sizeof path, s->path, 250, false), s->line,
	         format_name(safe, sizeof safe, what, 380, false));
	s->visitor->message(s->visitor->context, text);
}

/* Whether this version reads runs of that schema; if not, why. */
static bool schema_is_known(const json_t *run, char *why, size_t size)
{
	static const char family[] = "iostudy/run/";
	const char *schema = json_string_value(json_object_get(run, "schema"));
	char name[80];

	if (!schema) {
		snprintf(why, size, "it has no \"schema\"; a run begins with \"schema\": \"%s\"",
		         RUN_SCHEMA);
		return false;
	}
	if (strcmp(schema, RUN_SCHEMA) == 0)
		return true;
	format_name(name, sizeof name, schema, 40, true);
	if (strncmp(schema, family, strlen(family)) == 0)
		snprintf(why, size,
		         "its schema is %s and this iostudy reads %s: use the version that "
		         "wrote it, or a newer one",
		         name, RUN_SCHEMA);
	else
		snprintf(why, size, "its schema is %s, which is no run (%s)", name, RUN_SCHEMA);
	return false;
}

/* The run on this line, or NULL with why it is none. */
static json_t *line_parse(const char *line, size_t length, char *why, size_t size)
{
	char view_why[RUN_WHY_SIZE];
	struct run_view view;
	json_error_t error;
	json_t *run = json_loadb(line, length, JSON_REJECT_DUPLICATES, &error);

	if (!run)
		snprintf(why, size, "not JSON, or cut short: %s (column %d)", error.text,
		         error.column);
	else if (!json_is_object(run))
		snprintf(why, size, "not an object");
	else if (!schema_is_known(run, why, size))
		;
	else if (run_view_read(&view, run, view_why) != 0)
		snprintf(why, size, "%s", view_why);
	else
		return run;
	json_decref(run);
	return NULL;
}

static int line_use(struct source *s, const char *line, size_t length)
{
	struct store_visitor *visitor = s->visitor;
	char why[RUN_WHY_SIZE + 80];
	size_t before = 0;

	if (strspn(line, " \t\r\n") >= length)
		return 0; /* an empty line */
	json_t *run = line_parse(line, length, why, sizeof why);
	if (!run) {
		visitor->refused++;
		source_complain(s, why);
		return 0;
	}
	/* Runs that measured nothing may be alike; two measured runs never are. */
	if (json_is_object(json_object_get(run, "measured")))
		before = store_seen_add(&visitor->seen, line, length, s->line);
	if (before) {
		visitor->repeated++;
		snprintf(why, sizeof why,
		         "the same run, to the last digit, as one read before (line %zu there); "
		         "used once",
		         before);
		source_complain(s, why);
		json_decref(run);
		return 0;
	}
	visitor->used++;
	return visitor->run(visitor->context, run);
}

/* Passes over the rest of a line. False at the end of the file. */
static bool line_skip(FILE *file)
{
	int c;

	while ((c = getc_unlocked(file)) != EOF)
		if (c == '\n')
			return true;
	return false;
}

/* Reads one line into *line. Its length, 0 at the end, -EFBIG for a line beyond the limit, of
 * which a part is read. */
static long line_read(FILE *file, char **line, size_t *capacity)
{
	size_t length = 0;
	int c;

	while ((c = getc_unlocked(file)) != EOF) {
		if (length + 2 > *capacity) {
			const size_t more = *capacity ? 2 * *capacity : 1 << 16;
			char *longer = more > 2 * (size_t)STORE_LINE_MAX ? NULL
			                                                 : realloc(*line, more);
			if (!longer)
				return -EFBIG;
			*line = longer;
			*capacity = more;
		}
		(*line)[length++] = (char)c;
		(*line)[length] = '\0';
		if (c == '\n')
			break;
		if (length >= STORE_LINE_MAX)
			return -EFBIG;
	}
	return (long)length;
}

static int source_read(struct source *s, char why[STORE_WHY_SIZE])
{
	char *line = NULL, path[200];
	size_t capacity = 0;
	long length;
	int status = 0;

	format_name(path, sizeof path, s->path, 180, false);
	while (!status && (length = line_read(s->file, &line, &capacity)) != 0) {
		s->line++;
		if (length < 0) {
			s->visitor->refused++;
			source_complain(s, "longer than 16 MiB, which no run is");
			if (!line_skip(s->file))
				break;
			continue;
		}
		if (s->visitor->used == STORE_RUNS_MAX) {
			s->visitor->refused++;
			source_complain(s, "beyond the first 1,048,576 runs; reading ends here");
			break;
		}
		status = line_use(s, line, (size_t)length);
	}
	if (status)
		snprintf(why, STORE_WHY_SIZE, "%s: %s", path,
		         status == -ENOMEM ? "no memory for its runs" : strerror(-status));
	else if (ferror(s->file)) {
		status = -(errno ? errno : EIO);
		snprintf(why, STORE_WHY_SIZE, "%s: cannot be read: %s", path, strerror(-status));
	}
	free(line);
	return status;
}

int store_visit(struct store_visitor *visitor, const char *path, char why[STORE_WHY_SIZE])
{
	struct source s = {.path = path, .visitor = visitor};
	char shown[200], inside[4200];
	struct stat file;

	why[0] = '\0';
	if (strcmp(path, "-") == 0) {
		s.file = stdin;
		s.path = "standard input";
		return source_read(&s, why);
	}
	if (stat(path, &file) == 0 && S_ISDIR(file.st_mode)) {
		snprintf(inside, sizeof inside, "%s/runs.jsonl", path);
		s.path = inside;
	}
	s.file = fopen(s.path, "re");
	if (!s.file) {
		const int error = errno;
		format_name(shown, sizeof shown, s.path, 180, false);
		snprintf(why, STORE_WHY_SIZE,
		         "%s: %s; give a folder made by `iostudy run -o DIR`, or a "
		         "file with a run on each line",
		         shown, strerror(error));
		return -error;
	}
	const int status = source_read(&s, why);
	fclose(s.file);
	return status;
}

void store_visitor_free(struct store_visitor *visitor)
{
	store_seen_free(visitor->seen);
	visitor->seen = NULL;
}

struct runs_context {
	struct store_runs *runs;
	void (*message)(void *context, const char *text);
	void *context;
};

static void runs_message(void *context, const char *text)
{
	const struct runs_context *c = context;

	if (c->message)
		c->message(c->context, text);
}

static int runs_add(void *context, json_t *run)
{
	struct store_runs *runs = ((struct runs_context *)context)->runs;

	if (runs->count == runs->capacity) {
		const size_t capacity = runs->capacity ? 2 * runs->capacity : 64;
		json_t **more = realloc(runs->runs, capacity * sizeof more[0]);
		if (!more) {
			json_decref(run);
			return -ENOMEM;
		}
		runs->runs = more;
		runs->capacity = capacity;
	}
	runs->runs[runs->count++] = run;
	return 0;
}

int store_read(struct store_runs *runs, const char *path,
               void (*message)(void *context, const char *text), void *context,
               char why[STORE_WHY_SIZE])
{
	struct runs_context c = {runs, message, context};

	runs->visitor.run = runs_add;
	runs->visitor.message = runs_message;
	runs->visitor.context = &c;
	return store_visit(&runs->visitor, path, why);
}

void store_free(struct store_runs *runs)
{
	for (size_t i = 0; i < runs->count; i++)
		json_decref(runs->runs[i]);
	free(runs->runs);
	store_visitor_free(&runs->visitor);
	*runs = (struct store_runs){0};
}
