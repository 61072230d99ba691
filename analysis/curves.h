/*
 * Latency of each cell over all its runs: their histograms, added up as they come.
 */
#ifndef IOSTUDY_CURVES_H
#define IOSTUDY_CURVES_H

#include <stddef.h>

#include <jansson.h>

struct curve {
	struct curve_bucket {
		double lower, count;
	} * buckets; /* rising after curves_finish */
	size_t count, room, tidy;
	double requests, largest;
};

struct curve_pair {
	struct curve submitted, scheduled;
};

/* By the number of a cell; all zero before the first run. */
struct curves {
	struct curve_pair *cells;
	size_t room;
};

/* Adds the histograms of a run of that cell, which has percentiles. 0 or -ENOMEM. */
int curves_add(struct curves *curves, size_t cell, const json_t *run);
void curves_finish(struct curves *curves);
/* Each cell has the number moved[its former one] now. 0 or -ENOMEM. */
int curves_move(struct curves *curves, const size_t *moved, size_t cells);
void curves_free(struct curves *curves);

#endif
