/*
 * What the objects of scenarios (iostudy/scenario/1) say: their summary, findings, and the screen,
 * with the published numbers beside ours.
 */
#ifndef IOSTUDY_SCENARIO_VIEW_H
#define IOSTUDY_SCENARIO_VIEW_H

#include <jansson.h>

#include "analysis/format.h"
#include "analysis/text.h"

/* Sets "summary" and "findings". 0 or -ENOMEM. */
int scenario_conclude(json_t *result);

/* The screen of these results, at most 80 columns. Free it with free(). NULL: no memory. */
char *scenario_render(json_t *const *results, size_t count, const struct text_style *style);

/* Parts of it. */
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
