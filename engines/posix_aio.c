/*
 * posix-aio: the asynchronous I/O of the C library. glibc serves it by threads of its own that
 * make blocking calls: one for each descriptor at a time, 20 in all, ended after a second
 * without work. The submitter waits in aio_suspend.
 *
 * Where pread is refused (pipes, sockets) glibc reads without an offset, so streams work. It
 * has no accept, no connect and no timer.
 */
#include "engines/internal.h"

#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

struct posix_aio {
	struct aiocb *blocks;        /* [slots] */
	const struct aiocb **active; /* [slots]; the first count are in flight, as aio_suspend
	                                wants them */
	uint32_t count;
	struct completions done; /* refused at submission */
};

static void posix_aio_free(struct engine *e)
{
	struct posix_aio *a = e->state;

	completions_close(&a->done, e);
	free(a->active);
	free(a->blocks);
}

static int posix_aio_open(struct engine *e, char why[ENGINE_WHY_SIZE])
{
	struct posix_aio *a = e->state;
	const uint32_t slots = e->config.slots;
	int error;

	if (e->config.need & ENGINE_TIMERS)
		return engine_reason(why, -EOPNOTSUPP,
		                     "posix-aio: has no timers: it reads and writes, no more");
	if (e->config.need & ENGINE_CONNECTIONS)
		return engine_reason(why, -EOPNOTSUPP,
		                     "posix-aio: cannot accept or connect: it reads and writes, no"
		                     " more");
	a->blocks = calloc(slots, sizeof *a->blocks);
	a->active = calloc(slots, sizeof *a->active);
	error = completions_open(&a->done, slots);
	if (error || !a->blocks || !a->active) {
		posix_aio_free(e);
		return engine_reason(why, -ENOMEM, "posix-aio: no memory for %u slots", slots);
	}
	return 0;
}

/* 0: in flight. 1: complete at once, with *result. */
static int posix_aio_start(struct engine *e, uint32_t slot, int32_t *result)
{
	struct posix_aio *a = e->state;
	const struct io_req *r = &e->config.requests[slot];
	struct aiocb *block = &a->blocks[slot];
	int error;

	*block = (struct aiocb){
	    .aio_fildes = r->fd,
	    .aio_buf = r->data,
	    .aio_nbytes = r->length,
	    .aio_sigevent.sigev_notify = SIGEV_NONE,
	};
	switch (r->op) {
	case IO_READ:
	case IO_WRITE:
		block->aio_offset = r->offset == UINT64_MAX ? 0 : (off_t)r->offset;
		error = r->op == IO_READ ? aio_read(block) : aio_write(block);
		break;
	case IO_RECV:
		error = aio_read(block);
		break;
	case IO_SEND:
		/* No MSG_NOSIGNAL is needed: SIGPIPE is blocked in glibc's threads. */
		error = aio_write(block);
		break;
	case IO_FSYNC:
		error = aio_fsync(O_SYNC, block);
		break;
	case IO_NOP:
		*result = 0;
		return 1;
	default:
		*result = -EOPNOTSUPP;
		return 1;
	}
	*result = error ? -errno : 0;
	return error ? 1 : 0;
}

static int posix_aio_submit(struct engine *e, const uint32_t *slots, uint32_t n)
{
	struct posix_aio *a = e->state;

	for (uint32_t i = 0; i < n; i++) {
		int32_t result;

		if (!posix_aio_start(e, slots[i], &result)) {
			a->active[a->count++] = &a->blocks[slots[i]];
			continue;
		}
		if (result == -EAGAIN) {
			/* No memory, or no thread. What is in flight may free some; with nothing
			 * in flight nobody would. */
			return i || a->count ? (int)i : -EAGAIN;
		}
		completions_push(&a->done, slots[i], result);
	}
	return (int)n;
}

/* Takes what is complete, without waiting. */
static uint32_t posix_aio_take(struct engine *e, struct io_done *done, uint32_t max)
{
	struct posix_aio *a = e->state;
	uint32_t n = completions_pop(&a->done, done, max);
	uint32_t kept = 0;

	for (uint32_t i = 0; i < a->count; i++) {
		struct aiocb *block = (struct aiocb *)a->active[i];
		const int error = n < max ? aio_error(block) : EINPROGRESS;

		if (error == EINPROGRESS) {
			a->active[kept++] = block;
			continue;
		}
		done[n++] = (struct io_done){
		    .slot = (uint32_t)(block - a->blocks),
		    .result = error ? -error : (int32_t)aio_return(block),
		};
	}
	a->count = kept;
	return n;
}

static int posix_aio_reap(struct engine *e, struct io_done *done, uint32_t min, uint32_t max,
                          int64_t timeout_ns)
{
	struct posix_aio *a = e->state;
	const struct timespec time = engine_wait_time(timeout_ns);
	uint32_t n = posix_aio_take(e, done, max);

	while (n < min && a->count && timeout_ns != 0) {
		const int error = aio_suspend(a->active, (int)a->count, &time) ? errno : 0;

		if (error && error != EAGAIN && error != EINTR)
			return n ? (int)n : -error;
		n += posix_aio_take(e, done + n, max - n);
		/* It wakes for each one. What a finite time has left only a clock would know:
		 * then it ends early. */
		if (error || timeout_ns > 0)
			break;
	}
	return (int)n;
}

static void posix_aio_close(struct engine *e)
{
	struct posix_aio *a = e->state;
	struct io_done done[64];

	/* Only what glibc still has in its queue can be taken back. A call in progress ends when
	 * its transfer does: until then it may write to the caller's memory. */
	for (uint32_t i = 0; i < a->count; i++)
		aio_cancel(a->active[i]->aio_fildes, (struct aiocb *)a->active[i]);
	while (a->count) {
		posix_aio_take(e, done, 64);
		if (a->count)
			aio_suspend(a->active, (int)a->count, NULL);
	}
	posix_aio_free(e);
}

const struct engine_ops engine_posix_aio = {
    .name = "posix-aio",
    .summary = "glibc's POSIX AIO: threads of the C library make blocking calls",
    .size = sizeof(struct posix_aio),
    .caps = ENGINE_FILES | ENGINE_SOCKETS | ENGINE_HIDDEN_THREADS,
    .open = posix_aio_open,
    .submit = posix_aio_submit,
    .reap = posix_aio_reap,
    .close = posix_aio_close,
};
