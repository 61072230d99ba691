/* A client that talks HTTP: see http_talk.h. */
#include "tests/http_talk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/address.h"
#include "tests/test.h"

bool talk_begin(struct talk *t, const char *text)
{
	char why[ADDRESS_WHY_SIZE] = "";
	struct address address;

	*t = (struct talk){.fd = -1};
	if (address_parse(&address, text, why) == 0)
		t->fd = address_connect(&address);
	CHECK_MESSAGE(t->fd >= 0, "no connection to %s: %s", text, why);
	http_reader_open(&t->reader, HTTP_RESPONSE, UINT64_MAX);
	return t->fd >= 0;
}

void talk_end(struct talk *t)
{
	if (t->fd >= 0)
		close(t->fd);
	free(t->body);
	*t = (struct talk){.fd = -1};
}

bool talk_send(struct talk *t, const void *data, size_t bytes)
{
	for (size_t sent = 0; sent < bytes;) {
		const ssize_t n = send(t->fd, (const char *)data + sent, bytes - sent,
		                       MSG_NOSIGNAL);

		if (n <= 0)
			return false;
		sent += (size_t)n;
	}
	return true;
}

bool talk_say(struct talk *t, const char *text)
{
	return talk_send(t, text, strlen(text));
}

static void keep_body(struct talk *t, const char *data, size_t bytes)
{
	if (t->body_bytes + bytes + 1 > t->body_size) {
		t->body_size = 2 * (t->body_bytes + bytes + 1);
		t->body = realloc(t->body, t->body_size);
	}
	if (bytes)
		memcpy(t->body + t->body_bytes, data, bytes);
	t->body_bytes += bytes;
	t->body[t->body_bytes] = 0;
}

/* What comes next; HTTP_IS_BAD: nothing more does. */
static enum http_event next(struct talk *t)
{
	for (;;) {
		const enum http_event event = http_reader_next(&t->reader, &t->at, &t->left);
		ssize_t n;

		if (event != HTTP_WANTS_BYTES)
			return event;
		n = recv(t->fd, t->in, sizeof t->in, 0);
		if (n <= 0)
			return HTTP_IS_BAD;
		t->at = t->in;
		t->left = (size_t)n;
	}
}

int talk_hear(struct talk *t, bool of_head)
{
	enum http_event event;
	int status = 0;

	t->body_bytes = 0;
	keep_body(t, "", 0);
	t->reader.bodyless = of_head;
	while ((event = next(t)) != HTTP_HAS_END && event != HTTP_IS_BAD) {
		if (event == HTTP_HAS_HEAD)
			status = t->reader.status;
		if (event == HTTP_HAS_BODY)
			keep_body(t, t->reader.body, t->reader.body_bytes);
	}
	return event == HTTP_HAS_END ? status : 0;
}

int talk_ask(struct talk *t, enum http_method method, const char *target, const void *body,
             size_t bytes)
{
	const struct http_request request = {
	    .method = method, .target = target, .host = "test", .body_bytes = bytes};
	char head[HTTP_WRITTEN_MAX + 1024];
	const int n = http_request_write(head, sizeof head, &request);

	if (n < 0 || !talk_send(t, head, (size_t)n) || !talk_send(t, body, bytes))
		return 0;
	return talk_hear(t, method == HTTP_HEAD);
}
