/*
 * Fields of a JSON object that somebody else wrote: a field that is missing or null is not
 * measured, one of the wrong type is a fault, of which the first is kept.
 */
#ifndef IOSTUDY_READER_H
#define IOSTUDY_READER_H

#include "analysis/run_view.h"

struct reader {
	char *why; /* [RUN_WHY_SIZE]: the first fault */
	bool failed;
	const char *place; /* the object that is read, for the message */
};

/* "a number", "an array" ... */
const char *reader_type_name(const json_t *value);

void reader_fail(struct reader *r, const char *key, const char *is, const char *wanted);

/* The value, or NULL when it is missing or null. */
const json_t *reader_value(const json_t *object, const char *key);

double reader_number(struct reader *r, const json_t *object, const char *key);      /* or NaN */
const char *reader_string(struct reader *r, const json_t *object, const char *key); /* or NULL */
enum view_boolean reader_boolean(struct reader *r, const json_t *object, const char *key);
const json_t *reader_object(struct reader *r, const json_t *object, const char *key);
const json_t *reader_array(struct reader *r, const json_t *object, const char *key);

/* An object of counters, whose names are given in order. */
void reader_counters(struct reader *r, const json_t *parent, const char *key,
                     const char *const *names, double *out, size_t count);

#endif
