/*
 * The table of probes, and the wrappers that are their only callers.
 */
#include "probes/probe.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "probes/table.h"

const struct probe_ops *const probe_table[] = {&probe_bpf, &probe_schedstat, NULL};

const char *const thread_kind_names[KIND_COUNT] = {
    [KIND_APPLICATION] = "application", [KIND_POOL] = "pool",
    [KIND_AIO_HELPER] = "aio-helper",   [KIND_IO_WQ] = "io-wq",
    [KIND_SQPOLL] = "sqpoll",
};

const char *const thread_state_names[STATE_COUNT] = {
    [STATE_RUNNING] = "running",
    [STATE_RUNNABLE] = "runnable",
    [STATE_PARKED_DIRECT] = "parked_direct",
    [STATE_PARKED_WAITER] = "parked_waiter",
    [STATE_PARKED_ON_RESULT] = "parked_on_result",
    [STATE_IDLE] = "idle",
    [STATE_OTHER] = "other",
    [STATE_UNSEEN] = "unseen",
};

const struct probe_ops *probe_find(const char *name)
{
	for (size_t i = 0; probe_table[i]; i++)
		if (!strcmp(probe_table[i]->name, name))
			return probe_table[i];
	return NULL;
}

int probe_open(struct probe *p, const struct probe_ops *ops, const struct probe_config *config,
               char why[PROBE_WHY_SIZE])
{
	int error;

	memset(p, 0, sizeof *p);
	why[0] = 0;
	p->ops = ops;
	p->config = *config;
	p->state = calloc(1, ops->size);
	if (!p->state)
		return -ENOMEM;
	error = ops->open(p, why);
	assert(error <= 0);
	if (error) {
		free(p->state);
		p->state = NULL;
	} else {
		assert(p->marks && p->in_flight);
	}
	return error;
}

int probe_attach(struct probe *p, pid_t pid, char why[PROBE_WHY_SIZE])
{
	assert(p->state && pid > 0);
	why[0] = 0;
	return p->ops->attach(p, pid, why);
}

int probe_read(struct probe *p, struct probe_reading *reading)
{
	assert(p->state);
	return p->ops->read(p, reading);
}

void probe_close(struct probe *p)
{
	if (!p->state)
		return;
	p->ops->close(p);
	free(p->state);
	memset(p, 0, sizeof *p);
}

/* to - from, word by word; a counter that has not grown gives 0. */
static void subtract(uint64_t *window, const uint64_t *from, const uint64_t *to, size_t words)
{
	for (size_t i = 0; i < words; i++)
		window[i] = to[i] > from[i] ? to[i] - from[i] : 0;
}

#define SUBTRACT(field)                                                                            \
	subtract((uint64_t *)&window->field, (const uint64_t *)&from->field,                       \
	         (const uint64_t *)&to->field, sizeof window->field / sizeof(uint64_t))

static void kind_difference(struct probe_kind *window, const struct probe_kind *from,
                            const struct probe_kind *to)
{
	window->threads_now = to->threads_now;
	window->threads_max = to->threads_max;
	SUBTRACT(alive_ns);
	SUBTRACT(state_ns);
	SUBTRACT(in_call_running_ns);
	SUBTRACT(in_call_runnable_ns);
	SUBTRACT(called_ns);
	SUBTRACT(parks);
	SUBTRACT(voluntary_switches);
	SUBTRACT(involuntary_switches);
}

void probe_difference(struct probe_reading *window, const struct probe_reading *from,
                      const struct probe_reading *to)
{
	SUBTRACT(time_ns);
	SUBTRACT(lost);
	window->measures = from->measures & to->measures;
	for (int k = 0; k < KIND_COUNT; k++)
		kind_difference(&window->kinds[k], &from->kinds[k], &to->kinds[k]);
	SUBTRACT(parked_at_completion);
	SUBTRACT(completions_unseen);
	SUBTRACT(arrived_in);
	SUBTRACT(arrived_over);
	SUBTRACT(posted_in);
	SUBTRACT(borrowed_ns);
	SUBTRACT(occupancy_ns);
	SUBTRACT(block_requests);
	SUBTRACT(block_bytes);
	SUBTRACT(block_in_flight_ns);
	workers_difference(&window->workers, &from->workers, &to->workers);
}

uint32_t probe_occupancy_bucket(uint32_t count)
{
	uint32_t doubling = 0;

	if (count < 64)
		return count;
	for (; count >= 128; doubling++)
		count >>= 1;
	const uint32_t bucket = 64 + doubling * 4 + ((count >> 4) & 3);
	return bucket < PROBE_OCCUPANCY_AXIS ? bucket : PROBE_OCCUPANCY_AXIS - 1;
}

uint32_t probe_occupancy_lowest(uint32_t bucket)
{
	if (bucket < 64)
		return bucket;
	return (64 + ((bucket - 64) % 4) * 16) << ((bucket - 64) / 4);
}
