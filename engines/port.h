/*
 * A completion port: threads wait at one place for the completions of many descriptors, the last
 * that came to wait is released first, and no more run at once than the port's concurrency value.
 * A layer over a ring that one thread reaps while others submit. docs/port.md holds it against
 * the calls of Windows, one by one.
 */
#ifndef IOSTUDY_PORT_H
#define IOSTUDY_PORT_H

#include "engines/engine.h"

#include <pthread.h>

/* What a waiting thread is given: a completion, or what somebody posted. */
struct port_packet {
	uint64_t key;   /* of the descriptor (port_associate), 0 for one without; or the poster's */
	uint32_t slot;  /* of the request; or the poster's */
	int32_t result; /* as in struct io_done; or the poster's */
};

struct port_config {
	struct engine_config engine; /* requests and slots, as for engine_open */
	uint32_t concurrency;        /* threads that may run at once; at least 1 */
	uint32_t posts;              /* posted packets that may wait; 0: none can be posted */
};

/* One thread's place at a port: its own, zeroed before its first port_get, and kept until
 * port_close. released is the only field for others: how often it was given packets; waiting the
 * only one to be set, or NULL. */
struct port_thread {
	/* In port_get, on this thread, before it waits: as the one that leads, and waits in the
	 * ring for all, or behind it. It calls nothing of the port. */
	void (*waiting)(struct port_thread *me, bool leads);
	struct port_thread *below; /* on the stack of waiting threads */
	struct port_packet *packets;
	uint32_t max, given;
	uint32_t turn; /* futex: raised when the wait is over */
	uint8_t waits; /* is on the stack */
	uint8_t leads; /* was given the lead while it waited */
	uint8_t runs;  /* counts towards the concurrency */
	uint64_t released;
};

struct port {
	struct engine ring;
	pthread_mutex_t submitting; /* one thread at a time at the ring's submission side */
	pthread_mutex_t lock;       /* for all below */
	struct port_packet *queue;  /* [mask + 1]: a ring of packets that nobody has taken */
	uint32_t mask, head, tail;
	uint32_t posts_free;
	uint32_t concurrency, running;
	struct port_thread *waiting; /* the last that came, first */
	uint32_t waiting_count;
	uint8_t led; /* a thread is in the ring's reap, or about to be */
	uint8_t stopped;
	uint64_t *keys; /* [key_count], by descriptor */
	uint32_t key_count;
};

/* Creates a port. 0, or -errno with why, as engine_open. */
int port_open(struct port *p, const struct port_config *config, char why[ENGINE_WHY_SIZE]);

/* Completions on this descriptor bear the key from now on. 0 or -ENOMEM, -EBADF. */
int port_associate(struct port *p, int fd, uint64_t key);

/* As engine_submit; any thread may call it, which then lives until its requests are back. */
int port_submit(struct port *p, const uint32_t *slots, uint32_t n);

/*
 * Waits for packets: at least one, at most max (>= 1). The thread counted as running until this
 * call, and does so again when it returns a number above 0. timeout_ns: 0 looks, below 0 waits
 * for ever; it begins anew when the thread is given the lead or, leading, hands packets to
 * another. 0 after a time-out; it may come early, as after a signal. -ECANCELED: the port is
 * stopped. Other -errno: the ring broke.
 */
int port_get(struct port *p, struct port_thread *me, struct port_packet *packets, uint32_t max,
             int64_t timeout_ns);

/* Queues a packet of one's own. 0, or -EAGAIN: config.posts of them wait already. */
int port_post(struct port *p, struct port_packet packet);

/* The running thread is about to block elsewhere, so another may run in its place; and it goes
 * on, even where that makes one more than the concurrency value, as on Windows. */
void port_block(struct port *p, struct port_thread *me);
void port_unblock(struct port *p, struct port_thread *me);

/* Threads in port_get, the one that leads included. */
uint32_t port_waiting(struct port *p);

/* From now on port_get returns -ECANCELED, also to those that wait in it. */
void port_stop(struct port *p);

/* Ends the port, when no thread is in its calls any more: port_stop, join them, then this. */
void port_close(struct port *p);

#endif
