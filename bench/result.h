/* A run as one JSON object (schema iostudy/run/1), without what analysis adds. */
#ifndef IOSTUDY_RESULT_H
#define IOSTUDY_RESULT_H

#include <jansson.h>

#include "bench/environment.h"
#include "bench/run.h"

/* A new object; NULL when memory is short. environment may be NULL. */
json_t *result_to_json(const struct run_result *result, const struct environment *environment);

/* Of a probe's reading (a window's): what io_uring gave to workers and what those parked for, and
 * the sleeps of submitters. New values: JSON null where the probe does not measure them. */
json_t *result_io_uring(const struct probe_reading *reading);
json_t *result_submitter_sleeps(const struct probe_reading *reading);

/* An entry of "probes": what that probe counted in the window that the reading is. */
json_t *result_probe(const char *probe, enum probe_self_test self_test,
                     const struct probe_reading *reading);

/* The environment alone, as it stands in every result. */
json_t *result_environment(const struct environment *environment);

#endif
