/* The queue of POSIX AIO in a foreign process: see aio_queue.h. */
#include "bench/aio_queue.h"

#include <aio.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { STACK_BELOW = 256, STACK_WORDS = 64, QUEUE_MAX = 65536, OPERATIONS = 256, ROW = 32 };

/* glibc's own entry (sysdeps/pthread/aio_misc.h), the same since 2.1. */
struct entry {
	int32_t running; /* not 0 while it is in use: 1 to 3, by whether it runs or is queued */
	int32_t unused;
	uint64_t last_file, next_file, next, next_to_run, request, waiting;
};
enum { ENTRY_FIRST = 1, ENTRY_LAST = 3 };

static bool read_at(int memory, uint64_t address, void *to, size_t size)
{
	return pread(memory, to, size, (off_t)address) == (ssize_t)size;
}

static bool may_point(uint64_t value)
{
	return value >= 4096 && value < 1ULL << 47 && value % 8 == 0;
}

/* Entries lie in rows: a row on both sides of one is taken at once, for the list changes with each
 * request that is served. */
struct rows {
	uint64_t begin;
	char bytes[2 * ROW * sizeof(struct entry)];
};

static bool rows_read(int memory, uint64_t address, struct rows *rows)
{
	rows->begin = address - sizeof rows->bytes / 2;
	if (read_at(memory, rows->begin, rows->bytes, sizeof rows->bytes))
		return true;
	rows->begin = address; /* the first of the heap's pages */
	return read_at(memory, rows->begin, rows->bytes, sizeof rows->bytes);
}

static const struct entry *rows_entry(const struct rows *rows, uint64_t address)
{
	const uint64_t offset = address - rows->begin;

	if (address < rows->begin || offset > sizeof rows->bytes - sizeof(struct entry))
		return NULL;
	return (const struct entry *)(rows->bytes + offset);
}

static bool is_used(const struct entry *entry)
{
	return entry && entry->running >= ENTRY_FIRST && entry->running <= ENTRY_LAST &&
	       may_point(entry->request) && (!entry->next || may_point(entry->next));
}

/* True where it leads to a request as a program makes it. */
static bool has_request(int memory, const struct entry *entry)
{
	struct aiocb request;

	return read_at(memory, entry->request, &request, sizeof request) &&
	       request.aio_fildes >= 0 && request.aio_offset >= 0 && request.aio_lio_opcode >= 0 &&
	       request.aio_lio_opcode < OPERATIONS && request.aio_nbytes <= SSIZE_MAX;
}

/* The list from there on; 0: it is none, or was changed while it was read. */
static uint32_t count_from(int memory, uint64_t address)
{
	const struct entry *entry;
	struct rows rows;
	uint32_t count = 0;

	if (!may_point(address) || !rows_read(memory, address, &rows))
		return 0;
	entry = rows_entry(&rows, address);
	if (!is_used(entry) || !has_request(memory, entry))
		return 0;
	for (count = 1; entry->next && count < QUEUE_MAX; count++) {
		if (!rows_entry(&rows, entry->next) && !rows_read(memory, entry->next, &rows))
			return 0;
		entry = rows_entry(&rows, entry->next);
		if (!is_used(entry))
			return 0;
	}
	return count;
}

/* Of the lists that words on the stack lead to: words left by earlier calls lead to less. */
static uint32_t count_longest(int memory, uint64_t stack_pointer)
{
	uint64_t words[STACK_WORDS];
	uint32_t longest = 0;

	if (!read_at(memory, stack_pointer - STACK_BELOW, words, sizeof words))
		return 0;
	for (size_t i = 0; i < STACK_WORDS; i++) {
		const uint32_t length = count_from(memory, words[i]);

		if (length > longest)
			longest = length;
	}
	return longest;
}

uint32_t aio_queue_length(pid_t pid, uint64_t stack_pointer)
{
	uint32_t length;
	char path[64];
	int memory;

	snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
	memory = open(path, O_RDONLY | O_CLOEXEC);
	if (memory < 0)
		return 0;
	length = count_longest(memory, stack_pointer);
	close(memory);
	return length;
}
