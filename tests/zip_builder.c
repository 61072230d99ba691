/* Builds zip archives: see zip_builder.h. */
#include "tests/zip_builder.h"

#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "tests/test.h"

static void put(struct zip_builder *z, uint32_t number, size_t bytes)
{
	memcpy(z->data + z->bytes, &number, bytes); /* x86: the lowest byte first */
	z->bytes += bytes;
}

static void put_bytes(struct zip_builder *z, const void *data, size_t bytes)
{
	memcpy(z->data + z->bytes, data, bytes);
	z->bytes += bytes;
}

static size_t name_bytes(const struct zip_entry *e)
{
	return e->name_bytes ? e->name_bytes : strlen(e->name);
}

static uint32_t data_bytes(const struct zip_entry *e)
{
	return e->data ? (uint32_t)strlen(e->data) : 0;
}

/* What both headers hold from the flags on to the names' lengths. */
static void put_common(struct zip_builder *z, const struct zip_entry *e)
{
	const uint32_t bytes = data_bytes(e);

	put(z, e->flags, 2);
	put(z, e->method, 2);
	put(z, 0x21 << 16, 4); /* 1980-01-01 */
	put(z, (uint32_t)crc32(0, (const void *)(e->data ? e->data : ""), bytes), 4);
	put(z, bytes, 4);
	put(z, e->bytes ? e->bytes : bytes, 4);
	put(z, (uint32_t)name_bytes(e), 2);
	put(z, 0, 2);
}

void zip_builder_add(struct zip_builder *z, const struct zip_entry *e)
{
	z->begins[z->count] = e->begin_of ? z->begins[e->begin_of - 1] : z->bytes;
	z->entries[z->count++] = *e;
	if (e->begin_of)
		return;
	put(z, 0x04034b50, 4);
	put(z, 20, 2);
	put_common(z, e);
	put_bytes(z, e->local ? e->local : e->name, name_bytes(e));
	put_bytes(z, e->data ? e->data : "", data_bytes(e));
}

void zip_builder_end(struct zip_builder *z, uint32_t count, uint32_t disk)
{
	const size_t begin = z->bytes;

	for (uint32_t i = 0; i < z->count; i++) {
		put(z, 0x02014b50, 4);
		put(z, 3 << 8 | 20, 2);
		put(z, 20, 2);
		put_common(z, &z->entries[i]);
		put(z, 0, 4);
		put(z, 0, 2);
		put(z, z->entries[i].mode << 16, 4);
		put(z, (uint32_t)z->begins[i], 4);
		put_bytes(z, z->entries[i].name, name_bytes(&z->entries[i]));
	}
	const size_t end = z->bytes;

	put(z, 0x06054b50, 4);
	put(z, disk, 2);
	put(z, disk, 2);
	put(z, count ? count : z->count, 2);
	put(z, count ? count : z->count, 2);
	put(z, (uint32_t)(end - begin), 4);
	put(z, (uint32_t)begin, 4);
	put(z, 0, 2);
}

const char *zip_builder_write(const struct zip_builder *z, const char *directory)
{
	static char path[300];
	FILE *file;

	snprintf(path, sizeof path, "%s/made.zip", directory);
	file = fopen(path, "we");
	CHECK(file && fwrite(z->data, 1, z->bytes, file) == z->bytes);
	if (file)
		fclose(file);
	return path;
}
