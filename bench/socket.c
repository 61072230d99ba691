/*
 * socket-delay: each slot has a connection to the peer; an operation sends a request and
 * receives the reply, which comes after the delay that the request names.
 */
#include "bench/workload.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

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
	int *fds;                   /* [slots] */
	uint32_t connected;
};

static int connect_peer(const struct plan *plan)
{
	struct sockaddr_in tcp = {.sin_family = AF_INET,
	                          .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	                          .sin_port = htons(plan->peer_port)};
	struct sockaddr_un local = {.sun_family = AF_UNIX};
	const bool is_tcp = plan->transport == TRANSPORT_TCP;
	const size_t name = strlen(plan->peer_name);
	int fd = socket(is_tcp ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), err, on = 1;

	if (fd < 0)
		return -errno;
	memcpy(local.sun_path + 1, plan->peer_name, name);
	if (is_tcp) {
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
		err = connect(fd, (struct sockaddr *)&tcp, sizeof tcp);
	} else {
		err = connect(fd, (struct sockaddr *)&local,
		              (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + name));
	}
	if (err == 0)
		return fd;
	err = -errno;
	close(fd);
	return err;
}

static void disconnect(struct socket_state *s)
{
	while (s->connected)
		close(s->fds[--s->connected]);
	free(s->fds);
	free(s->exchanges);
}

static int socket_open(struct workload *w)
{
	struct socket_state *s = w->state;
	int fd = -ENOMEM;

	s->exchanges = calloc(w->slots, sizeof *s->exchanges);
	s->fds = calloc(w->slots, sizeof *s->fds);
	while (s->exchanges && s->fds && s->connected < w->slots) {
		fd = connect_peer(w->plan);
		if (fd < 0)
			break;
		s->fds[s->connected++] = fd;
	}
	if (s->connected < w->slots) {
		snprintf(w->why, sizeof w->why, "connection %u of %u to the peer: %s",
		         s->connected + 1, w->slots, strerror(-fd));
		disconnect(s);
		return fd;
	}
	s->random = random_stream(w->plan->seed, w->thread);
	s->next_id = (uint64_t)w->thread << 40;
	w->fds = s->fds;
	w->fd_count = w->slots;
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
	    .fd = s->fds[slot],
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
		snprintf(w->why, sizeof w->why, "connection %u: %s: %s", slot,
		         e->receiving ? "recv" : "send",
		         result ? strerror(-result)
		                : "the peer has closed the connection (has it died?)");
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
	struct socket_state *s = w->state;

	for (uint32_t i = 0; i < s->connected; i++)
		shutdown(s->fds[i], SHUT_RDWR);
}

static void socket_close(struct workload *w)
{
	disconnect(w->state);
}

const struct workload_ops socket_delay = {
    .name = "socket-delay",
    .summary = "requests that a peer in another process answers after the delay, each checked",
    .size = sizeof(struct socket_state),
    .need = ENGINE_SOCKETS,
    .open = socket_open,
    .next = socket_next,
    .step = socket_step,
    .stop = socket_stop,
    .close = socket_close,
};
