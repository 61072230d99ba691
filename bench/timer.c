/* timer-delay: each operation is a timer that expires after the delay, and never before. */
#include "bench/workload.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "bench/random.h"

struct timer {
	uint64_t random;
};

static int timer_open(struct workload *w)
{
	struct timer *t = w->state;

	t->random = random_stream(w->plan->seed, w->thread);
	return 0;
}

static enum workload_answer timer_next(struct workload *w, uint32_t slot, uint64_t now_ns)
{
	const struct plan *plan = w->plan;
	struct timer *t = w->state;
	const uint64_t spread = plan->delay_max_ns - plan->delay_min_ns;

	w->requests[slot] = (struct io_req){
	    .op = IO_TIMEOUT,
	    .fd = -1,
	    .deadline_ns = now_ns + plan->delay_min_ns + random_below(&t->random, spread + 1),
	};
	return WORK_SUBMIT;
}

static enum workload_answer timer_step(struct workload *w, uint32_t slot, int32_t result)
{
	const uint64_t deadline_ns = w->requests[slot].deadline_ns;
	struct timespec now;

	if (result < 0) {
		snprintf(w->why, sizeof w->why, "timer: %s", strerror(-result));
		return WORK_FAILED;
	}
	if (!w->checked)
		return WORK_DONE;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if ((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec < deadline_ns) {
		snprintf(w->why, sizeof w->why, "a timer expired before its time");
		return WORK_WRONG;
	}
	return WORK_DONE;
}

static void timer_close(struct workload *w)
{
	(void)w;
}

const struct workload_ops timer_delay = {
    .name = "timer-delay",
    .summary = "timers that expire after the delay",
    .size = sizeof(struct timer),
    .need = ENGINE_TIMERS,
    .open = timer_open,
    .next = timer_next,
    .step = timer_step,
    .close = timer_close,
};
