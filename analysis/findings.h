/*
 * From figures to conclusions: each with a stable tag, its evidence, what to do, and how sure.
 */
#ifndef IOSTUDY_FINDINGS_H
#define IOSTUDY_FINDINGS_H

#include "analysis/run_view.h"

/* Sets "findings" of the run (answers, then problems, then limits) and adds to its "warnings"
 * what the figures themselves make doubtful. A run that failed has no findings. May be called
 * again. 0, or -EINVAL (the run cannot be read) or -ENOMEM, with why. */
int findings_add(json_t *run, char why[RUN_WHY_SIZE]);

/* The tags in the order in which they are looked for; NULL after the last. */
const char *findings_tag(size_t i);

#endif
