/* Slots on their way to an engine: see handover.h. */
#include "bench/scenario/handover.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int handover_open(struct handover *h, uint32_t slots)
{
	*h = (struct handover){.slots = calloc(slots, sizeof *h->slots)};
	return h->slots ? 0 : -ENOMEM;
}

void handover_close(struct handover *h)
{
	free(h->slots);
}

int handover_make(struct handover *h, struct engine *engine)
{
	uint32_t done = 0;
	int n = 1;

	while (done < h->count && n > 0) {
		n = engine_submit(engine, h->slots + done, h->count - done);
		if (n < 0)
			return n;
		done += (uint32_t)n;
	}
	h->count -= done;
	memmove(h->slots, h->slots + done, h->count * sizeof *h->slots);
	return h->count && !engine_in_flight(engine) ? -EAGAIN : 0;
}
