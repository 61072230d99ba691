/*
 * blocking-calls at a completion port: a pool's threads wait at one place, and whoever was the last
 * to come takes a call one step further. Which of them were borrowed for it, and for how long?
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/message.h"
#include "bench/scenario/calls.h"
#include "bench/witness.h"
#include "engines/port.h"

enum step { STEP_CONNECT, STEP_SEND, STEP_RECEIVE, STEP_TIMER };

struct ported_call {
	uint64_t start_ns;
	uint8_t step;
	int fd;
	uint32_t moved; /* bytes of the message */
	struct message message;
};

struct ported {
	struct board_side *side;
	const struct calls *calls;
	struct port port;
	struct io_req *requests;  /* [calls->count] */
	struct ported_call *each; /* [calls->count] */
	uint32_t left;            /* calls that have not ended: atomic */
	uint32_t begun;           /* threads: which is the next */
	uint32_t resting;
};

static const char *submit(struct ported *p, uint32_t id)
{
	int n;

	while ((n = port_submit(&p->port, &id, 1)) == 0)
		sched_yield(); /* another thread takes what is complete */
	return n < 0 ? strerror(-n) : NULL;
}

static const char *move_on(struct ported *p, uint32_t id, uint8_t op)
{
	struct ported_call *c = &p->each[id];

	p->requests[id] = (struct io_req){.op = op,
	                                  .fd = c->fd,
	                                  .data = (char *)&c->message + c->moved,
	                                  .length = (uint32_t)sizeof c->message - c->moved};
	return submit(p, id);
}

static const char *begin(struct ported *p, uint32_t id)
{
	const struct calls *calls = p->calls;
	struct ported_call *c = &p->each[id];

	*c = (struct ported_call){.start_ns = board_call_begin(p->side), .fd = -1};
	c->message = (struct message){.id = id, .seed = calls->seed, .delay_ns = calls->delay_ns};
	c->message.check = message_check(&c->message, false);
	c->step = calls->form == FORM_TIMER ? STEP_TIMER : STEP_CONNECT;
	p->requests[id] = calls->form == FORM_TIMER
	                      ? (struct io_req){.op = IO_TIMEOUT,
	                                        .deadline_ns = c->start_ns + calls->delay_ns}
	                      : (struct io_req){.op = IO_CONNECT,
	                                        .data = (void *)(uintptr_t)&calls->service.any,
	                                        .length = calls->service.length};
	return submit(p, id);
}

static void end(struct ported *p, uint32_t id, const char *reason)
{
	struct ported_call *c = &p->each[id];

	if (c->fd >= 0)
		close(c->fd);
	board_call_end(p->side, c->start_ns, c->start_ns, reason);
	if (__atomic_sub_fetch(&p->left, 1, __ATOMIC_ACQ_REL) == 0)
		port_stop(&p->port);
}

static const char *check(const struct ported_call *c, uint32_t id)
{
	return message_is_valid(&c->message, true) && c->message.id == id
	           ? NULL
	           : "wrong data: the reply is not to this call";
}

/* One step: what a thread is borrowed for. */
static void go_on(struct ported *p, uint32_t id, int32_t result)
{
	struct ported_call *c = &p->each[id];
	const char *reason = NULL;

	if (result < 0 || (result == 0 && (c->step == STEP_SEND || c->step == STEP_RECEIVE))) {
		end(p, id, result ? strerror(-result) : "the service hung up");
		return;
	}
	if (c->step == STEP_TIMER) {
		end(p, id, NULL);
		return;
	}
	if (c->step == STEP_CONNECT)
		c->fd = result;
	else
		c->moved += (uint32_t)result;
	if (c->step == STEP_RECEIVE && c->moved == sizeof c->message) {
		end(p, id, check(c, id));
		return;
	}
	if (c->step == STEP_CONNECT || c->moved == sizeof c->message) {
		c->step = c->step == STEP_CONNECT ? STEP_SEND : STEP_RECEIVE;
		c->moved = 0;
	}
	reason = move_on(p, id, c->step == STEP_SEND ? IO_SEND : IO_RECV);
	if (reason)
		end(p, id, reason);
}

/* One is in the ring's wait for all; the others have no work. */
static void tell(struct port_thread *me, bool leads)
{
	(void)me;
	board_doing(leads ? DOING_WAIT : DOING_IDLE);
}

static void begin_all(struct ported *p)
{
	for (uint32_t id = 0; id < p->calls->count; id++) {
		const char *reason = begin(p, id);

		if (reason)
			end(p, id, reason);
	}
}

static void *work(void *argument)
{
	struct ported *p = argument;
	struct calls_shared *shared = p->side->shared;
	const uint32_t index = __atomic_fetch_add(&p->begun, 1, __ATOMIC_RELAXED);
	struct calls_borrowed *borrowed = &shared->borrowed[index];
	struct port_thread me = {.waiting = tell};
	struct port_packet packet;
	int n = 0;

	board_thread_begin(p->side, KIND_POOL, "pool");
	if (index == 0) /* it lives as long as its requests */
		begin_all(p);
	while ((n = port_get(&p->port, &me, &packet, 1, -1)) >= 0) {
		const uint64_t from_ns = witness_now_ns();

		board_doing(DOING_NOTHING);
		if (n)
			go_on(p, packet.slot, packet.result);
		borrowed->time_ns += witness_now_ns() - from_ns;
		borrowed->times += (uint32_t)n;
	}
	if (n != -ECANCELED)
		board_break(p->side, false, strerror(-n));
	board_rest(p->side, &p->resting);
	return NULL;
}

int calls_by_port(struct board_side *side)
{
	const struct calls *calls = side->own;
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct ported *p = calloc(1, sizeof *p);
	char why[ENGINE_WHY_SIZE] = "no memory for the calls";
	int error = -ENOMEM;

	if (p) {
		*p = (struct ported){.side = side, .calls = calls, .left = calls->count};
		p->requests = calloc(calls->count, sizeof *p->requests);
		p->each = calloc(calls->count, sizeof *p->each);
	}
	if (p && p->requests && p->each)
		error = port_open(&p->port,
		                  &(struct port_config){
				      .engine = {.requests = p->requests,
		                                 .slots = calls->count,
		                                 .need = calls->form == FORM_TIMER
		                                             ? ENGINE_TIMERS
		                                             : ENGINE_SOCKETS | ENGINE_CONNECTIONS},
				      .concurrency = cpus > 0 ? (uint32_t)cpus : 1},
		                  why);
	if (error) {
		board_break(side, error == -EOPNOTSUPP, why);
		return error;
	}
	board_ready(side);
	for (uint32_t i = 0; i < calls->threads && !error; i++)
		error = calls_thread_start(side, work, p, i, calls->threads);
	if (!error)
		board_await(&p->resting, calls->threads);
	return error; /* the threads end with the process, and what they use with them */
}
