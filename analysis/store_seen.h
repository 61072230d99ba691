/*
 * The lines that were read already, by a hash of 128 bits: a file that was merged with itself
 * counts once.
 */
#ifndef IOSTUDY_STORE_SEEN_H
#define IOSTUDY_STORE_SEEN_H

#include <stddef.h>

struct store_seen;

/* Remembers a line. The number under which the same bytes were remembered before, or 0: they are
 * new, or memory is short. *seen begins as NULL. The line's own end does not count. */
size_t store_seen_add(struct store_seen **seen, const char *line, size_t length, size_t number);
void store_seen_free(struct store_seen *seen);

#endif
