/* The object store: its connections, its clock and its end: see object_store.h. */
#include "bench/scenario/object_store.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/scenario/object_serve.h"
#include "bench/witness.h"

static const uint64_t tick_ns = 50000000, grace_ns = 2000000000, rest_ns = 50000000;

void object_store_defaults(struct object_store_config *config)
{
	*config = (struct object_store_config){.directory = "iostudy.objects",
	                                       .connections = 1024,
	                                       .timeout_ns = 30000000000,
	                                       .body_limit_bytes = 64 << 20,
	                                       .sync = true};
}

static void pause_for(struct object_store *s, uint64_t time_ns)
{
	carrier_do(&s->carrier,
	           (struct io_req){.op = IO_TIMEOUT, .deadline_ns = witness_now_ns() + time_ns});
}

/* Takes one client after the other. */
static void serve(void *argument)
{
	struct object_connection *c = argument;
	struct object_store *s = c->store;
	int on = 1;

	while (!s->stopping) {
		const int32_t fd = carrier_do(&s->carrier,
		                              (struct io_req){.op = IO_ACCEPT, .fd = s->listener});

		if (fd == -EMFILE || fd == -ENFILE || fd == -ENOMEM || fd == -ENOBUFS)
			pause_for(s, rest_ns); /* until somebody else has left */
		if (fd < 0)
			continue;
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
		c->fd = fd;
		object_converse(c);
		c->fd = -1;
		close(fd);
	}
	s->serving--;
}

/* Hangs up: what waits on the socket comes back. */
static void hang_up_late(struct object_store *s)
{
	const uint64_t now_ns = witness_now_ns();

	for (uint32_t i = 0; i < s->config->connections; i++) {
		const struct object_connection *c = &s->connections[i];

		if (c->fd >= 0 && (now_ns >= c->deadline_ns || (s->stopping && c->idle)))
			shutdown(c->fd, SHUT_RDWR);
	}
}

/* The clock: ends what is late, and all when it is time. */
static void watch_time(void *argument)
{
	struct object_store *s = argument;
	uint64_t end_ns = UINT64_MAX;

	while (s->serving && witness_now_ns() < end_ns) {
		pause_for(s, tick_ns);
		if (*s->came && !s->stopping) {
			s->stopping = true;
			end_ns = witness_now_ns() + s->config->delay_ns + grace_ns;
		}
		if (s->stopping) /* the accepts that wait come back, one by one in some engines */
			shutdown(s->listener, SHUT_RDWR);
		hang_up_late(s);
	}
	s->carrier.stop = true;
}

/* The first engine that serves here. */
static int carrier_begin(struct object_store *s, char why[OBJECT_WHY_SIZE])
{
	static const char *const names[] = {"uring", "epoll-offload"};
	char reason[COROUTINE_WHY_SIZE] = "";
	int error = -EOPNOTSUPP;

	for (size_t i = 0; i < 2 && error == -EOPNOTSUPP; i++) {
		const struct engine_ops *engine = s->config->engine;

		error = carrier_open(&s->carrier, engine ? engine : engine_find(names[i]),
		                     s->config->connections + 1, ENGINE_NEEDS, reason);
		if (engine)
			break;
	}
	if (error)
		snprintf(why, OBJECT_WHY_SIZE, "%s", reason);
	return error;
}

static int run(struct object_store *s, char why[OBJECT_WHY_SIZE])
{
	const uint32_t count = s->config->connections;
	int error = s->config->ready ? s->config->ready(s->config->context) : 0;

	if (error) {
		snprintf(why, OBJECT_WHY_SIZE, "%s", strerror(-error));
		return error;
	}
	s->serving = count;
	for (uint32_t i = 0; i < count; i++) {
		s->connections[i].store = s;
		s->connections[i].fd = -1;
		carrier_start(&s->carrier, i, serve, &s->connections[i]);
	}
	carrier_start(&s->carrier, count, watch_time, s);
	error = carrier_run(&s->carrier);
	if (error)
		snprintf(why, OBJECT_WHY_SIZE, "its engine broke: %s", strerror(-error));
	return error;
}

int object_store_run(const struct object_store_config *config, int listener,
                     const volatile sig_atomic_t *came, char why[OBJECT_WHY_SIZE])
{
	struct object_store s = {.config = config, .listener = listener, .came = came};
	int error = object_shelf_open(&s.shelf, config->directory, why);

	if (error)
		return error;
	s.connections = calloc(config->connections, sizeof *s.connections);
	error = s.connections ? carrier_begin(&s, why) : -ENOMEM;
	if (!s.connections)
		snprintf(why, OBJECT_WHY_SIZE, "no memory for %u connections", config->connections);
	if (!error) {
		error = run(&s, why);
		carrier_close(&s.carrier);
		for (uint32_t i = 0; i < config->connections; i++)
			if (s.connections[i].fd >= 0)
				close(s.connections[i].fd);
	}
	free(s.connections);
	object_shelf_close(&s.shelf);
	return error;
}
