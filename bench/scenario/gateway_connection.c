/* A client of the gateway, as a state machine: see gateway_parts.h. */
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/random.h"
#include "bench/scenario/gateway_parts.h"
#include "bench/witness.h"

enum { ID_BYTES = 100, DELAY_MS_MAX = 600000 };

static const uint64_t linger_ns = 1000000000;

static const struct gateway_config *config_of(const struct gateway_connection *c)
{
	return &c->loop->gateway->config;
}

static void enter(struct gateway_connection *c, enum gateway_phase phase, uint64_t within_ns)
{
	c->phase = (uint8_t)phase;
	c->deadline_ns = within_ns == UINT64_MAX ? UINT64_MAX : witness_now_ns() + within_ns;
}

static void receive(struct gateway_connection *c)
{
	c->in_flight = true;
	gateway_loop_do(
	    c->loop, c->index,
	    (struct io_req){.op = IO_RECV, .fd = c->fd, .data = c->in, .length = sizeof c->in});
}

static void send_on(struct gateway_connection *c)
{
	c->in_flight = true;
	gateway_loop_do(c->loop, c->index,
	                (struct io_req){.op = IO_SEND,
	                                .fd = c->fd,
	                                .data = c->out + c->out_at,
	                                .length = c->out_bytes - c->out_at});
}

static void end(struct gateway_connection *c)
{
	struct gateway_loop *l = c->loop;

	close(c->fd);
	c->fd = -1;
	c->phase = PHASE_FREE;
	c->next_free = l->first_free;
	l->first_free = c->index + 1;
	l->open--;
	gateway_add(&l->gateway->counts->connections, -1);
	gateway_loop_accept(l);
}

void gateway_connection_hang_up(struct gateway_connection *c)
{
	if (c->phase == PHASE_CLOSING)
		return;
	enter(c, PHASE_CLOSING, UINT64_MAX);
	shutdown(c->fd, SHUT_RDWR);
	if (!c->in_flight)
		end(c);
}

/* Sends what stands in out. */
static void answer_with(struct gateway_connection *c, int bytes)
{
	if (bytes < 0) {
		gateway_connection_hang_up(c);
		return;
	}
	c->out_at = 0;
	c->out_bytes = (uint32_t)bytes;
	enter(c, PHASE_ANSWERING, config_of(c)->idle_timeout_ns);
	send_on(c);
}

/* The client's own name for its request, repeated. */
static const char *extra_of(const struct gateway_connection *c, char extra[ID_BYTES + 40])
{
	const char *id = http_reader_header(&c->reader, "X-Request-Id");

	*extra = 0;
	if (id && strlen(id) <= ID_BYTES)
		snprintf(extra, ID_BYTES + 40, "X-Request-Id: %s\r\n", id);
	return extra;
}

static void answer_text(struct gateway_connection *c, uint16_t status, const char *type,
                        const char *text)
{
	char extra[ID_BYTES + 40];
	const struct http_answer answer = {.status = status,
	                                   .close = c->last,
	                                   .type = type,
	                                   .extra = status == 405 ? "Allow: GET, HEAD\r\n"
	                                                          : extra_of(c, extra)};

	answer_with(c, http_answer_text(c->out, sizeof c->out, &answer, text,
	                                http_reader_is(&c->reader, HTTP_HEAD)));
}

static void refuse(struct gateway_connection *c, uint16_t status, const char *text)
{
	gateway_add(&c->loop->gateway->counts->refused, 1);
	answer_text(c, status, NULL, text);
}

void gateway_connection_answer(struct gateway_connection *c)
{
	struct gateway_counts *counts = c->loop->gateway->counts;
	char text[100];

	gateway_add(&counts->in_flight, -1);
	gateway_add(c->error ? &counts->failed : &counts->answered, 1);
	if (c->phase != PHASE_HANDLING) /* it was hung up meanwhile */
		return;
	c->last = !c->reader.keep_alive || c->loop->stopping;
	if (!c->error && c->calls)
		gateway_add(&counts->called, 1);
	if (!c->error && !c->calls)
		snprintf(text, sizeof text, "hello\n");
	else if (!c->error)
		snprintf(text, sizeof text, "the service took %.3f ms\n",
		         (double)c->call.delay_ns / 1e6);
	else
		snprintf(text, sizeof text, "the service: %s\n", strerror(-c->error));
	answer_text(c, c->error == -ETIMEDOUT ? 504 : c->error ? 502 : 200, NULL, text);
}

static void handle(struct gateway_connection *c, bool calls, uint64_t delay_ns)
{
	c->calls = calls;
	c->error = 0;
	c->call.delay_ns = delay_ns;
	gateway_add(&c->loop->gateway->counts->in_flight, 1);
	enter(c, PHASE_HANDLING, UINT64_MAX);
	gateway_handle(c);
}

static void handle_delay(struct gateway_connection *c, const char *text)
{
	char *rest;
	unsigned long ms;

	errno = 0;
	ms = strtoul(text, &rest, 10);
	if (*text < '0' || *text > '9' || *rest || errno || ms > DELAY_MS_MAX)
		refuse(c, 400, "/delay/MS: MS is 0 to 600000, in milliseconds\n");
	else
		handle(c, true, ms * 1000000);
}

static void show_page(struct gateway_connection *c, bool json)
{
	char page[GATEWAY_OUT_BYTES - 512];

	gateway_page(c->loop->gateway, json, page, sizeof page);
	gateway_add(&c->loop->gateway->counts->answered, 1);
	answer_text(c, 200, json ? "application/json" : "text/html; charset=utf-8", page);
}

static uint64_t random_delay_ns(struct gateway_connection *c)
{
	const struct gateway_config *config = config_of(c);

	return config->delay_min_ns +
	       random_below(&c->loop->random, config->delay_max_ns - config->delay_min_ns + 1);
}

/* A whole request has come. */
static void route(struct gateway_connection *c)
{
	const char *target = http_reader_target(&c->reader);

	c->last = !c->reader.keep_alive || c->loop->stopping;
	gateway_add(&c->loop->gateway->counts->requests, 1);
	if (!http_reader_is(&c->reader, HTTP_GET) && !http_reader_is(&c->reader, HTTP_HEAD))
		refuse(c, 405, "GET and HEAD are served\n");
	else if (strcmp(target, "/") == 0)
		handle(c, true, random_delay_ns(c));
	else if (strncmp(target, "/delay/", 7) == 0)
		handle_delay(c, target + 7);
	else if (strcmp(target, "/string") == 0)
		handle(c, false, 0);
	else if (strcmp(target, "/threads") == 0 || strcmp(target, "/threads.json") == 0)
		show_page(c, target[8] == '.');
	else
		refuse(c, 404, "/, /delay/MS, /string, /threads and /threads.json are served\n");
}

/* Reads on in what has come; when it has all been read, receives more. */
static void read_on(struct gateway_connection *c)
{
	enum http_event event;

	do
		event = http_reader_next(&c->reader, &c->at, &c->left);
	while (event == HTTP_HAS_HEAD || event == HTTP_HAS_BODY);
	if (event == HTTP_HAS_END) {
		route(c);
	} else if (event == HTTP_IS_BAD) {
		c->last = true;
		refuse(c, c->reader.status, "not to be understood\n");
	} else {
		receive(c);
	}
}

/* The next request, which may have come already. */
static void next(struct gateway_connection *c)
{
	if (c->left)
		enter(c, PHASE_READING, config_of(c)->head_timeout_ns);
	else
		enter(c, PHASE_IDLE, config_of(c)->idle_timeout_ns);
	read_on(c);
}

static void received(struct gateway_connection *c, uint32_t bytes)
{
	if (c->phase == PHASE_LINGERING) {
		receive(c);
		return;
	}
	if (c->phase == PHASE_IDLE)
		enter(c, PHASE_READING, config_of(c)->head_timeout_ns);
	c->at = c->in;
	c->left = bytes;
	read_on(c);
}

static void sent(struct gateway_connection *c, uint32_t bytes)
{
	c->out_at += bytes;
	if (c->out_at < c->out_bytes) {
		send_on(c);
	} else if (c->last) {
		shutdown(c->fd, SHUT_WR);
		enter(c, PHASE_LINGERING, linger_ns);
		receive(c);
	} else {
		next(c);
	}
}

void gateway_connection_begin(struct gateway_connection *c, int fd)
{
	struct gateway_loop *l = c->loop;
	const int on = 1;

	l->first_free = c->next_free;
	l->open++;
	gateway_add(&l->gateway->counts->connections, 1);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	c->fd = fd;
	c->left = 0;
	c->in_flight = false;
	http_reader_open(&c->reader, HTTP_REQUEST, GATEWAY_BODY_BYTES_MAX);
	next(c);
}

void gateway_connection_step(struct gateway_connection *c, int32_t result)
{
	c->in_flight = false;
	if (c->phase == PHASE_CLOSING)
		end(c);
	else if (result <= 0)
		gateway_connection_hang_up(c);
	else if (c->phase == PHASE_ANSWERING)
		sent(c, (uint32_t)result);
	else
		received(c, (uint32_t)result);
}

void gateway_connection_look(struct gateway_connection *c, uint64_t now_ns)
{
	if (now_ns >= c->deadline_ns) {
		gateway_add(&c->loop->gateway->counts->timed_out, c->phase != PHASE_LINGERING);
		gateway_connection_hang_up(c);
	} else if (c->loop->stopping && c->phase == PHASE_IDLE) {
		gateway_connection_hang_up(c);
	}
}
