/*
 * Engines against each other: the larger difference by name, and what is equal.
 */
#ifndef IOSTUDY_VERDICT_H
#define IOSTUDY_VERDICT_H

#include "analysis/format.h"
#include "analysis/groups.h"

enum { VERDICT_SIZE = 1000 };

/* The verdict on one group, a paragraph in ASCII; empty when there is nothing to compare. */
void verdict_group(const struct groups *groups, size_t group, char out[VERDICT_SIZE]);

/* What the number of repeats allows to say, one sentence; empty when nothing is compared. */
void verdict_noise(const struct groups *groups, char out[VERDICT_SIZE]);

/* The answer of all these runs in one sentence, for the head of a report. */
void verdict_answer(const struct groups *groups, char out[VERDICT_SIZE]);

#endif
