/* See deadlines.h: a binary heap in an array. */
#include "engines/deadlines.h"

#include <errno.h>
#include <stdlib.h>

int deadlines_open(struct deadlines *d, uint32_t slots)
{
	d->count = 0;
	d->heap = calloc(slots, sizeof *d->heap);
	return d->heap ? 0 : -ENOMEM;
}

void deadlines_close(struct deadlines *d)
{
	free(d->heap);
	d->heap = NULL;
}

void deadlines_add(struct deadlines *d, uint64_t ns, uint32_t slot)
{
	uint32_t at = d->count++;

	for (; at && d->heap[(at - 1) / 2].ns > ns; at = (at - 1) / 2)
		d->heap[at] = d->heap[(at - 1) / 2];
	d->heap[at] = (struct deadline){.ns = ns, .slot = slot};
}

struct deadline deadlines_take(struct deadlines *d)
{
	const struct deadline first = d->heap[0], last = d->heap[--d->count];
	uint32_t at = 0;

	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child >= d->count)
			break;
		if (child + 1 < d->count && d->heap[child + 1].ns < d->heap[child].ns)
			child++;
		if (d->heap[child].ns >= last.ns)
			break;
		d->heap[at] = d->heap[child];
		at = child;
	}
	d->heap[at] = last;
	return first;
}
