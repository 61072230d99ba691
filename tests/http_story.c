/* What an HTTP reader tells: see http_story.h. */
#include "tests/http_story.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/random.h"

__attribute__((format(printf, 2, 3))) static void say(struct story *s, const char *format, ...)
{
	const size_t room = sizeof s->text - s->length;
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(s->text + s->length, room, format, arguments);
	va_end(arguments);
	s->length += (size_t)length < room ? (size_t)length : room - 1;
}

void story_begin(struct story *s, enum http_parser_type type, uint64_t body_limit)
{
	http_reader_open(&s->reader, type, body_limit);
	s->length = 0;
	s->text[0] = 0;
}

static void say_head(struct story *s)
{
	const struct http_reader *r = &s->reader;

	if (r->parser.type == HTTP_REQUEST)
		say(s, "%s %s ", http_method_str(r->parser.method), http_reader_target(r));
	else
		say(s, "%u ", r->status);
	for (uint32_t i = 0; i < r->header_count; i++) {
		assert(r->headers[i].name < r->head_bytes && r->headers[i].value < r->head_bytes);
		say(s, "[%s=%s]", r->head + r->headers[i].name, r->head + r->headers[i].value);
	}
	say(s, "%s%s", r->header_count ? " " : "", r->keep_alive ? "keep" : "close");
}

static void say_event(struct story *s, enum http_event event, const char *data, size_t bytes)
{
	const struct http_reader *r = &s->reader;

	switch (event) {
	case HTTP_HAS_HEAD:
		say_head(s);
		break;
	case HTTP_HAS_BODY:
		assert(r->body >= data && r->body + r->body_bytes <= data + bytes);
		if (r->body_total == r->body_bytes)
			say(s, " ");
		for (size_t i = 0; i < r->body_bytes; i++)
			say(s, "%c", r->body[i] ? r->body[i] : '0');
		break;
	case HTTP_HAS_END:
		say(s, ";");
		break;
	case HTTP_IS_BAD:
		say(s, "%sbad %u", s->length && s->text[s->length - 1] != ';' ? " " : "",
		    r->status);
		break;
	default:
		break;
	}
}

void story_feed(struct story *s, const char *data, size_t bytes, size_t piece)
{
	while (bytes && s->reader.event != HTTP_IS_BAD) {
		const size_t n = bytes < piece ? bytes : piece;
		char *own = malloc(n); /* so that a byte beyond it is found */
		const char *at = own;
		size_t left = n;
		enum http_event event;

		memcpy(own, data, n);
		do {
			event = http_reader_next(&s->reader, &at, &left);
			say_event(s, event, own, n);
		} while (event != HTTP_WANTS_BYTES && event != HTTP_IS_BAD);
		free(own);
		data += n;
		bytes -= n;
	}
}

void story_finish(struct story *s)
{
	if (s->reader.event != HTTP_IS_BAD)
		say_event(s, http_reader_finish(&s->reader), NULL, 0);
}

void story_mutate(char *data, size_t *bytes, size_t size, uint64_t *random)
{
	static const char likely[] = "\r\n :;0f/%\t\0\x80\xff";

	for (uint64_t n = 1 + random_below(random, 4); n && *bytes; n--) {
		const size_t at = random_below(random, *bytes);
		const size_t part = 1 + random_below(random, *bytes - at);

		switch (random_below(random, 4)) {
		case 0:
			data[at] = (char)random_below(random, 256);
			break;
		case 1:
			data[at] = likely[random_below(random, sizeof likely)];
			break;
		case 2:
			memmove(data + at, data + at + part, *bytes - at - part);
			*bytes -= part;
			break;
		default:
			if (*bytes + part > size)
				break;
			memmove(data + at + part, data + at, *bytes - at);
			*bytes += part;
		}
	}
}
