/*
 * What a run writes: for each block of its files how often it has been written, and whether a
 * request is at it now. No two requests are ever at one block, so that it is known at each moment
 * which bytes must stand there: a write that is lost, torn or misplaced is found.
 */
#ifndef IOSTUDY_LEDGER_H
#define IOSTUDY_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

/* Blocks of one ledger, of 4 bytes each: what a run with writes can have. */
#define LEDGER_BLOCKS_MAX (1ull << 28)

/* In memory that a process shares with its children; all functions may be called by any thread. */
struct ledger {
	uint64_t blocks;
	uint64_t stamp;     /* of this run: the upper half of all its generations, never 0 */
	uint32_t entries[]; /* writes begun; and LEDGER_TAKEN */
};

/* A ledger of nothing written, or NULL when there is no memory. foreign: the file holds other
 * bytes too, so that what is written must not pass for a file that was filled. */
struct ledger *ledger_make(uint64_t blocks, bool foreign);
void ledger_free(struct ledger *ledger);

/* Takes a block. False: a request is at it. */
bool ledger_take(struct ledger *ledger, uint64_t block);

/* Of a block that is taken: the generation that is to be written there now. */
uint64_t ledger_write(struct ledger *ledger, uint64_t block);

/* Gives a block back, when what was begun there has ended well. One that failed stays taken:
 * nobody knows what stands there. */
void ledger_give(struct ledger *ledger, uint64_t block);

/* The generation last written there; 0: none in this run. */
uint64_t ledger_generation(const struct ledger *ledger, uint64_t block);
bool ledger_is_taken(const struct ledger *ledger, uint64_t block);

#endif
