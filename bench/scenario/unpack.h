/*
 * Unpacks one file of an archive, piece by piece. It does no I/O: it is fed the packed bytes, and
 * holds what comes of them against the length and the checksum that the directory promised.
 */
#ifndef IOSTUDY_UNPACK_H
#define IOSTUDY_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <zlib.h>

#include "bench/scenario/archive.h"

struct unpack {
	const struct archive_file *file;
	z_stream stream;       /* next_in: what was fed and is not taken */
	uint64_t packed_bytes; /* fed so far */
	uint64_t bytes;        /* unpacked so far */
	uint32_t crc;          /* of them */
	bool ended;            /* the deflated stream says so */
};

/* 0 or -ENOMEM. The file must live as long. */
int unpack_open(struct unpack *u, const struct archive_file *file);
void unpack_close(struct unpack *u);

/* Packed bytes that it has not been fed yet; they lie at file->offset + packed_bytes. */
uint64_t unpack_wants(const struct unpack *u);

/* The next packed bytes, at most as many as it wants. They stay where they are until taken: feed
 * only after unpack_take has given 0. */
void unpack_feed(struct unpack *u, const void *data, size_t bytes);

/* Reads them from the archive into data, by a call that blocks, and feeds them. Bytes; 0: the
 * archive is cut short; -errno. */
int unpack_read(struct unpack *u, int archive, void *data, size_t size);

/* Unpacks into data: how many bytes; 0: it wants more, or, where it wants none, the file is whole;
 * -EBADMSG: damaged. */
int unpack_take(struct unpack *u, void *data, size_t size);

#endif
