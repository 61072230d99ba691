/* `iostudy serve store` beside a test: see store_help.h. */
#include "tests/store_help.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "tests/process.h"
#include "tests/test.h"

bool store_begin_again(struct stored *s, const char *const *options)
{
	const char *all[SERVED_OPTIONS_MAX] = {"--directory", s->folder};

	for (size_t i = 0; options && options[i]; i++)
		all[2 + i] = options[i];
	return served_begin_with(&s->served, "store", all);
}

bool store_begin(struct stored *s, const char *const *options)
{
	process_make_directory(s->directory);
	snprintf(s->folder, sizeof s->folder, "%s/objects", s->directory);
	return store_begin_again(s, options);
}

void store_end(struct stored *s)
{
	CHECK_EQUAL(served_end(&s->served, SIGTERM), 0);
	process_remove_directory(s->directory);
}

void store_fill(char *data, size_t bytes, uint32_t seed)
{
	for (size_t i = 0; i < bytes; i++)
		data[i] = (char)((i + seed) * 2654435761u >> 13);
}

void store_check(struct talk *t, const char *target, const void *data, size_t bytes)
{
	CHECK_EQUAL(talk_ask(t, HTTP_HEAD, target, "", 0), 200);
	CHECK_EQUAL(http_reader_length(&t->reader), bytes);
	CHECK_EQUAL(talk_ask(t, HTTP_GET, target, "", 0), 200);
	CHECK_MESSAGE(t->body_bytes == bytes && memcmp(t->body, data, bytes) == 0,
	              "%s came back as %zu other bytes", target, t->body_bytes);
}
