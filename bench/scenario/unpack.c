/* Unpacks one file: see unpack.h. */
#include "bench/scenario/unpack.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

int unpack_open(struct unpack *u, const struct archive_file *file)
{
	memset(u, 0, sizeof *u);
	u->file = file;
	if (file->method == ARCHIVE_STORED)
		return 0;
	return inflateInit2(&u->stream, -MAX_WBITS) == Z_OK ? 0 : -ENOMEM;
}

void unpack_close(struct unpack *u)
{
	if (u->file->method != ARCHIVE_STORED)
		inflateEnd(&u->stream);
}

uint64_t unpack_wants(const struct unpack *u)
{
	return u->file->packed_bytes - u->packed_bytes;
}

void unpack_feed(struct unpack *u, const void *data, size_t bytes)
{
	assert(!u->stream.avail_in && bytes <= unpack_wants(u));
	u->stream.next_in = (void *)(uintptr_t)data;
	u->stream.avail_in = (uInt)bytes;
	u->packed_bytes += bytes;
}

int unpack_read(struct unpack *u, int archive, void *data, size_t size)
{
	const uint64_t wants = unpack_wants(u), offset = u->file->offset + u->packed_bytes;
	ssize_t n;

	do
		n = pread(archive, data, wants < size ? wants : size, (off_t)offset);
	while (n < 0 && errno == EINTR);
	if (n > 0)
		unpack_feed(u, data, (size_t)n);
	return n < 0 ? -errno : (int)n;
}

/* Fills what it can of the stream's output. 0 or -EBADMSG. */
static int fill(struct unpack *u)
{
	z_stream *s = &u->stream;
	const uInt part = s->avail_in < s->avail_out ? s->avail_in : s->avail_out;
	int status;

	if (u->file->method == ARCHIVE_STORED) {
		memcpy(s->next_out, s->next_in, part);
		s->next_in += part;
		s->avail_in -= part;
		s->avail_out -= part;
		return 0;
	}
	if (u->ended)
		return s->avail_in ? -EBADMSG : 0; /* bytes behind the end */
	status = inflate(s, Z_NO_FLUSH);
	u->ended = status == Z_STREAM_END;
	return status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR ? 0 : -EBADMSG;
}

static bool is_whole(const struct unpack *u)
{
	return u->bytes == u->file->bytes && u->crc == u->file->crc &&
	       (u->file->method == ARCHIVE_STORED || u->ended);
}

int unpack_take(struct unpack *u, void *data, size_t size)
{
	size_t made;

	u->stream.next_out = data;
	u->stream.avail_out = (uInt)(size < INT32_MAX ? size : INT32_MAX);
	size = u->stream.avail_out;
	/* A piece may give nothing at first: a table of codes. */
	if (fill(u) != 0)
		return -EBADMSG;
	made = size - u->stream.avail_out;
	u->bytes += made;
	if (u->bytes > u->file->bytes || (u->ended && u->stream.avail_in))
		return -EBADMSG;
	u->crc = (uint32_t)crc32(u->crc, data, (uInt)made);
	if (made || unpack_wants(u))
		return (int)made;
	return is_whole(u) ? 0 : -EBADMSG;
}
