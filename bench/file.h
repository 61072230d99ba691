/*
 * The file of the disk workloads: made and filled with blocks that carry their index and seed,
 * so that every block that is read can be checked.
 */
#ifndef IOSTUDY_FILE_H
#define IOSTUDY_FILE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/plan.h"

#define FILE_SIZE_DEFAULT (256ull << 20) /* bytes */
#define FILE_NAME_DEFAULT "iostudy.data"

/* A file in use by this process. Its lock keeps others from removing or refilling it. */
struct file_lease {
	int fd; /* with a shared flock(2), or -1 */
	char path[PLAN_PATH_SIZE];
	bool made; /* by us, under our own name: may be removed */
};

/* Makes sure that the plan's file exists, is long enough, and is filled if it is ours to fill;
 * completes plan->size_bytes, file_verified, file_seed. A file that the user named is only
 * written to with plan->overwrite. *stop != 0 ends the filling with -EINTR.
 * 0, or -errno with why; nothing stays then. */
int file_prepare(struct plan *plan, struct file_lease *lease, const volatile sig_atomic_t *stop,
                 char why[PLAN_WHY_SIZE]);

/* Ends the use; removes the file if it is ours, unless keep or another process uses it. */
void file_release(struct file_lease *lease, bool keep);

/* Drops the file's pages from the page cache, or reads them all into it. 0 or -errno. */
int file_cache_drop(const char *path);
int file_cache_fill(const char *path);

/* Fills bytes (a multiple of 512) as they stand at offset (likewise) of a file of this seed. */
void file_fill(void *data, size_t bytes, uint64_t offset, uint64_t seed);

/* Whether the bytes are those of that offset and seed. Looks at the head and the tail of every
 * 4 KiB: a block of another place, another file, or half written is found. */
bool file_check(const void *data, size_t bytes, uint64_t offset, uint64_t seed);

/* Says in why what stands where the block of that offset should. */
void file_explain(const void *data, uint64_t offset, uint64_t seed, char why[PLAN_WHY_SIZE]);

#endif
