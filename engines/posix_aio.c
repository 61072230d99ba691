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
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum posix_aio_variant { POSIX_AIO_SUSPEND, POSIX_AIO_SIGNAL };

struct posix_aio {
	int signal; /* of POSIX_AIO_SIGNAL */
	sigset_t old_mask;
	struct aiocb *blocks;        /* [slots] */
	const struct aiocb **active; /* [slots]; the first count are in flight, as aio_suspend
	                                wants them */
	uint32_t count;
	struct completions done; /* refused at submission */
};

static bool posix_aio_signals(const struct engine *e)
{
	return e->ops->variant == POSIX_AIO_SIGNAL;
}

/* What a signal carries: which thread's request, and its slot. */
static void *posix_aio_value(uint32_t slot)
{
	return (void *)(((uintptr_t)(uint32_t)gettid() << 32) | slot);
}

/* Whether the signal is this thread's. It is sent to the process, so that another may have got
 * it: then it is sent on to its own. */
static bool posix_aio_is_own(siginfo_t *info)
{
	const pid_t thread = (pid_t)((uintptr_t)info->si_value.sival_ptr >> 32);

	if (thread == gettid())
		return true;
	syscall(SYS_rt_tgsigqueueinfo, getpid(), thread, info->si_signo, info);
	return false;
}

static void posix_aio_forward(int signal, siginfo_t *info, void *context)
{
	const int error = errno;

	(void)signal;
	(void)context;
	posix_aio_is_own(info);
	errno = error;
}

/* Takes a real-time signal that nobody uses, from the lowest up, and blocks it for this thread.
 * All engines share it; their handler stays, because another thread may have it unblocked. */
static int posix_aio_take_signal(struct posix_aio *a, uint32_t slots, char why[ENGINE_WHY_SIZE])
{
	struct rlimit pending;
	sigset_t own;
	char limit[32];

	if (getrlimit(RLIMIT_SIGPENDING, &pending) == 0 && pending.rlim_cur < slots)
		return engine_reason(why, -EAGAIN,
		                     "posix-aio-signal: RLIMIT_SIGPENDING is %s, and %u signals"
		                     " may be queued; raise it with ulimit -i, or use a smaller"
		                     " --depth",
		                     engine_limit(RLIMIT_SIGPENDING, false, limit), slots);
	for (int number = SIGRTMIN; number <= SIGRTMAX && !a->signal; number++) {
		const struct sigaction action = {.sa_sigaction = posix_aio_forward,
		                                 .sa_flags = SA_SIGINFO | SA_RESTART};
		struct sigaction old;

		if (sigaction(number, NULL, &old) != 0)
			continue;
		if ((old.sa_flags & SA_SIGINFO && old.sa_sigaction == posix_aio_forward) ||
		    (old.sa_handler == SIG_DFL && sigaction(number, &action, NULL) == 0))
			a->signal = number;
	}
	if (!a->signal)
		return engine_reason(why, -EBUSY,
		                     "posix-aio-signal: this process uses every real-time signal,"
		                     " and one is needed");
	sigemptyset(&own);
	sigaddset(&own, a->signal);
	pthread_sigmask(SIG_BLOCK, &own, &a->old_mask);
	return 0;
}

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
		                     "%s: has no timers: it reads and writes, no more",
		                     e->ops->name);
	if (e->config.need & ENGINE_CONNECTIONS)
		return engine_reason(why, -EOPNOTSUPP,
		                     "%s: cannot accept or connect: it reads and writes, no more",
		                     e->ops->name);
	a->blocks = calloc(slots, sizeof *a->blocks);
	a->active = calloc(slots, sizeof *a->active);
	error = completions_open(&a->done, slots);
	if (error || !a->blocks || !a->active) {
		posix_aio_free(e);
		return engine_reason(why, -ENOMEM, "%s: no memory for %u slots", e->ops->name,
		                     slots);
	}
	error = posix_aio_signals(e) ? posix_aio_take_signal(a, slots, why) : 0;
	if (error)
		posix_aio_free(e);
	return error;
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
	if (posix_aio_signals(e)) {
		block->aio_sigevent.sigev_notify = SIGEV_SIGNAL;
		block->aio_sigevent.sigev_signo = a->signal;
		block->aio_sigevent.sigev_value.sival_ptr = posix_aio_value(slot);
	}
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
			if (!posix_aio_signals(e))
				a->active[a->count] = &a->blocks[slots[i]];
			a->count++;
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

/* Waits for one signal and takes the request that it tells of. 1, 0 for another's, or -errno. */
static int posix_aio_take_one(struct engine *e, const struct timespec *time, struct io_done *done)
{
	struct posix_aio *a = e->state;
	siginfo_t info;
	sigset_t own;
	int error;

	sigemptyset(&own);
	sigaddset(&own, a->signal);
	if (sigtimedwait(&own, &info, time) < 0)
		return -errno;
	if (info.si_code != SI_ASYNCIO || !posix_aio_is_own(&info))
		return 0;
	done->slot = (uint32_t)(uintptr_t)info.si_value.sival_ptr;
	error = aio_error(&a->blocks[done->slot]);
	done->result = error ? -error : (int32_t)aio_return(&a->blocks[done->slot]);
	a->count--;
	return 1;
}

static int posix_aio_reap_signals(struct engine *e, struct io_done *done, uint32_t min,
                                  uint32_t max, int64_t timeout_ns)
{
	const struct timespec wait = engine_wait_time(timeout_ns), now = {0};
	struct posix_aio *a = e->state;
	uint32_t n = completions_pop(&a->done, done, max);

	while (n < max && a->count) {
		const int got = posix_aio_take_one(e, n < min ? &wait : &now, &done[n]);

		if (got == -EAGAIN || got == -EINTR)
			break;
		if (got < 0)
			return n ? (int)n : got;
		n += (uint32_t)got;
	}
	return (int)n;
}

/* Every request sends its signal, one that was taken back too. */
static void posix_aio_close_signals(struct engine *e)
{
	const struct timespec wait = engine_wait_time(-1);
	struct posix_aio *a = e->state;
	struct io_done done;

	for (uint32_t slot = 0; slot < e->config.slots; slot++)
		if (a->blocks[slot].aio_sigevent.sigev_signo == a->signal &&
		    aio_error(&a->blocks[slot]) == EINPROGRESS)
			aio_cancel(a->blocks[slot].aio_fildes, &a->blocks[slot]);
	while (a->count)
		posix_aio_take_one(e, &wait, &done);
	pthread_sigmask(SIG_SETMASK, &a->old_mask, NULL);
	posix_aio_free(e);
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

const struct engine_ops engine_posix_aio_signal = {
    .name = "posix-aio-signal",
    .summary = "glibc's POSIX AIO, whose completions come as queued real-time signals",
    .size = sizeof(struct posix_aio),
    .caps = ENGINE_FILES | ENGINE_SOCKETS | ENGINE_HIDDEN_THREADS,
    .variant = POSIX_AIO_SIGNAL,
    .open = posix_aio_open,
    .submit = posix_aio_submit,
    .reap = posix_aio_reap_signals,
    .close = posix_aio_close_signals,
};
