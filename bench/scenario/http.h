/*
 * HTTP/1.1 as text: a reader that is fed bytes in whatever pieces they come, and writers of heads.
 * Neither does any I/O. Messages may follow each other (keep-alive, pipelining) and have bodies of
 * a stated length, in chunks, or up to the stream's end. The grammar is Debian's libhttp-parser.
 */
#ifndef IOSTUDY_HTTP_H
#define IOSTUDY_HTTP_H

#include <http_parser.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	HTTP_HEAD_BYTES_MAX = 16 << 10, /* of a target, names and values with their zeros; what
	                                   lies between them may be as much again and more: 80 KiB
	                                   in all, and of a chunk's head */
	HTTP_HEADERS_MAX = 100,
	HTTP_WRITTEN_MAX = 1024, /* bytes of a head that is written, extra lines not counted */
};

enum http_event {
	HTTP_WANTS_BYTES, /* all was taken: feed more */
	HTTP_HAS_HEAD,    /* method, target or status, and headers are there */
	HTTP_HAS_BODY,    /* a piece of the body: body, body_bytes */
	HTTP_HAS_END,     /* the message is whole; the next one may begin with the next byte */
	HTTP_IS_BAD,      /* not to be read on: answer r->status where it is a request, and close */
};

struct http_header {
	uint32_t name, value; /* where each begins in head; both end with a zero */
};

/* One direction of one connection. What a head holds is there from HTTP_HAS_HEAD until the call
 * after HTTP_HAS_END. */
struct http_reader {
	http_parser parser;
	uint64_t body_limit; /* bytes of one body */
	uint64_t body_total; /* of the present one, so far */
	const char *body;    /* of HTTP_HAS_BODY: a piece of the bytes that were fed */
	size_t body_bytes;
	uint16_t status; /* of a response; of a bad request: 400, 413, 431, 501 or 505 */
	bool bodyless;   /* set by who has asked with HEAD: the response has no body */
	bool keep_alive; /* the peer will take another message; known with HTTP_HAS_HEAD */
	uint8_t event, part;
	bool begun;  /* a message has begun, and not ended */
	bool headed; /* its head is whole */
	uint32_t header_count, head_bytes, target;
	struct http_header headers[HTTP_HEADERS_MAX];
	char head[HTTP_HEAD_BYTES_MAX]; /* last: untouched pages of it cost nothing */
};

/* Begins with the first message of a connection. */
void http_reader_open(struct http_reader *r, enum http_parser_type type, uint64_t body_limit);

/* Reads on at *data, and moves *data and *bytes behind what it took. Call it until it wants bytes:
 * each event is told once. */
enum http_event http_reader_next(struct http_reader *r, const char **data, size_t *bytes);

/* The stream has ended: HTTP_HAS_END (that was how the body ends), HTTP_WANTS_BYTES (between two
 * messages, as it should be), or HTTP_IS_BAD. */
enum http_event http_reader_finish(struct http_reader *r);

/* Of a request. The target as it came ("/bucket/key?a=b"), at most of HTTP_HEAD_BYTES_MAX. */
const char *http_reader_target(const struct http_reader *r);
bool http_reader_is(const struct http_reader *r, enum http_method method);

/* A header's value by its name in whatever case, or NULL; of several the first. */
const char *http_reader_header(const struct http_reader *r, const char *name);

/* Bytes of the body that the head states; UINT64_MAX: it does not. */
uint64_t http_reader_length(const struct http_reader *r);

/* The client waits for http_continue before it sends its body. */
bool http_reader_expects(const struct http_reader *r);
extern const char http_continue[]; /* the interim answer, whole */

/* Decodes %41 in a path of its own, in place. False: a bad or forbidden escape (of zero). */
bool http_decode(char *path);

/* A head to be written. */
struct http_answer {
	uint16_t status;
	bool close;        /* say that the connection ends */
	const char *type;  /* of the content; NULL: text/plain */
	const char *extra; /* whole lines "Name: value\r\n", or NULL */
	uint64_t body_bytes;
};

struct http_request {
	enum http_method method;
	const char *target, *host; /* target: from "/" on, escaped as it must be */
	bool close;
	const char *extra;
	uint64_t body_bytes; /* 0: states none, but where a PUT or POST has to */
};

/* Writes the head, after which its body is sent. Bytes, or -ENOBUFS. */
int http_answer_write(char *data, size_t size, const struct http_answer *answer);
int http_request_write(char *data, size_t size, const struct http_request *request);

/* A whole answer with a body of text; with only_head, as HEAD wants it, the head alone. */
int http_answer_text(char *data, size_t size, const struct http_answer *answer, const char *text,
                     bool only_head);

#endif
