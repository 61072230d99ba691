/*
 * The io_uring engines: one ring. Submission and completion are two calls of their own here,
 * because one thread may submit while another reaps: reap never pushes submissions, and submit
 * leaves none behind in the queue. Their variants differ in how the ring is made.
 */
#include "engines/uring.h"

#include <errno.h>
#include <unistd.h>

/* No slots: the answer to a cancellation, and what ends the wait of the thread that reaps. */
static const uint64_t URING_CANCEL = UINT64_MAX, URING_WAKE = UINT64_MAX - 1;

static int uring_enter(const struct uring *u, uint32_t submit, uint32_t min, uint32_t flags,
                       struct io_uring_getevents_arg *argument)
{
	return io_uring_enter2((unsigned)u->enter_fd, submit, min, flags | u->enter_flags,
	                       (sigset_t *)argument, argument ? sizeof *argument : 0);
}

/* Shows the n submissions to the thread of the kernel that looks for them, and wakes it where it
 * has gone to sleep. They are its own then: there is no return of what it could not take. */
static int uring_show(struct uring *u, uint32_t n)
{
	u->tail += n;
	/* It says that it sleeps, then looks a last time: one of both sees the other. */
	__atomic_store_n(u->ring.sq.ktail, u->tail, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(u->ring.sq.kflags, __ATOMIC_SEQ_CST) & IORING_SQ_NEED_WAKEUP) {
		int error;

		do {
			error = uring_enter(u, 0, 0, IORING_ENTER_SQ_WAKEUP, NULL);
		} while (error == -EINTR);
		if (error < 0)
			return error;
	}
	return (int)n;
}

/* Pushes the n submissions that were laid down from u->tail on, and returns how many the kernel
 * took. What it left is taken back, so that no later call pushes it unasked. */
static int uring_push(struct uring *u, uint32_t n)
{
	struct io_uring_sq *sq = &u->ring.sq;
	/* Results that wait to be fetched come with the same call: the next look finds them. */
	const uint32_t fetch = u->ring.flags & IORING_SETUP_DEFER_TASKRUN ? IORING_ENTER_GETEVENTS
	                                                                  : 0;
	int taken;

	if (u->ring.flags & IORING_SETUP_SQPOLL)
		return uring_show(u, n);
	__atomic_store_n(sq->ktail, u->tail + n, __ATOMIC_RELEASE);
	do {
		taken = uring_enter(u, n, 0, fetch, NULL);
	} while (taken == -EINTR);
	/* Without memory for one more request, or with completions waiting in the overflow list:
	 * back-pressure. */
	if (taken == -EAGAIN || taken == -EBUSY)
		taken = 0;
	u->tail += taken < 0 ? 0 : (uint32_t)taken;
	if (taken != (int)n)
		__atomic_store_n(sq->ktail, u->tail, __ATOMIC_RELEASE);
	return taken;
}

/* Free places of the submission queue: all of it, unless a thread of the kernel empties it. */
static uint32_t uring_room(const struct uring *u)
{
	return *u->ring.sq.kring_mask + 1 -
	       (u->tail - __atomic_load_n(u->ring.sq.khead, __ATOMIC_ACQUIRE));
}

/* A poller posts results before it says that their places are free again. With nothing else in
 * flight no result will come after which to try again: so its next step is waited for. */
static int uring_wait_room(const struct uring *u)
{
	int error = 0;

	while (!uring_room(u) && (error >= 0 || error == -EINTR))
		error = uring_enter(u, 0, 0, IORING_ENTER_SQ_WAIT | IORING_ENTER_SQ_WAKEUP, NULL);
	return error < 0 && error != -EINTR ? error : 0;
}

/* Of requests that the kernel did not take: they get another socket when they come again. */
static void uring_close_sockets(struct engine *e, const uint32_t *slots, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct io_req *r = &e->config.requests[slots[i]];

		if (r->op == IO_CONNECT && r->fd >= 0)
			close(r->fd);
	}
}

static int uring_submit(struct engine *e, const uint32_t *slots, uint32_t n)
{
	struct uring *u = e->state;
	const uint32_t mask = *u->ring.sq.kring_mask;
	const int error = engine_in_flight(e) == n ? uring_wait_room(u) : 0;
	uint32_t accepted = 0;

	if (error)
		return error;
	while (accepted < n) {
		const uint32_t room = uring_room(u);
		uint32_t laid = 0;
		int taken;

		if (!room)
			break;
		for (; laid < room && accepted + laid < n; laid++) {
			const uint32_t slot = slots[accepted + laid];

			if (e->config.requests[slot].op == IO_CONNECT)
				engine_connect_socket(&e->config.requests[slot], 0);
			uring_prepare(e, &u->ring.sq.sqes[(u->tail + laid) & mask], slot);
		}
		taken = uring_push(u, laid);
		if (taken < 0)
			return taken;
		accepted += (uint32_t)taken;
		if (taken < (int)laid) {
			uring_close_sockets(e, slots + accepted, laid - (uint32_t)taken);
			break;
		}
	}
	return (int)accepted;
}

static int32_t uring_result(const struct engine *e, uint32_t slot, int32_t result)
{
	const struct io_req *r = &e->config.requests[slot];

	engine_acquire(e, slot);
	if (uring_unserved(e, r))
		return -EOPNOTSUPP;
	if (r->op == IO_TIMEOUT)
		return result == -ETIME ? 0 : result;
	if (r->op != IO_CONNECT)
		return result;
	if (r->fd < 0)
		return r->fd;
	if (result < 0)
		close(r->fd);
	return result < 0 ? result : r->fd;
}

/* Takes what lies in the completion queue, without a call. */
static uint32_t uring_take(struct engine *e, struct io_done *done, uint32_t max)
{
	struct uring *u = e->state;
	struct io_uring_cq *cq = &u->ring.cq;
	const uint32_t mask = *cq->kring_mask;
	const uint32_t tail = __atomic_load_n(cq->ktail, __ATOMIC_ACQUIRE);
	uint32_t head = *cq->khead;
	uint32_t n = 0;

	for (; head != tail && n < max; head++) {
		const struct io_uring_cqe *cqe = &cq->cqes[head & mask];

		if (cqe->user_data == URING_WAKE)
			u->woken = true;
		if (cqe->user_data == URING_CANCEL || cqe->user_data == URING_WAKE)
			continue;
		done[n].slot = (uint32_t)cqe->user_data;
		done[n].result = uring_result(e, done[n].slot, cqe->res);
		n++;
	}
	__atomic_store_n(cq->khead, head, __ATOMIC_RELEASE);
	return n;
}

/* Waits for min more completions; submits nothing. 0 also after a time-out or a signal. */
static int uring_wait(struct uring *u, uint32_t min, int64_t timeout_ns)
{
	const struct timespec wait = engine_wait_time(timeout_ns);
	struct __kernel_timespec time = {.tv_sec = wait.tv_sec, .tv_nsec = wait.tv_nsec};
	struct io_uring_getevents_arg argument = {.ts = (uint64_t)(uintptr_t)&time};
	const bool timed = min && timeout_ns >= 0;

	/* A polled ring looks until there are min, and knows no time: with one it looks once. */
	if (timed && u->ring.flags & IORING_SETUP_IOPOLL)
		return uring_wait(u, 0, 0);
	const int error = uring_enter(u, 0, min,
	                              IORING_ENTER_GETEVENTS | (timed ? IORING_ENTER_EXT_ARG : 0u),
	                              timed ? &argument : NULL);

	/* EBUSY and EAGAIN: the overflow list could not be emptied yet; return early. */
	if (error >= 0 || error == -ETIME || error == -EINTR || error == -EBUSY || error == -EAGAIN)
		return 0;
	return error;
}

/* Whether the kernel keeps completions back for the next call, of which a look has found n: in
 * its overflow list, as work of a thread that did not ask yet (URING_DEFER), or, unseen so far,
 * in the device (URING_IOPOLL). */
static bool uring_kept(const struct uring *u, uint32_t n)
{
	const uint32_t flags = __atomic_load_n(u->ring.sq.kflags, __ATOMIC_RELAXED);

	return flags & IORING_SQ_CQ_OVERFLOW ||
	       (!n && (flags & IORING_SQ_TASKRUN || u->ring.flags & IORING_SETUP_IOPOLL));
}

static int uring_reap(struct engine *e, struct io_done *done, uint32_t min, uint32_t max,
                      int64_t timeout_ns)
{
	struct uring *u = e->state;
	uint32_t n;
	int error;

	u->woken = false;
	n = uring_take(e, done, max);
	if (n == max || u->woken || ((n >= min || timeout_ns == 0) && !uring_kept(u, n)))
		return (int)n;
	error = uring_wait(u, n < min && timeout_ns != 0 ? min - n : 0, timeout_ns);
	if (error && n == 0)
		return error;
	return (int)(n + uring_take(e, done + n, max - n));
}

void uring_wake(struct engine *e)
{
	struct uring *u = e->state;
	struct io_uring_sqe *sqe = &u->ring.sq.sqes[u->tail & *u->ring.sq.kring_mask];

	if (!uring_room(u)) /* then there are completions for the waiter */
		return;
	io_uring_prep_nop(sqe);
	sqe->user_data = URING_WAKE;
	uring_push(u, 1);
}

/* Asks the kernel to take back everything in flight. */
static void uring_cancel(struct uring *u)
{
	struct io_uring_sqe *sqe = &u->ring.sq.sqes[u->tail & *u->ring.sq.kring_mask];

	/* Polled transfers end by themselves, and are not taken back. */
	if (u->ring.flags & IORING_SETUP_IOPOLL || !uring_room(u))
		return;
	io_uring_prep_cancel64(sqe, 0, IORING_ASYNC_CANCEL_ALL | IORING_ASYNC_CANCEL_ANY);
	sqe->user_data = URING_CANCEL;
	uring_push(u, 1);
}

static void uring_close(struct engine *e)
{
	struct uring *u = e->state;
	uint32_t left = engine_in_flight(e);
	struct io_done done[64];

	/* A closed ring ends its requests later, and until then the kernel writes into the
	 * caller's memory: so they are ended first. Again and again, because a request on its
	 * way from one queue to another is not found; a disk's read cannot be taken back, and
	 * ends by itself. */
	while (left) {
		uint32_t n;

		uring_cancel(u);
		do {
			n = uring_take(e, done, 64);
			for (uint32_t i = 0; i < n; i++)
				engine_discard(e, &done[i]);
			left -= n;
		} while (n);
		if (left)
			uring_wait(u, 1, 10000000);
	}
	uring_teardown(u);
}

const struct engine_ops engine_uring = {
    .name = "uring",
    .summary = "io_uring: one ring, with registered memory and descriptors",
    .size = sizeof(struct uring),
    .caps = ENGINE_NEEDS | ENGINE_TWO_SIDED | ENGINE_QUICK_LOOK,
    .open = uring_open,
    .submit = uring_submit,
    .reap = uring_reap,
    .close = uring_close,
};

/* Only the thread that made such a ring may submit to it and wait for it. */
const struct engine_ops engine_uring_defer = {
    .name = "uring-defer",
    .summary = "io_uring for one thread, which alone fetches results (DEFER_TASKRUN)",
    .size = sizeof(struct uring),
    .caps = ENGINE_NEEDS | ENGINE_QUICK_LOOK,
    .variant = URING_DEFER,
    .open = uring_open,
    .submit = uring_submit,
    .reap = uring_reap,
    .close = uring_close,
};

/* Its requests are those of the thread that opened it, whoever submits. */
const struct engine_ops engine_uring_sqpoll = {
    .name = "uring-sqpoll",
    .summary = "io_uring whose submissions a spinning thread of the kernel takes (SQPOLL)",
    .size = sizeof(struct uring),
    .caps = ENGINE_NEEDS | ENGINE_TWO_SIDED | ENGINE_QUICK_LOOK,
    .variant = URING_SQPOLL,
    .open = uring_open,
    .submit = uring_submit,
    .reap = uring_reap,
    .close = uring_close,
};

const struct engine_ops engine_uring_iopoll = {
    .name = "uring-iopoll",
    .summary = "io_uring whose waiter polls the device, without an interrupt (IOPOLL)",
    .size = sizeof(struct uring),
    .caps = ENGINE_FILES,
    .variant = URING_IOPOLL,
    .open = uring_open,
    .submit = uring_submit,
    .reap = uring_reap,
    .close = uring_close,
};

const struct engine_ops engine_uring_async = {
    .name = "uring-async",
    .summary = "io_uring through the kernel's worker threads on purpose (IOSQE_ASYNC)",
    .size = sizeof(struct uring),
    .caps = ENGINE_NEEDS | ENGINE_TWO_SIDED | ENGINE_QUICK_LOOK,
    .variant = URING_ASYNC,
    .open = uring_open,
    .submit = uring_submit,
    .reap = uring_reap,
    .close = uring_close,
};
