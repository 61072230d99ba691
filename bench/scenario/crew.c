/* Who makes the calls of a case: see crew.h. */
#include "bench/scenario/crew.h"

#include <errno.h>
#include <stdlib.h>

#include "bench/scenario/calls.h"

struct squad {
	struct crew crew;
	bool pool;        /* its threads take one call after the other */
	uint32_t next;    /* atomic */
	uint32_t resting; /* threads that are done */
};

static void *squad_work(void *argument)
{
	struct squad *squad = argument;
	struct board_side *side = squad->crew.side;
	struct caller caller;
	uint32_t id;

	board_thread_begin(side, squad->pool ? KIND_POOL : KIND_APPLICATION,
	                   squad->pool ? "pool" : "caller");
	if (caller_open(&caller) != 0) {
		board_break(side, false, "no memory for a thread's calls");
		return NULL;
	}
	while ((id = __atomic_fetch_add(&squad->next, 1, __ATOMIC_RELAXED)) < squad->crew.count) {
		squad->crew.call(side, &caller, id);
		if (!squad->pool)
			break;
	}
	caller_close(&caller);
	board_rest(side, &squad->resting);
	return NULL;
}

/* The first thread only waits for the end of all: it is the experiment's, and idle. */
int crew_by_threads(const struct crew *crew, uint32_t threads)
{
	struct squad *squad = calloc(1, sizeof *squad);
	const uint32_t count = threads ? threads : crew->count;
	int error = squad ? 0 : -ENOMEM;

	board_ready(crew->side);
	if (squad)
		*squad = (struct squad){.crew = *crew, .pool = threads != 0};
	for (uint32_t i = 0; i < count && !error; i++)
		error = calls_thread_start(crew->side, squad_work, squad, i, count);
	if (!error)
		board_await(&squad->resting, count);
	return error;
}

struct walker {
	const struct crew *crew;
	struct carrier *carrier;
	uint32_t id;
};

static void walk(void *argument)
{
	struct walker *w = argument;
	struct caller caller = caller_of(w->carrier);

	w->crew->call(w->crew->side, &caller, w->id);
}

int crew_by_coroutines(const struct crew *crew, const char *engine, uint32_t need)
{
	struct walker *walkers = calloc(crew->count, sizeof *walkers);
	char why[COROUTINE_WHY_SIZE] = "no memory for the coroutines";
	struct carrier c;
	int error = walkers ? carrier_open(&c, engine_find(engine), crew->count, need, why)
	                    : -ENOMEM;

	if (error) {
		board_break(crew->side, error == -EOPNOTSUPP, why);
		free(walkers);
		return error;
	}
	c.mark = board_mark();
	board_ready(crew->side);
	for (uint32_t i = 0; i < crew->count; i++) {
		walkers[i] = (struct walker){.crew = crew, .carrier = &c, .id = i};
		carrier_start(&c, i, walk, &walkers[i]);
	}
	error = carrier_run(&c);
	carrier_close(&c);
	free(walkers);
	return error;
}
