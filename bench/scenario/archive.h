/*
 * A zip archive whose files are to be uploaded. It is looked at as a whole before anything is done
 * with it, so that one that is damaged, encrypted or hostile is refused while nothing is written.
 * Two readers look at it, libzip and our own (archive_directory.h), and must agree.
 */
#ifndef IOSTUDY_ARCHIVE_H
#define IOSTUDY_ARCHIVE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "bench/plan.h"

enum {
	ARCHIVE_WHY_SIZE = PLAN_WHY_SIZE,
	ARCHIVE_FILES_MAX = 20000,
	ARCHIVE_NAME_MAX = 200,  /* bytes of a name */
	ARCHIVE_RATIO_MAX = 200, /* a file's bytes to its packed ones; small files are excepted */
	ARCHIVE_RATIO_FREE_BYTES = 1 << 20, /* those up to here */
};

enum archive_method { ARCHIVE_STORED = 0, ARCHIVE_DEFLATED = 8 };

struct archive_file {
	char name[ARCHIVE_NAME_MAX + 1]; /* relative, of plain parts, without control characters */
	uint64_t offset;                 /* of its packed bytes in the archive */
	uint64_t packed_bytes, bytes;
	uint32_t crc;
	uint16_t method; /* enum archive_method */
};

struct archive {
	int fd;
	struct archive_file *files; /* in the archive's order; folders are left out */
	uint32_t count;
	uint64_t bytes; /* of all files */
};

/* Opens an archive, of which nothing but regular files under safe names is taken, each stored or
 * deflated, and no more than limit_bytes in all. Reads no file of it yet: see archive_test. 0, or
 * -errno with why: what is wrong, with which file, and what to do. */
int archive_open(struct archive *a, const char *path, uint64_t limit_bytes,
                 char why[ARCHIVE_WHY_SIZE]);
void archive_close(struct archive *a);

/* Unpacks every file to nowhere: none is damaged. 0; -EINTR once *stop is not 0; or -errno with
 * why. */
int archive_test(const struct archive *a, const volatile sig_atomic_t *stop,
                 char why[ARCHIVE_WHY_SIZE]);

/* The archive's pages leave the page cache, so that its files come from the disk again. */
void archive_cache_drop(const struct archive *a);

/* What is to be made. */
struct archive_recipe {
	uint32_t files;
	uint64_t file_bytes, seed;
	bool compressible; /* text that shrinks to a third or so; else what cannot be packed */
};

/* Makes a zip archive of files with contents from the seed; the same recipe gives the same bytes.
 * What is there already under that path is never touched. 0; -EINTR once *stop is not 0; -EEXIST,
 * -ENOSPC ... with why; nothing stays then. */
int archive_make(const char *path, const struct archive_recipe *recipe,
                 const volatile sig_atomic_t *stop, char why[ARCHIVE_WHY_SIZE]);

#endif
