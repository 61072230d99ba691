/*
 * Numbers as people type them: 4k, 1M (powers of 1024), 500ms, 2s; a bare time is in seconds.
 */
#ifndef IOSTUDY_UNITS_H
#define IOSTUDY_UNITS_H

#include <stdint.h>

/* The value in *value. 0; -EINVAL: not a number with a known unit; -ERANGE: over 64 bits. */
int units_parse_count(const char *text, uint64_t *value); /* k, m, g are 1024, 1024^2, 1024^3 */
int units_parse_size(const char *text, uint64_t *bytes);
int units_parse_time(const char *text, uint64_t *time_ns); /* ns us ms s m h; bare: seconds */

/* Shortest exact text: "4k", "256m", "20ms", "2s". Returns buffer. */
const char *units_format_size(uint64_t bytes, char buffer[32]);
const char *units_format_time(uint64_t time_ns, char buffer[32]);

#endif
