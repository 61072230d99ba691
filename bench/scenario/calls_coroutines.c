/* blocking-calls by coroutines: the same code as a thread's, and one thread for all. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench/scenario/calls.h"

struct walker {
	struct board_side *side;
	const struct calls *calls;
	struct carrier *carrier;
	uint32_t id;
};

static void walk(void *argument)
{
	struct walker *w = argument;
	struct caller caller = caller_of(w->carrier);

	call_make(w->side, &caller, w->calls, w->id);
}

uint64_t calls_resident_bytes(void)
{
	unsigned long long size, resident = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	if (file && fscanf(file, "%llu %llu", &size, &resident) != 2)
		resident = 0;
	if (file)
		fclose(file);
	return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

int calls_by_coroutines(struct board_side *side)
{
	const struct calls *calls = side->own;
	struct calls_shared *shared = side->shared;
	const uint32_t need = calls->form == FORM_TIMER ? ENGINE_TIMERS
	                                                : ENGINE_SOCKETS | ENGINE_CONNECTIONS;
	char why[COROUTINE_WHY_SIZE] = "";
	struct walker *walkers;
	struct carrier c;
	int error;

	if (calls->form == FORM_SHARED)
		return calls_by_shared_connections(side);
	shared->memory_before_bytes = calls_resident_bytes();
	error = carrier_open(&c, engine_find(calls->engine), calls->count, need, why);
	if (error) {
		board_break(side, error == -EOPNOTSUPP, why);
		return error;
	}
	walkers = calloc(calls->count, sizeof *walkers);
	for (uint32_t i = 0; walkers && i < calls->count; i++)
		walkers[i] = (struct walker){.side = side, .calls = calls, .carrier = &c, .id = i};
	c.mark = board_mark();
	board_ready(side);
	for (uint32_t i = 0; walkers && i < calls->count; i++)
		carrier_start(&c, i, walk, &walkers[i]);
	error = walkers ? carrier_run(&c) : -ENOMEM;
	shared->stack_bytes = coroutines_used_bytes(&c.coroutines);
	carrier_close(&c);
	free(walkers);
	return error;
}
