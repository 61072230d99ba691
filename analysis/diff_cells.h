/* The parts of diff that tell which runs are of one cell, and what surrounded them. */
#ifndef IOSTUDY_DIFF_CELLS_H
#define IOSTUDY_DIFF_CELLS_H

#include "analysis/diff.h"

/* Puts the samples of a cell in the order of their repeats; of one repeat as they came. */
void diff_cell_sort(struct diff_cell *cell);

/* Names each cell by engine, workload, wait and what else is not the same in all. 0 or -ENOMEM. */
int diff_cells_name(struct diff *diff);

/* Fills differences from the environments of the two sides. */
void diff_environments_compare(struct diff *diff);

#endif
