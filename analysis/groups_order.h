/* A part of groups_finish: see groups.h. */
#ifndef IOSTUDY_GROUPS_ORDER_H
#define IOSTUDY_GROUPS_ORDER_H

#include "analysis/groups.h"

/* Sorts the cells of a study, whose runs came in a shuffled order: by what was asked, then by
 * engine. 0 or -ENOMEM. */
int groups_order(struct groups *groups);

#endif
