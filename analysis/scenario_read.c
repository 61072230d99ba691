/* Stored cases: lines of DIR/scenarios.jsonl, which anybody may have edited or cut short. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/scenario_view.h"
#include "analysis/store.h"

static const double time_most_ns = 1e18;
enum { THREAD_MOST = 1 << 17, CALLS_MOST = 20000, CASES_MAX = 10000 };

static bool is_call(const json_t *call)
{
	double v[3];

	for (size_t i = 0; i < 3; i++) {
		const json_t *value = json_array_get(call, i);

		v[i] = json_is_number(value) ? json_number_value(value) : -1;
	}
	return v[0] >= 0 && v[1] >= v[0] && v[1] < time_most_ns && v[2] >= 0 && v[2] < THREAD_MOST;
}

/* What the screen and the documents rely on; every other field may be missing. */
static const char *fault_of(const json_t *object)
{
	const char *schema = json_string_value(json_object_get(object, "schema"));
	const json_t *calls = json_object_get(object, "calls"), *call;
	size_t i;

	if (!schema || strcmp(schema, SCENARIO_SCHEMA) != 0)
		return "it is no case of a scenario (" SCENARIO_SCHEMA ")";
	if (!json_is_object(json_object_get(object, "plan")))
		return "plan is no object";
	if (!json_is_string(json_object_get(object, "status")))
		return "status is no string";
	if (calls && (!json_is_array(calls) || json_array_size(calls) > CALLS_MOST))
		return "calls is no array of at most 20000";
	json_array_foreach((json_t *)calls, i,
	                   call) if (!is_call(call)) return "calls holds what is "
							    "no call";
	return NULL;
}

static void complain(const struct scenario_reader *r, const char *path, size_t line,
                     const char *what)
{
	char shown[300], safe[200], text[600];

	if (!r->message)
		return;
	snprintf(text, sizeof text, "%s, line %zu: %s",
	         format_name(shown, sizeof shown, path, 250, false), line,
	         format_name(safe, sizeof safe, what, 180, false));
	r->message(r->context, text);
}

static void take_line(struct scenario_reader *r, const char *path, size_t number, const char *line,
                      size_t length)
{
	json_error_t error;
	json_t *object = json_loadb(line, length, JSON_REJECT_DUPLICATES, &error);
	const char *fault = object ? fault_of(object) : "not JSON, or cut short";

	if (!fault && r->count == CASES_MAX)
		fault = "beyond the first 10000 cases";
	if (!fault && r->count == r->capacity) {
		const size_t capacity = r->capacity ? 2 * r->capacity : 64;
		json_t **more = realloc(r->results, capacity * sizeof *more);

		if (more) {
			r->results = more;
			r->capacity = capacity;
		} else {
			fault = "no memory";
		}
	}
	if (!fault && scenario_conclude(object) != 0)
		fault = "no memory";
	if (fault) {
		r->refused++;
		complain(r, path, number, fault);
		json_decref(object);
		return;
	}
	r->results[r->count++] = object;
}

void scenario_read(struct scenario_reader *r, const char *directory)
{
	char path[4200], *line = NULL;
	size_t capacity = 0, number = 0;
	ssize_t length;
	FILE *file;

	snprintf(path, sizeof path, "%s/" STORE_SCENARIOS, directory);
	file = fopen(path, "re");
	if (!file)
		return;
	while ((length = getline(&line, &capacity, file)) > 0) {
		number++;
		if (length > STORE_LINE_MAX) {
			r->refused++;
			complain(r, path, number, "longer than 16 MiB, which no case is");
		} else if (strspn(line, " \t\r\n") < (size_t)length) {
			take_line(r, path, number, line, (size_t)length);
		}
	}
	free(line);
	fclose(file);
}

void scenario_reader_free(struct scenario_reader *r)
{
	for (size_t i = 0; i < r->count; i++)
		json_decref(r->results[i]);
	free(r->results);
	*r = (struct scenario_reader){0};
}
