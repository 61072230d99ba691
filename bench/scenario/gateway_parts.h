/*
 * What the gateway's parts share. A loop has connections, which read requests and write answers; a
 * request that needs the service is handled (gateway_handle.c) by the loop itself or by a thread of
 * the pool; calls of the loops go out on a line, one connection to the service for all of a loop.
 */
#ifndef IOSTUDY_GATEWAY_PARTS_H
#define IOSTUDY_GATEWAY_PARTS_H

#include <pthread.h>

#include "bench/message.h"
#include "bench/scenario/coroutine.h"
#include "bench/scenario/gateway.h"
#include "bench/scenario/handover.h"
#include "bench/scenario/http.h"

enum {
	GATEWAY_IN_BYTES = 2048,
	GATEWAY_OUT_BYTES = 4096,
	GATEWAY_BODY_BYTES_MAX = 64 << 10, /* of a request: it is read and not looked at */
	GATEWAY_MESSAGES = 64,             /* of a line, moved at once */
};

struct gateway_loop;
struct gateway_connection;

/* How far the gateway has come. */
enum gateway_stage {
	GATEWAY_OPENS, /* its loops begin */
	GATEWAY_SERVES,
	GATEWAY_STOPS, /* accepts nobody more, and answers what is in flight */
	GATEWAY_CUT,   /* calls in flight come back at once */
	GATEWAY_GONE,  /* no thread but the loops' is left: they free what is theirs */
};

/* One of the gateway's threads. */
struct gateway_thread {
	struct gateway *gateway;
	pthread_t id;
	enum thread_kind kind; /* APPLICATION: a loop; POOL; HELPER: of sync-over-async */
	struct thread_mark *mark;
	uint32_t doing;       /* enum thread_doing; atomic */
	pthread_mutex_t lock; /* of fd and waits */
	int fd;               /* its own connection to the service; -1: none */
	uint64_t calls;       /* on it, so far */
	uint32_t *waits;      /* the futex on which it waits for a result; NULL: none */
};

/* What a thread is asked to do: it lies in what it is about. */
struct gateway_work {
	struct gateway_work *next;
	void (*run)(struct gateway_work *work, struct gateway_thread *thread);
};

struct gateway_queue {
	struct gateway_work *first, **last;
};

/* Threads that do work one after the other; more are started, up to most, when none is free. */
struct gateway_crew {
	struct gateway *gateway;
	enum thread_kind kind;
	const char *name;
	pthread_mutex_t lock;
	pthread_cond_t came;
	struct gateway_queue queue;
	struct gateway_thread *threads; /* [most] */
	uint32_t count, most, free;
	uint32_t waiting; /* works in the queue */
	uint32_t ended;   /* threads: a futex */
	bool ending;
};

/* A request to the service. */
struct gateway_call {
	struct gateway_work work; /* on its way to another thread */
	uint64_t delay_ns, deadline_ns;
	int error;        /* 0: answered; -ETIMEDOUT, or another -errno */
	uint32_t ended;   /* a futex: 1: error is there */
	uint32_t holders; /* of one that a thread waits for: the last of them frees it */
	bool leaving;     /* on its line, not yet sent */
	/* On the loop's thread, when it has ended. */
	void (*done)(struct gateway_call *call);
};

/* The one connection of a loop to the service. */
struct gateway_line {
	struct gateway_loop *loop;
	int fd; /* -1: none */
	bool connecting, sending, receiving, broken;
	struct gateway_call **calls; /* [most], by position: those that wait for their reply */
	uint64_t *ids;               /* [most]: of the last call at that position */
	uint32_t *spare;             /* [most]: free positions */
	uint32_t most, spare_count;
	uint32_t *leaving; /* [most]: a ring of positions that are to be sent */
	uint32_t leaving_at, leaving_count;
	uint32_t out_bytes, out_at, in_bytes;
	struct message out[GATEWAY_MESSAGES], in[GATEWAY_MESSAGES];
};

/* What a connection does. */
enum gateway_phase {
	PHASE_FREE,
	PHASE_IDLE,    /* no request has begun */
	PHASE_READING, /* one has */
	PHASE_HANDLING,
	PHASE_ANSWERING,
	PHASE_LINGERING, /* it ends: takes what still comes, so that the answer is not lost */
	PHASE_CLOSING,   /* waits for what is in flight */
};

struct gateway_connection {
	struct gateway_loop *loop;
	struct gateway_work work; /* for the pool, and back */
	struct gateway_call call;
	uint32_t index, next_free;
	int fd;
	uint8_t phase;
	bool in_flight;       /* a receive or a send is with the engine */
	bool calls;           /* the request needs the service */
	bool last;            /* the connection ends with this answer */
	uint64_t deadline_ns; /* CLOCK_MONOTONIC */
	int error;            /* of the call */
	const char *at;       /* what has come and is not read */
	size_t left;
	uint32_t out_bytes, out_at;
	char in[GATEWAY_IN_BYTES], out[GATEWAY_OUT_BYTES];
	struct http_reader reader; /* last: its pages are taken when they are needed */
};

struct gateway_loop {
	struct gateway_thread thread;
	struct gateway *gateway;
	uint32_t index;
	struct engine engine;
	struct io_req *requests;
	struct handover ready;
	struct gateway_connection *connections; /* [count] */
	uint32_t count, open, first_free;       /* first_free: + 1 */
	bool accepting, stopping;
	uint64_t random;
	struct coroutines coroutines; /* [count], of HANDLER_COROUTINE */
	struct gateway_line line;
	pthread_mutex_t lock; /* of inbox */
	struct gateway_queue inbox;
	int wake;           /* an eventfd */
	uint64_t wake_word; /* read from it */
	int opened;         /* 1: not yet; 0, or -errno with why */
	char why[GATEWAY_WHY_SIZE];
};

struct gateway {
	struct gateway_config config;
	struct gateway_counts *counts, own_counts;
	int listener;
	struct gateway_loop *loops; /* [config.loops] */
	struct gateway_crew pool, helpers;
	uint32_t started; /* loops whose thread runs */
	uint32_t turn;    /* of the loops that bring replies to others; atomic */
	uint64_t end_ns;  /* of GATEWAY_STOPS; set before it */
	/* futex words */
	uint32_t opened, ended; /* loops that are ready, and that serve no more */
	uint32_t stage;         /* enum gateway_stage */
	uint32_t broken;        /* the errno of a loop's engine */
};

/* The slots of a loop's engine: two of each connection are one, since it never does both. */
static inline uint32_t loop_slot_accept(const struct gateway_loop *l)
{
	return l->count;
}
static inline uint32_t loop_slot_tick(const struct gateway_loop *l)
{
	return l->count + 1;
}
static inline uint32_t loop_slot_wake(const struct gateway_loop *l)
{
	return l->count + 2;
}
static inline uint32_t loop_slot_send(const struct gateway_loop *l)
{
	return l->count + 3;
}
static inline uint32_t loop_slot_receive(const struct gateway_loop *l)
{
	return l->count + 4;
}
enum { LOOP_SLOTS = 5 }; /* beside the connections' */

static inline enum gateway_stage gateway_stage(const struct gateway *g)
{
	return (enum gateway_stage)__atomic_load_n(&g->stage, __ATOMIC_ACQUIRE);
}

static inline void gateway_add(uint64_t *count, int64_t more)
{
	__atomic_fetch_add(count, (uint64_t)more, __ATOMIC_RELAXED);
}

/* gateway_threads.c */
/* What the calling thread does from now on. */
void gateway_doing(struct gateway_thread *t, enum thread_doing doing);
/* The calling thread begins: its name and mark. */
void gateway_thread_begin(struct gateway_thread *t, const char *name);
void gateway_thread_end(struct gateway_thread *t);
void gateway_queue_add(struct gateway_queue *q, struct gateway_work *work);
struct gateway_work *gateway_queue_take(struct gateway_queue *q); /* NULL: empty */
/* Starts least threads. 0, or -errno; what was started stays, for gateway_crew_end. */
int gateway_crew_begin(struct gateway_crew *crew, uint32_t least);
void gateway_crew_give(struct gateway_crew *crew, struct gateway_work *work);
/* Interrupts their calls, does what is in the queue, and ends the threads. */
void gateway_crew_end(struct gateway_crew *crew);

/* gateway_loop.c */
/* Of a loop's thread: serves until the gateway stops. */
void *gateway_loop_run(void *loop);
/* Hands a request over; its slot is free. */
void gateway_loop_do(struct gateway_loop *l, uint32_t slot, struct io_req request);
/* From any thread: the loop runs it soon. */
void gateway_loop_post(struct gateway_loop *l, struct gateway_work *work);
void gateway_loop_wake(struct gateway_loop *l);
void gateway_loop_accept(struct gateway_loop *l); /* if it does not, and has room */

/* gateway_connection.c */
void gateway_connection_begin(struct gateway_connection *c, int fd);
void gateway_connection_step(struct gateway_connection *c, int32_t result);
/* On the loop's thread, when the request has been handled: c->error. */
void gateway_connection_answer(struct gateway_connection *c);
/* Ends it if it is late, or idle while the gateway stops. */
void gateway_connection_look(struct gateway_connection *c, uint64_t now_ns);
void gateway_connection_hang_up(struct gateway_connection *c);

/* gateway_line.c */
/* 0, or -ENOMEM. most: calls at once. */
int gateway_line_open(struct gateway_line *line, struct gateway_loop *loop, uint32_t most);
void gateway_line_close(struct gateway_line *line);
/* On the loop's thread: delay_ns and done are set; done comes later, never at once. */
void gateway_line_call(struct gateway_line *line, struct gateway_call *call);
void gateway_line_sent(struct gateway_line *line, int32_t result); /* or connected */
void gateway_line_received(struct gateway_line *line, int32_t result);
void gateway_line_look(struct gateway_line *line, uint64_t now_ns); /* ends late calls */
void gateway_line_fail(struct gateway_line *line, int error);       /* ends all */

/* gateway_blocking.c: on a connection of the thread's own; it is parked meanwhile. 0 or -errno. */
int gateway_call_blocking(struct gateway_thread *t, uint64_t delay_ns);
void gateway_call_finish(struct gateway_thread *t); /* closes that connection */
/* The same, for a result that another thread is to tell; then that is released as well. */
int gateway_call_await(struct gateway_thread *t, struct gateway_call *call);
void gateway_call_release(struct gateway_call *call);
void gateway_call_tell(struct gateway_call *call); /* error is set; releases it */
/* From another thread, after GATEWAY_CUT: what it waits for comes back. To be repeated until the
 * thread has seen it. */
void gateway_call_interrupt(struct gateway_thread *t);

/* gateway_handle.c: on the loop's thread; gateway_connection_answer comes, now or later. */
void gateway_handle(struct gateway_connection *c);

/* gateway_page.c: of GET /threads and /threads.json. */
void gateway_page(const struct gateway *g, bool json, char *text, size_t size);

#endif
