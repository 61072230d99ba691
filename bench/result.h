/* A run as one JSON object (schema iostudy/run/1), without what analysis adds. */
#ifndef IOSTUDY_RESULT_H
#define IOSTUDY_RESULT_H

#include <jansson.h>

#include "bench/environment.h"
#include "bench/run.h"

/* A new object; NULL when memory is short. environment may be NULL. */
json_t *result_to_json(const struct run_result *result, const struct environment *environment);

/* The environment alone, as it stands in every result. */
json_t *result_environment(const struct environment *environment);

#endif
