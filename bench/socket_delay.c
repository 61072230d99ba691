/*
 * socket-delay: each slot has a connection to the peer; an operation sends a request and
 * receives the reply, which comes after the delay that the request names.
 */
#include "bench/connections.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/message.h"

struct exchange {
	struct message request, reply;
	uint32_t moved; /* bytes of the message under way */
	bool receiving;
};

struct socket_state {
	uint64_t random;
	uint64_t next_id;
	struct exchange *exchanges; /* [slots] */
	struct connections connections;
};

static int socket_open(struct workload *w)
{
	struct socket_state *s = w->state;
	int err;

	s->exchanges = calloc(w->slots, sizeof *s->exchanges);
	if (!s->exchanges) {
		snprintf(w->why, sizeof w->why, "no memory for %u messages", w->slots);
		return -ENOMEM;
	}
	err = connections_open(&s->connections, w, w->slots);
	if (err) {
		free(s->exchanges);
		return err;
	}
	s->random = random_stream(w->plan->seed, w->thread);
	s->next_id = (uint64_t)w->thread << 40;
	return 0;
}

/* Fills the slot's request with what is left of the message under way. */
static enum workload_answer go_on(struct workload *w, uint32_t slot)
{
	struct socket_state *s = w->state;
	struct exchange *e = &s->exchanges[slot];
	struct message *m = e->receiving ? &e->reply : &e->request;

	w->requests[slot] = (struct io_req){
	    .op = e->receiving ? IO_RECV : IO_SEND,
	    .fd = s->connections.fds[slot],
	    .data = (char *)m + e->moved,
	    .length = (uint32_t)sizeof *m - e->moved,
	};
	return WORK_SUBMIT;
}

static enum workload_answer socket_next(struct workload *w, uint32_t slot, uint64_t now_ns)
{
	const struct plan *plan = w->plan;
	struct socket_state *s = w->state;
	struct exchange *e = &s->exchanges[slot];
	const uint64_t spread = plan->delay_max_ns - plan->delay_min_ns;

	(void)now_ns;
	e->request = (struct message){
	    .id = s->next_id++,
	    .seed = plan->seed,
	    .delay_ns = plan->delay_min_ns + random_below(&s->random, spread + 1),
	};
	e->request.check = message_check(&e->request, false);
	memset(&e->reply, 0, sizeof e->reply);
	e->receiving = false;
	e->moved = 0;
	return go_on(w, slot);
}

static enum workload_answer check_reply(struct workload *w, uint32_t slot)
{
	struct socket_state *s = w->state;
	const struct exchange *e = &s->exchanges[slot];

	if (w->checked && !message_is_valid(&e->reply, true)) {
		snprintf(w->why, sizeof w->why, "wrong data: the reply on connection %u is garbage",
		         slot);
		return WORK_WRONG;
	}
	if (w->checked && (e->reply.id != e->request.id || e->reply.seed != e->request.seed ||
	                   e->reply.delay_ns != e->request.delay_ns)) {
		snprintf(w->why, sizeof w->why,
		         "wrong data: the reply on connection %u is for request %llu, not %llu",
		         slot, (unsigned long long)e->reply.id, (unsigned long long)e->request.id);
		return WORK_WRONG;
	}
	w->bytes += sizeof e->request + sizeof e->reply;
	return WORK_DONE;
}

static enum workload_answer socket_step(struct workload *w, uint32_t slot, int32_t result)
{
	struct socket_state *s = w->state;
	struct exchange *e = &s->exchanges[slot];

	if (result <= 0) {
		connections_explain(w, slot, e->receiving ? "recv" : "send", result);
		return WORK_FAILED;
	}
	e->moved += (uint32_t)result;
	if (e->moved < sizeof(struct message)) {
		w->shorts++;
		return go_on(w, slot);
	}
	if (e->receiving)
		return check_reply(w, slot);
	e->receiving = true;
	e->moved = 0;
	return go_on(w, slot);
}

static void socket_stop(struct workload *w)
{
	connections_stop(&((struct socket_state *)w->state)->connections);
}

static void socket_close(struct workload *w)
{
	struct socket_state *s = w->state;

	connections_close(&s->connections);
	free(s->exchanges);
}

const struct workload_ops socket_delay = {
    .name = "socket-delay",
    .summary = "requests that a peer in another process answers after the delay, each checked",
    .size = sizeof(struct socket_state),
    .need = ENGINE_SOCKETS,
    .peer = &serve_delay,
    .open = socket_open,
    .next = socket_next,
    .step = socket_step,
    .stop = socket_stop,
    .close = socket_close,
};
