/* The ways in which `iostudy serve gateway` is tried. */
#ifndef IOSTUDY_TESTS_GATEWAY_HELP_H
#define IOSTUDY_TESTS_GATEWAY_HELP_H

#include <jansson.h>

#include "tests/http_talk.h"
#include "tests/served.h"

enum { GATEWAY_WAYS = 9, GATEWAY_LOOKS_MAX = 100000 };

/* Each handler on the loops and in a pool; another engine; several loops. A reply that a loop
 * itself waits for needs another loop, or a pool. */
extern const char *const gateway_ways[GATEWAY_WAYS][SERVED_OPTIONS_MAX];

/* What it tells of its threads; NULL after a failed check. */
json_t *gateway_threads(struct talk *t);

#endif
