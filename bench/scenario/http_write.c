/* Writes HTTP/1.1: see http.h. */
#include "bench/scenario/http.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *text_or(const char *text, const char *instead)
{
	return text ? text : instead;
}

/* What snprintf said, as a count or -ENOBUFS. */
static int written(int length, size_t size)
{
	return length >= 0 && (size_t)length < size ? length : -ENOBUFS;
}

int http_answer_write(char *data, size_t size, const struct http_answer *answer)
{
	return written(snprintf(data, size,
	                        "HTTP/1.1 %u %s\r\n"
	                        "Content-Type: %s\r\n"
	                        "Content-Length: %" PRIu64 "\r\n"
	                        "%s%s\r\n",
	                        answer->status, http_status_str((enum http_status)answer->status),
	                        text_or(answer->type, "text/plain"), answer->body_bytes,
	                        answer->close ? "Connection: close\r\n" : "",
	                        text_or(answer->extra, "")),
	               size);
}

int http_answer_text(char *data, size_t size, const struct http_answer *answer, const char *text,
                     bool only_head)
{
	struct http_answer whole = *answer;
	int head;

	whole.body_bytes = strlen(text);
	head = http_answer_write(data, size, &whole);
	if (head < 0 || only_head)
		return head;
	if (whole.body_bytes > size - (size_t)head)
		return -ENOBUFS;
	memcpy(data + head, text, whole.body_bytes);
	return head + (int)whole.body_bytes;
}

int http_request_write(char *data, size_t size, const struct http_request *request)
{
	const bool states = request->body_bytes || request->method == HTTP_PUT ||
	                    request->method == HTTP_POST;
	char length[48] = "";

	if (states)
		snprintf(length, sizeof length, "Content-Length: %" PRIu64 "\r\n",
		         request->body_bytes);
	return written(snprintf(data, size, "%s %s HTTP/1.1\r\nHost: %s\r\n%s%s%s\r\n",
	                        http_method_str(request->method), request->target, request->host,
	                        length, request->close ? "Connection: close\r\n" : "",
	                        text_or(request->extra, "")),
	               size);
}

static int digit(char c)
{
	if (!isxdigit((unsigned char)c))
		return -1;
	return isdigit((unsigned char)c) ? c - '0' : (c | 32) - 'a' + 10;
}

bool http_decode(char *path)
{
	char *to = path;

	for (const char *from = path; *from; from++) {
		if (*from != '%') {
			*to++ = *from;
			continue;
		}
		const int high = digit(from[1]), low = high < 0 ? -1 : digit(from[2]);

		if (low < 0 || (high == 0 && low == 0))
			return false;
		*to++ = (char)(high << 4 | low);
		from += 2;
	}
	*to = 0;
	return true;
}
