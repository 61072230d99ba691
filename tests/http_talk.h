/* A client that talks HTTP with a server, over a blocking socket: whatever bytes a test sends. */
#ifndef IOSTUDY_TESTS_HTTP_TALK_H
#define IOSTUDY_TESTS_HTTP_TALK_H

#include "bench/scenario/http.h"

struct talk {
	int fd;
	struct http_reader reader;
	char in[32 << 10];
	const char *at;
	size_t left;
	/* of the last answer */
	char *body; /* NULL: none yet; terminated */
	size_t body_bytes, body_size;
};

/* Connects to HOST:PORT. False after a failed check. */
bool talk_begin(struct talk *t, const char *address);
void talk_end(struct talk *t);

/* Sends bytes; false: the server has gone. */
bool talk_send(struct talk *t, const void *data, size_t bytes);
bool talk_say(struct talk *t, const char *text);

/* Reads the next answer whole. Its status; 0: the server hung up before. of_head: to HEAD, so that
 * no body comes. */
int talk_hear(struct talk *t, bool of_head);

/* A request with its body, and the status of the answer. */
int talk_ask(struct talk *t, enum http_method method, const char *target, const void *body,
             size_t bytes);

#endif
