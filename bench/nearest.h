/* "did you mean": the names nearest to a mistyped one. */
#ifndef IOSTUDY_NEAREST_H
#define IOSTUDY_NEAREST_H

#include <stdint.h>

enum { NEAREST_SIZE = 200 };

/* Writes ": did you mean A or B?" with at most three names, or nothing when none is near.
 * Returns text. */
const char *nearest_text(char text[NEAREST_SIZE], const char *name, const char *const *names,
                         uint32_t count);

#endif
