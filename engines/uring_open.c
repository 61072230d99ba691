/*
 * Making a ring and registering with it what is known in advance, and saying which limit stands
 * in the way when the kernel refuses.
 */
#include "engines/uring.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/uio.h>

/* How a variant's ring is made, and the first Linux that can. */
static const struct uring_setup {
	uint32_t flags;
	const char *names, *since;
} uring_setups[] = {
    [URING_PLAIN] = {.names = "a ring of that size for completions", .since = "5.5"},
    /* TASKRUN_FLAG: a look sees without a call whether there is something to fetch. */
    [URING_DEFER] = {.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN |
                              IORING_SETUP_TASKRUN_FLAG,
                     .names = "SINGLE_ISSUER and DEFER_TASKRUN",
                     .since = "6.1"},
    [URING_SQPOLL] = {.flags = IORING_SETUP_SQPOLL, .names = "SQPOLL", .since = "5.11"},
    [URING_IOPOLL] = {.flags = IORING_SETUP_IOPOLL, .names = "IOPOLL", .since = "5.1"},
    [URING_ASYNC] = {.names = "a ring of that size for completions", .since = "5.5"},
};

static uint32_t power_of_two(uint32_t n)
{
	uint32_t power = 1;

	while (power < n)
		power *= 2;
	return power;
}

/* kernel.io_uring_disabled, or -1 where the kernel (before 6.6) has no such setting. */
static int uring_disabled(void)
{
	FILE *file = fopen("/proc/sys/kernel/io_uring_disabled", "re");
	int value = -1;

	if (file) {
		if (fscanf(file, "%d", &value) != 1)
			value = -1;
		fclose(file);
	}
	return value;
}

static int uring_refused(const struct uring_setup *setup, char why[ENGINE_WHY_SIZE], int error,
                         uint32_t entries)
{
	const int disabled = uring_disabled();
	char limit[32];

	switch (-error) {
	case ENOMEM:
		return engine_reason(why, error,
		                     "io_uring: cannot create a ring of %u entries: RLIMIT_MEMLOCK"
		                     " is %s; raise it with ulimit -l, or use --depth %u",
		                     entries, engine_limit(RLIMIT_MEMLOCK, true, limit),
		                     entries > 16 ? entries / 16 : 1);
	case EMFILE:
		return engine_reason(why, error,
		                     "io_uring: cannot create a ring: RLIMIT_NOFILE is %s and every"
		                     " descriptor is taken; raise it with ulimit -n",
		                     engine_limit(RLIMIT_NOFILE, false, limit));
	case EPERM:
		if (disabled > 0)
			return engine_reason(why, -EOPNOTSUPP,
			                     "io_uring: cannot create a ring: the sysctl"
			                     " kernel.io_uring_disabled is %d; allow it with sysctl"
			                     " kernel.io_uring_disabled=0",
			                     disabled);
		return engine_reason(
		    why, -EOPNOTSUPP,
		    "io_uring: cannot create a ring: a seccomp filter answers EPERM"
		    " to io_uring_setup, as containers' default profiles do; run"
		    " with one that allows it (seccomp=unconfined)");
	case ENOSYS:
		return engine_reason(why, -EOPNOTSUPP,
		                     "io_uring: cannot create a ring: this kernel has no io_uring,"
		                     " or a seccomp filter hides it");
	case EAGAIN:
		return engine_reason(why, error,
		                     "io_uring: cannot start the kernel's thread of a ring:"
		                     " RLIMIT_NPROC is %s; raise it with ulimit -u",
		                     engine_limit(RLIMIT_NPROC, false, limit));
	case EINVAL:
		return engine_reason(why, -EOPNOTSUPP,
		                     "io_uring: cannot create a ring: this kernel does not know %s;"
		                     " Linux %s or later is needed",
		                     setup->names, setup->since);
	default:
		return engine_reason(why, error, "io_uring: cannot create a ring of %u entries: %s",
		                     entries, strerror(-error));
	}
}

static int uring_create(struct engine *e, char why[ENGINE_WHY_SIZE])
{
	const struct uring_setup *setup = &uring_setups[e->ops->variant];
	struct uring *u = e->state;
	const uint32_t slots = power_of_two(e->config.slots);
	const uint32_t entries = slots < URING_ENTRIES_MAX ? slots : URING_ENTRIES_MAX;
	/* Room for every slot, so that it cannot overflow. Of more slots than the kernel allows
	 * entries, it keeps the rest in a list (IORING_FEAT_NODROP), which reap takes over. */
	struct io_uring_params params = {
	    .flags = IORING_SETUP_CQSIZE | setup->flags,
	    .sq_thread_idle = URING_POLL_IDLE_MS,
	    .cq_entries = slots < URING_COMPLETIONS_MAX ? slots : URING_COMPLETIONS_MAX,
	};
	const uint32_t features = IORING_FEAT_EXT_ARG | IORING_FEAT_NODROP;
	const int error = io_uring_queue_init_params(entries, &u->ring, &params);

	if (error)
		return uring_refused(setup, why, error, entries);
	if ((params.features & features) != features) {
		io_uring_queue_exit(&u->ring);
		return engine_reason(why, -EOPNOTSUPP,
		                     "io_uring: this kernel's rings cannot wait with a time-out;"
		                     " Linux 5.11 or later is needed");
	}
	/* The index array never changes: entry i of the queue is submission i. */
	for (uint32_t i = 0; i < params.sq_entries; i++)
		u->ring.sq.array[i] = i;
	u->tail = *u->ring.sq.ktail;
	u->enter_fd = u->ring.ring_fd;
	/* Its descriptor need not be looked up at each call; this holds for one thread only, and
	 * where it cannot be had it is only slower. */
	if (!(e->ops->caps & ENGINE_TWO_SIDED) && io_uring_register_ring_fd(&u->ring) == 1) {
		u->enter_fd = u->ring.enter_ring_fd;
		u->enter_flags = IORING_ENTER_REGISTERED_RING;
	}
	return 0;
}

static int uring_register_memory(struct engine *e, char why[ENGINE_WHY_SIZE])
{
	struct uring *u = e->state;
	const size_t bytes = e->config.memory_bytes;
	const size_t count = (bytes + URING_BUFFER_BYTES - 1) >> URING_BUFFER_SHIFT;
	struct iovec *buffers;
	char limit[32];
	int error;

	if (!e->config.memory || !bytes)
		return 0;
	buffers = calloc(count, sizeof *buffers);
	if (!buffers)
		return engine_reason(why, -ENOMEM, "io_uring: no memory for %zu buffers", count);
	for (size_t i = 0; i < count; i++) {
		const size_t begin = i << URING_BUFFER_SHIFT;

		buffers[i].iov_base = (char *)e->config.memory + begin;
		buffers[i].iov_len = bytes - begin < URING_BUFFER_BYTES ? bytes - begin
		                                                        : URING_BUFFER_BYTES;
	}
	error = io_uring_register_buffers(&u->ring, buffers, (unsigned)count);
	free(buffers);
	if (error == -ENOMEM)
		return engine_reason(
		    why, error,
		    "io_uring: cannot register %zu KiB of memory: RLIMIT_MEMLOCK is"
		    " %s for all rings of this user; raise it with ulimit -l, or"
		    " use a smaller --depth or --bs",
		    bytes / 1024, engine_limit(RLIMIT_MEMLOCK, true, limit));
	if (error)
		return engine_reason(why, error, "io_uring: cannot register %zu KiB of memory: %s",
		                     bytes / 1024, strerror(-error));
	u->buffers = (uint32_t)count;
	return 0;
}

static int uring_register_fds(struct engine *e, char why[ENGINE_WHY_SIZE])
{
	struct uring *u = e->state;
	const uint32_t count = e->config.fd_count;
	char limit[32];
	int error;

	if (!count)
		return 0;
	for (uint32_t i = 0; i < count; i++)
		if (e->config.fds[i] >= 0 && (uint32_t)e->config.fds[i] >= u->fd_limit)
			u->fd_limit = (uint32_t)e->config.fds[i] + 1;
	u->fixed_fds = malloc(u->fd_limit * sizeof *u->fixed_fds + 1);
	if (!u->fixed_fds)
		return engine_reason(why, -ENOMEM, "io_uring: no memory for %u descriptors", count);
	for (uint32_t fd = 0; fd < u->fd_limit; fd++)
		u->fixed_fds[fd] = -1;
	for (uint32_t i = 0; i < count; i++)
		if (e->config.fds[i] >= 0)
			u->fixed_fds[e->config.fds[i]] = (int32_t)i;
	error = io_uring_register_files(&u->ring, e->config.fds, count);
	if (error == -EMFILE)
		return engine_reason(
		    why, error,
		    "io_uring: cannot register %u descriptors: RLIMIT_NOFILE is %s;"
		    " raise it with ulimit -n",
		    count, engine_limit(RLIMIT_NOFILE, false, limit));
	if (error)
		return engine_reason(why, error, "io_uring: cannot register %u descriptors: %s",
		                     count, strerror(-error));
	u->files = true;
	return 0;
}

/* A filter may let the ring be made and forbid its use: look once. */
static int uring_try(struct engine *e, char why[ENGINE_WHY_SIZE])
{
	struct uring *u = e->state;
	struct io_uring_getevents_arg argument = {0};
	const int n = io_uring_enter2((unsigned)u->ring.ring_fd, 0, 0,
	                              IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG,
	                              (sigset_t *)&argument, sizeof argument);

	if (n >= 0)
		return 0;
	if (n == -EPERM || n == -ENOSYS)
		return engine_reason(why, -EOPNOTSUPP,
		                     "io_uring: a seccomp filter answers %s to io_uring_enter; run"
		                     " with one that allows it (seccomp=unconfined)",
		                     n == -EPERM ? "EPERM" : "ENOSYS");
	return engine_reason(why, n, "io_uring: cannot enter the ring: %s", strerror(-n));
}

/* What a polled ring cannot do, it tells at the first read only. */
static int uring_try_polled(struct engine *e, char why[ENGINE_WHY_SIZE])
{
	enum { BLOCK = 4096 };
	struct uring *u = e->state;
	struct io_uring_sqe *sqe;
	struct io_uring_cqe *cqe;
	void *block;
	int error;

	if (e->config.need & (uint32_t)~ENGINE_FILES)
		return engine_reason(why, -EOPNOTSUPP,
		                     "uring-iopoll: polls disks, and neither sockets nor timers");
	if (!e->config.fd_count)
		return engine_reason(why, -EOPNOTSUPP,
		                     "uring-iopoll: whether a device has a poll queue is known by a"
		                     " read of its file, and no file was named in advance");
	block = aligned_alloc(BLOCK, BLOCK);
	sqe = block ? io_uring_get_sqe(&u->ring) : NULL;
	if (!sqe) {
		free(block);
		return engine_reason(why, -ENOMEM, "uring-iopoll: no memory for a read");
	}
	io_uring_prep_read(sqe, e->config.fds[0], block, BLOCK, 0);
	error = io_uring_submit(&u->ring);
	if (error >= 0)
		error = io_uring_wait_cqe(&u->ring, &cqe);
	if (!error) {
		error = cqe->res < 0 ? cqe->res : 0;
		io_uring_cqe_seen(&u->ring, cqe);
	}
	free(block);
	u->tail = *u->ring.sq.ktail;
	if (error == -EOPNOTSUPP)
		return engine_reason(
		    why, error,
		    "uring-iopoll: a polled read is refused (%s): the device has"
		    " no poll queue (queue/io_poll is 0; for NVMe the module's"
		    " option poll_queues), or the file is not read with --direct 1",
		    strerror(-error));
	return error ? engine_reason(why, error, "uring-iopoll: a polled read failed: %s",
	                             strerror(-error))
	             : 0;
}

void uring_teardown(struct uring *u)
{
	/* By hand, because the kernel tears a closed ring down later, in a thread of its own:
	 * until then sockets would stay open and locked memory counted. */
	if (u->buffers)
		io_uring_unregister_buffers(&u->ring);
	if (u->files)
		io_uring_unregister_files(&u->ring);
	io_uring_queue_exit(&u->ring);
	free(u->fixed_fds);
	free(u->deadlines);
}

int uring_open(struct engine *e, char why[ENGINE_WHY_SIZE])
{
	struct uring *u = e->state;
	int error = uring_create(e, why);

	if (error)
		return error;
	error = uring_is(e, URING_IOPOLL) ? uring_try_polled(e, why) : uring_try(e, why);
	if (error)
		goto fail;
	error = uring_register_memory(e, why);
	if (error)
		goto fail;
	error = uring_register_fds(e, why);
	if (error)
		goto fail;
	u->deadlines = calloc(e->config.slots, sizeof *u->deadlines);
	if (!u->deadlines) {
		error = engine_reason(why, -ENOMEM, "io_uring: no memory for %u deadlines",
		                      e->config.slots);
		goto fail;
	}
	return 0;
fail:
	uring_teardown(u);
	return error;
}
