/*
 * The central directory of a zip archive, entry by entry, as it stands in the file: with the names'
 * real lengths and the places of the packed bytes, neither of which libzip tells.
 */
#ifndef IOSTUDY_ARCHIVE_DIRECTORY_H
#define IOSTUDY_ARCHIVE_DIRECTORY_H

#include "bench/scenario/archive.h"

struct archive_entry {
	const char *name; /* name_bytes of them, whatever they are; not terminated */
	uint32_t name_bytes;
	uint64_t begin;  /* of its local header in the archive */
	uint64_t offset; /* of its packed bytes, behind that header */
	uint32_t packed_bytes, bytes, crc;
	uint32_t attributes; /* the upper half: its mode, where a Unix wrote it */
	uint16_t flags, method;
};

struct archive_directory {
	struct archive_entry *entries; /* in the archive's order */
	uint32_t count;
	uint64_t begin; /* of the directory in the archive: behind all entries */
	char *memory;   /* holds the names */
};

/* Reads it. 0, or -errno with why, which leaves the archive's name out. */
int archive_directory_read(struct archive_directory *d, int fd, char why[ARCHIVE_WHY_SIZE]);
void archive_directory_free(struct archive_directory *d);

#endif
