/* See schema_check.h. */
#include "tests/schema_check.h"

#include <stdio.h>
#include <string.h>

struct check {
	char path[200];
	char *why;
};

static bool check_value(struct check *c, const json_t *schema, const json_t *value);

static bool wrong(struct check *c, const char *what)
{
	snprintf(c->why, SCHEMA_WHY_SIZE, "%s: %s", c->path, what);
	return false;
}

static bool check_inside(struct check *c, const char *name, const json_t *schema,
                         const json_t *value)
{
	const size_t length = strlen(c->path);

	snprintf(c->path + length, sizeof c->path - length, "/%s", name);
	const bool good = check_value(c, schema, value);
	if (good)
		c->path[length] = '\0';
	return good;
}

static bool type_is(const json_t *value, const char *type)
{
	return strcmp(type, "object") == 0    ? json_is_object(value)
	       : strcmp(type, "array") == 0   ? json_is_array(value)
	       : strcmp(type, "string") == 0  ? json_is_string(value)
	       : strcmp(type, "integer") == 0 ? json_is_integer(value)
	       : strcmp(type, "number") == 0  ? json_is_number(value)
	       : strcmp(type, "boolean") == 0 ? json_is_boolean(value)
	                                      : strcmp(type, "null") == 0 && json_is_null(value);
}

static bool check_type(const json_t *types, const json_t *value)
{
	const json_t *type;
	size_t i;

	if (json_is_string(types))
		return type_is(value, json_string_value(types));
	json_array_foreach((json_t *)types, i,
	                   type) if (type_is(value, json_string_value(type))) return true;
	return false;
}

static bool check_enum(const json_t *allowed, const json_t *value)
{
	const json_t *one;
	size_t i;

	json_array_foreach((json_t *)allowed, i, one) if (json_equal(one, value)) return true;
	return false;
}

static bool check_required(struct check *c, const json_t *required, const json_t *value)
{
	const json_t *name;
	size_t i;

	json_array_foreach((json_t *)required, i, name)
	{
		if (!json_object_get(value, json_string_value(name))) {
			char text[100];
			snprintf(text, sizeof text, "\"%s\" is missing", json_string_value(name));
			return wrong(c, text);
		}
	}
	return true;
}

static bool check_members(struct check *c, const json_t *schema, const json_t *value)
{
	const json_t *properties = json_object_get(schema, "properties");
	const json_t *others = json_object_get(schema, "additionalProperties"), *member;
	const char *name;

	json_object_foreach((json_t *)value, name, member)
	{
		const json_t *of = json_object_get(properties, name);

		of = of ? of : others;
		if (of && !check_inside(c, name, of, member))
			return false;
	}
	return true;
}

static bool check_items(struct check *c, const json_t *items, const json_t *value)
{
	const json_t *item;
	char name[24];
	size_t i;

	json_array_foreach((json_t *)value, i, item)
	{
		snprintf(name, sizeof name, "%zu", i);
		if (!check_inside(c, name, items, item))
			return false;
	}
	return true;
}

static bool check_keyword(struct check *c, const char *keyword, const json_t *clause,
                          const json_t *schema, const json_t *value)
{
	const double limit = json_number_value(clause);
	const double size = (double)json_array_size(value);

	if (strcmp(keyword, "type") == 0)
		return check_type(clause, value) || wrong(c, "of the wrong type");
	if (strcmp(keyword, "enum") == 0)
		return check_enum(clause, value) || wrong(c, "none of the values allowed");
	if (strcmp(keyword, "const") == 0)
		return json_equal(clause, value) || wrong(c, "not the value it must be");
	if (strcmp(keyword, "minimum") == 0)
		return !json_is_number(value) || json_number_value(value) >= limit ||
		       wrong(c, "too small");
	if (strcmp(keyword, "minItems") == 0)
		return !json_is_array(value) || size >= limit || wrong(c, "too few items");
	if (strcmp(keyword, "maxItems") == 0)
		return !json_is_array(value) || size <= limit || wrong(c, "too many items");
	if (strcmp(keyword, "required") == 0)
		return !json_is_object(value) || check_required(c, clause, value);
	if (strcmp(keyword, "properties") == 0)
		return check_members(c, schema, value);
	if (strcmp(keyword, "additionalProperties") == 0)
		return json_object_get(schema, "properties") || check_members(c, schema, value);
	if (strcmp(keyword, "items") == 0)
		return check_items(c, clause, value);
	return strcmp(keyword, "description") == 0 || strcmp(keyword, "title") == 0 ||
	       strcmp(keyword, "$schema") == 0 || wrong(c, "a keyword that is not checked");
}

static bool check_value(struct check *c, const json_t *schema, const json_t *value)
{
	const json_t *clause;
	const char *keyword;

	json_object_foreach(
	    (json_t *)schema, keyword,
	    clause) if (!check_keyword(c, keyword, clause, schema, value)) return false;
	return true;
}

bool schema_holds(const json_t *schema, const json_t *value, char why[SCHEMA_WHY_SIZE])
{
	struct check c = {.why = why};

	why[0] = '\0';
	return check_value(&c, schema, value);
}
