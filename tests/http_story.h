/* What an HTTP reader tells of a stream, as a text that tests and the fuzzer compare. */
#ifndef IOSTUDY_TESTS_HTTP_STORY_H
#define IOSTUDY_TESTS_HTTP_STORY_H

#include "bench/scenario/http.h"

struct story {
	struct http_reader reader;
	size_t length;
	char text[64 << 10]; /* what does not fit is left out */
};

void story_begin(struct story *s, enum http_parser_type type, uint64_t body_limit);

/* Feeds bytes in pieces of at most piece (>= 1), each in memory of its own, exactly as long. */
void story_feed(struct story *s, const char *data, size_t bytes, size_t piece);
void story_finish(struct story *s); /* the stream ends */

/* Changes, removes, repeats or inserts some bytes; at most size come of it. */
void story_mutate(char *data, size_t *bytes, size_t size, uint64_t *random);

#endif
