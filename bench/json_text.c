/* Any bytes as a JSON string: see json_text.h. */
#include "bench/json_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

json_t *json_text(const char *text)
{
	const size_t length = strlen(text);
	json_t *result = json_string(text);
	char *escaped, *out;

	if (result)
		return result;
	escaped = out = malloc(length * 4 + 1);
	if (!escaped)
		return NULL;
	for (size_t i = 0; i < length; i++) {
		if ((unsigned char)text[i] < 0x80)
			*out++ = text[i];
		else
			out += sprintf(out, "\\x%02x", (unsigned char)text[i]);
	}
	*out = 0;
	result = json_string(escaped);
	free(escaped);
	return result;
}

json_t *json_count(uint64_t value)
{
	return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}
