/*
 * A watch's calls, by whichever way it counts: see watch.h.
 */
#include <stdlib.h>
#include <string.h>

#include "probes/watch_ops.h"

const char *watch_probe(const struct watch *w)
{
	return w->ops->name;
}

int watch_add(struct watch *w, pid_t pid, uint32_t *process)
{
	return w->ops->add(w, pid, process);
}

int watch_begin(struct watch *w)
{
	return w->ops->begin(w);
}

void watch_tell(struct watch *w, uint64_t number, enum thread_kind kind)
{
	w->ops->tell(w, number, kind);
}

uint64_t watch_births(const struct watch *w)
{
	return w->ops->births(w);
}

int64_t watch_ring_open(const struct watch *w, uint64_t *mark)
{
	*mark = 0;
	return w->ops->ring_open ? w->ops->ring_open(w, mark) : 0;
}

uint64_t watch_living(const struct watch *w)
{
	return w->ops->living(w);
}

void watch_fresh(struct watch *w)
{
	if (w->ops->fresh)
		w->ops->fresh(w);
}

int watch_read(struct watch *w, struct probe_reading *reading)
{
	return w->ops->read(w, reading);
}

int watch_census(struct watch *w, struct watch_census *census)
{
	return w->ops->census(w, census);
}

void watch_cost(const struct watch *w, struct watch_cost *cost)
{
	w->ops->cost(w, cost);
}

void watch_close(struct watch *w)
{
	if (w->ops)
		w->ops->close(w);
	w->ops = NULL;
}

void watch_census_free(struct watch_census *c)
{
	free(c->threads);
	free(c->places);
	free(c->processes);
	memset(c, 0, sizeof *c);
}
