/*
 * blocking: the submitting thread makes the call itself and is parked inside it. One request at
 * a time for each thread; who wants more in flight pays with more threads.
 */
#include "engines/internal.h"

static int blocking_open(struct engine *e, char why[ENGINE_WHY_SIZE])
{
	const int error = completions_open(e->state, e->config.slots);

	return error
	           ? engine_reason(why, error, "blocking: no memory for %u slots", e->config.slots)
	           : 0;
}

static int blocking_submit(struct engine *e, const uint32_t *slots, uint32_t n)
{
	struct io_req *r = &e->config.requests[slots[0]];

	(void)n;
	if (r->op == IO_CONNECT)
		engine_connect_socket(r, 0);
	completions_push(e->state, slots[0], engine_call(r, NULL));
	return 1;
}

static int blocking_reap(struct engine *e, struct io_done *done, uint32_t min, uint32_t max,
                         int64_t timeout_ns)
{
	(void)min;
	(void)timeout_ns;
	return (int)completions_pop(e->state, done, max);
}

static void blocking_close(struct engine *e)
{
	completions_close(e->state, e);
}

const struct engine_ops engine_blocking = {
    .name = "blocking",
    .summary = "the submitting thread makes the call and is parked in it",
    .size = sizeof(struct completions),
    .caps = ENGINE_NEEDS | ENGINE_SYNCHRONOUS,
    .open = blocking_open,
    .submit = blocking_submit,
    .reap = blocking_reap,
    .close = blocking_close,
};
