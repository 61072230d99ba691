/*
 * The table of engines and the checked wrappers around them. A slot's owner is one byte: it is
 * released at submit and acquired when reap hands the slot back, so that a race detector sees
 * the hand-over of the request even where the kernel is between the two threads.
 */
#include "engines/internal.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

const struct engine_ops *const engine_table[] = {
    &engine_blocking,
    &engine_pool,
    &engine_posix_aio,
    &engine_posix_aio_signal,
    &engine_libaio,
    &engine_epoll,
    &engine_epoll_offload,
    &engine_uring,
    &engine_uring_defer,
    &engine_uring_sqpoll,
    &engine_uring_iopoll,
    &engine_uring_async,
    &engine_port,
    &engine_null,
    NULL,
};

enum { OWNER_CALLER, OWNER_ENGINE };

const struct engine_ops *engine_find(const char *name)
{
	for (uint32_t i = 0; engine_table[i]; i++)
		if (strcmp(engine_table[i]->name, name) == 0)
			return engine_table[i];
	return NULL;
}

int engine_open(struct engine *e, const struct engine_ops *ops, const struct engine_config *config,
                char why[ENGINE_WHY_SIZE])
{
	int error;

	assert(config->slots >= 1 && config->slots <= ENGINE_SLOTS_MAX && config->requests);
	assert(config->threads <= ENGINE_THREADS_MAX && config->fd_count <= ENGINE_FDS_MAX);
	assert(!config->fd_count || config->fds);
	assert(!(config->need & ~(uint32_t)ENGINE_NEEDS));
	memset(e, 0, sizeof *e);
	why[0] = 0;
	e->ops = ops;
	e->config = *config;
	e->owner = calloc(config->slots, 1);
	e->state = calloc(1, ops->size ? ops->size : 1);
	if (!e->owner || !e->state)
		error = engine_reason(why, -ENOMEM, "%s: no memory for %u slots", ops->name,
		                      config->slots);
	else
		error = ops->open(e, why);
	assert(error <= 0 && (error == 0 || why[0]));
	assert(error || !(config->need & ~ops->caps));
	if (error) {
		free(e->state);
		free(e->owner);
		memset(e, 0, sizeof *e);
	}
	return error;
}

/* A locked addition costs more than the rest of a wrapper: only where two threads may count. */
static void count_in_flight(struct engine *e, uint32_t change)
{
	if (e->ops->caps & ENGINE_TWO_SIDED)
		__atomic_fetch_add(&e->in_flight, change, __ATOMIC_RELAXED);
	else
		__atomic_store_n(&e->in_flight, e->in_flight + change, __ATOMIC_RELAXED);
}

int engine_submit(struct engine *e, const uint32_t *slots, uint32_t n)
{
	int accepted;
	uint32_t taken;

	assert(n >= 1);
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t slot = slots[i];

		assert(slot < e->config.slots);
		assert(e->config.requests[slot].op < IO_OP_COUNT);
		assert(__atomic_load_n(&e->owner[slot], __ATOMIC_RELAXED) == OWNER_CALLER);
		__atomic_store_n(&e->owner[slot], OWNER_ENGINE, __ATOMIC_RELEASE);
	}
	/* Before the submission: another thread may reap before it has returned. */
	count_in_flight(e, n);
	accepted = e->ops->submit(e, slots, n);
	assert(accepted <= (int)n);
	assert(accepted <= 1 || !(e->ops->caps & ENGINE_SYNCHRONOUS));
	taken = accepted < 0 ? 0 : (uint32_t)accepted;
	if (taken < n) {
		for (uint32_t i = taken; i < n; i++)
			__atomic_store_n(&e->owner[slots[i]], OWNER_CALLER, __ATOMIC_RELAXED);
		count_in_flight(e, taken - n);
	}
	return accepted;
}

int engine_reap(struct engine *e, struct io_done *done, uint32_t min, uint32_t max,
                int64_t timeout_ns)
{
	int n;

	assert(max >= 1 && min <= max);
	n = e->ops->reap(e, done, min, max, timeout_ns);
	assert(n <= (int)max);
	if (n <= 0)
		return n;
	for (int i = 0; i < n; i++) {
		const uint32_t slot = done[i].slot;

		assert(slot < e->config.slots);
		assert(__atomic_load_n(&e->owner[slot], __ATOMIC_ACQUIRE) == OWNER_ENGINE);
		__atomic_store_n(&e->owner[slot], OWNER_CALLER, __ATOMIC_RELAXED);
	}
	count_in_flight(e, -(uint32_t)n);
	return n;
}

void engine_close(struct engine *e)
{
	e->ops->close(e);
	free(e->state);
	free(e->owner);
	memset(e, 0, sizeof *e);
}

uint32_t engine_in_flight(const struct engine *e)
{
	return __atomic_load_n(&e->in_flight, __ATOMIC_RELAXED);
}

void engine_thread_begin(const struct engine *e)
{
	if (e->config.hooks.thread_begin)
		e->config.hooks.thread_begin(e->config.hooks.context);
}

void engine_thread_end(const struct engine *e)
{
	if (e->config.hooks.thread_end)
		e->config.hooks.thread_end(e->config.hooks.context);
}

void engine_call_begin(const struct engine *e, uint32_t slot)
{
	if (e->config.hooks.call_begin)
		e->config.hooks.call_begin(e->config.hooks.context, slot);
}

void engine_call_end(const struct engine *e, uint32_t slot)
{
	if (e->config.hooks.call_end)
		e->config.hooks.call_end(e->config.hooks.context, slot);
}

void engine_futex_wait(uint32_t *word, uint32_t value, int64_t timeout_ns)
{
	const struct timespec time = engine_wait_time(timeout_ns);

	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &time, NULL, 0);
}

void engine_futex_wake(uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

int engine_reason(char why[ENGINE_WHY_SIZE], int error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(why, ENGINE_WHY_SIZE, format, arguments);
	va_end(arguments);
	return error;
}

const char *engine_limit(int resource, bool bytes, char text[32])
{
	struct rlimit limit;

	if (getrlimit((__rlimit_resource_t)resource, &limit) != 0)
		snprintf(text, 32, "unknown");
	else if (limit.rlim_cur == RLIM_INFINITY)
		snprintf(text, 32, "unlimited");
	else if (bytes)
		snprintf(text, 32, "%llu KiB", (unsigned long long)limit.rlim_cur / 1024);
	else
		snprintf(text, 32, "%llu", (unsigned long long)limit.rlim_cur);
	return text;
}

int engine_connect_socket(struct io_req *r, int flags)
{
	const struct sockaddr *address = r->data;
	int fd = -EINVAL;

	if (address && r->length >= sizeof address->sa_family) {
		fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
		if (fd < 0)
			fd = -errno;
	}
	__atomic_store_n(&r->fd, fd, __ATOMIC_RELAXED);
	return fd;
}

void engine_discard(const struct engine *e, const struct io_done *done)
{
	const uint8_t op = e->config.requests[done->slot].op;

	if ((op == IO_ACCEPT || op == IO_CONNECT) && done->result >= 0 &&
	    !(e->ops->caps & ENGINE_NO_IO))
		close(done->result);
}

int completions_open(struct completions *c, uint32_t slots)
{
	uint32_t size = 1;

	while (size < slots)
		size *= 2;
	c->done = calloc(size, sizeof *c->done);
	c->mask = size - 1;
	return c->done ? 0 : -ENOMEM;
}

void completions_close(struct completions *c, const struct engine *e)
{
	for (; c->head != c->tail; c->head++)
		engine_discard(e, &c->done[c->head & c->mask]);
	free(c->done);
	c->done = NULL;
}
