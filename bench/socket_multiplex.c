/*
 * socket-multiplex: operations share a few connections. Each has an id; its request joins those
 * that go out on a connection, and the operation waits until the reply with its id comes, in
 * whatever order. A connection has two service slots: one sends what has gathered, the other
 * receives as long as replies are to come.
 */
#include "bench/connections.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/message.h"

enum {
	SLOT_BITS = 17, /* of an id: the slot of its operation */
	RECEIVE_MESSAGES = 64,
	SENDER = 0,
	RECEIVER = 1,
	SIDES = 2,
};
_Static_assert(PLAN_DEPTH_MAX == 1 << SLOT_BITS, "every slot stands in an id");

/* One connection. */
struct lane {
	struct message *outgoing; /* [2 * slots]: a reply may overtake the end of its send */
	uint32_t queued, leaving; /* in outgoing; of them, those in the send under way */
	uint32_t sent;            /* bytes of them that have gone */
	int32_t awaited;          /* replies to requests that have gone; may be below 0 for a
	                             moment, when one overtakes the end of its send */
	struct message incoming[RECEIVE_MESSAGES];
	uint32_t have;         /* bytes of them */
	bool sending;          /* its sender is posted or under way */
	bool woken, receiving; /* its receiver is posted or under way; under way */
};

/* One operation. */
struct call {
	struct message request;
	uint32_t lane;
	bool waits;
};

struct multiplex_state {
	uint64_t random, next_number;
	uint32_t lane_count;
	struct lane *lanes;
	struct call *calls; /* [slots] */
	struct connections connections;
};

/* A thread's share of the connections; the first threads take what does not divide. */
static uint32_t lanes_of(const struct plan *plan, uint32_t thread)
{
	return plan->connections / plan->threads + (thread < plan->connections % plan->threads);
}

static uint32_t multiplex_services(const struct plan *plan, uint32_t thread)
{
	return SIDES * lanes_of(plan, thread);
}

static uint32_t service_slot(const struct workload *w, uint32_t lane, uint32_t side)
{
	return w->slots + SIDES * lane + side;
}

static void free_lanes(struct multiplex_state *s)
{
	for (uint32_t i = 0; s->lanes && i < s->lane_count; i++)
		free(s->lanes[i].outgoing);
	free(s->lanes);
	free(s->calls);
}

static int multiplex_open(struct workload *w)
{
	struct multiplex_state *s = w->state;
	bool room;
	int err;

	s->lane_count = lanes_of(w->plan, w->thread);
	s->lanes = calloc(s->lane_count, sizeof *s->lanes);
	s->calls = calloc(w->slots, sizeof *s->calls);
	room = s->lanes && s->calls;
	for (uint32_t i = 0; room && i < s->lane_count; i++) {
		s->lanes[i].outgoing = calloc(2 * (size_t)w->slots, sizeof(struct message));
		room = s->lanes[i].outgoing;
	}
	if (!room)
		snprintf(w->why, sizeof w->why, "no memory for %u operations on %u connections",
		         w->slots, s->lane_count);
	err = room ? connections_open(&s->connections, w, s->lane_count) : -ENOMEM;
	if (err)
		free_lanes(s);
	s->random = random_stream(w->plan->seed, w->thread);
	s->next_number = (uint64_t)w->thread << 32;
	return err;
}

/* Sends what has gathered, or goes on with it. */
static enum workload_answer send_on(struct workload *w, uint32_t lane)
{
	struct multiplex_state *s = w->state;
	struct lane *l = &s->lanes[lane];

	if (!l->leaving) {
		l->leaving = l->queued;
		l->sent = 0;
	}
	w->requests[service_slot(w, lane, SENDER)] = (struct io_req){
	    .op = IO_SEND,
	    .fd = s->connections.fds[lane],
	    .data = (char *)l->outgoing + l->sent,
	    .length = l->leaving * (uint32_t)sizeof(struct message) - l->sent,
	};
	return WORK_SUBMIT;
}

static enum workload_answer receive_on(struct workload *w, uint32_t lane)
{
	struct multiplex_state *s = w->state;
	struct lane *l = &s->lanes[lane];

	l->receiving = true;
	w->requests[service_slot(w, lane, RECEIVER)] = (struct io_req){
	    .op = IO_RECV,
	    .fd = s->connections.fds[lane],
	    .data = (char *)l->incoming + l->have,
	    .length = (uint32_t)sizeof l->incoming - l->have,
	};
	return WORK_SUBMIT;
}

static enum workload_answer multiplex_next(struct workload *w, uint32_t slot, uint64_t now_ns)
{
	const struct plan *plan = w->plan;
	struct multiplex_state *s = w->state;
	struct call *call = &s->calls[slot];
	const uint64_t spread = plan->delay_max_ns - plan->delay_min_ns;
	struct lane *l;

	(void)now_ns;
	*call = (struct call){
	    .lane = slot % s->lane_count,
	    .waits = true,
	    .request = {.id = s->next_number++ << SLOT_BITS | slot,
	                .seed = plan->seed,
	                .delay_ns = plan->delay_min_ns + random_below(&s->random, spread + 1)},
	};
	call->request.check = message_check(&call->request, false);
	l = &s->lanes[call->lane];
	l->outgoing[l->queued++] = call->request;
	if (!l->sending)
		workload_post(w, service_slot(w, call->lane, SENDER), 0);
	l->sending = true;
	return WORK_WAIT;
}

/* Some of what was under way has gone, or (0) a post says that there is something to send. */
static enum workload_answer step_sender(struct workload *w, uint32_t lane, int32_t result)
{
	struct multiplex_state *s = w->state;
	struct lane *l = &s->lanes[lane];

	if (!l->leaving)
		return send_on(w, lane);
	if (result <= 0) {
		connections_explain(w, lane, "send", result);
		return WORK_FAILED;
	}
	l->sent += (uint32_t)result;
	if (l->sent < l->leaving * sizeof(struct message)) {
		w->shorts++;
		return send_on(w, lane);
	}
	l->awaited += (int32_t)l->leaving;
	l->queued -= l->leaving;
	memmove(l->outgoing, l->outgoing + l->leaving, l->queued * sizeof(struct message));
	l->leaving = 0;
	if (l->awaited > 0 && !l->woken) {
		l->woken = true;
		workload_post(w, service_slot(w, lane, RECEIVER), 0);
	}
	if (l->queued)
		return send_on(w, lane);
	l->sending = false;
	return WORK_WAIT;
}

/* Ends the operation that a reply is for. */
static enum workload_answer take_reply(struct workload *w, uint32_t lane, const struct message *m)
{
	struct multiplex_state *s = w->state;
	const uint64_t slot = m->id & ((1u << SLOT_BITS) - 1);
	struct call *call = slot < w->slots ? &s->calls[slot] : NULL;

	if (!message_is_valid(m, true)) {
		snprintf(w->why, sizeof w->why, "wrong data: a reply on connection %u is garbage",
		         lane);
		return WORK_WRONG;
	}
	if (!call || !call->waits || call->lane != lane || m->id != call->request.id ||
	    m->seed != call->request.seed || m->delay_ns != call->request.delay_ns) {
		snprintf(w->why, sizeof w->why,
		         "wrong data: nobody on connection %u waits for the reply to request %llx",
		         lane, (unsigned long long)m->id);
		return WORK_WRONG;
	}
	call->waits = false;
	s->lanes[lane].awaited--;
	workload_post(w, (uint32_t)slot, 0);
	return WORK_DONE;
}

static enum workload_answer step_receiver(struct workload *w, uint32_t lane, int32_t result)
{
	struct multiplex_state *s = w->state;
	struct lane *l = &s->lanes[lane];
	uint32_t whole;

	if (!l->receiving) /* posted: replies are to come */
		return receive_on(w, lane);
	if (result <= 0) {
		connections_explain(w, lane, "recv", result);
		return WORK_FAILED;
	}
	l->have += (uint32_t)result;
	whole = l->have / (uint32_t)sizeof(struct message);
	for (uint32_t i = 0; i < whole; i++)
		if (take_reply(w, lane, &l->incoming[i]) == WORK_WRONG)
			return WORK_WRONG;
	l->have %= (uint32_t)sizeof(struct message);
	memmove(l->incoming, l->incoming + whole, l->have);
	w->shorts += l->have != 0;
	if (l->have && l->awaited <= 0 && !l->leaving) {
		snprintf(w->why, sizeof w->why,
		         "wrong data: %u bytes too many came on connection %u", l->have, lane);
		return WORK_WRONG;
	}
	if (l->awaited > 0 || l->have)
		return receive_on(w, lane);
	l->woken = l->receiving = false;
	return WORK_WAIT;
}

static enum workload_answer multiplex_step(struct workload *w, uint32_t slot, int32_t result)
{
	const uint32_t lane = slot < w->slots ? 0 : (slot - w->slots) / SIDES;

	if (slot < w->slots) { /* its reply has come */
		w->bytes += 2 * sizeof(struct message);
		return WORK_DONE;
	}
	if (slot == service_slot(w, lane, SENDER))
		return step_sender(w, lane, result);
	return step_receiver(w, lane, result);
}

static void multiplex_stop(struct workload *w)
{
	connections_stop(&((struct multiplex_state *)w->state)->connections);
}

static void multiplex_close(struct workload *w)
{
	struct multiplex_state *s = w->state;

	connections_close(&s->connections);
	free_lanes(s);
}

const struct workload_ops socket_multiplex = {
    .name = "socket-multiplex",
    .summary = "requests that share a few connections; each reply is known by its id",
    .size = sizeof(struct multiplex_state),
    .need = ENGINE_SOCKETS,
    .peer = &serve_delay,
    .services = multiplex_services,
    .shares = true,
    .open = multiplex_open,
    .next = multiplex_next,
    .step = multiplex_step,
    .stop = multiplex_stop,
    .close = multiplex_close,
};
