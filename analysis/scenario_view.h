/*
 * What the objects of scenarios (iostudy/scenario/1) say: their summary, findings, and the screen,
 * with the published numbers beside ours.
 */
#ifndef IOSTUDY_SCENARIO_VIEW_H
#define IOSTUDY_SCENARIO_VIEW_H

#include <jansson.h>

#include "analysis/format.h"
#include "analysis/text.h"

#define SCENARIO_SCHEMA "iostudy/scenario/1"

/* Sets "summary" and "findings". 0 or -ENOMEM. */
int scenario_conclude(json_t *result);

/* The screen of these results, at most 80 columns. Free it with free(). NULL: no memory. */
char *scenario_render(json_t *const *results, size_t count, const struct text_style *style);

/* The same as sections of a document in Markdown. */
void scenario_markdown(struct text *out, json_t *const *results, size_t count);

/* Stored cases, concluded anew. All zero but the first two before the first call. */
struct scenario_reader {
	void (*message)(void *context, const char *text); /* of a line that is no case; or NULL */
	void *context;
	json_t **results;
	size_t count, capacity;
	size_t refused; /* lines */
};

/* Adds those of DIR/scenarios.jsonl, if there is one. */
void scenario_read(struct scenario_reader *reader, const char *directory);
void scenario_reader_free(struct scenario_reader *reader);

/* Parts of it. */
/* What was published of a mode, the same way. */
void scenario_published(struct text *out, const json_t *result);
/* Two cases of one scenario that differ in their mode alone. */
bool scenario_same_setting(const json_t *a, const json_t *b);
/* What a case was asked for beside its mode: "calls 100, delay 1.00s, form socket". */
void scenario_setting(struct text *out, const json_t *result);
/* The calls of a case: a row for a thread, a box for a call; nothing where none were kept. */
void scenario_gantt(struct text *out, const json_t *result, size_t columns);

/* Of a result with its summary. A new array; NULL: no memory. */
json_t *scenario_findings(const json_t *result);

/* A number at a path of two steps ("summary", "held_per_in_flight"); NaN where there is none. */
double scenario_number_at(const json_t *result, const char *part, const char *name);
const char *scenario_string_at(const json_t *result, const char *part, const char *name); /* or ""
                                                                                           */

#endif
