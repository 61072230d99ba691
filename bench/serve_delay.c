/*
 * The delay: each request is answered after the time that it names. A connection may have any
 * number of requests under way; their answers come in the order in which they are due, but over
 * HTTP (delay_http.h) in the order of the requests.
 */
#include "bench/server.h"

#include <stdlib.h>
#include <string.h>

#include "bench/delay_http.h"
#include "bench/message.h"
#include "bench/witness.h"

/* A reply that is due at a time. */
struct reply {
	uint64_t due_ns;
	uint64_t number; /* of the connection: it may be another by then */
	uint32_t connection;
	bool is_http;
	union {
		struct message request;
		struct delay_request asked;
	};
};

/* The replies, the earliest first. */
struct delay {
	struct reply *heap;
	size_t count, size;
};

/* A request that is coming in; what a connection speaks is told by its first bytes. */
struct incoming {
	struct message request;
	uint32_t have;
	bool spoken, is_http; /* it has brought a whole message */
	struct delay_http http;
	uint64_t last_due_ns; /* over HTTP */
};

enum { HTTP_WORD_BYTES = 4 };

static void heap_swap(struct delay *d, size_t a, size_t b)
{
	const struct reply kept = d->heap[a];

	d->heap[a] = d->heap[b];
	d->heap[b] = kept;
}

static bool heap_push(struct delay *d, const struct reply *reply)
{
	size_t at = d->count;

	if (d->count == d->size) {
		const size_t size = d->size ? 2 * d->size : 256;
		struct reply *grown = realloc(d->heap, size * sizeof *grown);

		if (!grown)
			return false;
		d->heap = grown;
		d->size = size;
	}
	d->heap[d->count++] = *reply;
	for (; at && d->heap[at].due_ns < d->heap[(at - 1) / 2].due_ns; at = (at - 1) / 2)
		heap_swap(d, at, (at - 1) / 2);
	return true;
}

static struct reply heap_pop(struct delay *d)
{
	const struct reply first = d->heap[0];
	size_t at = 0, least = 0;

	d->heap[0] = d->heap[--d->count];
	for (;; at = least) {
		for (size_t child = 2 * at + 1; child <= 2 * at + 2; child++)
			if (child < d->count && d->heap[child].due_ns < d->heap[least].due_ns)
				least = child;
		if (least == at)
			return first;
		heap_swap(d, at, least);
	}
}

/* While a piece is fed. */
struct piece {
	struct server *server;
	uint32_t connection;
	bool failed;
};

static void take_http(void *context, const struct delay_request *asked)
{
	struct piece *piece = context;
	const struct connection *c = &piece->server->connections[piece->connection];
	struct incoming *in = c->own;
	struct reply reply = {.due_ns = witness_now_ns() + asked->delay_ns,
	                      .number = c->number,
	                      .connection = piece->connection,
	                      .is_http = true,
	                      .asked = *asked};

	if (reply.due_ns <= in->last_due_ns)
		reply.due_ns = in->last_due_ns + 1;
	in->last_due_ns = reply.due_ns;
	piece->failed |= !heap_push(piece->server->state, &reply);
}

static bool feed_http(struct server *s, uint32_t connection, const char *data, size_t bytes)
{
	struct incoming *in = s->connections[connection].own;
	struct piece piece = {.server = s, .connection = connection};

	if (!in->is_http) /* what told it is of the request */
		delay_http_feed(&in->http, (const char *)&in->request, in->have, take_http, &piece);
	in->is_http = true;
	delay_http_feed(&in->http, data, bytes, take_http, &piece);
	return !piece.failed;
}

static bool delay_take(struct server *s, uint32_t connection, const void *data, size_t bytes)
{
	struct incoming *in = s->connections[connection].own;
	struct reply reply = {.connection = connection,
	                      .number = s->connections[connection].number};
	const uint64_t now_ns = witness_now_ns();
	const char *at = data;

	if (in->is_http)
		return feed_http(s, connection, data, bytes);
	while (bytes) {
		const bool is_first = !in->spoken && in->have < HTTP_WORD_BYTES;
		const size_t left = (is_first ? HTTP_WORD_BYTES : sizeof in->request) - in->have;
		const size_t part = bytes < left ? bytes : left;

		memcpy((char *)&in->request + in->have, at, part);
		in->have += (uint32_t)part;
		at += part;
		bytes -= part;
		if (is_first && in->have == HTTP_WORD_BYTES &&
		    delay_http_begins((const char *)&in->request))
			return feed_http(s, connection, at, bytes);
		if (in->have < sizeof in->request)
			continue;
		if (!message_is_valid(&in->request, false))
			return false;
		in->have = 0;
		in->spoken = true;
		reply.request = in->request;
		reply.due_ns = now_ns + in->request.delay_ns;
		if (reply.due_ns < now_ns || !heap_push(s->state, &reply))
			return false;
	}
	return true;
}

static void answer_message(struct server *s, struct reply *reply)
{
	reply->request.check = message_check(&reply->request, true);
	if (!server_send(s, reply->connection, &reply->request, sizeof reply->request))
		server_hang_up(s, reply->connection);
}

static void answer_http(struct server *s, const struct reply *reply)
{
	char data[DELAY_HTTP_ANSWER];
	const int bytes = delay_http_answer(&reply->asked, data);

	if (bytes < 0 || !server_send(s, reply->connection, data, (size_t)bytes))
		server_hang_up(s, reply->connection);
	else if (reply->asked.close)
		server_finish(s, reply->connection);
}

static uint64_t delay_due(struct server *s, uint64_t now_ns)
{
	struct delay *d = s->state;

	while (d->count && d->heap[0].due_ns <= now_ns) {
		struct reply reply = heap_pop(d);
		const struct connection *c = &s->connections[reply.connection];

		if (c->fd < 0 || c->number != reply.number)
			continue;
		if (reply.is_http)
			answer_http(s, &reply);
		else
			answer_message(s, &reply);
	}
	return d->count ? d->heap[0].due_ns : UINT64_MAX;
}

static void delay_close(struct server *s)
{
	free(((struct delay *)s->state)->heap);
}

const struct service serve_delay = {
    .name = "delay",
    .summary = "answers each request after the delay that it names: the peer of socket-delay",
    .size = sizeof(struct delay),
    .connection_size = sizeof(struct incoming),
    .take = delay_take,
    .due = delay_due,
    .close = delay_close,
};
