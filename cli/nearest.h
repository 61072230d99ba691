/* "did you mean", printed: see bench/nearest.h. */
#ifndef IOSTUDY_CLI_NEAREST_H
#define IOSTUDY_CLI_NEAREST_H

#include <stdint.h>
#include <stdio.h>

/* Prints ": did you mean A or B?" with at most three names, or nothing when none is near. */
void nearest_print(FILE *out, const char *name, const char *const *names, uint32_t count);

#endif
