/* The calls of a loop, over one connection to the service: see gateway_parts.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/scenario/gateway_parts.h"
#include "bench/witness.h"

int gateway_line_open(struct gateway_line *line, struct gateway_loop *loop, uint32_t most)
{
	*line = (struct gateway_line){.loop = loop, .fd = -1, .most = most};
	line->calls = calloc(most, sizeof *line->calls);
	line->ids = calloc(most, sizeof *line->ids);
	line->spare = calloc(most, sizeof *line->spare);
	line->leaving = calloc(most, sizeof *line->leaving);
	if (!line->calls || !line->ids || !line->spare || !line->leaving)
		return -ENOMEM;
	for (uint32_t i = 0; i < most; i++)
		line->spare[line->spare_count++] = most - 1 - i;
	for (uint32_t i = 0; i < most; i++)
		line->ids[i] = i;
	return 0;
}

void gateway_line_close(struct gateway_line *line)
{
	if (line->loop && line->fd >= 0)
		close(line->fd);
	free(line->calls);
	free(line->ids);
	free(line->spare);
	free(line->leaving);
}

/* A position whose request has not been sent is given back when its turn to be sent comes. */
static void end_call(struct gateway_line *line, uint32_t position, int error)
{
	struct gateway_call *call = line->calls[position];

	line->calls[position] = NULL;
	if (!call->leaving)
		line->spare[line->spare_count++] = position;
	call->error = error;
	call->done(call);
}

static void send_on(struct gateway_line *line)
{
	line->sending = true;
	gateway_loop_do(line->loop, loop_slot_send(line->loop),
	                (struct io_req){.op = IO_SEND,
	                                .fd = line->fd,
	                                .data = (char *)line->out + line->out_at,
	                                .length = line->out_bytes - line->out_at});
}

static void receive(struct gateway_line *line)
{
	line->receiving = true;
	gateway_loop_do(line->loop, loop_slot_receive(line->loop),
	                (struct io_req){.op = IO_RECV,
	                                .fd = line->fd,
	                                .data = (char *)line->in + line->in_bytes,
	                                .length = (uint32_t)sizeof line->in - line->in_bytes});
}

static void connect_line(struct gateway_line *line)
{
	const struct address *service = &line->loop->gateway->config.service;

	line->connecting = true;
	gateway_loop_do(line->loop, loop_slot_send(line->loop),
	                (struct io_req){.op = IO_CONNECT,
	                                .data = (void *)(uintptr_t)&service->any,
	                                .length = service->length});
}

/* Writes the messages that are to be sent, as many as there is room for. */
static void fill(struct gateway_line *line)
{
	uint32_t count = 0;

	while (line->leaving_count && count < GATEWAY_MESSAGES) {
		const uint32_t position = line->leaving[line->leaving_at];
		struct gateway_call *call = line->calls[position];
		struct message *m = &line->out[count];

		line->leaving_at = (line->leaving_at + 1) % line->most;
		line->leaving_count--;
		if (!call) {
			line->spare[line->spare_count++] = position;
			continue;
		}
		call->leaving = false;
		*m = (struct message){.id = line->ids[position],
		                      .seed = line->loop->gateway->config.seed,
		                      .delay_ns = call->delay_ns};
		m->check = message_check(m, false);
		count++;
	}
	line->out_at = 0;
	line->out_bytes = count * (uint32_t)sizeof *line->out;
}

/* Goes on with what waits, where nothing is under way. */
static void go_on(struct gateway_line *line)
{
	if (!line->leaving_count || line->connecting || line->sending || line->broken)
		return;
	if (line->fd < 0) {
		connect_line(line);
		return;
	}
	fill(line);
	if (line->out_bytes)
		send_on(line);
}

static void fail_now(struct gateway_work *work, struct gateway_thread *thread)
{
	struct gateway_call *call = (struct gateway_call *)((char *)work -
	                                                    offsetof(struct gateway_call, work));

	(void)thread;
	call->done(call);
}

void gateway_line_call(struct gateway_line *line, struct gateway_call *call)
{
	const struct gateway_config *config = &line->loop->gateway->config;
	uint32_t position;

	call->error = config->service.length ? -ENOBUFS : -EDESTADDRREQ;
	call->deadline_ns = witness_now_ns() + config->call_timeout_ns;
	call->work.run = fail_now;
	if (!config->service.length || !line->spare_count) {
		gateway_loop_post(line->loop, &call->work);
		return;
	}
	position = line->spare[--line->spare_count];
	line->calls[position] = call;
	line->ids[position] += 1ull << 32;
	call->leaving = true;
	line->leaving[(line->leaving_at + line->leaving_count++) % line->most] = position;
	go_on(line);
}

/* Once neither direction is with the engine, the socket can go. */
static void finish_broken(struct gateway_line *line)
{
	if (!line->broken || line->sending || line->receiving)
		return;
	close(line->fd);
	line->fd = -1;
	line->in_bytes = 0;
	line->broken = false;
	go_on(line);
}

void gateway_line_fail(struct gateway_line *line, int error)
{
	for (uint32_t i = 0; i < line->most; i++)
		if (line->calls[i])
			end_call(line, i, error);
}

static void break_line(struct gateway_line *line, int error)
{
	if (!line->broken) {
		line->broken = true;
		shutdown(line->fd, SHUT_RDWR);
		gateway_line_fail(line, error);
	}
	finish_broken(line);
}

static void connected(struct gateway_line *line, int32_t result)
{
	line->connecting = false;
	if (result < 0) {
		gateway_line_fail(line, result);
		fill(line); /* gives back the positions that were not sent */
		return;
	}
	line->fd = result;
	receive(line);
	go_on(line);
}

void gateway_line_sent(struct gateway_line *line, int32_t result)
{
	if (line->connecting) {
		connected(line, result);
		return;
	}
	line->sending = false;
	line->out_at += result > 0 ? (uint32_t)result : 0;
	if (result <= 0 || line->broken)
		break_line(line, result < 0 ? result : -EPIPE);
	else if (line->out_at < line->out_bytes)
		send_on(line);
	else
		go_on(line);
}

/* A reply to a call that has ended meanwhile is none of ours any more. False: it is wrong. */
static bool take_reply(struct gateway_line *line, const struct message *m)
{
	const uint64_t position = m->id & UINT32_MAX;

	if (!message_is_valid(m, true) || position >= line->most ||
	    m->seed != line->loop->gateway->config.seed)
		return false;
	if (line->calls[position] && line->ids[position] == m->id)
		end_call(line, (uint32_t)position, 0);
	return true;
}

void gateway_line_received(struct gateway_line *line, int32_t result)
{
	uint32_t at = 0;

	line->receiving = false;
	if (result <= 0 || line->broken) {
		break_line(line, result < 0 ? result : -ECONNRESET);
		return;
	}
	line->in_bytes += (uint32_t)result;
	for (; line->in_bytes - at * sizeof *line->in >= sizeof *line->in; at++)
		if (!take_reply(line, &line->in[at])) {
			break_line(line, -EPROTO);
			return;
		}
	line->in_bytes -= at * (uint32_t)sizeof *line->in;
	memmove(line->in, &line->in[at], line->in_bytes);
	receive(line);
	go_on(line);
}

void gateway_line_look(struct gateway_line *line, uint64_t now_ns)
{
	for (uint32_t i = 0; i < line->most; i++)
		if (line->calls[i] && now_ns >= line->calls[i]->deadline_ns)
			end_call(line, i, -ETIMEDOUT);
}
