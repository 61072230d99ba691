/* A JSON string of any bytes: what is not UTF-8 is written as \xNN, so that no name is refused. */
#ifndef IOSTUDY_JSON_TEXT_H
#define IOSTUDY_JSON_TEXT_H

#include <jansson.h>
#include <stdint.h>

/* A new string; NULL only when memory is short. */
json_t *json_text(const char *text);

/* A count; one beyond what a JSON integer holds is the largest that it does. */
json_t *json_count(uint64_t value);

#endif
