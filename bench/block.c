/*
 * What stands in the blocks of a file: each sector of 512 bytes carries a magic word, its own
 * index, the seed, a key mixed from these, and the generation of the write that brought it; its
 * last word repeats the key inverted.
 */
#include "bench/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bench/random.h"

enum { SECTOR = 512, WORDS = SECTOR / 8, PAGE = 4096 };
enum { WORD_MAGIC, WORD_SECTOR, WORD_SEED, WORD_KEY, WORD_GENERATION, WORD_REST };

#define MAGIC 0x31796475747369ull /* "istudy1" */
#define STEP  0x9e3779b97f4a7c15ull

static uint64_t sector_key(uint64_t seed, uint64_t sector, uint64_t generation)
{
	return random_mix(seed * STEP + sector + 1 + (generation ? random_mix(generation) : 0));
}

void file_fill(void *data, size_t bytes, uint64_t offset, uint64_t seed, uint64_t generation)
{
	uint64_t sector = offset / SECTOR;

	for (uint64_t *word = data; bytes >= SECTOR; bytes -= SECTOR, word += WORDS, sector++) {
		const uint64_t key = sector_key(seed, sector, generation);

		word[WORD_MAGIC] = MAGIC;
		word[WORD_SECTOR] = sector;
		word[WORD_SEED] = seed;
		word[WORD_KEY] = key;
		word[WORD_GENERATION] = generation;
		for (uint32_t i = WORD_REST; i < WORDS - 1; i++)
			word[i] = key + i * STEP;
		word[WORDS - 1] = ~key;
	}
}

bool file_check(const void *data, size_t bytes, uint64_t offset, uint64_t seed, uint64_t generation)
{
	const uint64_t *word = data;

	while (bytes) {
		const size_t part = bytes < PAGE ? bytes : PAGE;
		const uint64_t first = offset / SECTOR, last = (offset + part) / SECTOR - 1;
		const uint64_t own = word[WORD_GENERATION];

		if (word[WORD_MAGIC] != MAGIC || word[WORD_SECTOR] != first ||
		    word[WORD_KEY] != sector_key(seed, first, own) ||
		    word[part / 8 - 1] != ~sector_key(seed, last, own))
			return false;
		if (generation == FILE_ANY_GENERATION ? (own & FILE_AMONG_FOREIGN) != 0
		                                      : own != generation)
			return false;
		word += part / 8;
		offset += part;
		bytes -= part;
	}
	return true;
}

void file_explain(const void *data, size_t bytes, uint64_t offset, uint64_t seed,
                  uint64_t generation, char why[PLAN_WHY_SIZE])
{
	const uint64_t *word = data;
	size_t part = bytes < PAGE ? bytes : PAGE;

	/* the first page that is wrong */
	while (bytes > part && file_check(word, part, offset, seed, generation)) {
		word += part / 8;
		offset += part;
		bytes -= part;
		part = bytes < PAGE ? bytes : PAGE;
	}
	if (word[WORD_MAGIC] != MAGIC)
		snprintf(why, PLAN_WHY_SIZE,
		         "wrong data: the block at offset %" PRIu64 " holds foreign bytes", offset);
	else if (word[WORD_SECTOR] != offset / SECTOR || word[WORD_SEED] != seed)
		snprintf(why, PLAN_WHY_SIZE,
		         "wrong data: the block at offset %" PRIu64 " (sector %" PRIu64
		         ", seed %" PRIu64 ") carries sector %" PRIu64 ", seed %" PRIu64,
		         offset, offset / SECTOR, seed, word[WORD_SECTOR], word[WORD_SEED]);
	else if (generation != FILE_ANY_GENERATION && word[WORD_GENERATION] != generation)
		snprintf(why, PLAN_WHY_SIZE,
		         "wrong data: the block at offset %" PRIu64 " carries write %" PRIx64
		         ", and %" PRIx64 " was the last one there",
		         offset, word[WORD_GENERATION], generation);
	else
		snprintf(why, PLAN_WHY_SIZE,
		         "wrong data: the block at offset %" PRIu64 " is torn: its end is not of "
		         "the write %" PRIx64 " of its beginning",
		         offset, word[WORD_GENERATION]);
}
