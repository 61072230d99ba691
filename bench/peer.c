/* The delaying peer: see peer.h. */
#include "bench/peer.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench/child.h"
#include "bench/message.h"

enum { EVENTS = 256 };

struct connection {
	int fd;
	uint32_t have;          /* bytes of the request that is coming in */
	struct message request; /* one at a time: the next comes after the reply */
	uint64_t due_ns;
};

struct server {
	int epoll, listener;
	struct connection *connections; /* [limit] */
	uint32_t count, limit;
	uint32_t *heap; /* [limit]: connections with a reply due, the earliest first */
	uint32_t heap_size;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool earlier(const struct server *s, uint32_t a, uint32_t b)
{
	return s->connections[s->heap[a]].due_ns < s->connections[s->heap[b]].due_ns;
}

static void heap_swap(struct server *s, uint32_t a, uint32_t b)
{
	const uint32_t kept = s->heap[a];

	s->heap[a] = s->heap[b];
	s->heap[b] = kept;
}

static void heap_push(struct server *s, uint32_t connection)
{
	uint32_t at = s->heap_size++;

	s->heap[at] = connection;
	for (; at && earlier(s, at, (at - 1) / 2); at = (at - 1) / 2)
		heap_swap(s, at, (at - 1) / 2);
}

static uint32_t heap_pop(struct server *s)
{
	const uint32_t first = s->heap[0];

	s->heap[0] = s->heap[--s->heap_size];
	for (uint32_t at = 0;;) {
		uint32_t least = at;

		for (uint32_t child = 2 * at + 1; child <= 2 * at + 2; child++)
			if (child < s->heap_size && earlier(s, child, least))
				least = child;
		if (least == at)
			return first;
		heap_swap(s, at, least);
		at = least;
	}
}

/* A connection that breaks the protocol, or is gone, is closed: its client sees the end. */
static void hang_up(struct connection *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
}

static void reply(struct server *s, uint32_t index)
{
	struct connection *c = &s->connections[index];
	struct message m = c->request;

	m.check = message_check(&m, true);
	c->have = 0;
	if (c->fd >= 0 && send(c->fd, &m, sizeof m, MSG_DONTWAIT | MSG_NOSIGNAL) != sizeof m)
		hang_up(c);
}

static void take_request(struct server *s, uint32_t index)
{
	struct connection *c = &s->connections[index];
	ssize_t n;

	if (c->fd < 0)
		return;
	if (c->have == sizeof c->request) { /* a request before its reply, or the end */
		char byte;

		n = recv(c->fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK);
		if (n >= 0 || errno != EAGAIN)
			hang_up(c);
		return;
	}
	n = recv(c->fd, (char *)&c->request + c->have, sizeof c->request - c->have, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		hang_up(c);
		return;
	}
	c->have += (uint32_t)n;
	if (c->have < sizeof c->request)
		return;
	if (!message_is_valid(&c->request, false)) {
		hang_up(c);
		return;
	}
	c->due_ns = now_ns() + c->request.delay_ns;
	heap_push(s, index);
}

static void take_connection(struct server *s)
{
	int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC), on = 1;
	struct epoll_event event = {.events = EPOLLIN, .data.u32 = s->count};

	/* A listener that cannot be served would be ready for ever. */
	if (fd < 0 && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
		epoll_ctl(s->epoll, EPOLL_CTL_DEL, s->listener, NULL);
	if (fd < 0)
		return;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* fails on a Unix socket */
	if (s->count == s->limit || epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &event) != 0) {
		close(fd);
		return;
	}
	s->connections[s->count++] = (struct connection){.fd = fd};
}

static void serve(struct server *s)
{
	struct epoll_event events[EVENTS];

	for (;;) {
		const uint64_t now = now_ns();
		struct timespec wait = {0};
		int n;

		while (s->heap_size && s->connections[s->heap[0]].due_ns <= now)
			reply(s, heap_pop(s));
		if (s->heap_size) {
			const uint64_t left = s->connections[s->heap[0]].due_ns - now;

			wait.tv_sec = (time_t)(left / 1000000000u);
			wait.tv_nsec = (long)(left % 1000000000u);
		}
		n = epoll_pwait2(s->epoll, events, EVENTS, s->heap_size ? &wait : NULL, NULL);
		for (int i = 0; i < n; i++) {
			if (events[i].data.u32 == UINT32_MAX)
				take_connection(s);
			else
				take_request(s, events[i].data.u32);
		}
	}
}

static int listen_on(struct plan *plan)
{
	struct sockaddr_in tcp = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_un local = {.sun_family = AF_UNIX};
	const bool is_tcp = plan->transport == TRANSPORT_TCP;
	socklen_t length = sizeof tcp;
	int fd = socket(is_tcp ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), err;

	if (fd < 0)
		return -errno;
	if (is_tcp) {
		err = bind(fd, (struct sockaddr *)&tcp, sizeof tcp);
	} else {
		snprintf(plan->peer_name, sizeof plan->peer_name, "iostudy-%d-%llx", getpid(),
		         (unsigned long long)now_ns());
		length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
		                     strlen(plan->peer_name));
		memcpy(local.sun_path + 1, plan->peer_name, strlen(plan->peer_name));
		err = bind(fd, (struct sockaddr *)&local, length);
	}
	if (err == 0)
		err = listen(fd, SOMAXCONN);
	if (err == 0 && is_tcp)
		err = getsockname(fd, (struct sockaddr *)&tcp, &length);
	if (err != 0) {
		err = -errno;
		close(fd);
		return err;
	}
	plan->peer_port = ntohs(tcp.sin_port);
	return fd;
}

static int server_open(struct server *s, struct plan *plan)
{
	struct epoll_event event = {.events = EPOLLIN, .data.u32 = UINT32_MAX};

	*s = (struct server){.limit = plan->depth, .epoll = -1};
	s->listener = listen_on(plan);
	if (s->listener < 0)
		return s->listener;
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	s->connections = calloc(s->limit, sizeof *s->connections);
	s->heap = calloc(s->limit, sizeof *s->heap);
	if (s->epoll >= 0 && s->connections && s->heap &&
	    epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->listener, &event) == 0)
		return 0;
	return s->connections && s->heap ? -errno : -ENOMEM;
}

static void server_close(struct server *s)
{
	if (s->listener >= 0)
		close(s->listener);
	if (s->epoll >= 0)
		close(s->epoll);
	free(s->connections);
	free(s->heap);
}

int peer_start(struct peer *peer, struct plan *plan, char why[PLAN_WHY_SIZE])
{
	struct server s;
	int err = server_open(&s, plan);

	peer->pid = 0;
	if (!err) {
		peer->pid = child_fork("iostudy-peer");
		if (peer->pid == 0) {
			const int keep[] = {s.listener, s.epoll};

			child_close_others(keep, 2);
			serve(&s);
		}
		err = peer->pid < 0 ? (int)peer->pid : 0;
	}
	server_close(&s);
	if (err) {
		peer->pid = 0;
		snprintf(why, PLAN_WHY_SIZE, "cannot start the peer: %s%s", strerror(-err),
		         child_limits(err));
	}
	return err;
}

void peer_stop(struct peer *peer)
{
	if (peer->pid > 0)
		child_end(peer->pid, 0);
	peer->pid = 0;
}
