/* One upload, as a chain of disk and socket in code that reads as if it blocked: see upload.h. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/scenario/crew.h"
#include "bench/scenario/http.h"
#include "bench/scenario/unpack.h"
#include "bench/scenario/upload.h"

enum { PIECE_BYTES = 32 << 10, HEAD_BYTES = 2048 };

/* What an upload works with. */
struct sending {
	struct caller *caller;
	int archive, socket;
	struct unpack unpack;
	struct http_reader reader;
	char target[UPLOAD_TARGET_SIZE], head[HEAD_BYTES];
	char packed[PIECE_BYTES], plain[PIECE_BYTES];
};

void upload_target(const struct archive_file *file, char target[UPLOAD_TARGET_SIZE])
{
	size_t at = (size_t)snprintf(target, UPLOAD_TARGET_SIZE, "/upload/");

	for (const unsigned char *c = (const void *)file->name; *c; c++) {
		const bool plain = isalnum(*c) || strchr("-_./", *c);

		at += (size_t)snprintf(target + at, 4, plain ? "%c" : "%%%02X", *c);
	}
}

static const char *reason_of(int32_t result)
{
	return result ? strerror(-result) : "the store hung up";
}

static const char *send_all(struct sending *s, const void *data, size_t bytes)
{
	for (size_t sent = 0; sent < bytes;) {
		const int32_t n = caller_do(s->caller,
		                            (struct io_req){.op = IO_SEND,
		                                            .fd = s->socket,
		                                            .data = (char *)(uintptr_t)data + sent,
		                                            .length = (uint32_t)(bytes - sent)});

		if (n <= 0)
			return reason_of(n);
		sent += (size_t)n;
	}
	return NULL;
}

static const char *send_head(struct sending *s)
{
	const struct http_request request = {.method = HTTP_PUT,
	                                     .target = s->target,
	                                     .host = "store",
	                                     .close = true,
	                                     .body_bytes = s->unpack.file->bytes};
	const int n = http_request_write(s->head, sizeof s->head, &request);

	return n < 0 ? "its name is too long for a request" : send_all(s, s->head, (size_t)n);
}

/* Reads the next packed bytes from the disk. */
static const char *read_packed(struct sending *s)
{
	struct unpack *u = &s->unpack;
	const uint64_t wants = unpack_wants(u);
	const int32_t n = caller_do(
	    s->caller,
	    (struct io_req){.op = IO_READ,
	                    .fd = s->archive,
	                    .offset = u->file->offset + u->packed_bytes,
	                    .data = s->packed,
	                    .length = wants < PIECE_BYTES ? (uint32_t)wants : PIECE_BYTES});

	if (n <= 0)
		return n ? strerror(-n) : "the archive has been cut short";
	unpack_feed(u, s->packed, (size_t)n);
	return NULL;
}

/* From the disk, unpacked, to the socket, piece by piece. */
static const char *send_file(struct sending *s)
{
	const char *reason = NULL;

	while (!reason) {
		const int n = unpack_take(&s->unpack, s->plain, sizeof s->plain);

		if (n < 0)
			return "the archive has been damaged meanwhile";
		if (n > 0)
			reason = send_all(s, s->plain, (size_t)n);
		else if (unpack_wants(&s->unpack))
			reason = read_packed(s);
		else
			return NULL;
	}
	return reason;
}

static const char *hear(struct sending *s)
{
	const char *at = NULL;
	size_t left = 0;

	http_reader_open(&s->reader, HTTP_RESPONSE, UINT64_MAX);
	for (;;) {
		const enum http_event event = http_reader_next(&s->reader, &at, &left);
		int32_t n;

		if (event == HTTP_IS_BAD)
			return "the store's answer is not to be understood";
		if (event == HTTP_HAS_END)
			break;
		if (event != HTTP_WANTS_BYTES)
			continue;
		n = caller_do(s->caller, (struct io_req){.op = IO_RECV,
		                                         .fd = s->socket,
		                                         .data = s->plain,
		                                         .length = sizeof s->plain});
		if (n <= 0)
			return reason_of(n);
		at = s->plain;
		left = (size_t)n;
	}
	if (s->reader.status == HTTP_STATUS_OK)
		return NULL;
	return s->reader.status == HTTP_STATUS_INSUFFICIENT_STORAGE ? "the store is full (507)"
	                                                            : "the store refused it";
}

static const char *converse(struct sending *s, const struct upload *upload,
                            const struct archive_file *file)
{
	const char *reason;

	s->socket = caller_do(s->caller, (struct io_req){.op = IO_CONNECT,
	                                                 .data = (void *)&upload->store.any,
	                                                 .length = upload->store.length});
	if (s->socket < 0)
		return reason_of(s->socket);
	if (unpack_open(&s->unpack, file) != 0) {
		close(s->socket);
		return "no memory to unpack";
	}
	upload_target(file, s->target);
	reason = send_head(s);
	if (!reason)
		reason = send_file(s);
	unpack_close(&s->unpack);
	if (!reason)
		reason = hear(s);
	close(s->socket);
	return reason;
}

static void upload_one(struct board_side *side, struct caller *caller, uint32_t id)
{
	const struct upload *upload = side->own;
	const int *archive = side->shared;
	struct sending *s = malloc(sizeof *s);
	const uint64_t start_ns = board_call_begin(side);
	const char *reason = "no memory for an upload";

	if (s) {
		s->caller = caller;
		s->archive = *archive;
		reason = converse(s, upload, &upload->archive.files[id]);
	}
	board_call_end(side, start_ns, start_ns, reason);
	free(s);
}

int upload_body(struct board_side *side)
{
	const struct upload *upload = side->own;
	const struct crew crew = {.side = side, .count = upload->count, .call = upload_one};
	int *archive = side->shared;

	*archive = open(upload->path, O_RDONLY | O_CLOEXEC);
	if (*archive < 0) {
		board_break(side, false, "the archive cannot be opened any more");
		return -errno;
	}
	return upload->engine ? crew_by_coroutines(&crew, upload->engine, ENGINE_NEEDS)
	                      : crew_by_threads(&crew, upload->threads);
}
