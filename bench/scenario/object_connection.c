/* One connection of the object store: see object_serve.h. */
#include <errno.h>
#include <sys/socket.h>

#include "bench/scenario/object_serve.h"
#include "bench/witness.h"

static const uint64_t linger_ns = 1000000000;

static void deadline_set(struct object_connection *c, uint64_t after_ns)
{
	c->deadline_ns = witness_now_ns() + after_ns;
}

static int32_t receive(struct object_connection *c)
{
	return carrier_do(
	    &c->store->carrier,
	    (struct io_req){.op = IO_RECV, .fd = c->fd, .data = c->in, .length = sizeof c->in});
}

enum http_event object_next(struct object_connection *c)
{
	for (;;) {
		const enum http_event event = http_reader_next(&c->reader, &c->at, &c->left);
		int32_t n;

		if (event != HTTP_WANTS_BYTES)
			return event;
		n = receive(c);
		if (n <= 0) {
			c->ended = true;
			return HTTP_WANTS_BYTES;
		}
		if (c->idle) /* from its first byte a request has so long to come whole */
			deadline_set(c, c->store->config->timeout_ns);
		c->idle = false;
		c->at = c->in;
		c->left = (size_t)n;
	}
}

bool object_send(struct object_connection *c, const void *data, size_t bytes)
{
	for (size_t sent = 0; sent < bytes;) {
		const int32_t n = carrier_do(&c->store->carrier,
		                             (struct io_req){.op = IO_SEND,
		                                             .fd = c->fd,
		                                             .data = (char *)(uintptr_t)data + sent,
		                                             .length = (uint32_t)(bytes - sent)});

		if (n <= 0)
			return false;
		sent += (size_t)n;
	}
	return true;
}

void object_wait(struct object_connection *c)
{
	const uint64_t delay_ns = c->store->config->delay_ns;

	c->deadline_ns = UINT64_MAX;
	if (delay_ns)
		carrier_do(
		    &c->store->carrier,
		    (struct io_req){.op = IO_TIMEOUT, .deadline_ns = witness_now_ns() + delay_ns});
	deadline_set(c, c->store->config->timeout_ns);
}

/* Whether the connection goes on. */
static bool answer(struct object_connection *c, uint16_t status, const char *text)
{
	const struct http_answer head = {
	    .status = status,
	    .close = !c->reader.keep_alive || c->store->stopping,
	    .extra = status == HTTP_STATUS_METHOD_NOT_ALLOWED ? "Allow: GET, HEAD, PUT\r\n" : NULL};
	const int n = http_answer_text(c->out, sizeof c->out, &head, text,
	                               http_reader_is(&c->reader, HTTP_HEAD));

	return n > 0 && object_send(c, c->out, (size_t)n) && !head.close;
}

/* Takes what still comes, for a moment: closing at once could take away the answer. */
static void linger(struct object_connection *c)
{
	shutdown(c->fd, SHUT_WR);
	deadline_set(c, linger_ns);
	while (!c->ended && receive(c) > 0)
		;
}

/* Reads the rest of a request that is answered without it. False: it never came whole. */
static bool finish_reading(struct object_connection *c)
{
	enum http_event event;

	while ((event = object_next(c)) == HTTP_HAS_BODY)
		;
	return event == HTTP_HAS_END;
}

/* Whether another request may follow. */
static bool serve_one(struct object_connection *c)
{
	const char *text = "";
	uint16_t status;

	if (http_reader_is(&c->reader, HTTP_PUT)) {
		status = object_put(c, &text);
	} else {
		const bool reads = http_reader_is(&c->reader, HTTP_GET) ||
		                   http_reader_is(&c->reader, HTTP_HEAD);

		status = HTTP_STATUS_METHOD_NOT_ALLOWED;
		text = "GET, HEAD and PUT are served\n";
		if (!finish_reading(c))
			status = c->ended ? 0 : c->reader.status;
		else if (reads)
			status = object_get(c, &text);
	}
	if (c->reader.event == HTTP_IS_BAD)
		c->reader.keep_alive = false;
	if (c->ended && status == 0)
		return false;
	return status == 0 ? c->reader.keep_alive && !c->store->stopping : answer(c, status, text);
}

void object_converse(struct object_connection *c)
{
	enum http_event event;

	http_reader_open(&c->reader, HTTP_REQUEST, c->store->config->body_limit_bytes);
	c->left = 0;
	c->ended = false;
	do {
		c->idle = c->left == 0;
		deadline_set(c, c->store->config->timeout_ns);
		event = object_next(c);
	} while (event == HTTP_HAS_HEAD && serve_one(c));
	if (event == HTTP_IS_BAD) {
		c->reader.keep_alive = false;
		answer(c, c->reader.status, "not to be understood\n");
	}
	linger(c);
}
