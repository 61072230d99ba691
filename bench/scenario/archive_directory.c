/* The central directory of a zip archive: see archive_directory.h. APPNOTE 6.3.10, 4.3. */
#include "bench/scenario/archive_directory.h"

#include <endian.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	END_BYTES = 22, /* end of central directory, without its comment */
	END_SIGNATURE = 0x06054b50,
	COMMENT_MAX = 0xffff,
	CENTRAL_BYTES = 46,
	CENTRAL_SIGNATURE = 0x02014b50,
	LOCAL_BYTES = 30,
	LOCAL_SIGNATURE = 0x04034b50,
	DIRECTORY_BYTES_MAX = 64 << 20,
};

static const char big[] = "it is a zip64 archive (4 GiB or 65,535 files and more), which is not "
			  "taken: split it";

static uint16_t number16(const char *at)
{
	uint16_t number;

	memcpy(&number, at, sizeof number);
	return le16toh(number);
}

static uint32_t number32(const char *at)
{
	uint32_t number;

	memcpy(&number, at, sizeof number);
	return le32toh(number);
}

__attribute__((format(printf, 2, 3))) static int refuse(char why[ARCHIVE_WHY_SIZE],
                                                        const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(why, ARCHIVE_WHY_SIZE, format, arguments);
	va_end(arguments);
	return -EBADMSG;
}

/* All of it, or -errno; a file that ends before is damaged. */
static int read_all(int fd, void *data, size_t bytes, uint64_t offset, char why[ARCHIVE_WHY_SIZE])
{
	for (size_t have = 0; have < bytes;) {
		const ssize_t n = pread(fd, (char *)data + have, bytes - have,
		                        (off_t)(offset + have));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			const int error = errno;

			refuse(why, "cannot be read: %s", strerror(error));
			return -error;
		}
		if (n == 0)
			return refuse(why, "it is cut short: damaged");
		have += (size_t)n;
	}
	return 0;
}

/* Where the directory lies. */
struct place {
	uint64_t begin, bytes;
	uint32_t count;
};

/* The record at the end: at is its bytes, which lie at offset of the archive. */
static int end_parse(const char *at, uint64_t offset, struct place *place,
                     char why[ARCHIVE_WHY_SIZE])
{
	const uint32_t disk = number16(at + 4), first_disk = number16(at + 6);

	place->count = number16(at + 10);
	place->bytes = number32(at + 12);
	place->begin = number32(at + 16);
	if (place->count == 0xffff || place->bytes == 0xffffffff || place->begin == 0xffffffff)
		return refuse(why, "%s", big);
	if (disk || first_disk || number16(at + 8) != place->count)
		return refuse(why, "it is one part of several: join them first (zip -s 0)");
	if (place->count > ARCHIVE_FILES_MAX)
		return refuse(why, "too many entries: %u, and %d are taken: split it", place->count,
		              ARCHIVE_FILES_MAX);
	if (place->begin + place->bytes != offset ||
	    place->bytes < (uint64_t)place->count * CENTRAL_BYTES)
		return refuse(why,
		              "its directory does not lie where it says: damaged, or something "
		              "was put before or behind it");
	if (place->bytes > DIRECTORY_BYTES_MAX)
		return refuse(why, "its directory has %llu bytes, and %d are taken",
		              (unsigned long long)place->bytes, DIRECTORY_BYTES_MAX);
	return 0;
}

/* Finds the end of the directory: its comment reaches to the end of the file. */
static int end_find(int fd, struct place *place, char why[ARCHIVE_WHY_SIZE])
{
	struct stat file;
	size_t bytes;
	char *tail;
	int error;

	if (fstat(fd, &file) != 0)
		return -errno;
	if (!S_ISREG(file.st_mode))
		return refuse(why, "it is no regular file");
	bytes = (size_t)file.st_size < END_BYTES + COMMENT_MAX ? (size_t)file.st_size
	                                                       : END_BYTES + COMMENT_MAX;
	tail = malloc(bytes + 1);
	if (!tail)
		return -ENOMEM;
	error = read_all(fd, tail, bytes, (uint64_t)file.st_size - bytes, why);
	if (!error)
		error = refuse(why, "it is no zip archive, or cut short");
	for (size_t behind = END_BYTES; error == -EBADMSG && behind <= bytes; behind++) {
		const char *at = tail + bytes - behind;

		if (number32(at) != END_SIGNATURE || number16(at + 20) != behind - END_BYTES)
			continue;
		error = end_parse(at, (uint64_t)file.st_size - behind, place, why);
		break;
	}
	free(tail);
	return error;
}

/* Where the packed bytes begin: behind the entry's own header, whose extra field may differ. */
static int local_read(int fd, struct archive_entry *entry, char why[ARCHIVE_WHY_SIZE])
{
	char header[LOCAL_BYTES];
	const int error = read_all(fd, header, sizeof header, entry->begin, why);

	if (error)
		return error;
	if (number32(header) != LOCAL_SIGNATURE)
		return refuse(why, "an entry does not begin where its directory says: damaged");
	entry->offset = entry->begin + LOCAL_BYTES + number16(header + 26) + number16(header + 28);
	return 0;
}

/* The bytes of an entry in the directory; 0: it does not fit. */
static size_t central_parse(struct archive_entry *entry, const char *at, size_t left)
{
	size_t bytes;

	if (left < CENTRAL_BYTES || number32(at) != CENTRAL_SIGNATURE)
		return 0;
	entry->flags = number16(at + 8);
	entry->method = number16(at + 10);
	entry->crc = number32(at + 16);
	entry->packed_bytes = number32(at + 20);
	entry->bytes = number32(at + 24);
	entry->name_bytes = number16(at + 28);
	entry->attributes = number32(at + 38);
	entry->begin = number32(at + 42);
	entry->name = at + CENTRAL_BYTES;
	bytes = CENTRAL_BYTES + (size_t)entry->name_bytes + number16(at + 30) + number16(at + 32);
	return bytes <= left ? bytes : 0;
}

static int entries_read(struct archive_directory *d, int fd, size_t bytes,
                        char why[ARCHIVE_WHY_SIZE])
{
	size_t at = 0;

	for (uint32_t i = 0; i < d->count; i++) {
		struct archive_entry *entry = &d->entries[i];
		const size_t took = central_parse(entry, d->memory + at, bytes - at);
		int error;

		if (!took)
			return refuse(why, "its directory is damaged at entry %u of %u", i + 1,
			              d->count);
		at += took;
		if (entry->bytes == 0xffffffff || entry->packed_bytes == 0xffffffff ||
		    entry->begin == 0xffffffff)
			return refuse(why, "%s", big);
		error = local_read(fd, entry, why);
		if (error)
			return error;
	}
	return at == bytes ? 0 : refuse(why, "its directory holds more than its entries: damaged");
}

int archive_directory_read(struct archive_directory *d, int fd, char why[ARCHIVE_WHY_SIZE])
{
	struct place place = {0};
	int error;

	*d = (struct archive_directory){0};
	*why = 0;
	error = end_find(fd, &place, why);
	if (!error) {
		d->count = place.count;
		d->begin = place.begin;
		d->memory = malloc(place.bytes + 1);
		d->entries = calloc(place.count + 1u, sizeof *d->entries);
		error = d->memory && d->entries ? 0 : -ENOMEM;
	}
	if (!error)
		error = read_all(fd, d->memory, place.bytes, place.begin, why);
	if (!error)
		error = entries_read(d, fd, place.bytes, why);
	if (error && !*why)
		snprintf(why, ARCHIVE_WHY_SIZE, "%s", strerror(-error));
	if (error)
		archive_directory_free(d);
	return error;
}

void archive_directory_free(struct archive_directory *d)
{
	free(d->entries);
	free(d->memory);
	*d = (struct archive_directory){0};
}
