/* A JSON string of any bytes: what is not UTF-8 is written as \xNN, so that no name is refused. */
#ifndef IOSTUDY_JSON_TEXT_H
#define IOSTUDY_JSON_TEXT_H

#include <jansson.h>

/* A new string; NULL only when memory is short. */
json_t *json_text(const char *text);

#endif
