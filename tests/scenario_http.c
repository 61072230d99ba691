/* The HTTP reader and writers: however the bytes are cut, the same is read; nothing bad passes. */
#include "bench/scenario/http.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/random.h"
#include "tests/http_story.h"
#include "tests/test.h"

enum { LIMIT = 64 };

/* Feeds text in pieces of at most so many bytes and writes down what is told. */
static const char *told(const char *text, size_t piece, enum http_parser_type type)
{
	static struct story story;

	story_begin(&story, type, LIMIT);
	story_feed(&story, text, strlen(text), piece);
	story_finish(&story);
	return story.text;
}

static const struct {
	const char *name, *text, *story;
} requests[] = {
    {"one", "GET /a?b=c HTTP/1.1\r\nHost: x\r\n\r\n", "GET /a?b=c [Host=x] keep;"},
    {"pipelined",
     "GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
     "GET /1 [Host=x] keep;GET /2 [Host=x][Connection=close] close;"},
    {"with_a_body",
     "PUT /b/k HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhelloGET / "
     "HTTP/1.1\r\nHost: x\r\n\r\n",
     "PUT /b/k [Host=x][Content-Length=5] keep hello;GET / [Host=x] keep;"},
    {"in_chunks_with_a_trailer",
     "POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
     "5;a=b\r\nhello\r\n6\r\n world\r\n0\r\nX-After: 1\r\n\r\n",
     "POST /c [Host=x][Transfer-Encoding=chunked] keep hello world;"},
    {"an_old_one", "GET / HTTP/1.0\r\n\r\n", "GET / close;"},
    {"empty_and_padded_values", "GET / HTTP/1.1\r\nHost:x\r\nA:\r\nB: \t b c \t \r\n\r\n",
     "GET / [Host=x][A=][B=b c] keep;"},
    {"a_wish_for_another_protocol",
     "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\nGET /n "
     "HTTP/1.1\r\nHost: x\r\n\r\n",
     "GET / [Host=x][Connection=Upgrade][Upgrade=h2c] keep;GET /n [Host=x] keep;"},
    {"empty_lines_between", "\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n\r\n",
     "GET / [Host=x] keep;"},
    {"a_body_too_large", "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 65\r\n\r\n", "bad 413"},
    {"chunks_too_large",
     "PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n41\r\n"
     "12345678901234567890123456789012345678901234567890123456789012345",
     "PUT / [Host=x][Transfer-Encoding=chunked] keep bad 413"},
    {"without_a_host", "GET / HTTP/1.1\r\n\r\n", "bad 400"},
    {"with_two_hosts", "GET / HTTP/1.1\r\nHost: x\r\nhost: y\r\n\r\n", "bad 400"},
    {"two_lengths", "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
     "bad 400"},
    {"a_length_and_chunks",
     "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
     "bad 400"},
    {"a_length_below_zero", "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", "bad 400"},
    {"a_length_beyond_64_bits",
     "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n", "bad 400"},
    {"another_version", "GET / HTTP/2.0\r\nHost: x\r\n\r\n", "bad 505"},
    {"a_tunnel", "CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n", "bad 501"},
    {"garbage", "\x16\x03\x01\x02garbage", "bad 400"},
    {"a_space_in_a_name", "GET / HTTP/1.1\r\nHost : x\r\n\r\n", "bad 400"},
    {"cut_short", "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhel",
     "PUT / [Host=x][Content-Length=5] keep hel bad 400"},
    {"cut_in_its_head", "GET / HTTP/1.1\r\nHos", "bad 400"},
};

TEST(http, requests_are_read_the_same_however_they_are_cut)
{
	for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
		for (size_t piece = 1; piece <= strlen(requests[i].text); piece++) {
			const char *story = told(requests[i].text, piece, HTTP_REQUEST);

			CHECK_MESSAGE(strcmp(story, requests[i].story) == 0, "%s in %zu: %s",
			              requests[i].name, piece, story);
		}
}

TEST(http, responses_are_read_the_same_however_they_are_cut)
{
	static const struct {
		const char *text, *story;
	} rows[] = {
	    {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 404 Not Found\r\n"
	     "Content-Length: 0\r\n\r\n",
	     "200 [Content-Length=2] keep ok;404 [Content-Length=0] keep;"},
	    {"HTTP/1.1 200 OK\r\n\r\nup to the end", "200 close up to the end;"},
	    {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n", "100 keep;204 keep;"},
	    {"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok",
	     "200 [Content-Length=3] keep ok bad 400"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		for (size_t piece = 1; piece <= strlen(rows[i].text); piece++)
			CHECK_STRING(told(rows[i].text, piece, HTTP_RESPONSE), rows[i].story);
}

static void feed_head(size_t headers, size_t value_bytes, uint16_t status)
{
	static char text[256 << 10];
	static struct story story;
	size_t at = (size_t)sprintf(text, "GET / HTTP/1.1\r\nHost: x\r\n");

	for (size_t i = 1; i < headers; i++)
		at += (size_t)sprintf(text + at, "H%zu: %0*d\r\n", i, (int)value_bytes, 7);
	at += (size_t)sprintf(text + at, "\r\n");
	story_begin(&story, HTTP_REQUEST, LIMIT);
	story_feed(&story, text, at, 1000);
	CHECK_EQUAL(story.reader.event == HTTP_IS_BAD ? story.reader.status : 200, status);
}

TEST(http, heads_have_limits)
{
	feed_head(HTTP_HEADERS_MAX, 100, 200);
	feed_head(HTTP_HEADERS_MAX + 1, 1, 431);
	feed_head(2, HTTP_HEAD_BYTES_MAX - 100, 200);
	feed_head(2, HTTP_HEAD_BYTES_MAX, 431);
	feed_head(50, 4000, 431);
}

TEST(http, a_response_to_head_has_no_body)
{
	static struct http_reader r;
	const char *at = "HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n";
	size_t bytes = strlen(at);

	http_reader_open(&r, HTTP_RESPONSE, LIMIT);
	r.bodyless = true;
	CHECK_EQUAL(http_reader_next(&r, &at, &bytes), HTTP_HAS_HEAD);
	CHECK_EQUAL(http_reader_length(&r), 900);
	CHECK_EQUAL(http_reader_next(&r, &at, &bytes), HTTP_HAS_END);
	CHECK_EQUAL(http_reader_next(&r, &at, &bytes), HTTP_WANTS_BYTES);
}

TEST(http, mutated_requests_neither_crash_nor_depend_on_how_they_are_cut)
{
	enum { ROUNDS = 20000, SIZE = 400 };
	uint64_t random = random_stream(20261201, 0);
	static struct story whole, cut;
	uint32_t bad = 0;

	for (uint32_t round = 0; round < ROUNDS; round++) {
		const size_t row = random_below(&random, sizeof requests / sizeof *requests);
		char text[SIZE];
		size_t bytes = (size_t)snprintf(text, SIZE, "%s", requests[row].text);

		story_mutate(text, &bytes, SIZE, &random);
		story_begin(&whole, HTTP_REQUEST, LIMIT);
		story_feed(&whole, text, bytes, bytes);
		story_finish(&whole);
		story_begin(&cut, HTTP_REQUEST, LIMIT);
		story_feed(&cut, text, bytes, 1 + random_below(&random, 9));
		story_finish(&cut);
		bad += whole.reader.event == HTTP_IS_BAD;
		REQUIRE_MESSAGE(strcmp(whole.text, cut.text) == 0, "round %u: %s\nand: %s", round,
		                whole.text, cut.text);
	}
	CHECK_BETWEEN(bad, ROUNDS / 10, ROUNDS); /* it did change something */
	CHECK(bad < ROUNDS);
}

TEST(http, what_is_written_is_read)
{
	const struct http_request put = {
	    .method = HTTP_PUT, .target = "/b/k", .host = "h:1", .extra = "X-Id: 7\r\n"};
	const struct http_answer answer = {.status = 201, .close = true, .extra = "X-Id: 7\r\n"};
	char text[HTTP_WRITTEN_MAX];
	int bytes = http_request_write(text, sizeof text, &put);

	REQUIRE(bytes > 0);
	CHECK_STRING(told(text, 1, HTTP_REQUEST),
	             "PUT /b/k [Host=h:1][Content-Length=0][X-Id=7] keep;");
	bytes = http_answer_text(text, sizeof text, &answer, "made", false);
	REQUIRE(bytes > 0 && (size_t)bytes < sizeof text);
	text[bytes] = 0;
	CHECK_STRING(told(text, 1, HTTP_RESPONSE),
	             "201 [Content-Type=text/plain][Content-Length=4][Connection=close][X-Id=7] "
	             "close made;");
	CHECK_EQUAL(http_answer_text(text, 40, &answer, "made", false), -ENOBUFS);
}

TEST(http, paths_are_decoded)
{
	static const struct {
		const char *path, *is;
	} rows[] = {
	    {"/a%20b%2fC", "/a b/C"}, {"/plain", "/plain"}, {"/%", NULL}, {"/%4", NULL},
	    {"/%zz", NULL},           {"/%00", NULL},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char path[32];

		snprintf(path, sizeof path, "%s", rows[i].path);
		CHECK_EQUAL(http_decode(path), rows[i].is != NULL);
		if (rows[i].is)
			CHECK_STRING(path, rows[i].is);
	}
}
