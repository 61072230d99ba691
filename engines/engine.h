/*
 * How I/O completes: the contract between an engine and whoever uses it.
 *
 * An engine is one way that Linux offers to submit I/O and to learn of its completion.
 * Its operations are the calls that can wait; there is no callback, no clock, no sleep,
 * no print and no retry by policy in it: a study of waiting may hide no wait.
 */
#ifndef IOSTUDY_ENGINE_H
#define IOSTUDY_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	ENGINE_WHY_SIZE = 240,        /* bytes of a reason, its terminating zero included */
	ENGINE_SLOTS_MAX = 1 << 17,   /* slots of one engine */
	ENGINE_FDS_MAX = 1 << 15,     /* descriptors that can be made known at open */
	ENGINE_THREADS_MAX = 1 << 14, /* threads of one engine's pool */
};

/*
 * Descriptors come as they are made, without O_NONBLOCK (with it some engines give -EAGAIN as a
 * result), and go so too. A stream is what read(2) takes in its order: a pipe, a socket, an
 * eventfd; a regular file is none. WRITE to a pipe without a reader raises SIGPIPE, as write(2)
 * does: its user ignores that signal.
 */
enum io_op {
	IO_NOP,     /* completes with result 0; no engine waits for it */
	IO_READ,    /* pread(2) at offset; offset UINT64_MAX is a stream: read(2) */
	IO_WRITE,   /* pwrite(2), or write(2) likewise */
	IO_FSYNC,   /* fsync(2) */
	IO_RECV,    /* recv(2): returns what has come, 0 at the end of the stream */
	IO_SEND,    /* send(2) with MSG_NOSIGNAL */
	IO_ACCEPT,  /* accept4(2): the result is the new descriptor */
	IO_CONNECT, /* connect(2): a new socket is made; the result is its descriptor */
	IO_TIMEOUT, /* completes with 0 at deadline_ns or after, never before */
	IO_OP_COUNT
};

/* One request. It belongs to the engine from submit until reap hands its slot back. */
struct io_req {
	union {
		uint64_t offset;      /* bytes; READ and WRITE */
		uint64_t deadline_ns; /* absolute, CLOCK_MONOTONIC; TIMEOUT */
	};
	void *data;      /* READ, WRITE, RECV, SEND: the bytes. CONNECT: a struct sockaddr */
	uint32_t length; /* bytes at data */
	int32_t fd;      /* CONNECT: the socket, which submit makes, so that shutdown(2) can
	                    end it (one that comes before the call has begun does nothing:
	                    repeat it); or -errno, which is the result then */
	uint8_t op;      /* enum io_op */
};

struct io_done {
	uint32_t slot;
	int32_t result; /* bytes moved, a new descriptor, 0, or -errno of this request */
};

/* What an engine can serve, and what its user must know of it. */
enum engine_caps {
	ENGINE_FILES = 1 << 0,       /* READ, WRITE, FSYNC on regular files and block devices */
	ENGINE_SOCKETS = 1 << 1,     /* RECV, SEND; stream READ and WRITE */
	ENGINE_TIMERS = 1 << 2,      /* TIMEOUT */
	ENGINE_SYNCHRONOUS = 1 << 3, /* submit makes the call itself, accepts one slot at a time,
	                                and reap never sleeps */
	ENGINE_TWO_SIDED = 1 << 4,   /* one thread may submit while another reaps. The first lives
	                                until its requests are back: a ring takes back those of
	                                a thread that ends, with -ECANCELED. Without it an
	                                engine is opened, used and closed on one thread */
	ENGINE_HIDDEN_THREADS = 1 << 5,  /* a library's own threads serve, which no hook tells of */
	ENGINE_CONNECTIONS = 1 << 6,     /* ACCEPT, CONNECT */
	ENGINE_QUICK_LOOK = 1 << 8,      /* a look (reap with timeout 0) that finds nothing makes no
	                                    system call */
	ENGINE_POOL = 1 << 9,            /* has a pool of config.threads threads */
	ENGINE_POOL_FOR_FILES = 1 << 10, /* which it makes only where files are asked for */
	ENGINE_NO_IO = 1 << 7, /* performs nothing: each request is complete at once, and what
	                                moves bytes claims its length */
};

/* What a user can need of an engine. A request outside of caps results in -EOPNOTSUPP. */
#define ENGINE_NEEDS (ENGINE_FILES | ENGINE_SOCKETS | ENGINE_TIMERS | ENGINE_CONNECTIONS)

/*
 * Told by an engine of the threads that it makes and of the blocking calls they make.
 * Called on the thread in question; any of them may be NULL. They are how a user of the
 * engine knows which requests are served and which wait in the engine's own queue.
 */
struct engine_hooks {
	void *context;
	void (*thread_begin)(void *context); /* before the thread's first wait */
	void (*thread_end)(void *context);
	void (*call_begin)(void *context, uint32_t slot); /* the blocking call for slot begins */
	void (*call_end)(void *context, uint32_t slot);
};

struct engine_config {
	struct io_req *requests; /* [slots]; the caller's, at least until close has returned */
	uint32_t slots;          /* 1 ... ENGINE_SLOTS_MAX: most requests in flight */
	uint32_t threads;        /* of a pool; 0: one per slot */
	uint32_t need;           /* of ENGINE_NEEDS: what will be asked */
	void *memory;            /* the area in which every data of READ, WRITE lies, or NULL; it
	                            never moves while the engine is open, and may be registered */
	size_t memory_bytes;
	const int *fds;    /* descriptors known in advance, or NULL; open as long as the engine, and
	                   may be registered; requests go on naming them by their own number */
	uint32_t fd_count; /* at most ENGINE_FDS_MAX */
	struct engine_hooks hooks;
};

struct engine;

struct engine_ops {
	const char *name;    /* the option's value and the treatment in every result */
	const char *summary; /* one line for `iostudy list` */
	size_t size;         /* bytes of the engine's own state, zeroed before open */
	uint32_t caps;       /* enum engine_caps */
	uint32_t variant;    /* for files that hold several engines: which one */

	/* Really tries: creates what it needs and registers memory and descriptors. On failure
	 * nothing is left behind. -EOPNOTSUPP: it cannot serve here; any other: it broke. */
	int (*open)(struct engine *e, char why[ENGINE_WHY_SIZE]);
	int (*submit)(struct engine *e, const uint32_t *slots, uint32_t n);
	int (*reap)(struct engine *e, struct io_done *done, uint32_t min, uint32_t max,
	            int64_t timeout_ns);
	void (*close)(struct engine *e);
};

struct engine {
	const struct engine_ops *ops;
	struct engine_config config;
	void *state;        /* ops->size bytes; the implementation's own */
	uint8_t *owner;     /* [slots]; of the checked wrappers */
	uint32_t in_flight; /* of the checked wrappers: atomic, relaxed */
};

/*
 * The checked wrappers: the only callers of engine_ops. They assert the contract on both
 * sides; a failed assertion is an error of the programmer and ends the process.
 */

/* Opens an engine. 0, or -errno with one sentence in why (value, limit, remedy). -EOPNOTSUPP:
 * it cannot serve what config->need asks for here. config is copied; what it points to is not. */
int engine_open(struct engine *e, const struct engine_ops *ops, const struct engine_config *config,
                char why[ENGINE_WHY_SIZE]);

/* Hands n >= 1 requests over, in order. Returns how many were accepted: an exact prefix, pushed
 * to the kernel. Fewer than n (0 included) is back-pressure: the others stay the caller's, who
 * reaps and asks again. -errno: the engine broke, and the run with it.
 * A synchronous engine makes the call here, so this returns 1 when the call has ended. */
int engine_submit(struct engine *e, const uint32_t *slots, uint32_t n);

/* Takes completions. Writes at most max (>= 1) of them and returns how many. Waits until there
 * are min (<= max): for ever with timeout_ns < 0, at most about timeout_ns otherwise; 0 only
 * looks. It may return early with fewer, and a signal ends it early; neither is an error. A
 * time-out is no error either: 0. With nothing in flight it may return at once. It never pushes
 * submissions. -errno: the engine broke. Each slot accepted comes back exactly once. */
int engine_reap(struct engine *e, struct io_done *done, uint32_t min, uint32_t max,
                int64_t timeout_ns);

/* Ends the engine in bounded time, also with slots in flight, and closes the descriptors of
 * ACCEPT and CONNECT that nobody took. Touches no memory of the caller after. What cannot be
 * taken back is waited for: a transfer that the disk has begun; and with posix-aio every call
 * in progress, so that its user ends it first, by shutdown(2) or from the pipe's other end. */
void engine_close(struct engine *e);

/* Slots accepted and not yet handed back. */
uint32_t engine_in_flight(const struct engine *e);

/* The table: every engine, in the order in which they are listed; ends with NULL. */
extern const struct engine_ops *const engine_table[];

/* The engine of that name, or NULL. */
const struct engine_ops *engine_find(const char *name);

/* For engines: the hooks, called when they are set. */
void engine_thread_begin(const struct engine *e);
void engine_thread_end(const struct engine *e);
void engine_call_begin(const struct engine *e, uint32_t slot);
void engine_call_end(const struct engine *e, uint32_t slot);

/* For engines: makes the blocking call for r, on this thread, and returns its result. EINTR is
 * taken up again; with *stop set (may be NULL) it ends the call with -ECANCELED instead. The
 * socket of a CONNECT has been made before, and is closed when it cannot be connected. */
int32_t engine_call(struct io_req *r, const bool *stop);

#endif
