/* Fields of a JSON object, each of the type that it should have: see reader.h. */
#include "analysis/reader.h"

#include <math.h>
#include <stdio.h>

#include "analysis/format.h"

const char *reader_type_name(const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		return "an object";
	case JSON_ARRAY:
		return "an array";
	case JSON_STRING:
		return "a string";
	case JSON_TRUE:
	case JSON_FALSE:
		return "a boolean";
	case JSON_NULL:
		return "null";
	default:
		return "a number";
	}
}

void reader_fail(struct reader *r, const char *key, const char *is, const char *wanted)
{
	if (r->failed)
		return;
	r->failed = true;
	snprintf(r->why, RUN_WHY_SIZE, "%s%s%s is %s, but should be %s", r->place,
	         *r->place ? "." : "", key, is, wanted);
}

const json_t *reader_value(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_null(value) ? NULL : value;
}

double reader_number(struct reader *r, const json_t *object, const char *key)
{
	const json_t *value = reader_value(object, key);

	if (!value)
		return NAN;
	if (!json_is_number(value)) {
		reader_fail(r, key, reader_type_name(value), "a number or null");
		return NAN;
	}
	const double number = json_number_value(value);
	if (number < 0) {
		reader_fail(r, key, format_fixed(number, 0).text, "at least 0");
		return NAN;
	}
	return number;
}

const char *reader_string(struct reader *r, const json_t *object, const char *key)
{
	const json_t *value = reader_value(object, key);

	if (value && !json_is_string(value)) {
		reader_fail(r, key, reader_type_name(value), "a string or null");
		return NULL;
	}
	return json_string_value(value);
}

enum view_boolean reader_boolean(struct reader *r, const json_t *object, const char *key)
{
	const json_t *value = reader_value(object, key);

	if (!value)
		return VIEW_UNKNOWN;
	if (!json_is_boolean(value)) {
		reader_fail(r, key, reader_type_name(value), "true, false or null");
		return VIEW_UNKNOWN;
	}
	return json_is_true(value) ? VIEW_TRUE : VIEW_FALSE;
}

const json_t *reader_object(struct reader *r, const json_t *object, const char *key)
{
	const json_t *value = reader_value(object, key);

	if (value && !json_is_object(value)) {
		reader_fail(r, key, reader_type_name(value), "an object or null");
		return NULL;
	}
	return value;
}

const json_t *reader_array(struct reader *r, const json_t *object, const char *key)
{
	const json_t *value = reader_value(object, key);

	if (value && !json_is_array(value)) {
		reader_fail(r, key, reader_type_name(value), "an array or null");
		return NULL;
	}
	return value;
}

void reader_counters(struct reader *r, const json_t *parent, const char *key,
                     const char *const *names, double *out, size_t count)
{
	const json_t *object = reader_object(r, parent, key);

	for (size_t i = 0; i < count; i++)
		out[i] = reader_number(r, object, names[i]);
}
