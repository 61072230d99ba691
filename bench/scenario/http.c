/* Reads HTTP/1.1: see http.h. The library's callbacks pause it, so that each tells one event. */
#include "bench/scenario/http.h"

#include <string.h>
#include <strings.h>

enum part { PART_NONE, PART_TARGET, PART_NAME, PART_VALUE };

const char http_continue[] = "HTTP/1.1 100 Continue\r\n\r\n";

static int fail(struct http_reader *r, uint16_t status)
{
	r->event = HTTP_IS_BAD;
	r->status = status;
	return -1;
}

static int tell(struct http_reader *r, enum http_event event)
{
	r->event = (uint8_t)event;
	http_parser_pause(&r->parser, 1);
	return 0;
}

static int on_begin(http_parser *parser)
{
	struct http_reader *r = parser->data;

	r->begun = true;
	r->header_count = r->head_bytes = 0;
	r->target = 0;
	r->head[0] = 0;
	r->part = PART_NONE;
	r->headed = false;
	r->body_total = 0;
	return 0;
}

/* Ends the part that was being read, without the spaces behind a value. */
static void end_part(struct http_reader *r)
{
	if (r->part == PART_NONE)
		return;
	while (r->part == PART_VALUE && r->head_bytes > r->headers[r->header_count - 1].value &&
	       (r->head[r->head_bytes - 1] == ' ' || r->head[r->head_bytes - 1] == '\t'))
		r->head_bytes--;
	r->head[r->head_bytes++] = 0;
	r->part = PART_NONE;
}

static int begin_part(struct http_reader *r, enum part part)
{
	end_part(r);
	r->part = (uint8_t)part;
	if (part == PART_TARGET) {
		r->target = r->head_bytes;
	} else if (part == PART_VALUE) {
		r->headers[r->header_count - 1].value = r->head_bytes;
	} else {
		if (r->header_count == HTTP_HEADERS_MAX)
			return fail(r, HTTP_STATUS_REQUEST_HEADER_FIELDS_TOO_LARGE);
		r->headers[r->header_count++].name = r->head_bytes;
	}
	return 0;
}

/* Another piece of a part. Behind the body (a trailer) nobody asks for it. */
static int take_part(http_parser *parser, enum part part, const char *at, size_t bytes)
{
	struct http_reader *r = parser->data;

	if (r->headed)
		return 0;
	if (r->part != part && begin_part(r, part) != 0)
		return -1;
	/* Room for its own zero, and for that of a value that never comes. */
	if (bytes > sizeof r->head - 2 - r->head_bytes)
		return fail(r, HTTP_STATUS_REQUEST_HEADER_FIELDS_TOO_LARGE);
	memcpy(r->head + r->head_bytes, at, bytes);
	r->head_bytes += (uint32_t)bytes;
	return r->head_bytes + 2 < sizeof r->head
	           ? 0
	           : fail(r, HTTP_STATUS_REQUEST_HEADER_FIELDS_TOO_LARGE);
}

static int on_target(http_parser *parser, const char *at, size_t bytes)
{
	return take_part(parser, PART_TARGET, at, bytes);
}

static int on_name(http_parser *parser, const char *at, size_t bytes)
{
	return take_part(parser, PART_NAME, at, bytes);
}

static int on_value(http_parser *parser, const char *at, size_t bytes)
{
	return take_part(parser, PART_VALUE, at, bytes);
}

/* What the grammar allows and we do not serve. */
static uint16_t refuse_head(struct http_reader *r)
{
	uint32_t hosts = 0;

	if (r->parser.http_major != 1)
		return HTTP_STATUS_HTTP_VERSION_NOT_SUPPORTED;
	if (r->parser.content_length != UINT64_MAX && !(r->parser.flags & F_CHUNKED) &&
	    !r->bodyless && r->parser.content_length > r->body_limit)
		return HTTP_STATUS_PAYLOAD_TOO_LARGE;
	if (r->parser.type != HTTP_REQUEST)
		return 0;
	if (r->parser.method == HTTP_CONNECT)
		return HTTP_STATUS_NOT_IMPLEMENTED;
	for (uint32_t i = 0; i < r->header_count; i++)
		hosts += strcasecmp(r->head + r->headers[i].name, "host") == 0;
	if (hosts > 1 || (hosts == 0 && r->parser.http_minor >= 1))
		return HTTP_STATUS_BAD_REQUEST;
	return 0;
}

static int on_head(http_parser *parser)
{
	struct http_reader *r = parser->data;
	uint16_t refused;

	end_part(r);
	r->headed = true;
	refused = refuse_head(r);
	if (refused)
		return fail(r, refused);
	if (parser->type == HTTP_RESPONSE)
		r->status = (uint16_t)parser->status_code;
	parser->upgrade = 0; /* no other protocol is spoken here: the wish is not heard */
	r->keep_alive = http_should_keep_alive(parser) != 0;
	tell(r, HTTP_HAS_HEAD);
	return r->bodyless ? 1 : 0;
}

static int on_body(http_parser *parser, const char *at, size_t bytes)
{
	struct http_reader *r = parser->data;

	r->body_total += bytes;
	r->body = at;
	r->body_bytes = bytes;
	return tell(r, HTTP_HAS_BODY);
}

/* A chunk's length is known before its bytes: a body too large fails here, however it is cut. */
static int on_chunk(http_parser *parser)
{
	struct http_reader *r = parser->data;

	return parser->content_length > r->body_limit - r->body_total
	           ? fail(r, HTTP_STATUS_PAYLOAD_TOO_LARGE)
	           : 0;
}

static int on_end(http_parser *parser)
{
	struct http_reader *r = parser->data;

	r->begun = false;
	r->keep_alive = http_should_keep_alive(parser) != 0;
	return tell(r, HTTP_HAS_END);
}

static const http_parser_settings callbacks = {
    .on_message_begin = on_begin,
    .on_url = on_target,
    .on_header_field = on_name,
    .on_header_value = on_value,
    .on_headers_complete = on_head,
    .on_body = on_body,
    .on_chunk_header = on_chunk,
    .on_message_complete = on_end,
};

void http_reader_open(struct http_reader *r, enum http_parser_type type, uint64_t body_limit)
{
	memset(r, 0, offsetof(struct http_reader, headers));
	http_parser_init(&r->parser, type);
	r->parser.data = r;
	r->body_limit = body_limit;
	r->head[0] = 0;
}

/* The library refused what it was fed, by its own will or by ours. */
static enum http_event refuse(struct http_reader *r)
{
	if (r->event != HTTP_IS_BAD)
		fail(r, HTTP_PARSER_ERRNO(&r->parser) == HPE_HEADER_OVERFLOW
		            ? HTTP_STATUS_REQUEST_HEADER_FIELDS_TOO_LARGE
		            : HTTP_STATUS_BAD_REQUEST);
	return HTTP_IS_BAD;
}

enum http_event http_reader_next(struct http_reader *r, const char **data, size_t *bytes)
{
	size_t took;

	if (r->event == HTTP_IS_BAD)
		return HTTP_IS_BAD;
	r->event = HTTP_WANTS_BYTES;
	if (!*bytes)
		return HTTP_WANTS_BYTES;
	http_parser_pause(&r->parser, 0);
	took = http_parser_execute(&r->parser, &callbacks, *data, *bytes);
	*data += took;
	*bytes -= took;
	switch (HTTP_PARSER_ERRNO(&r->parser)) {
	case HPE_OK:
	case HPE_PAUSED:
		return r->event;
	default:
		return refuse(r);
	}
}

enum http_event http_reader_finish(struct http_reader *r)
{
	if (r->event == HTTP_IS_BAD)
		return HTTP_IS_BAD;
	r->event = HTTP_WANTS_BYTES;
	http_parser_pause(&r->parser, 0);
	http_parser_execute(&r->parser, &callbacks, NULL, 0);
	switch (HTTP_PARSER_ERRNO(&r->parser)) {
	case HPE_OK:
	case HPE_PAUSED:
		return r->begun ? refuse(r) : r->event;
	default:
		return refuse(r);
	}
}

const char *http_reader_target(const struct http_reader *r)
{
	return r->head + r->target;
}

bool http_reader_is(const struct http_reader *r, enum http_method method)
{
	return r->parser.method == (unsigned)method;
}

const char *http_reader_header(const struct http_reader *r, const char *name)
{
	for (uint32_t i = 0; i < r->header_count; i++)
		if (strcasecmp(r->head + r->headers[i].name, name) == 0)
			return r->head + r->headers[i].value;
	return NULL;
}

uint64_t http_reader_length(const struct http_reader *r)
{
	return r->parser.flags & F_CHUNKED ? UINT64_MAX : r->parser.content_length;
}

bool http_reader_expects(const struct http_reader *r)
{
	const char *value = http_reader_header(r, "expect");

	return value && strcasecmp(value, "100-continue") == 0;
}
