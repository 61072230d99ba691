/*
 * Holds a JSON value against a JSON Schema: the part of the language that our schemas use (type,
 * enum, const, properties, required, additionalProperties, items, minItems, maxItems, minimum).
 * A keyword that it does not know is itself a fault, so that no clause goes unchecked.
 */
#ifndef IOSTUDY_TEST_SCHEMA_CHECK_H
#define IOSTUDY_TEST_SCHEMA_CHECK_H

#include <stdbool.h>

#include <jansson.h>

enum { SCHEMA_WHY_SIZE = 400 };

bool schema_holds(const json_t *schema, const json_t *value, char why[SCHEMA_WHY_SIZE]);

#endif
