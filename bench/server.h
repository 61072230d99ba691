/*
 * A server of streams: one thread, one epoll set, any number of connections, and a service that
 * says what is answered. What a connection does not take at once is kept for it, so that a client
 * which sends all before it receives is served too.
 */
#ifndef IOSTUDY_SERVER_H
#define IOSTUDY_SERVER_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	SERVER_BACKLOG_MAX = 32 << 20, /* bytes kept for a connection; beyond, it is not read */
	SERVER_READ_BYTES = 64 << 10,  /* at once */
};

struct server;

/* What is answered. */
struct service {
	const char *name, *summary;
	size_t size, connection_size; /* bytes of its state, and of that of each connection */
	/* Bytes have come on a connection. False: it breaks the protocol, and is closed. */
	bool (*take)(struct server *s, uint32_t connection, const void *data, size_t bytes);
	/* Does what is due, and says when it wants to be called again (CLOCK_MONOTONIC);
	 * UINT64_MAX: when bytes come. NULL: nothing is ever due. */
	uint64_t (*due)(struct server *s, uint64_t now_ns);
	void (*close)(struct server *s); /* frees what the state holds; may be NULL */
};

extern const struct service serve_echo, serve_delay;

struct connection {
	int fd;             /* -1: free */
	uint32_t next_free; /* + 1 */
	uint64_t number;    /* never used twice */
	uint32_t interest;  /* as epoll knows it */
	bool ended;         /* the client sends no more: closed when the backlog is gone */
	void *own;          /* connection_size bytes, zeroed when it begins */
	char *backlog;
	size_t backlog_begin, backlog_end, backlog_size;
};

struct server {
	const struct service *service;
	int epoll, listener;
	bool listens; /* not while descriptors are short */
	struct connection *connections;
	uint32_t count, size, first_free; /* first_free: + 1 */
	uint64_t accepted;
	void *state; /* service->size bytes, zeroed */
};

/* Serves a listening socket, which stays the caller's. 0, or -errno. */
int server_open(struct server *s, const struct service *service, int listener);

/* Serves until *came is not 0. Its signals are blocked by the caller; wait is the mask with which
 * to wait for them. NULL, NULL: for ever. */
void server_run(struct server *s, const volatile sig_atomic_t *came, const sigset_t *wait);

/* Serves what is ready now, and does not wait. To be called when s->epoll can be read. */
void server_look(struct server *s);

void server_close(struct server *s);

/* Sends bytes on a connection, or keeps them for it. False: it is gone, or memory is short. */
bool server_send(struct server *s, uint32_t connection, const void *data, size_t bytes);

/* Closes a connection when what is kept for it has been sent; it is not read any more. */
void server_finish(struct server *s, uint32_t connection);

/* Closes a connection; what is kept for it is dropped. */
void server_hang_up(struct server *s, uint32_t connection);

#endif
