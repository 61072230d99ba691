/* What the store and its connections share. */
#ifndef IOSTUDY_OBJECT_SERVE_H
#define IOSTUDY_OBJECT_SERVE_H

#include "bench/scenario/carrier.h"
#include "bench/scenario/http.h"
#include "bench/scenario/object_store.h"

enum { OBJECT_PIECE_BYTES = 64 << 10 };

struct object_store;

/* A client and the coroutine that serves it. */
struct object_connection {
	struct object_store *store;
	int fd;               /* -1: none */
	uint64_t deadline_ns; /* it is hung up on then (CLOCK_MONOTONIC); UINT64_MAX: it is ours
	                         to act */
	bool idle;            /* no request has begun */
	bool ended;           /* the client sends no more */
	const char *at;       /* what has come and is not read: left bytes in */
	size_t left;
	struct http_reader reader;
	char in[OBJECT_PIECE_BYTES], out[OBJECT_PIECE_BYTES];
};

struct object_store {
	const struct object_store_config *config;
	struct object_shelf shelf;
	struct carrier carrier;
	int listener;
	const volatile sig_atomic_t *came;
	bool stopping;
	uint64_t numbers;                      /* given so far to what comes in */
	uint32_t serving;                      /* coroutines of connections that have not ended */
	struct object_connection *connections; /* [config->connections] */
};

/* In its coroutine: talks with the client on c->fd until either ends it. The descriptor stays
 * open. */
void object_converse(struct object_connection *c);

/* Serves the request whose head has come: the object's part. The status of the answer, or 0: it
 * has been sent, or nobody is there for it. *text: what the answer says. */
uint16_t object_put(struct object_connection *c, const char **text);
uint16_t object_get(struct object_connection *c, const char **text);

/* For them: what comes next; HTTP_WANTS_BYTES: the client has ended. */
enum http_event object_next(struct object_connection *c);
/* All of it. False: the client is gone. */
bool object_send(struct object_connection *c, const void *data, size_t bytes);
/* The delay, in which the store does nothing for this client. */
void object_wait(struct object_connection *c);
/* The status and text for an -errno of the disk. */
uint16_t object_status(int error, const char **text);

#endif
