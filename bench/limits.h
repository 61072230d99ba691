/* The limits that a run can meet, and the parent's place among those that want a CPU. */
#ifndef IOSTUDY_LIMITS_H
#define IOSTUDY_LIMITS_H

#include <stdbool.h>

#include "bench/plan.h"

/* Raises the limit of descriptors as far as it goes without privileges. */
void limits_raise(void);

/* Refuses what must fail for want of descriptors or of memory for blocks, before anything has
 * begun. 0, or -EMFILE or -ENOMEM with why: the limit, its value and the remedy. */
int limits_check(const struct plan *plan, char why[PLAN_WHY_SIZE]);

/* The edges are to be read at their time, whatever the subject does to the CPUs: the parent, which
 * sleeps but for some milliseconds, comes first. Without the privilege it stays as it is; what it
 * forks never inherits it. */
void limits_prefer_us(bool prefer);

#endif
