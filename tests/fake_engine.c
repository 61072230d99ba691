/*
 * See fake_engine.h. Time goes in steps: each reap is one. A request gets a latency in steps by
 * chance and is tried from then on, in an order by chance; while nothing completes a waiting
 * reap sleeps a tenth of a millisecond a step.
 */
#include "tests/fake_engine.h"

#include "engines/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <poll.h>
#include <unistd.h>

enum { FAKE_STEP_NS = 100000, FAKE_LATENCY_STEPS = 6 };

struct fake_request {
	uint32_t slot, steps;
	bool begun; /* a CONNECT is in progress */
};

struct fake {
	uint64_t random;
	uint32_t calls, count;
	struct fake_request *active; /* [slots]; the first count are in flight */
	uint8_t fault, fail_call;
	uint32_t repeat_slot; /* + 1; for the fault */
};

static uint64_t fake_random(struct fake *f)
{
	f->random ^= f->random << 13;
	f->random ^= f->random >> 7;
	f->random ^= f->random << 17;
	return f->random;
}

static bool fake_fails(struct fake *f)
{
	return ++f->calls == f->fail_call;
}

static int fake_open(struct engine *e, char why[ENGINE_WHY_SIZE])
{
	struct fake *f = e->state;

	f->random = 0x9e3779b97f4a7c15 * ((e->ops->variant & 0xffff) + 1);
	f->fault = (uint8_t)(e->ops->variant >> 16);
	f->fail_call = (uint8_t)(e->ops->variant >> 24);
	if (f->fault == FAKE_WITHOUT_REASON)
		return -EIO;
	if (fake_fails(f))
		return engine_reason(why, -EIO, "fake: call %u fails, as was asked", f->calls);
	if (e->config.need & ~e->ops->caps && f->fault != FAKE_IGNORES_NEED)
		return engine_reason(why, -EOPNOTSUPP, "fake: cannot serve that");
	f->active = calloc(e->config.slots, sizeof *f->active);
	return f->active ? 0 : engine_reason(why, -ENOMEM, "fake: no memory");
}

static int fake_submit(struct engine *e, const uint32_t *slots, uint32_t n)
{
	struct fake *f = e->state;
	uint32_t accepted = (uint32_t)(fake_random(f) % (n + 1)); /* back-pressure by chance */

	if (fake_fails(f))
		return -EIO;
	if (f->fault == FAKE_MORE_THAN_GIVEN)
		return (int)n + 1;
	/* One at least when idle, or who waits for its only request would wait for ever. */
	if (!f->count && !accepted)
		accepted = 1;
	for (uint32_t i = 0; i < accepted; i++) {
		struct io_req *r = &e->config.requests[slots[i]];

		if (r->op == IO_CONNECT)
			engine_connect_socket(r, SOCK_NONBLOCK);
		f->active[f->count++] = (struct fake_request){
		    .slot = slots[i],
		    .steps = (uint32_t)(fake_random(f) % FAKE_LATENCY_STEPS),
		};
	}
	return (int)accepted;
}

static int32_t fake_try_timer(const struct io_req *r)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec >= r->deadline_ns
	           ? 0
	           : ENGINE_WOULD_WAIT;
}

static int32_t fake_try(struct engine *e, struct fake_request *request)
{
	struct fake *f = e->state;
	struct io_req *r = &e->config.requests[request->slot];
	struct pollfd p = {.fd = r->fd, .events = POLLIN | POLLOUT};
	uint32_t events = 0;

	if (f->fault == FAKE_REQUEST_ERRORS && r->op >= IO_READ && r->op <= IO_SEND &&
	    fake_random(f) % 4 == 0)
		return -EIO;
	if (r->op == IO_TIMEOUT)
		return fake_try_timer(r);
	if (r->op == IO_FSYNC ||
	    ((r->op == IO_READ || r->op == IO_WRITE) && r->offset != UINT64_MAX))
		return engine_call(r, NULL);
	if (r->op == IO_CONNECT && r->fd < 0)
		return r->fd;
	if (r->op == IO_CONNECT && request->begun) {
		if (poll(&p, 1, 0) <= 0 || !(p.revents & ~POLLIN))
			return ENGINE_WOULD_WAIT;
		events = EPOLLOUT | (p.revents & POLLHUP ? EPOLLHUP : 0u);
	} else if (r->op == IO_ACCEPT && poll(&p, 1, 0) > 0) {
		events = EPOLLIN | (p.revents & POLLHUP ? EPOLLHUP : 0u);
	}
	request->begun = true;
	return engine_try(r, events);
}

/* One step: each request whose time has come is tried once, beginning by chance. */
static uint32_t fake_step(struct engine *e, struct io_done *done, uint32_t max)
{
	struct fake *f = e->state;
	const uint32_t count = f->count;
	const uint32_t begin = count ? (uint32_t)(fake_random(f) % count) : 0;
	uint32_t n = 0, kept = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct fake_request *request = &f->active[(begin + i) % count];
		int32_t result;

		if (n == max)
			break;
		if (request->steps) {
			request->steps--;
			continue;
		}
		result = fake_try(e, request);
		if (result == ENGINE_WOULD_WAIT)
			continue;
		done[n++] = (struct io_done){.slot = request->slot, .result = result};
		request->slot = UINT32_MAX;
	}
	for (uint32_t i = 0; i < count; i++)
		if (f->active[i].slot != UINT32_MAX)
			f->active[kept++] = f->active[i];
	f->count = kept;
	return n;
}

static int fake_break(struct fake *f, const struct engine *e, struct io_done *done, uint32_t n,
                      uint32_t max)
{
	if (f->fault == FAKE_MORE_THAN_MAX)
		return (int)max + 1;
	if (f->fault == FAKE_BEYOND_SLOTS && n)
		done[0].slot = e->config.slots;
	if (f->fault == FAKE_STRANGE_SLOT && n)
		done[0].slot = (done[0].slot + 1) % e->config.slots;
	if (f->fault == FAKE_REPEATS_SLOT && f->repeat_slot && !n) {
		done[0] = (struct io_done){.slot = f->repeat_slot - 1};
		return 1;
	}
	f->repeat_slot = n ? done[0].slot + 1 : 0;
	return (int)n;
}

static int fake_reap(struct engine *e, struct io_done *done, uint32_t min, uint32_t max,
                     int64_t timeout_ns)
{
	const struct timespec step = {.tv_nsec = FAKE_STEP_NS};
	struct fake *f = e->state;
	uint32_t n;

	if (fake_fails(f))
		return -EIO;
	for (;;) {
		n = fake_step(e, done, max);
		/* With something, though less than min, it always returns early. */
		if (n || n >= min || timeout_ns == 0)
			break;
		if (timeout_ns > 0)
			timeout_ns = timeout_ns > FAKE_STEP_NS ? timeout_ns - FAKE_STEP_NS : 0;
		if (nanosleep(&step, NULL) != 0)
			break;
	}
	return fake_break(f, e, done, n, max);
}

static void fake_close(struct engine *e)
{
	struct fake *f = e->state;

	for (uint32_t i = 0; i < f->count; i++) {
		const struct io_req *r = &e->config.requests[f->active[i].slot];

		if (r->op == IO_CONNECT && r->fd >= 0)
			close(r->fd);
	}
	free(f->active);
}

struct engine_ops fake_engine(struct fake_faults faults)
{
	return (struct engine_ops){
	    .name = "fake",
	    .summary = "serves late, out of order and with faults, by chance from a seed",
	    .size = sizeof(struct fake),
	    .caps = faults.fault == FAKE_IGNORES_NEED ? ENGINE_FILES : ENGINE_NEEDS,
	    .variant = faults.seed | (uint32_t)faults.fault << 16 |
	               (uint32_t)faults.fail_call << 24,
	    .open = fake_open,
	    .submit = fake_submit,
	    .reap = fake_reap,
	    .close = fake_close,
	};
}

uint32_t fake_engine_calls(const struct engine *e)
{
	return ((const struct fake *)e->state)->calls;
}
