/*
 * epoll: readiness. A request is tried at once; where it would wait it joins the queue of its
 * descriptor's side, the descriptor is armed once (EPOLLONESHOT), and the request is tried again
 * when the descriptor is ready. One-shot arming costs a call for each wait, and stays right
 * when the caller closes a descriptor and its number comes back as another file.
 * Timers are one timerfd over a heap of deadlines, so no clock is read.
 */
#include "engines/deadlines.h"
#include "engines/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum {
	EPOLL_FDS_MAX = 1 << 20, /* descriptors beyond are refused: their number is their index */
	EPOLL_EVENTS = 256,      /* taken by one wait */
	EPOLL_TIMER = -1,        /* the timer's place in an event */
	EPOLL_WATCH = -2,        /* that of the eventfd of epoll_watch */
};

enum epoll_side { SIDE_IN, SIDE_OUT, SIDES };

/* Requests that wait on one side of a descriptor, in their order: slot + 1, and 0 for none. */
struct epoll_queue {
	uint32_t first, last;
};

struct epoll_fd {
	struct epoll_queue side[SIDES];
};

struct epoll {
	int epoll, timer;
	struct epoll_fd *fds; /* [fd_limit] */
	uint32_t fd_limit;
	bool watched;   /* the eventfd of epoll_watch was written to */
	uint32_t *next; /* [slots]: behind it in its queue */
	struct epoll_event *events;
	struct deadlines deadlines;
	struct completions done;
};

/* Shows by trying that there is nothing to wait for on a regular file. */
static int epoll_refuse_files(char why[ENGINE_WHY_SIZE])
{
	struct epoll_event event = {.events = EPOLLIN};
	const int epoll = epoll_create1(EPOLL_CLOEXEC);
	const int file = memfd_create("iostudy", MFD_CLOEXEC);
	const int error = epoll_ctl(epoll, EPOLL_CTL_ADD, file, &event) ? errno : 0;

	close(file);
	close(epoll);
	return engine_reason(why, -EOPNOTSUPP,
	                     "epoll: a regular file is always ready: epoll cannot wait for it"
	                     " (epoll_ctl: %s)",
	                     strerror(error));
}

static uint32_t epoll_fd_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > EPOLL_FDS_MAX)
		return EPOLL_FDS_MAX;
	return (uint32_t)limit.rlim_cur;
}

static void epoll_close(struct engine *e)
{
	struct epoll *p = e->state;

	assert(p->fds || !p->fd_limit);
	/* Of a connection in progress nobody but the engine knows the descriptor. */
	for (uint32_t fd = 0; p->next && fd < p->fd_limit; fd++)
		for (uint32_t at = p->fds[fd].side[SIDE_OUT].first; at; at = p->next[at - 1])
			if (e->config.requests[at - 1].op == IO_CONNECT)
				close((int)fd);
	completions_close(&p->done, e);
	deadlines_close(&p->deadlines);
	free(p->events);
	free(p->next);
	free(p->fds);
	if (p->timer >= 0)
		close(p->timer);
	if (p->epoll >= 0)
		close(p->epoll);
}

static int epoll_refused(int error, char why[ENGINE_WHY_SIZE])
{
	char limit[32];

	if (error == EMFILE)
		return engine_reason(why, -error,
		                     "epoll: cannot create its descriptors: RLIMIT_NOFILE is %s and"
		                     " every descriptor is taken; raise it with ulimit -n",
		                     engine_limit(RLIMIT_NOFILE, false, limit));
	return engine_reason(why, -error, "epoll: cannot create its descriptors: %s",
	                     strerror(error));
}

static int epoll_open_fds(struct epoll *p, char why[ENGINE_WHY_SIZE])
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = EPOLL_TIMER};
	const struct timespec now = {0};

	p->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (p->epoll < 0)
		return epoll_refused(errno, why);
	p->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (p->timer < 0 || epoll_ctl(p->epoll, EPOLL_CTL_ADD, p->timer, &event) != 0)
		return epoll_refused(errno, why);
	if (epoll_pwait2(p->epoll, p->events, 1, &now, NULL) < 0)
		return engine_reason(why, errno == ENOSYS ? -EOPNOTSUPP : -errno,
		                     "epoll: epoll_pwait2: %s; Linux 5.11 or later is needed",
		                     strerror(errno));
	return 0;
}

static int epoll_open(struct engine *e, char why[ENGINE_WHY_SIZE])
{
	struct epoll *p = e->state;
	const uint32_t slots = e->config.slots;
	int error;

	if (e->config.need & ENGINE_FILES)
		return epoll_refuse_files(why);
	p->epoll = p->timer = -1;
	p->fds = calloc(epoll_fd_limit(), sizeof *p->fds);
	p->fd_limit = p->fds ? epoll_fd_limit() : 0;
	p->next = calloc(slots, sizeof *p->next);
	p->events = calloc(EPOLL_EVENTS, sizeof *p->events);
	error = deadlines_open(&p->deadlines, slots);
	error = completions_open(&p->done, slots) ? -ENOMEM : error;
	if (error || !p->fds || !p->next || !p->events)
		error = engine_reason(why, -ENOMEM, "epoll: no memory for %u slots", slots);
	else
		error = epoll_open_fds(p, why);
	if (error)
		epoll_close(e);
	return error;
}

/* Arms the descriptor for the sides on which requests wait. When that fails, so do they. */
static void epoll_arm(struct engine *e, int fd)
{
	struct epoll *p = e->state;
	struct epoll_queue *side = p->fds[fd].side;
	struct epoll_event event = {
	    .events = (side[SIDE_IN].first ? EPOLLIN | EPOLLRDHUP : 0u) |
	              (side[SIDE_OUT].first ? EPOLLOUT : 0u),
	    .data.fd = fd,
	};
	int error;

	if (!event.events)
		return;
	event.events |= EPOLLONESHOT;
	if (epoll_ctl(p->epoll, EPOLL_CTL_MOD, fd, &event) == 0 ||
	    (errno == ENOENT && epoll_ctl(p->epoll, EPOLL_CTL_ADD, fd, &event) == 0))
		return;
	error = -errno;
	for (int i = 0; i < SIDES; i++)
		for (; side[i].first; side[i].first = p->next[side[i].first - 1])
			completions_push(&p->done, side[i].first - 1, error);
}

/* Tries the requests of one side in their order, until one has to wait. What epoll told holds
 * for the first of them only. */
static void epoll_try_side(struct engine *e, int fd, enum epoll_side which, uint32_t events)
{
	struct epoll *p = e->state;
	struct epoll_queue *q = &p->fds[fd].side[which];

	for (; q->first; events = 0) {
		const uint32_t slot = q->first - 1;
		const int32_t result = engine_try(&e->config.requests[slot], events);

		if (result == ENGINE_WOULD_WAIT)
			break;
		q->first = p->next[slot];
		completions_push(&p->done, slot, result);
	}
}

/* Sets the timer to the earliest deadline. Time 0 would disarm it. */
static void epoll_set_timer(struct epoll *p)
{
	const uint64_t ns = p->deadlines.heap[0].ns ? p->deadlines.heap[0].ns : 1;
	const struct itimerspec time = {
	    .it_value = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)},
	};

	timerfd_settime(p->timer, TFD_TIMER_ABSTIME, &time, NULL);
}

/* The timer has fired: what was due at the time it was set to is over. What has become due
 * since then fires it again at once. */
static void epoll_timer(struct epoll *p)
{
	uint64_t expirations;

	while (p->deadlines.count && read(p->timer, &expirations, sizeof expirations) > 0) {
		const uint64_t due_ns = p->deadlines.heap[0].ns;

		while (p->deadlines.count && p->deadlines.heap[0].ns == due_ns)
			completions_push(&p->done, deadlines_take(&p->deadlines).slot, 0);
		if (p->deadlines.count)
			epoll_set_timer(p);
	}
}

/* Whether the request completes by the descriptor's readiness for output. */
static enum epoll_side epoll_side(const struct io_req *r)
{
	return r->op == IO_WRITE || r->op == IO_SEND || r->op == IO_CONNECT ? SIDE_OUT : SIDE_IN;
}

static int32_t epoll_start_timer(struct epoll *p, uint64_t ns, uint32_t slot)
{
	const bool earliest = !p->deadlines.count || ns < p->deadlines.heap[0].ns;

	deadlines_add(&p->deadlines, ns, slot);
	if (earliest)
		epoll_set_timer(p);
	return ENGINE_WOULD_WAIT;
}

/* Behind those that wait on that side already; the first of them arms the descriptor. */
static void epoll_queue(struct engine *e, uint32_t slot, int fd, enum epoll_side which)
{
	struct epoll *p = e->state;
	struct epoll_queue *q = &p->fds[fd].side[which];

	p->next[slot] = 0;
	if (q->first) {
		p->next[q->last - 1] = slot + 1;
		q->last = slot + 1;
		return;
	}
	q->first = q->last = slot + 1;
	epoll_arm(e, fd);
}

static int32_t epoll_start(struct engine *e, uint32_t slot)
{
	struct epoll *p = e->state;
	struct io_req *r = &e->config.requests[slot];
	const enum epoll_side side = epoll_side(r);
	int32_t result;

	if (r->op == IO_TIMEOUT)
		return epoll_start_timer(p, r->deadline_ns, slot);
	if (r->op == IO_CONNECT && engine_connect_socket(r, SOCK_NONBLOCK) < 0)
		return r->fd;
	if (r->op == IO_NOP || r->fd < 0 || (uint32_t)r->fd >= p->fd_limit) {
		result = engine_try(r, 0);
		/* RLIMIT_NOFILE was raised, or the descriptor is inherited from higher times. */
		if (result != ENGINE_WOULD_WAIT)
			return result;
		if (r->op == IO_CONNECT)
			close(r->fd);
		return -EMFILE;
	}
	/* After those that came before. */
	result = p->fds[r->fd].side[side].first ? ENGINE_WOULD_WAIT : engine_try(r, 0);
	if (result == ENGINE_WOULD_WAIT)
		epoll_queue(e, slot, r->fd, side);
	return result;
}

static int epoll_submit(struct engine *e, const uint32_t *slots, uint32_t n)
{
	struct epoll *p = e->state;

	for (uint32_t i = 0; i < n; i++) {
		const int32_t result = epoll_start(e, slots[i]);

		if (result != ENGINE_WOULD_WAIT)
			completions_push(&p->done, slots[i], result);
	}
	return (int)n;
}

/* Waits once, and tries what has become ready. 0, or -errno (-EINTR too). */
static int epoll_collect(struct engine *e, int64_t timeout_ns)
{
	struct epoll *p = e->state;
	const struct timespec time = engine_wait_time(timeout_ns);
	const int n = epoll_pwait2(p->epoll, p->events, EPOLL_EVENTS, &time, NULL);
	const uint32_t both = EPOLLERR | EPOLLHUP;

	for (int i = 0; i < n; i++) {
		const uint32_t events = p->events[i].events;
		const int fd = p->events[i].data.fd;

		if (fd == EPOLL_WATCH) {
			p->watched = true;
			continue;
		}
		if (fd == EPOLL_TIMER) {
			epoll_timer(p);
			continue;
		}
		if (events & (EPOLLIN | EPOLLRDHUP | both))
			epoll_try_side(e, fd, SIDE_IN, events);
		if (events & (EPOLLOUT | both))
			epoll_try_side(e, fd, SIDE_OUT, events);
		epoll_arm(e, fd);
	}
	return n < 0 ? -errno : 0;
}

static int epoll_reap(struct engine *e, struct io_done *done, uint32_t min, uint32_t max,
                      int64_t timeout_ns)
{
	struct epoll *p = e->state;
	uint32_t n = completions_pop(&p->done, done, max);

	if (n && n >= min)
		return (int)n;
	/* What a finite time has left only a clock would know: then it ends early. */
	do {
		const int error = epoll_collect(e, n < min ? timeout_ns : 0);

		n += completions_pop(&p->done, done + n, max - n);
		if (error)
			return error == -EINTR || n ? (int)n : error;
	} while (n < min && timeout_ns < 0 && !p->watched);
	return (int)n;
}

int epoll_watch(struct engine *e, int event, char why[ENGINE_WHY_SIZE])
{
	const struct epoll *p = e->state;
	struct epoll_event watch = {.events = EPOLLIN | EPOLLET, .data.fd = EPOLL_WATCH};

	return epoll_ctl(p->epoll, EPOLL_CTL_ADD, event, &watch) ? epoll_refused(errno, why) : 0;
}

bool epoll_watched(struct engine *e)
{
	struct epoll *p = e->state;
	const bool watched = p->watched;

	p->watched = false;
	return watched;
}

const struct engine_ops engine_epoll = {
    .name = "epoll",
    .summary = "readiness: one thread waits for all descriptors, then makes the calls",
    .size = sizeof(struct epoll),
    .caps = ENGINE_SOCKETS | ENGINE_TIMERS | ENGINE_CONNECTIONS,
    .open = epoll_open,
    .submit = epoll_submit,
    .reap = epoll_reap,
    .close = epoll_close,
};
