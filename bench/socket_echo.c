/*
 * socket-echo: each slot has a connection; an operation sends a message of a block's size and
 * takes it back whole. A message carries who it is of in every word, so that a byte that is
 * missing, foreign, late or another message's is found.
 */
#include "bench/connections.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/random.h"

struct echo {
	uint64_t id;
	uint32_t sent, received;
};

struct echo_state {
	uint64_t next_id;
	uint32_t bytes;     /* of a message */
	struct echo *slots; /* [slots] */
	struct connections connections;
};

/* A slot's message that goes, and the place of the one that comes back. */
static char *outgoing(const struct workload *w, uint32_t slot)
{
	const struct echo_state *s = w->state;

	return (char *)w->memory + 2 * (size_t)slot * s->bytes;
}

static char *incoming(const struct workload *w, uint32_t slot)
{
	return outgoing(w, slot) + ((struct echo_state *)w->state)->bytes;
}

static uint64_t word_of(const struct workload *w, uint64_t id, uint32_t index)
{
	return index ? random_mix(w->plan->seed + random_mix(id + ((uint64_t)index << 40))) : id;
}

/* Writes the message of an id. The bytes that make no whole word are those of the next. */
static void message_fill(const struct workload *w, char *data, uint32_t bytes, uint64_t id)
{
	for (uint32_t at = 0; at < bytes; at += sizeof(uint64_t)) {
		const uint64_t word = word_of(w, id, at / (uint32_t)sizeof word);
		const uint32_t left = bytes - at;

		memcpy(data + at, &word, left < sizeof word ? left : sizeof word);
	}
}

static int echo_open(struct workload *w)
{
	struct echo_state *s = w->state;
	int err = -ENOMEM;

	s->bytes = (uint32_t)w->plan->block_bytes;
	s->slots = calloc(w->slots, sizeof *s->slots);
	w->memory_bytes = 2 * (size_t)w->slots * s->bytes;
	w->memory = calloc(1, w->memory_bytes);
	if (s->slots && w->memory)
		err = connections_open(&s->connections, w, w->slots);
	else
		snprintf(w->why, sizeof w->why,
		         "no memory for %u messages of %u bytes, twice: use a smaller --bs or "
		         "--depth",
		         w->slots, s->bytes);
	if (err) {
		free(s->slots);
		free(w->memory);
	}
	s->next_id = (uint64_t)w->thread << 40;
	return err;
}

/* Fills the slot's request with what is left to send, then with what is left to receive. */
static enum workload_answer go_on(struct workload *w, uint32_t slot)
{
	struct echo_state *s = w->state;
	const struct echo *e = &s->slots[slot];
	const bool sends = e->sent < s->bytes;

	w->requests[slot] = (struct io_req){
	    .op = sends ? IO_SEND : IO_RECV,
	    .fd = s->connections.fds[slot],
	    .data = sends ? outgoing(w, slot) + e->sent : incoming(w, slot) + e->received,
	    .length = s->bytes - (sends ? e->sent : e->received),
	};
	return WORK_SUBMIT;
}

static enum workload_answer echo_next(struct workload *w, uint32_t slot, uint64_t now_ns)
{
	struct echo_state *s = w->state;

	(void)now_ns;
	s->slots[slot] = (struct echo){.id = s->next_id++};
	if (w->checked)
		message_fill(w, outgoing(w, slot), s->bytes, s->slots[slot].id);
	return go_on(w, slot);
}

static enum workload_answer check(struct workload *w, uint32_t slot)
{
	struct echo_state *s = w->state;
	const char *sent = outgoing(w, slot), *came = incoming(w, slot);
	uint64_t id;
	uint32_t at = 0;

	w->bytes += 2 * (uint64_t)s->bytes;
	if (!w->checked || memcmp(sent, came, s->bytes) == 0)
		return WORK_DONE;
	while (sent[at] == came[at])
		at++;
	memcpy(&id, came, sizeof id);
	if (id != s->slots[slot].id)
		snprintf(w->why, sizeof w->why,
		         "wrong data: what came back on connection %u begins with %llx; the "
		         "message was %llx",
		         slot, (unsigned long long)id, (unsigned long long)s->slots[slot].id);
	else
		snprintf(w->why, sizeof w->why,
		         "wrong data: byte %u of %u of what came back on connection %u is %02x, "
		         "not %02x",
		         at, s->bytes, slot, (unsigned char)came[at], (unsigned char)sent[at]);
	return WORK_WRONG;
}

static enum workload_answer echo_step(struct workload *w, uint32_t slot, int32_t result)
{
	struct echo_state *s = w->state;
	struct echo *e = &s->slots[slot];
	const bool sends = e->sent < s->bytes;

	if (result <= 0) {
		connections_explain(w, slot, sends ? "send" : "recv", result);
		return WORK_FAILED;
	}
	*(sends ? &e->sent : &e->received) += (uint32_t)result;
	if (e->received == s->bytes)
		return check(w, slot);
	if ((sends ? e->sent : e->received) < s->bytes)
		w->shorts++;
	return go_on(w, slot);
}

static void echo_stop(struct workload *w)
{
	connections_stop(&((struct echo_state *)w->state)->connections);
}

static void echo_close(struct workload *w)
{
	struct echo_state *s = w->state;

	connections_close(&s->connections);
	free(s->slots);
	free(w->memory);
}

const struct workload_ops socket_echo = {
    .name = "socket-echo",
    .summary = "messages of --bs bytes that a peer in another process sends back, each checked",
    .size = sizeof(struct echo_state),
    .need = ENGINE_SOCKETS,
    .peer = &serve_echo,
    .open = echo_open,
    .next = echo_next,
    .step = echo_step,
    .stop = echo_stop,
    .close = echo_close,
};
