/*
 * The gateway: an HTTP/1.1 server that calls a slow service for each request and answers with what
 * came of it. How a request is handled, and on what threads, is what the experiments compare.
 *
 *   GET /            calls the service, which takes a random time of the gateway's range
 *   GET /delay/MS    calls the service, which takes MS milliseconds
 *   GET /string      answers at once, calling nobody
 *   GET /threads     a page: threads in all, free and parked; /threads.json: the same as data
 *
 * A request's X-Request-Id is repeated in its answer. Answers come in the order of their requests.
 */
#ifndef IOSTUDY_GATEWAY_H
#define IOSTUDY_GATEWAY_H

#include "bench/address.h"
#include "engines/engine.h"
#include "probes/threads.h"

enum { GATEWAY_WHY_SIZE = 300, GATEWAY_LOOPS_MAX = 64, GATEWAY_THREADS_MAX = 4096 };

/* What a request's thread does while the service works. */
enum gateway_handler {
	HANDLER_CALLBACK,        /* none: a state machine goes on when the reply comes */
	HANDLER_COROUTINE,       /* none: sequential code that is suspended */
	HANDLER_BLOCKING,        /* is parked in the call, on a socket of its own */
	HANDLER_BLOCKING_WAIT,   /* waits for a reply that one of the loops must deliver */
	HANDLER_SYNC_OVER_ASYNC, /* hands the call to other threads and waits for its result */
	HANDLER_COUNT,
};
extern const char *const gateway_handler_names[HANDLER_COUNT + 1]; /* ends with NULL */
extern const char *const gateway_handler_summaries[HANDLER_COUNT];

struct gateway_config {
	const struct engine_ops *engine; /* of the loops: serves sockets, connections, timers */
	enum gateway_handler handler;
	uint32_t loops;   /* threads that accept, read and write, and run handlers unless threads */
	uint32_t threads; /* of a pool that runs the handlers; 0: the loops run them */
	uint32_t threads_min; /* of them from the start; others are made when none is free */
	uint32_t helpers;     /* of sync-over-async: the threads that make its calls; 0: as many
	                         as may wait */
	uint32_t connections; /* clients at once; more wait in the kernel's queue */
	uint64_t delay_min_ns, delay_max_ns; /* of GET / */
	uint64_t call_timeout_ns;            /* a call that takes longer is answered with 504 */
	uint64_t idle_timeout_ns; /* a connection without a request; also a client that does
	                             not take its answer */
	uint64_t head_timeout_ns; /* from a request's first byte to its last */
	uint64_t grace_ns;        /* for requests in flight when it is stopped */
	uint64_t seed;
	struct address service;    /* speaks message.h; length 0: none, calls are refused (502) */
	struct thread_mark *marks; /* [THREADS_MAX], zeroed, maybe shared with a probe; or NULL */
	struct gateway_counts *counts; /* maybe shared; or NULL */
};

/* Counters that only grow, but for the last three. Each word is written atomically. */
struct gateway_counts {
	uint64_t accepted;  /* connections */
	uint64_t requests;  /* whole ones, of any kind */
	uint64_t answered;  /* with 200 */
	uint64_t called;    /* those of them that called the service */
	uint64_t refused;   /* bad ones: 4xx, 501, 505 */
	uint64_t failed;    /* calls that were not answered in time (504), or not at all (502) */
	uint64_t timed_out; /* connections closed: idle, too slow, or not taking their answer */
	uint64_t connections, in_flight; /* now: clients; requests being handled */
	uint64_t threads;                /* now: all of the gateway's */
};

struct gateway;

/* The defaults: callback on one loop of epoll, 10,000 connections, and sensible times. */
void gateway_defaults(struct gateway_config *config);

/* Starts the threads and serves a listening socket, which stays the caller's. config is copied.
 * The caller ignores SIGPIPE. 0, or -errno with why (value, limit, remedy); nothing stays then. */
int gateway_open(struct gateway **gateway, const struct gateway_config *config, int listener,
                 char why[GATEWAY_WHY_SIZE]);

/* Waits until it breaks, or for timeout_ns. 0: it serves on; -errno with why: it broke. */
int gateway_wait(struct gateway *gateway, int64_t timeout_ns, char why[GATEWAY_WHY_SIZE]);

/* Accepts nobody more, answers what is in flight for at most grace_ns, ends all threads. */
void gateway_close(struct gateway *gateway);

#endif
