/*
 * blocking-calls that share connections: the requests of many calls go out on one connection, and
 * each reply is known by its id. A connection has two coroutines of its own: one sends what has
 * gathered, the other receives.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/message.h"
#include "bench/scenario/calls.h"

enum { INCOMING = 64 };

/* One connection. */
struct line {
	struct sharing *sharing;
	struct message *outgoing;        /* [share]: of each call once */
	uint32_t share, queued, leaving; /* its calls; their requests made; and sent */
	uint32_t sender;                 /* coroutines: the sender, and behind it the receiver */
	bool sender_rests, receiver_rests;
	int fd;
	const char *reason; /* why it has ended early, or NULL */
};

struct sharing {
	struct board_side *side;
	const struct calls *calls;
	struct carrier carrier;
	struct line *lines; /* [calls->connections] */
	struct walker *walkers;
};

/* One call. */
struct walker {
	struct sharing *sharing;
	uint32_t id;
	bool waits, wrong;
};

static struct line *line_of(struct sharing *s, uint32_t id)
{
	return &s->lines[id % s->calls->connections];
}

static void walk(void *argument)
{
	struct walker *w = argument;
	struct sharing *s = w->sharing;
	struct line *l = line_of(s, w->id);
	const uint64_t start_ns = board_call_begin(s->side);
	struct message *m = &l->outgoing[l->queued];

	*m = (struct message){.id = w->id, .seed = s->calls->seed, .delay_ns = s->calls->delay_ns};
	m->check = message_check(m, false);
	l->queued++;
	if (l->sender_rests)
		carrier_wake(&s->carrier, l->sender, 0);
	l->sender_rests = false;
	w->waits = true;
	if (!l->reason)
		carrier_rest(&s->carrier);
	board_call_end(s->side, start_ns, start_ns,
	               l->reason  ? l->reason
	               : w->wrong ? "wrong data: the reply is not to this call"
	                          : NULL);
}

/* The connection is of no use any more: ends all that wait on it. */
static void line_fail(struct line *l, const char *reason)
{
	struct sharing *s = l->sharing;

	if (l->reason)
		return;
	l->reason = reason;
	for (uint32_t id = (uint32_t)(l - s->lines); id < s->calls->count;
	     id += s->calls->connections) {
		if (s->walkers[id].waits)
			carrier_wake(&s->carrier, id, 0);
		s->walkers[id].waits = false;
	}
	if (l->receiver_rests)
		carrier_wake(&s->carrier, l->sender + 1, 0);
	l->receiver_rests = false;
}

static const char *reason_of(int32_t result)
{
	return result ? strerror(-result) : "the service hung up";
}

static void send_all(void *argument)
{
	struct line *l = argument;
	struct sharing *s = l->sharing;
	uint64_t sent = 0; /* bytes */

	l->fd = carrier_do(&s->carrier, (struct io_req){.op = IO_CONNECT,
	                                                .data = (void *)&s->calls->service.any,
	                                                .length = s->calls->service.length});
	if (l->fd < 0)
		line_fail(l, reason_of(l->fd));
	if (l->receiver_rests)
		carrier_wake(&s->carrier, l->sender + 1, 0);
	l->receiver_rests = false;
	while (!l->reason && sent < l->share * sizeof(struct message)) {
		const uint64_t ready = l->queued * sizeof(struct message);
		int32_t n;

		if (sent == ready) {
			l->sender_rests = true;
			carrier_rest(&s->carrier);
			continue;
		}
		n = carrier_do(&s->carrier, (struct io_req){.op = IO_SEND,
		                                            .fd = l->fd,
		                                            .data = (char *)l->outgoing + sent,
		                                            .length = (uint32_t)(ready - sent)});
		if (n <= 0)
			line_fail(l, reason_of(n));
		else
			sent += (uint32_t)n;
	}
}

static void take_reply(struct line *l, const struct message *m)
{
	struct sharing *s = l->sharing;
	struct walker *w = m->id < s->calls->count ? &s->walkers[m->id] : NULL;

	if (!w || !w->waits || line_of(s, w->id) != l) {
		line_fail(l, "wrong data: nobody waits for this reply");
		return;
	}
	w->wrong = !message_is_valid(m, true) || m->seed != s->calls->seed;
	w->waits = false;
	carrier_wake(&s->carrier, w->id, 0);
}

static void receive_all(void *argument)
{
	struct line *l = argument;
	struct sharing *s = l->sharing;
	struct message *incoming = malloc(INCOMING * sizeof *incoming);
	uint32_t have = 0, replies = 0;

	while (l->fd < 0 && !l->reason) {
		l->receiver_rests = true;
		carrier_rest(&s->carrier);
	}
	if (!incoming)
		line_fail(l, strerror(ENOMEM));
	while (!l->reason && replies < l->share) {
		const int32_t n = carrier_do(
		    &s->carrier,
		    (struct io_req){.op = IO_RECV,
		                    .fd = l->fd,
		                    .data = (char *)incoming + have,
		                    .length = (uint32_t)(INCOMING * sizeof *incoming) - have});
		uint32_t whole;

		if (n <= 0)
			line_fail(l, reason_of(n));
		have += n > 0 ? (uint32_t)n : 0;
		whole = have / (uint32_t)sizeof *incoming;
		for (uint32_t i = 0; i < whole && !l->reason; i++)
			take_reply(l, &incoming[i]);
		replies += whole;
		have %= (uint32_t)sizeof *incoming;
		memmove(incoming, incoming + whole, have);
	}
	free(incoming);
}

static bool make_lines(struct sharing *s)
{
	const struct calls *calls = s->calls;

	s->lines = calloc(calls->connections, sizeof *s->lines);
	s->walkers = calloc(calls->count, sizeof *s->walkers);
	for (uint32_t i = 0; s->lines && i < calls->connections; i++) {
		const uint32_t share = calls->count / calls->connections +
		                       (i < calls->count % calls->connections);

		s->lines[i] = (struct line){.sharing = s,
		                            .share = share,
		                            .sender = calls->count + 2 * i,
		                            .fd = -1,
		                            .outgoing = calloc(share + 1, sizeof(struct message))};
		if (!s->lines[i].outgoing)
			return false;
		memset(s->lines[i].outgoing, 0xff, share * sizeof(struct message));
	}
	for (uint32_t i = 0; s->walkers && i < calls->count; i++)
		s->walkers[i] = (struct walker){.sharing = s, .id = i};
	return s->lines && s->walkers;
}

static void start_all(struct sharing *s)
{
	const struct calls *calls = s->calls;

	for (uint32_t i = 0; i < calls->connections; i++) {
		carrier_start(&s->carrier, s->lines[i].sender, send_all, &s->lines[i]);
		carrier_start(&s->carrier, s->lines[i].sender + 1, receive_all, &s->lines[i]);
	}
	for (uint32_t i = 0; i < calls->count; i++)
		carrier_start(&s->carrier, i, walk, &s->walkers[i]);
}

int calls_by_shared_connections(struct board_side *side)
{
	struct sharing s = {.side = side, .calls = side->own};
	struct calls_shared *shared = side->shared;
	char why[COROUTINE_WHY_SIZE] = "";
	int error;

	shared->memory_before_bytes = calls_resident_bytes();
	error = carrier_open(&s.carrier, engine_find(s.calls->engine),
	                     s.calls->count + 2 * s.calls->connections,
	                     ENGINE_SOCKETS | ENGINE_CONNECTIONS, why);
	if (error) {
		board_break(side, error == -EOPNOTSUPP, why);
		return error;
	}
	s.carrier.mark = board_mark();
	error = make_lines(&s) ? 0 : -ENOMEM;
	board_ready(side);
	if (!error) {
		start_all(&s);
		error = carrier_run(&s.carrier);
	}
	shared->stack_bytes = coroutines_used_bytes(&s.carrier.coroutines);
	carrier_close(&s.carrier);
	return error; /* lines and walkers go with the process */
}
