/*
 * The delay: each request is answered after the time that it names. A connection may have any
 * number of requests under way; their answers come in the order in which they are due.
 */
#include "bench/server.h"

#include <stdlib.h>
#include <string.h>

#include "bench/message.h"
#include "bench/witness.h"

/* A reply that is due at a time. */
struct reply {
	uint64_t due_ns;
	uint64_t number; /* of the connection: it may be another by then */
	uint32_t connection;
	struct message request;
};

/* The replies, the earliest first. */
struct delay {
	struct reply *heap;
	size_t count, size;
};

/* A request that is coming in. */
struct incoming {
	struct message request;
	uint32_t have;
};

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

static bool delay_take(struct server *s, uint32_t connection, const void *data, size_t bytes)
{
	struct incoming *in = s->connections[connection].own;
	struct reply reply = {.connection = connection,
	                      .number = s->connections[connection].number};
	const uint64_t now_ns = witness_now_ns();
	const char *at = data;

	while (bytes) {
		const size_t left = sizeof in->request - in->have;
		const size_t part = bytes < left ? bytes : left;

		memcpy((char *)&in->request + in->have, at, part);
		in->have += (uint32_t)part;
		at += part;
		bytes -= part;
		if (in->have < sizeof in->request)
			return true;
		if (!message_is_valid(&in->request, false))
			return false;
		in->have = 0;
		reply.request = in->request;
		reply.due_ns = now_ns + in->request.delay_ns;
		if (reply.due_ns < now_ns || !heap_push(s->state, &reply))
			return false;
	}
	return true;
}

static uint64_t delay_due(struct server *s, uint64_t now_ns)
{
	struct delay *d = s->state;

	while (d->count && d->heap[0].due_ns <= now_ns) {
		struct reply reply = heap_pop(d);
		const struct connection *c = &s->connections[reply.connection];

		reply.request.check = message_check(&reply.request, true);
		if (c->fd >= 0 && c->number == reply.number &&
		    !server_send(s, reply.connection, &reply.request, sizeof reply.request))
			server_hang_up(s, reply.connection);
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
