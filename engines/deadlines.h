/* A heap of slots ordered by deadline, for the engines that keep their own timers. */
#ifndef IOSTUDY_ENGINES_DEADLINES_H
#define IOSTUDY_ENGINES_DEADLINES_H

#include <stdint.h>

struct deadline {
	uint64_t ns; /* absolute */
	uint32_t slot;
};

struct deadlines {
	struct deadline *heap; /* [slots]; the earliest first */
	uint32_t count;
};

int deadlines_open(struct deadlines *d, uint32_t slots); /* 0 or -ENOMEM */
void deadlines_close(struct deadlines *d);
void deadlines_add(struct deadlines *d, uint64_t ns, uint32_t slot); /* room is the caller's duty */

/* Takes the earliest; there must be one. */
struct deadline deadlines_take(struct deadlines *d);

#endif
