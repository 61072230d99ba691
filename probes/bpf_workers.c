/*
 * The user's side of park_punt.bpf.h and park_sleep.bpf.h: which functions of the kernel tell why
 * a submitter sleeps, what io_uring's operations are, and the counters as a reading.
 */
#include <errno.h>
#include <linux/io_uring.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/bpf.h"

/* What these sleep for, seen from the sleep outwards: a read that needs a tag meets
 * blk_mq_get_tag before filemap_read. Compilers add .constprop.0 and the like to a name. */
static const struct {
	const char *name;
	enum sleep_cause cause;
} functions[] = {
    {"blk_mq_get_tag", CAUSE_TAGS},
    {"__blk_mq_get_tag", CAUSE_TAGS},
    {"blk_mq_alloc_request", CAUSE_TAGS},
    {"rq_qos_wait", CAUSE_WRITEBACK},
    {"wbt_wait", CAUSE_WRITEBACK},
    {"balance_dirty_pages", CAUSE_WRITEBACK},
    {"balance_dirty_pages_ratelimited_flags", CAUSE_WRITEBACK},
    {"folio_wait_writeback", CAUSE_WRITEBACK},
    {"folio_wait_stable", CAUSE_WRITEBACK},
    {"filemap_fdatawait_range", CAUSE_WRITEBACK},
    {"__filemap_fdatawait_range", CAUSE_WRITEBACK},
    {"rwsem_down_read_slowpath", CAUSE_LOCK},
    {"rwsem_down_write_slowpath", CAUSE_LOCK},
    {"__mutex_lock", CAUSE_LOCK},
    {"__mutex_lock_slowpath", CAUSE_LOCK},
    {"__mutex_lock_killable_slowpath", CAUSE_LOCK},
    {"inode_dio_wait", CAUSE_LOCK},
    {"__inode_dio_wait", CAUSE_LOCK},
    {"__down", CAUSE_LOCK},
    {"__down_common", CAUSE_LOCK},
    {"filemap_fault", CAUSE_FAULT},
    {"handle_mm_fault", CAUSE_FAULT},
    {"do_user_addr_fault", CAUSE_FAULT},
    {"exc_page_fault", CAUSE_FAULT},
    {"faultin_page", CAUSE_FAULT},
    {"fixup_user_fault", CAUSE_FAULT},
    {"filemap_get_pages", CAUSE_BUFFERED_READ},
    {"filemap_read", CAUSE_BUFFERED_READ},
    {"filemap_update_page", CAUSE_BUFFERED_READ},
    {"start_this_handle", CAUSE_JOURNAL},
    {"wait_transaction_locked", CAUSE_JOURNAL},
    {"do_get_write_access", CAUSE_JOURNAL},
    {"jbd2_log_wait_commit", CAUSE_JOURNAL},
    {"__jbd2_log_wait_for_space", CAUSE_JOURNAL},
    {"xlog_wait_on_iclog", CAUSE_JOURNAL},
    {"xlog_grant_head_wait", CAUSE_JOURNAL},
    {"__wait_on_buffer", CAUSE_JOURNAL},
    {"__sync_dirty_buffer", CAUSE_JOURNAL},
    {"iomap_dio_complete", CAUSE_TRANSFER},
    {"__iomap_dio_rw", CAUSE_TRANSFER},
    {"blkdev_direct_IO", CAUSE_TRANSFER},
    {"__blkdev_direct_IO_simple", CAUSE_TRANSFER},
    {"__blockdev_direct_IO", CAUSE_TRANSFER},
    {"submit_bio_wait", CAUSE_TRANSFER},
    {"mempool_alloc", CAUSE_MEMORY},
    {"mempool_alloc_noprof", CAUSE_MEMORY},
    {"try_to_free_pages", CAUSE_MEMORY},
    {"__alloc_pages_slowpath", CAUSE_MEMORY},
};

static const char *const symbol_names[SYMBOL_COUNT] = {
    [SYMBOL_AIO_COMPLETE] = "aio_complete_rw",
    [SYMBOL_IOMAP_END] = "iomap_dio_bio_end_io",
    [SYMBOL_BLKDEV_ASYNC_END] = "blkdev_bio_end_io_async",
};

enum { LINE_SIZE = 512, FOUND_MAX = PARK_FUNCTIONS - 1 };
#define FUNCTIONS (sizeof functions / sizeof functions[0])
_Static_assert(FUNCTIONS <= FOUND_MAX, "the first place stays below all addresses");

/* Which of them a line of /proc/kallsyms names ("ffffffff81b4db40 T blk_mq_get_tag"), or -1. */
static int function_of(const char *name)
{
	const size_t length = strcspn(name, ".\t\n");

	if (strstr(name, ".cold"))
		return -1;
	for (int i = 0; i < (int)FUNCTIONS; i++)
		if (!strncmp(functions[i].name, name, length) && !functions[i].name[length])
			return i;
	return -1;
}

static void symbol_note(const char *name, uint64_t address, uint64_t symbols[SYMBOL_COUNT])
{
	const size_t length = strcspn(name, "\t\n");

	for (int i = 0; i < SYMBOL_COUNT; i++)
		if (!strncmp(symbol_names[i], name, length) && !symbol_names[i][length])
			symbols[i] = address;
}

static int by_address(const void *a, const void *b)
{
	const struct park_function *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* Reads where they are; a function ends where the next symbol begins. Returns how many were
 * found: none when the kernel hides its addresses from this user (kernel.kptr_restrict). */
static uint32_t functions_find(struct park_function found[FOUND_MAX],
                               uint64_t symbols[SYMBOL_COUNT])
{
	FILE *file = fopen("/proc/kallsyms", "re");
	char line[LINE_SIZE], *name;
	uint32_t count = 0, open = 0;

	if (file) /* the kernel seeks anew in each read, so let there be few */
		setvbuf(file, NULL, _IOFBF, 1 << 20);
	while (file && fgets(line, sizeof line, file)) {
		const uint64_t address = strtoull(line, &name, 16);

		if (strlen(name) < 4 || !strchr("tTwW", name[1]))
			continue;
		for (; open < count && found[open].begin < address; open++)
			found[open].end = address;
		const int which = function_of(name + 3);
		symbol_note(name + 3, address, symbols);
		if (which >= 0 && address && count < FOUND_MAX)
			found[count++] = (struct park_function){
			    .begin = address, .end = address + 1, .cause = functions[which].cause};
	}
	if (file)
		fclose(file);
	return count;
}

static const uint8_t transfers[] = {
    IORING_OP_READV,         IORING_OP_WRITEV,     IORING_OP_READ_FIXED,
    IORING_OP_WRITE_FIXED,   IORING_OP_READ,       IORING_OP_WRITE,
    49 /* READ_MULTISHOT */, 60 /* READV_FIXED */, 61 /* WRITEV_FIXED */,
};

/* Those that the kernel sends to a worker without trying, since they may always wait. */
static const uint8_t waiting[] = {
    IORING_OP_FSYNC,     IORING_OP_SYNC_FILE_RANGE, IORING_OP_FALLOCATE,
    IORING_OP_OPENAT,    IORING_OP_OPENAT2,         IORING_OP_STATX,
    IORING_OP_FADVISE,   IORING_OP_MADVISE,         IORING_OP_SPLICE,
    IORING_OP_TEE,       IORING_OP_SHUTDOWN,        IORING_OP_RENAMEAT,
    IORING_OP_UNLINKAT,  IORING_OP_MKDIRAT,         IORING_OP_SYMLINKAT,
    IORING_OP_LINKAT,    IORING_OP_FSETXATTR,       IORING_OP_SETXATTR,
    IORING_OP_FGETXATTR, IORING_OP_GETXATTR,        55 /* FTRUNCATE */,
};

void bpf_workers_fill(struct park_knobs *knobs)
{
	struct park_function *found = knobs->functions;
	const uint32_t count = functions_find(found + 1, knobs->symbols);

	for (uint32_t i = count + 1; i < PARK_FUNCTIONS; i++)
		found[i].begin = found[i].end = UINT64_MAX;
	qsort(found + 1, count, sizeof *found, by_address);
	knobs->functions_known = count > 0;
	for (size_t i = 0; i < sizeof transfers / sizeof transfers[0]; i++)
		knobs->operations[transfers[i]] = OPERATION_TRANSFER;
	for (size_t i = 0; i < sizeof waiting / sizeof waiting[0]; i++)
		knobs->operations[waiting[i]] = OPERATION_WAITS;
}

/* Where a slot's sleeps are counted in a reading, or NULL. */
static struct sleep_count *sleeps_of(struct workers_reading *reading, uint32_t slot)
{
	if (slot >= SLOT_FILES + WORKERS_FILES || slot == SLOT_NONE)
		return NULL;
	if (slot >= SLOT_FILES)
		return &reading->files[slot - SLOT_FILES].sleeps;
	slot -= SLOT_SUBMITTER;
	return &reading->submitter[slot / CAUSE_COUNT][slot % CAUSE_COUNT];
}

void bpf_workers_read(const volatile struct park_workers *from, struct workers_reading *reading)
{
	memset(reading, 0, sizeof *reading);
	memcpy(reading->submitted, (const void *)from->submitted, sizeof reading->submitted);
	memcpy(reading->punted, (const void *)from->punted, sizeof reading->punted);
	memcpy(reading->files, (const void *)from->files, sizeof reading->files);
	for (uint32_t slot = 0; slot < SLOT_COUNT; slot++) {
		struct sleep_count *sleeps = sleeps_of(reading, slot);

		if (!sleeps)
			continue;
		sleeps->count = from->sleeps[slot].count;
		sleeps->parked_ns = from->sleeps[slot].parked_ns;
	}
}

static void pool_add(struct worker_pool *sum, struct worker_pool part)
{
	sum->now += part.now;
	sum->limit += part.limit;
}

void bpf_workers_add_open(struct workers_reading *reading, const struct park_record *record)
{
	struct sleep_count *sleeps = sleeps_of(reading, record->word >> WORD_SLOT_SHIFT);

	pool_add(&reading->bounded, record->bounded);
	pool_add(&reading->unbounded, record->unbounded);
	if (sleeps && record->word != WORD_DEAD)
		sleeps->parked_ns += record->open_ns;
}
