/* Lines read already: see store_seen.h. An open hash table that is never more than half full. */
#include "analysis/store_seen.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct entry {
	uint64_t low, high;
	size_t number; /* 0: free */
};

struct store_seen {
	struct entry *entries;
	size_t size, count; /* size is a power of two */
};

/* Two FNV-1a of different offsets over eight bytes at a time, well mixed at the end. */
static struct entry entry_make(const char *line, size_t length, size_t number)
{
	struct entry e = {0xcbf29ce484222325ull, 0x9e3779b97f4a7c15ull, number};
	uint64_t word;

	for (size_t at = 0; at < length; at += sizeof word) {
		word = 0;
		memcpy(&word, line + at, length - at < sizeof word ? length - at : sizeof word);
		e.low = (e.low ^ word) * 0x100000001b3ull;
		e.high = (e.high ^ (word << 32 | word >> 32)) * 0xff51afd7ed558ccdull;
		e.low ^= e.low >> 29;
		e.high ^= e.high >> 31;
	}
	e.low ^= length;
	return e;
}

static struct entry *entry_find(const struct store_seen *seen, const struct entry *wanted)
{
	size_t at = (wanted->low ^ wanted->high >> 7) & (seen->size - 1);

	while (seen->entries[at].number &&
	       (seen->entries[at].low != wanted->low || seen->entries[at].high != wanted->high))
		at = (at + 1) & (seen->size - 1);
	return &seen->entries[at];
}

static struct store_seen *seen_grow(struct store_seen *old)
{
	struct store_seen *seen = calloc(1, sizeof *seen);

	if (seen)
		seen->size = old ? 2 * old->size : 1024;
	if (seen)
		seen->entries = calloc(seen->size, sizeof *seen->entries);
	if (!seen || !seen->entries) {
		free(seen);
		return NULL;
	}
	for (size_t i = 0; old && i < old->size; i++)
		if (old->entries[i].number)
			*entry_find(seen, &old->entries[i]) = old->entries[i];
	seen->count = old ? old->count : 0;
	store_seen_free(old);
	return seen;
}

size_t store_seen_add(struct store_seen **seen, const char *line, size_t length, size_t number)
{
	while (length && (line[length - 1] == '\n' || line[length - 1] == '\r'))
		length--;
	if (!*seen || 2 * (*seen)->count >= (*seen)->size) {
		struct store_seen *more = seen_grow(*seen);
		if (!more)
			return 0;
		*seen = more;
	}
	const struct entry wanted = entry_make(line, length, number);
	struct entry *entry = entry_find(*seen, &wanted);
	if (entry->number)
		return entry->number;
	*entry = wanted;
	(*seen)->count++;
	return 0;
}

void store_seen_free(struct store_seen *seen)
{
	if (seen)
		free(seen->entries);
	free(seen);
}
