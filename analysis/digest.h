/*
 * What a report needs of many runs, taken a run at a time: of each cell one run is kept whole, of
 * the others their figures, so that results of any size take little memory.
 */
#ifndef IOSTUDY_DIGEST_H
#define IOSTUDY_DIGEST_H

#include <stdbool.h>

#include "analysis/curves.h"
#include "analysis/expectations.h"
#include "analysis/groups.h"
#include "analysis/twins.h"

struct digest {
	struct groups groups;
	struct expectation_tests tests;
	struct twins twins;
	bool for_page;        /* set before the first run: what only a page shows is taken too */
	struct curves curves; /* by cells */
	json_t *rows;         /* of runs */
};

/* Takes a run, which carries its summary and findings, and remains the caller's. One that cannot
 * be read is counted and left out. *digest is all zero before the first but for_page. 0 or
 * -ENOMEM. */
int digest_add(struct digest *digest, json_t *run);
/* After the last run, before anything is read from it. 0 or -ENOMEM. */
int digest_finish(struct digest *digest);
void digest_free(struct digest *digest);

#endif
