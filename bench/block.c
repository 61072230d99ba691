/*
 * What stands in the blocks of a file: each sector of 512 bytes carries a magic word, its own
 * index, the seed, and a key mixed from both, which its last word repeats inverted.
 */
#include "bench/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bench/random.h"

enum { SECTOR = 512, WORDS = SECTOR / 8, PAGE = 4096 };

#define MAGIC 0x31796475747369ull /* "istudy1" */

static uint64_t sector_key(uint64_t seed, uint64_t sector)
{
	return random_mix(seed * 0x9e3779b97f4a7c15ull + sector + 1);
}

void file_fill(void *data, size_t bytes, uint64_t offset, uint64_t seed)
{
	uint64_t sector = offset / SECTOR;

	for (uint64_t *word = data; bytes >= SECTOR; bytes -= SECTOR, word += WORDS, sector++) {
		const uint64_t key = sector_key(seed, sector);

		word[0] = MAGIC;
		word[1] = sector;
		word[2] = seed;
		word[3] = key;
		for (uint32_t i = 4; i < WORDS - 1; i++)
			word[i] = key + i * 0x9e3779b97f4a7c15ull;
		word[WORDS - 1] = ~key;
	}
}

bool file_check(const void *data, size_t bytes, uint64_t offset, uint64_t seed)
{
	const uint64_t *word = data;

	while (bytes) {
		const size_t part = bytes < PAGE ? bytes : PAGE;
		const uint64_t first = offset / SECTOR, last = (offset + part) / SECTOR - 1;

		if (word[0] != MAGIC || word[1] != first || word[3] != sector_key(seed, first) ||
		    word[part / 8 - 1] != ~sector_key(seed, last))
			return false;
		word += part / 8;
		offset += part;
		bytes -= part;
	}
	return true;
}

void file_explain(const void *data, uint64_t offset, uint64_t seed, char why[PLAN_WHY_SIZE])
{
	const uint64_t *word = data;

	if (word[0] != MAGIC)
		snprintf(why, PLAN_WHY_SIZE,
		         "wrong data: the block at offset %" PRIu64 " holds foreign bytes", offset);
	else
		snprintf(why, PLAN_WHY_SIZE,
		         "wrong data: the block at offset %" PRIu64 " (sector %" PRIu64
		         ", seed %" PRIu64 ") carries sector %" PRIu64 ", seed %" PRIu64,
		         offset, offset / SECTOR, seed, word[1], word[2]);
}
