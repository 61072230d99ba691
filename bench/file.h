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

enum { FILE_COUNT_MAX = 256 }; /* files of one workload */

/* The files in use by this process. Their locks keep others from removing, refilling or writing
 * them. */
struct file_lease {
	int fds[FILE_COUNT_MAX]; /* each with a flock(2) */
	uint32_t count;          /* of them; 0: no lease */
	char path[PLAN_PATH_SIZE];
	bool made;    /* by us, under our own name: may be removed */
	bool claimed; /* for writing */
};

/* The path of one of the files, the first of which is path itself. Safe in a signal handler.
 * False: it would be too long. */
bool file_path(const char *path, uint32_t index, char out[PLAN_PATH_SIZE]);

/* With which seed that file is filled, if the first has this one: so no two are alike. */
uint64_t file_seed(uint64_t seed, uint32_t index);

/* Makes sure that the plan's files exist, are long enough, and are filled if they are ours to fill;
 * completes plan->size_bytes, file_verified, file_seed. A file that the user named is only
 * written to with plan->overwrite. *stop != 0 ends the filling with -EINTR.
 * 0, or -errno with why; nothing stays then. */
int file_prepare(struct plan *plan, struct file_lease *lease, const volatile sig_atomic_t *stop,
                 char why[PLAN_WHY_SIZE]);

/* Before a workload that writes: makes sure that the files can be written and that nobody else
 * uses them, a mounted file system included. 0, also when it was so before; or -errno with why. */
int file_claim(const struct plan *plan, struct file_lease *lease, char why[PLAN_WHY_SIZE]);

/* Ends the use; removes the files if they are ours, unless keep or another process uses them. */
void file_release(struct file_lease *lease, bool keep);

/* For a signal handler that ends the process: removes the files if they are ours. */
void file_unlink(const struct file_lease *lease);

/* Writes back what of the files waits in the page cache for it, then drops their pages from there,
 * or reads them all into it. 0 or -errno. */
int file_cache_drop(const struct plan *plan);
int file_cache_fill(const struct plan *plan);

/* A generation tells which write brought a block; 0 is the filling of the file. */
#define FILE_ANY_GENERATION UINT64_MAX   /* whatever this program has ever put there */
#define FILE_AMONG_FOREIGN  (1ull << 63) /* a flag of it: the blocks beside are somebody else's */

/* Fills bytes (a multiple of 512) as they stand at offset (likewise) of a file of this seed. */
void file_fill(void *data, size_t bytes, uint64_t offset, uint64_t seed, uint64_t generation);

/* Whether the bytes are those of that offset, seed and generation. Looks at the head and the tail
 * of every 4 KiB: a block of another place, of another file, of an earlier write or half written
 * is found. Blocks among foreign ones are never those of FILE_ANY_GENERATION. */
bool file_check(const void *data, size_t bytes, uint64_t offset, uint64_t seed,
                uint64_t generation);

/* Says in why what stands where the block of that offset should. */
void file_explain(const void *data, size_t bytes, uint64_t offset, uint64_t seed,
                  uint64_t generation, char why[PLAN_WHY_SIZE]);

/* For file.c: fills fd up to size. 0, or -errno with why, which names path. */
int file_make(int fd, const char *path, uint64_t size, uint64_t seed,
              const volatile sig_atomic_t *stop, char why[PLAN_WHY_SIZE]);

#endif
