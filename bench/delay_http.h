/* The delay's requests as HTTP/1.1: GET /delay/MS. For each connection little is kept. */
#ifndef IOSTUDY_DELAY_HTTP_H
#define IOSTUDY_DELAY_HTTP_H

#include <http_parser.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DELAY_HTTP_TARGET = 24, DELAY_HTTP_ANSWER = 300, DELAY_HTTP_MS_MAX = 3600000 };

/* What is to be answered, and when. */
struct delay_request {
	uint64_t delay_ns;
	uint16_t status;
	bool only_head, close;
};

struct delay_http {
	http_parser parser;
	uint8_t target_bytes; /* more than DELAY_HTTP_TARGET: it is too long */
	bool closed;          /* the last request has come */
	char target[DELAY_HTTP_TARGET + 1];
};

/* Whether a connection that begins with these 4 bytes speaks HTTP. */
bool delay_http_begins(const char first[4]);

/* All zero before the first piece. take is told each whole request, in order; bad bytes are one
 * with status 400, and the last. */
void delay_http_feed(struct delay_http *h, const char *data, size_t bytes,
                     void (*take)(void *context, const struct delay_request *request),
                     void *context);

/* Its bytes. */
int delay_http_answer(const struct delay_request *request, char data[DELAY_HTTP_ANSWER]);

#endif
