/* PUT and GET of the object store: see object_serve.h. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/scenario/object_serve.h"

uint16_t object_status(int error, const char **text)
{
	switch (error) {
	case -EINVAL:
		*text = "it names no object: /bucket/key\n";
		return HTTP_STATUS_BAD_REQUEST;
	case -ENAMETOOLONG:
		*text = "a bucket has at most 63 bytes, a key 255 when it is escaped\n";
		return HTTP_STATUS_URI_TOO_LONG;
	case -ENOENT:
		*text = "there is no such object\n";
		return HTTP_STATUS_NOT_FOUND;
	case -ENOSPC:
	case -EDQUOT:
	case -EFBIG:
		*text = "the store is full\n";
		return HTTP_STATUS_INSUFFICIENT_STORAGE;
	case -EMFILE:
	case -ENFILE:
		*text = "too many files are open\n";
		return HTTP_STATUS_SERVICE_UNAVAILABLE;
	default:
		*text = "the store's disk failed\n";
		return HTTP_STATUS_INTERNAL_SERVER_ERROR;
	}
}

/* An object that comes in. */
struct incoming {
	struct object_name name;
	uint64_t number, bytes;
	int fd;    /* -1: none any more */
	int error; /* the first */
};

static void incoming_fail(struct object_connection *c, struct incoming *in, int error)
{
	if (!in->error)
		in->error = error;
	if (in->fd < 0)
		return;
	close(in->fd);
	in->fd = -1;
	object_forget(&c->store->shelf, in->number);
}

static void incoming_begin(struct object_connection *c, struct incoming *in)
{
	in->number = ++c->store->numbers;
	in->fd = -1;
	in->error = object_name_parse(&in->name, http_reader_target(&c->reader));
	if (in->error)
		return;
	in->fd = object_begin(&c->store->shelf, in->number);
	if (in->fd < 0)
		in->error = in->fd;
}

/* Writes the piece of the body that has come. After a failure it is only read. */
static void incoming_write(struct object_connection *c, struct incoming *in)
{
	for (size_t done = 0; done < c->reader.body_bytes && in->fd >= 0;) {
		const int32_t n = carrier_do(
		    &c->store->carrier,
		    (struct io_req){.op = IO_WRITE,
		                    .fd = in->fd,
		                    .offset = in->bytes,
		                    .data = (char *)(uintptr_t)c->reader.body + done,
		                    .length = (uint32_t)(c->reader.body_bytes - done)});

		if (n <= 0) {
			incoming_fail(c, in, n ? n : -EIO);
			return;
		}
		done += (size_t)n;
		in->bytes += (uint64_t)n;
	}
}

static int sync_file(struct object_connection *c, int fd)
{
	if (!c->store->config->sync)
		return 0;
	return carrier_do(&c->store->carrier, (struct io_req){.op = IO_FSYNC, .fd = fd});
}

/* It is whole: on the disk first, then under its name, then that too on the disk. */
static void incoming_finish(struct object_connection *c, struct incoming *in)
{
	int bucket = -1, error = sync_file(c, in->fd);

	if (!error)
		bucket = object_finish(&c->store->shelf, in->number, &in->name);
	if (error || bucket < 0) {
		incoming_fail(c, in, error ? error : bucket);
		return;
	}
	close(in->fd);
	in->fd = -1;
	in->error = sync_file(c, bucket);
	close(bucket);
}

uint16_t object_put(struct object_connection *c, const char **text)
{
	const bool expects = http_reader_expects(&c->reader);
	enum http_event event = HTTP_HAS_BODY;
	struct incoming in = {0};

	incoming_begin(c, &in);
	if (expects && in.error) { /* it need not send what nobody wants */
		c->reader.keep_alive = false;
		return object_status(in.error, text);
	}
	if (expects && !object_send(c, http_continue, strlen(http_continue)))
		event = HTTP_IS_BAD;
	while (event == HTTP_HAS_BODY) {
		event = object_next(c);
		if (event == HTTP_HAS_BODY)
			incoming_write(c, &in);
	}
	if (event != HTTP_HAS_END) { /* nothing of it stays */
		incoming_fail(c, &in, -ECONNRESET);
		*text = "the body is not to be understood\n";
		return event == HTTP_IS_BAD ? c->reader.status : 0;
	}
	c->deadline_ns = UINT64_MAX;
	if (!in.error)
		incoming_finish(c, &in);
	object_wait(c);
	if (in.error)
		return object_status(in.error, text);
	*text = "";
	return HTTP_STATUS_OK;
}

/* Sends an object, whose length was promised. False: it cannot be kept. */
static bool send_object(struct object_connection *c, int fd, uint64_t bytes)
{
	for (uint64_t at = 0; at < bytes;) {
		const uint64_t left = bytes - at;
		const int32_t n = carrier_do(&c->store->carrier,
		                             (struct io_req){.op = IO_READ,
		                                             .fd = fd,
		                                             .offset = at,
		                                             .data = c->out,
		                                             .length = left < sizeof c->out
		                                                           ? (uint32_t)left
		                                                           : sizeof c->out});

		if (n <= 0 || !object_send(c, c->out, (size_t)n))
			return false;
		at += (uint64_t)n;
	}
	return true;
}

uint16_t object_get(struct object_connection *c, const char **text)
{
	struct object_name name;
	struct stat file;
	int head, fd = object_name_parse(&name, http_reader_target(&c->reader));

	if (!fd)
		fd = object_open(&c->store->shelf, &name);
	if (fd >= 0 && (fstat(fd, &file) != 0 || !S_ISREG(file.st_mode))) {
		close(fd);
		fd = -EIO;
	}
	object_wait(c);
	if (fd < 0)
		return object_status(fd, text);
	head = http_answer_write(
	    c->out, sizeof c->out,
	    &(struct http_answer){.status = HTTP_STATUS_OK,
	                          .close = !c->reader.keep_alive || c->store->stopping,
	                          .type = "application/octet-stream",
	                          .body_bytes = (uint64_t)file.st_size});
	if (!object_send(c, c->out, (size_t)head) ||
	    (!http_reader_is(&c->reader, HTTP_HEAD) && !send_object(c, fd, (uint64_t)file.st_size)))
		c->reader.keep_alive = false;
	close(fd);
	return 0;
}
