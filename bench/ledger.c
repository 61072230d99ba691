/* Which block was written how often: see ledger.h. */
#include "bench/ledger.h"

#include <stddef.h>
#include <sys/mman.h>
#include <time.h>

#include "bench/file.h"

enum { STAMP_SHIFT = 32 };

#define LEDGER_TAKEN (1u << 31)
#define LEDGER_COUNT (LEDGER_TAKEN - 1)

static size_t ledger_bytes(uint64_t blocks)
{
	return sizeof(struct ledger) + blocks * sizeof(uint32_t);
}

/* No other run of the last weeks has it: what an earlier one has left is told from what is lost. */
static uint64_t stamp_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (((uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000) & 0x7fffffff) | 1;
}

struct ledger *ledger_make(uint64_t blocks, bool foreign)
{
	struct ledger *ledger = mmap(NULL, ledger_bytes(blocks), PROT_READ | PROT_WRITE,
	                             MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (ledger == MAP_FAILED)
		return NULL;
	ledger->blocks = blocks;
	ledger->stamp = stamp_now() << STAMP_SHIFT | (foreign ? FILE_AMONG_FOREIGN : 0);
	return ledger;
}

void ledger_free(struct ledger *ledger)
{
	if (ledger)
		munmap(ledger, ledger_bytes(ledger->blocks));
}

bool ledger_take(struct ledger *ledger, uint64_t block)
{
	return !(__atomic_fetch_or(&ledger->entries[block], LEDGER_TAKEN, __ATOMIC_ACQUIRE) &
	         LEDGER_TAKEN);
}

static uint64_t generation_of(const struct ledger *ledger, uint32_t entry)
{
	return entry & LEDGER_COUNT ? ledger->stamp | (entry & LEDGER_COUNT) : 0;
}

uint64_t ledger_write(struct ledger *ledger, uint64_t block)
{
	const uint32_t entry = __atomic_load_n(&ledger->entries[block], __ATOMIC_RELAXED);
	uint32_t count = (entry + 1) & LEDGER_COUNT;

	count += !count; /* after 2^31 writes it begins anew, but never with "none" */
	__atomic_store_n(&ledger->entries[block], LEDGER_TAKEN | count, __ATOMIC_RELAXED);
	return generation_of(ledger, count);
}

void ledger_give(struct ledger *ledger, uint64_t block)
{
	__atomic_fetch_and(&ledger->entries[block], LEDGER_COUNT, __ATOMIC_RELEASE);
}

uint64_t ledger_generation(const struct ledger *ledger, uint64_t block)
{
	return generation_of(ledger, __atomic_load_n(&ledger->entries[block], __ATOMIC_ACQUIRE));
}

bool ledger_is_taken(const struct ledger *ledger, uint64_t block)
{
	return __atomic_load_n(&ledger->entries[block], __ATOMIC_ACQUIRE) & LEDGER_TAKEN;
}
