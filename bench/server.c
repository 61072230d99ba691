/* A server of streams: see server.h. */
#include "bench/server.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "bench/witness.h"

enum { EVENTS = 256, LISTENER = -1 };

static size_t backlog_bytes(const struct connection *c)
{
	return c->backlog_end - c->backlog_begin;
}

/* Tells epoll what the connection waits for now. */
static void arm(struct server *s, uint32_t index)
{
	struct connection *c = &s->connections[index];
	struct epoll_event event = {.data.u64 = index};

	if (!c->ended && backlog_bytes(c) < SERVER_BACKLOG_MAX)
		event.events |= EPOLLIN;
	if (backlog_bytes(c))
		event.events |= EPOLLOUT;
	if (event.events == c->interest)
		return;
	c->interest = event.events;
	epoll_ctl(s->epoll, EPOLL_CTL_MOD, c->fd, &event);
}

/* A listener that cannot be served would be ready for ever: it rests until a descriptor is free. */
static void listen_again(struct server *s, bool listens)
{
	struct epoll_event event = {.events = EPOLLIN, .data.u64 = (uint64_t)LISTENER};

	if (s->listens != listens)
		epoll_ctl(s->epoll, listens ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, s->listener, &event);
	s->listens = listens;
}

void server_hang_up(struct server *s, uint32_t index)
{
	struct connection *c = &s->connections[index];

	if (c->fd < 0)
		return;
	close(c->fd);
	free(c->backlog);
	*c = (struct connection){.fd = -1, .own = c->own, .next_free = s->first_free};
	s->first_free = index + 1;
	listen_again(s, true);
}

/* Appends to what is kept. False: memory is short. */
static bool keep(struct connection *c, const void *data, size_t bytes)
{
	if (c->backlog_end + bytes > c->backlog_size && c->backlog_begin) {
		memmove(c->backlog, c->backlog + c->backlog_begin, backlog_bytes(c));
		c->backlog_end -= c->backlog_begin;
		c->backlog_begin = 0;
	}
	if (c->backlog_end + bytes > c->backlog_size) {
		size_t size = c->backlog_size ? c->backlog_size : 4096;
		char *grown;

		while (size < c->backlog_end + bytes)
			size *= 2;
		grown = realloc(c->backlog, size);
		if (!grown)
			return false;
		c->backlog = grown;
		c->backlog_size = size;
	}
	memcpy(c->backlog + c->backlog_end, data, bytes);
	c->backlog_end += bytes;
	return true;
}

/* Sends what it can without waiting. How much; below 0: the connection is gone. */
static ssize_t send_now(const struct connection *c, const void *data, size_t bytes)
{
	const ssize_t n = send(c->fd, data, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);

	return n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : n;
}

bool server_send(struct server *s, uint32_t index, const void *data, size_t bytes)
{
	struct connection *c = &s->connections[index];
	ssize_t sent = 0;

	if (!backlog_bytes(c))
		sent = send_now(c, data, bytes);
	if (sent < 0)
		return false;
	if ((size_t)sent < bytes && !keep(c, (const char *)data + sent, bytes - (size_t)sent))
		return false;
	arm(s, index);
	return true;
}

void server_finish(struct server *s, uint32_t index)
{
	struct connection *c = &s->connections[index];

	c->ended = true;
	if (backlog_bytes(c))
		arm(s, index);
	else
		server_hang_up(s, index);
}

/* Sends of what is kept. False: the connection is to be closed. */
static bool flush(struct server *s, uint32_t index)
{
	struct connection *c = &s->connections[index];
	const ssize_t sent = send_now(c, c->backlog + c->backlog_begin, backlog_bytes(c));

	if (sent < 0)
		return false;
	c->backlog_begin += (size_t)sent;
	if (!backlog_bytes(c)) {
		free(c->backlog);
		c->backlog = NULL;
		c->backlog_begin = c->backlog_end = c->backlog_size = 0;
		if (c->ended)
			return false;
	}
	arm(s, index);
	return true;
}

/* Takes what has come. False: the connection is to be closed. */
static bool take(struct server *s, uint32_t index)
{
	struct connection *c = &s->connections[index];
	char data[SERVER_READ_BYTES];
	const ssize_t n = recv(c->fd, data, sizeof data, MSG_DONTWAIT);

	if (n > 0)
		return s->service->take(s, index, data, (size_t)n);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	c->ended = true;
	arm(s, index);
	return backlog_bytes(c) > 0;
}

/* A place for a connection, or -ENOMEM. */
static int64_t free_place(struct server *s)
{
	uint32_t index = s->first_free, size = s->size ? 2 * s->size : 64;
	struct connection *grown;

	if (index) {
		s->first_free = s->connections[index - 1].next_free;
		return index - 1;
	}
	if (s->count == s->size) {
		grown = realloc(s->connections, size * sizeof *grown);
		if (!grown)
			return -ENOMEM;
		s->connections = grown;
		s->size = size;
	}
	s->connections[s->count].own = calloc(1, s->service->connection_size + 1);
	if (!s->connections[s->count].own)
		return -ENOMEM;
	return s->count++;
}

static void accept_one(struct server *s)
{
	const int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC);
	struct epoll_event event = {.events = EPOLLIN};
	struct connection *c;
	int64_t index;
	int on = 1;

	if (fd < 0) {
		if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
			listen_again(s, false);
		return;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* fails on a Unix socket */
	index = free_place(s);
	if (index < 0) {
		close(fd);
		return;
	}
	event.data.u64 = (uint64_t)index;
	c = &s->connections[index];
	memset(c->own, 0, s->service->connection_size);
	*c = (struct connection){
	    .fd = fd, .own = c->own, .number = ++s->accepted, .interest = EPOLLIN};
	if (epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &event) != 0)
		server_hang_up(s, (uint32_t)index);
}

static void handle(struct server *s, const struct epoll_event *event)
{
	const uint32_t index = (uint32_t)event->data.u64;
	const uint32_t gone = event->events & (EPOLLERR | EPOLLHUP);

	if (event->data.u64 == (uint64_t)LISTENER) {
		accept_one(s);
		return;
	}
	if (s->connections[index].fd < 0) /* closed by an event before this one */
		return;
	if (event->events & EPOLLOUT && !flush(s, index)) {
		server_hang_up(s, index);
		return;
	}
	if (event->events & (EPOLLIN | EPOLLRDHUP) ? !take(s, index) : gone)
		server_hang_up(s, index);
}

/* ThreadSanitizer's runtime puts handlers off until they may run in a call that it knows. */
static void let_signals_in(const sigset_t *wait)
{
	sigset_t before;

	sigprocmask(SIG_SETMASK, wait, &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

void server_run(struct server *s, const volatile sig_atomic_t *came, const sigset_t *wait)
{
	struct epoll_event events[EVENTS];

	while (!came || !*came) {
		const uint64_t now_ns = witness_now_ns();
		const uint64_t due_ns = s->service->due ? s->service->due(s, now_ns) : UINT64_MAX;
		const uint64_t left_ns = due_ns > now_ns ? due_ns - now_ns : 0;
		const struct timespec time = {.tv_sec = (time_t)(left_ns / 1000000000),
		                              .tv_nsec = (long)(left_ns % 1000000000)};
		const int n = epoll_pwait2(s->epoll, events, EVENTS,
		                           due_ns == UINT64_MAX ? NULL : &time, wait);

		if (n < 0 && errno == EINTR && wait)
			let_signals_in(wait);
		for (int i = 0; i < n; i++)
			handle(s, &events[i]);
	}
}

void server_look(struct server *s)
{
	struct epoll_event events[EVENTS];
	const int n = epoll_wait(s->epoll, events, EVENTS, 0);

	for (int i = 0; i < n; i++)
		handle(s, &events[i]);
}

int server_open(struct server *s, const struct service *service, int listener)
{
	*s = (struct server){.service = service, .listener = listener};
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll < 0)
		return -errno;
	s->state = calloc(1, service->size + 1);
	if (!s->state) {
		close(s->epoll);
		return -ENOMEM;
	}
	listen_again(s, true);
	return 0;
}

void server_close(struct server *s)
{
	if (s->service->close)
		s->service->close(s);
	for (uint32_t i = 0; i < s->count; i++) {
		server_hang_up(s, i);
		free(s->connections[i].own);
	}
	free(s->connections);
	free(s->state);
	close(s->epoll);
}
