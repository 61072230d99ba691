/*
 * libaio: the kernel's native asynchronous I/O. A direct transfer completes from the interrupt,
 * and its event lies in a ring in the program's memory, which a look reads without a call. What
 * the file system cannot begin without waiting is waited for inside io_submit.
 * A socket is tried, and where it would wait the kernel polls it (IOCB_CMD_POLL) until it is tried
 * again.
 */
#include "engines/internal.h"

#include <errno.h>
#include <libaio.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	LIBAIO_EVENTS = 256, /* taken by one wait */
	LIBAIO_RING_MAGIC = 0xa10a10a1,
};

/* The ring of completions as the kernel maps it: fs/aio.c. */
struct libaio_ring {
	uint32_t id, count;
	uint32_t head; /* moved by whoever takes */
	uint32_t tail; /* moved by the kernel */
	uint32_t magic, compat, incompat, header_bytes;
	struct io_event events[];
};
static_assert(sizeof(struct libaio_ring) == 32, "the header of the kernel's ring");

struct libaio {
	io_context_t context;
	struct iocb *blocks; /* [slots]; data is set while the request is the kernel's */
	struct iocb **batch; /* [slots]: prepared, and to be submitted together */
	uint32_t batched;
	uint32_t in_kernel; /* submitted and not taken */
	bool polls;         /* POLL and FSYNC are known: Linux 4.18 */
	struct io_event *events;
	struct completions done; /* of what needed no wait, or was refused */
};

static struct libaio_ring *libaio_ring(const struct libaio *a)
{
	return (struct libaio_ring *)(void *)a->context;
}

static long libaio_setting(const char *path)
{
	FILE *file = fopen(path, "re");
	long value = -1;

	if (file) {
		if (fscanf(file, "%ld", &value) != 1)
			value = -1;
		fclose(file);
	}
	return value;
}

static int libaio_refused(int error, uint32_t slots, char why[ENGINE_WHY_SIZE])
{
	const long max = libaio_setting("/proc/sys/fs/aio-max-nr");
	const long taken = libaio_setting("/proc/sys/fs/aio-nr");

	switch (-error) {
	case EAGAIN:
		return engine_reason(why, error,
		                     "libaio: cannot set up %u requests: fs.aio-max-nr is %ld, of"
		                     " which %ld are taken; raise it with sysctl"
		                     " fs.aio-max-nr=1048576, or use a smaller --depth",
		                     slots, max, taken);
	case ENOSYS:
	case EPERM:
		return engine_reason(why, -EOPNOTSUPP,
		                     "libaio: io_setup answers %s: this kernel has no native AIO,"
		                     " or a seccomp filter forbids it",
		                     error == -EPERM ? "EPERM" : "ENOSYS");
	default:
		return engine_reason(why, error, "libaio: cannot set up %u requests: %s", slots,
		                     strerror(-error));
	}
}

/* Whether this kernel polls: tried on what is ready. 0, or -errno. */
static int libaio_try_poll(struct libaio *a)
{
	const int fd = eventfd(1, EFD_CLOEXEC);
	struct iocb *block = &a->blocks[0];
	int n;

	if (fd < 0)
		return -errno;
	io_prep_poll(block, fd, POLLIN);
	n = io_submit(a->context, 1, &block);
	if (n == 1)
		n = io_getevents(a->context, 1, 1, a->events, NULL);
	close(fd);
	a->polls = n == 1;
	return n == -EINVAL || n >= 0 ? 0 : n;
}

static void libaio_free(struct engine *e)
{
	struct libaio *a = e->state;

	completions_close(&a->done, e);
	free(a->events);
	free(a->batch);
	free(a->blocks);
}

static int libaio_set_up(struct engine *e, char why[ENGINE_WHY_SIZE])
{
	struct libaio *a = e->state;
	char limit[32];
	int error = io_setup((int)e->config.slots, &a->context);

	if (error)
		return libaio_refused(error, e->config.slots, why);
	error = libaio_try_poll(a);
	if (error == -EMFILE)
		engine_reason(why, error,
		              "libaio: cannot try a poll: RLIMIT_NOFILE is %s and every descriptor"
		              " is taken; raise it with ulimit -n",
		              engine_limit(RLIMIT_NOFILE, false, limit));
	else if (error)
		engine_reason(why, error, "libaio: cannot try a poll: %s", strerror(-error));
	else if (libaio_ring(a)->magic != LIBAIO_RING_MAGIC || libaio_ring(a)->incompat)
		error = engine_reason(why, -EOPNOTSUPP,
		                      "libaio: this kernel's ring of completions is of a form that"
		                      " is not known");
	else if (!a->polls && e->config.need & (ENGINE_SOCKETS | ENGINE_CONNECTIONS))
		error = engine_reason(why, -EOPNOTSUPP,
		                      "libaio: this kernel cannot wait for a socket by"
		                      " IOCB_CMD_POLL; Linux 4.18 or later is needed");
	if (error)
		io_destroy(a->context);
	return error;
}

static int libaio_open(struct engine *e, char why[ENGINE_WHY_SIZE])
{
	struct libaio *a = e->state;
	const uint32_t slots = e->config.slots;
	int error;

	if (e->config.need & ENGINE_TIMERS)
		return engine_reason(why, -EOPNOTSUPP,
		                     "libaio: has no timers: it transfers, and polls descriptors");
	a->blocks = calloc(slots, sizeof *a->blocks);
	a->batch = calloc(slots, sizeof *a->batch);
	a->events = calloc(LIBAIO_EVENTS, sizeof *a->events);
	error = completions_open(&a->done, slots);
	if (error || !a->blocks || !a->batch || !a->events)
		error = engine_reason(why, -ENOMEM, "libaio: no memory for %u slots", slots);
	else
		error = libaio_set_up(e, why);
	if (error)
		libaio_free(e);
	return error;
}

/* Whether the request is tried and polled; the others are the kernel's from the start. */
static bool libaio_is_stream(const struct io_req *r)
{
	switch ((enum io_op)r->op) {
	case IO_READ:
	case IO_WRITE:
		return r->offset == UINT64_MAX;
	case IO_FSYNC:
		return false;
	default:
		return true;
	}
}

static void libaio_prepare(struct engine *e, uint32_t slot)
{
	struct libaio *a = e->state;
	const struct io_req *r = &e->config.requests[slot];
	const bool out = r->op == IO_WRITE || r->op == IO_SEND || r->op == IO_CONNECT;
	struct iocb *block = &a->blocks[slot];

	if (libaio_is_stream(r))
		io_prep_poll(block, r->fd, out ? POLLOUT : POLLIN | POLLRDHUP);
	else if (r->op == IO_FSYNC)
		io_prep_fsync(block, r->fd);
	else if (r->op == IO_READ)
		io_prep_pread(block, r->fd, r->data, r->length, (long long)r->offset);
	else
		io_prep_pwrite(block, r->fd, r->data, r->length, (long long)r->offset);
	block->data = block;
	a->batch[a->batched++] = block;
}

/* A request that ends without being the kernel's: a connection that it holds ends with it. */
static void libaio_end(struct engine *e, uint32_t slot, int32_t result)
{
	struct libaio *a = e->state;
	const struct io_req *r = &e->config.requests[slot];

	a->blocks[slot].data = NULL;
	if (r->op == IO_CONNECT)
		close(r->fd);
	completions_push(&a->done, slot, result);
}

/* Submits what is batched. An error is that of the request which io_submit has come to; it is
 * that one's result. Returns how many were taken or have got their result: fewer than the
 * batch when the kernel has no room. The others are forgotten. */
static uint32_t libaio_flush(struct engine *e)
{
	struct libaio *a = e->state;
	uint32_t sent = 0;

	while (sent < a->batched) {
		const int n = io_submit(a->context, (long)(a->batched - sent), a->batch + sent);

		if (n == -EAGAIN || n == 0)
			break;
		if (n > 0) {
			sent += (uint32_t)n;
			a->in_kernel += (uint32_t)n;
			continue;
		}
		libaio_end(e, (uint32_t)(a->batch[sent] - a->blocks), n);
		sent++;
	}
	for (uint32_t i = sent; i < a->batched; i++) {
		const struct io_req *r = &e->config.requests[a->batch[i] - a->blocks];

		a->batch[i]->data = NULL;
		if (r->op == IO_CONNECT)
			close(r->fd);
	}
	a->batched = 0;
	return sent;
}

/* What can be told at once: its result, or ENGINE_WOULD_WAIT. */
static int32_t libaio_try(struct engine *e, struct io_req *r)
{
	const struct libaio *a = e->state;

	if (r->op == IO_FSYNC)
		return a->polls ? ENGINE_WOULD_WAIT : -EOPNOTSUPP;
	if (!libaio_is_stream(r))
		return ENGINE_WOULD_WAIT;
	if (r->op != IO_NOP && !a->polls)
		return -EOPNOTSUPP;
	if (r->op == IO_CONNECT && engine_connect_socket(r, SOCK_NONBLOCK) < 0)
		return r->fd;
	return engine_try(r, 0);
}

static int libaio_submit(struct engine *e, const uint32_t *slots, uint32_t n)
{
	struct libaio *a = e->state;
	uint32_t accepted = 0, i = 0;

	for (; i < n; i++) {
		struct io_req *r = &e->config.requests[slots[i]];
		int32_t result = ENGINE_WOULD_WAIT;

		if (libaio_is_stream(r) || r->op == IO_FSYNC) {
			/* It may end here: so those before it must have been accepted. */
			accepted += libaio_flush(e);
			if (accepted < i)
				break;
			result = libaio_try(e, r);
		}
		if (result == ENGINE_WOULD_WAIT) {
			libaio_prepare(e, slots[i]);
			continue;
		}
		completions_push(&a->done, slots[i], result);
		accepted++;
	}
	accepted += libaio_flush(e);
	/* With nothing in flight nobody would make room. */
	return accepted || a->in_kernel ? (int)accepted : -EAGAIN;
}

/* What an event tells: of a transfer its result, of a poll that it is time to try again. */
static void libaio_take(struct engine *e, const struct io_event *event)
{
	struct libaio *a = e->state;
	const uint32_t slot = (uint32_t)((struct iocb *)event->obj - a->blocks);
	struct io_req *r = &e->config.requests[slot];
	const long told = (long)event->res;
	int32_t result;

	a->in_kernel--;
	a->blocks[slot].data = NULL;
	if (!libaio_is_stream(r)) {
		completions_push(&a->done, slot, (int32_t)told);
		return;
	}
	if (told < 0) {
		libaio_end(e, slot, (int32_t)told);
		return;
	}
	result = engine_try(r, (uint32_t)told);
	if (result != ENGINE_WOULD_WAIT) {
		completions_push(&a->done, slot, result);
		return;
	}
	libaio_prepare(e, slot);
	/* The room of the event that has just been taken is free: only memory can be missing. */
	if (!libaio_flush(e))
		completions_push(&a->done, slot, -ENOMEM);
}

/* Takes at most max events from the ring, without a call. */
static void libaio_look(struct engine *e, uint32_t max)
{
	struct libaio_ring *ring = libaio_ring(e->state);
	const uint32_t tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
	uint32_t head = ring->head;

	for (; head != tail && max; max--) {
		const struct io_event event = ring->events[head];

		head = head + 1 == ring->count ? 0 : head + 1;
		/* Before a new submission, which may need the room. */
		__atomic_store_n(&ring->head, head, __ATOMIC_RELEASE);
		libaio_take(e, &event);
	}
}

static int libaio_reap(struct engine *e, struct io_done *done, uint32_t min, uint32_t max,
                       int64_t timeout_ns)
{
	struct libaio *a = e->state;
	struct timespec time = engine_wait_time(timeout_ns);
	uint32_t n = completions_pop(&a->done, done, max);

	if (n < max) {
		libaio_look(e, max - n);
		n += completions_pop(&a->done, done + n, max - n);
	}
	while (n < min && timeout_ns != 0 && a->in_kernel) {
		const uint32_t most = max - n < LIBAIO_EVENTS ? max - n : LIBAIO_EVENTS;
		const uint32_t least = min - n < most ? min - n : most;
		const int got = io_getevents(a->context, least, most, a->events, &time);

		if (got < 0)
			return got == -EINTR || n ? (int)n : got;
		for (int i = 0; i < got; i++)
			libaio_take(e, &a->events[i]);
		n += completions_pop(&a->done, done + n, max - n);
		/* What a finite time has left only a clock would know: then it ends early. */
		if (timeout_ns > 0 || got == 0)
			break;
	}
	return (int)n;
}

static void libaio_close(struct engine *e)
{
	struct libaio *a = e->state;

	/* Ends polls, and waits for transfers: nothing writes to the caller's memory after. */
	io_destroy(a->context);
	for (uint32_t slot = 0; slot < e->config.slots; slot++)
		if (a->blocks[slot].data && e->config.requests[slot].op == IO_CONNECT)
			close(e->config.requests[slot].fd);
	libaio_free(e);
}

const struct engine_ops engine_libaio = {
    .name = "libaio",
    .summary = "the kernel's native AIO: io_submit, and a ring of events; sockets are polled",
    .size = sizeof(struct libaio),
    .caps = ENGINE_FILES | ENGINE_SOCKETS | ENGINE_CONNECTIONS | ENGINE_QUICK_LOOK,
    .open = libaio_open,
    .submit = libaio_submit,
    .reap = libaio_reap,
    .close = libaio_close,
};
