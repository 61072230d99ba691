/*
 * null: every request is complete as soon as it is submitted, and nothing is done for it. What
 * remains is the harness: this engine's figures are the floor below all others.
 */
#include "engines/internal.h"

static int null_open(struct engine *e, char why[ENGINE_WHY_SIZE])
{
	const int error = completions_open(e->state, e->config.slots);

	return error ? engine_reason(why, error, "null: no memory for %u slots", e->config.slots)
	             : 0;
}

static int32_t null_result(const struct io_req *r)
{
	switch (r->op) {
	case IO_READ:
	case IO_WRITE:
	case IO_RECV:
	case IO_SEND:
		return (int32_t)r->length;
	default:
		return 0;
	}
}

static int null_submit(struct engine *e, const uint32_t *slots, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		completions_push(e->state, slots[i], null_result(&e->config.requests[slots[i]]));
	return (int)n;
}

static int null_reap(struct engine *e, struct io_done *done, uint32_t min, uint32_t max,
                     int64_t timeout_ns)
{
	(void)min;
	(void)timeout_ns;
	return (int)completions_pop(e->state, done, max);
}

static void null_close(struct engine *e)
{
	completions_close(e->state, e);
}

const struct engine_ops engine_null = {
    .name = "null",
    .summary = "does nothing, at once: what the harness itself costs",
    .size = sizeof(struct completions),
    .caps = ENGINE_NEEDS | ENGINE_NO_IO | ENGINE_QUICK_LOOK,
    .open = null_open,
    .submit = null_submit,
    .reap = null_reap,
    .close = null_close,
};
