/* What the files of the io_uring engines share. */
#ifndef IOSTUDY_ENGINES_URING_H
#define IOSTUDY_ENGINES_URING_H

#include "engines/internal.h"

#include <liburing.h>

enum {
	URING_ENTRIES_MAX = 4096,      /* of the submission queue; more are pushed in turns */
	URING_COMPLETIONS_MAX = 65536, /* of the completion queue: IORING_MAX_CQ_ENTRIES */
	URING_BUFFER_BYTES = 1 << 30,  /* of one registered buffer: the kernel's limit */
	URING_BUFFER_SHIFT = 30,
	URING_POLL_IDLE_MS = 1000, /* after which a polling thread of the kernel goes to sleep */
};

/* What sets the io_uring engines apart: their ops->variant. */
enum uring_variant {
	URING_PLAIN,
	URING_DEFER,  /* the kernel posts results only when the ring's own thread asks for them */
	URING_SQPOLL, /* a thread of the kernel takes the submissions */
	URING_IOPOLL, /* the submitter polls the device for results */
	URING_ASYNC,  /* each request is made by a worker of the kernel */
};

struct uring {
	struct io_uring ring;
	int enter_fd;                        /* of io_uring_enter: the ring, or its index */
	uint32_t enter_flags;                /* IORING_ENTER_REGISTERED_RING: it is the index */
	uint32_t tail;                       /* of the submission queue, as pushed */
	uint32_t fd_limit;                   /* entries of fixed_fds */
	int32_t *fixed_fds;                  /* [fd]: its index among the registered files, or -1 */
	struct __kernel_timespec *deadlines; /* [slots] */
	uint32_t buffers;                    /* registered; 0: none */
	bool files;                          /* are registered */
	bool woken;                          /* of the reaping thread: uring_wake was seen */
};

static inline bool uring_is(const struct engine *e, enum uring_variant variant)
{
	return e->ops->variant == variant;
}

int uring_open(struct engine *e, char why[ENGINE_WHY_SIZE]);
void uring_teardown(struct uring *u);

/* Lays the slot's request down. A polled ring refuses all but transfers: they go as NOPs, and get
 * their error at the end. */
void uring_prepare(struct engine *e, struct io_uring_sqe *sqe, uint32_t slot);
bool uring_unserved(const struct engine *e, const struct io_req *r);

/* Ends the wait of the thread in reap, or its next one; from the submitting side. */
void uring_wake(struct engine *e);

#endif
