/*
 * Builds zip archives byte by byte, so that a test can make those that no packer would: see
 * archive_directory.c for the format. Contents are stored, with their checksums.
 */
#ifndef IOSTUDY_TESTS_ZIP_BUILDER_H
#define IOSTUDY_TESTS_ZIP_BUILDER_H

#include <stddef.h>
#include <stdint.h>

struct zip_entry {
	const char *name;
	size_t name_bytes; /* 0: up to its zero */
	const char *data;  /* NULL: nothing */
	uint32_t mode;     /* as of stat(2); 0: not said */
	uint16_t flags, method;
	uint32_t bytes;    /* claimed; 0: what data has */
	const char *local; /* another name in its own header; NULL: the same */
	int begin_of;      /* the entry (+ 1) that begins at the same place; 0: none does */
};

struct zip_builder {
	char data[1 << 16];
	size_t bytes;
	uint32_t count;
	size_t begins[32];
	struct zip_entry entries[32];
};

void zip_builder_add(struct zip_builder *z, const struct zip_entry *entry);

/* Adds the directory and the end, in which count and disk stand; count 0: the entries' own. */
void zip_builder_end(struct zip_builder *z, uint32_t count, uint32_t disk);

/* Writes it as DIRECTORY/made.zip, whose path is returned (until the next call). */
const char *zip_builder_write(const struct zip_builder *z, const char *directory);

#endif
