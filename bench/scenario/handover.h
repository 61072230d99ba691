/* Slots that are ready for an engine: what it does not take at once stays, in its order. */
#ifndef IOSTUDY_HANDOVER_H
#define IOSTUDY_HANDOVER_H

#include "engines/engine.h"

struct handover {
	uint32_t *slots; /* [the engine's slots] */
	uint32_t count;
};

/* 0, or -ENOMEM. */
int handover_open(struct handover *h, uint32_t slots);
void handover_close(struct handover *h);

/* Each slot at most once until it has come back. */
static inline void handover_add(struct handover *h, uint32_t slot)
{
	h->slots[h->count++] = slot;
}

/* Hands over what is ready. 0; -EAGAIN: nothing is taken though nothing is in flight; or -errno of
 * the engine. */
int handover_make(struct handover *h, struct engine *engine);

#endif
