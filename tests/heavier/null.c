/*
 * The engine `null` with HEAVIER_CYCLES of work more for each operation: what bench/diff.sh links
 * into a program of its own, to see whether `iostudy diff` finds it. The work of 64 operations is
 * done together, since a few cycles alone would run beside others and cost nothing.
 */
#include "engines/internal.h"

enum { TOGETHER = 64 };

/* The engine as it is, under another name (objcopy). */
extern const struct engine_ops engine_null_plain;

static int heavier_open(struct engine *e, char why[ENGINE_WHY_SIZE])
{
	return engine_null_plain.open(e, why);
}

static int heavier_submit(struct engine *e, const uint32_t *slots, uint32_t n)
{
	static __thread uint32_t owed;
	uint64_t work = 0;

	owed += n;
	for (; owed >= TOGETHER; owed -= TOGETHER)
		for (int cycle = 0; cycle < TOGETHER * HEAVIER_CYCLES; cycle++)
			__asm__ volatile("add $1, %0" : "+r"(work));
	return engine_null_plain.submit(e, slots, n);
}

static int heavier_reap(struct engine *e, struct io_done *done, uint32_t min, uint32_t max,
                        int64_t timeout_ns)
{
	return engine_null_plain.reap(e, done, min, max, timeout_ns);
}

static void heavier_close(struct engine *e)
{
	engine_null_plain.close(e);
}

const struct engine_ops engine_null = {
    .name = "null",
    .summary = "does nothing, and some work for each operation",
    .size = sizeof(struct completions),
    .caps = ENGINE_NEEDS | ENGINE_NO_IO | ENGINE_QUICK_LOOK,
    .open = heavier_open,
    .submit = heavier_submit,
    .reap = heavier_reap,
    .close = heavier_close,
};
