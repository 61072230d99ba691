/* GET /delay/MS: see delay_http.h. */
#include "bench/delay_http.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/scenario/http.h"

/* During one feed. */
struct feeding {
	struct delay_http *http;
	void (*take)(void *context, const struct delay_request *request);
	void *context;
};

bool delay_http_begins(const char first[4])
{
	static const char *const words[] = {"GET ", "HEAD", "POST", "PUT ", "OPTI", "DELE"};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (memcmp(first, words[i], 4) == 0)
			return true;
	return false;
}

static int on_begin(http_parser *parser)
{
	((struct feeding *)parser->data)->http->target_bytes = 0;
	return 0;
}

static int on_url(http_parser *parser, const char *at, size_t length)
{
	struct delay_http *h = ((struct feeding *)parser->data)->http;

	for (size_t i = 0; i < length && h->target_bytes <= DELAY_HTTP_TARGET; i++)
		h->target[h->target_bytes++] = at[i];
	return 0;
}

/* Milliseconds in digits alone, or -1. */
static int64_t milliseconds(const char *text)
{
	const size_t digits = strspn(text, "0123456789");
	const long long ms = digits && digits < 10 && !text[digits] ? atoll(text) : -1;

	return ms <= DELAY_HTTP_MS_MAX ? ms : -1;
}

static void read_target(struct delay_http *h, struct delay_request *request)
{
	static const char prefix[] = "/delay/";
	int64_t ms;

	request->status = 404;
	if (h->target_bytes > DELAY_HTTP_TARGET)
		return;
	h->target[h->target_bytes] = 0;
	if (strncmp(h->target, prefix, sizeof prefix - 1) != 0)
		return;
	ms = milliseconds(h->target + sizeof prefix - 1);
	request->status = ms < 0 ? 400 : 200;
	request->delay_ns = ms < 0 ? 0 : (uint64_t)ms * 1000000;
}

static int on_end(http_parser *parser)
{
	const struct feeding *f = parser->data;
	struct delay_request request = {.close = !http_should_keep_alive(parser),
	                                .only_head = parser->method == HTTP_HEAD};

	if (parser->method == HTTP_GET || parser->method == HTTP_HEAD)
		read_target(f->http, &request);
	else
		request.status = 405;
	f->http->closed = request.close;
	f->take(f->context, &request);
	return f->http->closed;
}

void delay_http_feed(struct delay_http *h, const char *data, size_t bytes,
                     void (*take)(void *context, const struct delay_request *request),
                     void *context)
{
	static const http_parser_settings settings = {
	    .on_message_begin = on_begin, .on_url = on_url, .on_message_complete = on_end};
	struct feeding feeding = {.http = h, .take = take, .context = context};

	if (h->closed || !bytes) /* the parser takes no bytes for the stream's end */
		return;
	if (!h->parser.data)
		http_parser_init(&h->parser, HTTP_REQUEST);
	h->parser.data = &feeding;
	http_parser_execute(&h->parser, &settings, data, bytes);
	if (HTTP_PARSER_ERRNO(&h->parser) == HPE_OK && !h->parser.upgrade)
		return;
	if (!h->closed)
		take(context, &(struct delay_request){.status = 400, .close = true});
	h->closed = true;
}

int delay_http_answer(const struct delay_request *request, char data[DELAY_HTTP_ANSWER])
{
	const struct http_answer answer = {.status = request->status,
	                                   .close = request->close,
	                                   .extra = request->status == 405 ? "Allow: GET, HEAD\r\n"
	                                                                   : NULL};
	char text[80] = "GET /delay/MS is served: MS is 0 to 3600000\n";

	if (request->status == 200)
		snprintf(text, sizeof text, "after %.3f ms\n", (double)request->delay_ns / 1e6);
	return http_answer_text(data, DELAY_HTTP_ANSWER, &answer, text, request->only_head);
}
