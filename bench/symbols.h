/*
 * Functions by their addresses: those of the kernel, as /proc/kallsyms tells them to those who may
 * know, or those of a program's file.
 */
#ifndef IOSTUDY_SYMBOLS_H
#define IOSTUDY_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbol {
	uint64_t address;
	uint32_t name; /* where it begins in text */
};

struct symbols {
	struct symbol *all; /* by address */
	size_t count, room;
	char *text;
	size_t text_used, text_room;
};

/* Adds one; afterwards they are sorted. 0 or -ENOMEM. */
int symbols_add(struct symbols *s, uint64_t address, const char *name);
void symbols_sort(struct symbols *s);

/* Reads the kernel's. 0, -EPERM when the kernel hides the addresses, or another -errno. */
int symbols_load(struct symbols *s);
void symbols_free(struct symbols *s);

/* The function that an address lies in; NULL: not known. */
const char *symbols_find(const struct symbols *s, uint64_t address);

/* Whether every sleep goes through a function of that name. */
bool symbols_is_common(const char *name);

/* The function that sleeps, of a stack with the innermost first: the first one that is no part of
 * the scheduler and not a common wait. NULL: none is known. */
const char *symbols_sleeper(const struct symbols *s, const uint64_t *stack, size_t frames);

#endif
