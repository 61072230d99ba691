/* iostudy serve store: what it keeps, under which names, and what it loses: nothing. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/process.h"
#include "tests/scratch.h"
#include "tests/store_help.h"
#include "tests/test.h"

TEST(serve_store, gives_back_every_byte_over_each_engine_that_serves_it)
{
	enum { BYTES = 3 << 20 };
	static const char *const engines[] = {"uring", "epoll-offload", "pool", "port"};
	static const size_t sizes[] = {0, 1, 100 << 10, BYTES};
	char *data = malloc(BYTES);

	for (size_t e = 0; e < 4; e++) {
		const char *const options[] = {"--engine", engines[e], "--connections", "8", NULL};
		struct stored s;
		struct talk t;

		REQUIRE(data && store_begin(&s, options));
		REQUIRE(talk_begin(&t, s.served.address));
		for (size_t i = 0; i < 4; i++) {
			store_fill(data, sizes[i], (uint32_t)i);
			CHECK_EQUAL(talk_ask(&t, HTTP_PUT, "/bucket/key", data, sizes[i]), 200);
			store_check(&t, "/bucket/key", data, sizes[i]);
		}
		CHECK_EQUAL(talk_ask(&t, HTTP_GET, "/bucket/other", "", 0), 404);
		talk_end(&t);
		store_end(&s);
	}
	free(data);
}

/* Who is left out of the bucket, climbs, or has no key is told so; all other keys are one file in
 * one folder. */
TEST(serve_store, no_key_climbs)
{
	static const struct {
		const char *target;
		int status;
		const char *file; /* below the folder of objects */
	} rows[] = {
	    {"/b/key", 200, "b/key"},
	    {"/b/key?acl=x", 200, "b/key"},
	    {"/b/a", 200, "b/a"},
	    {"/b/a/b", 200, "b/a%2Fb"}, /* beside the object a */
	    {"/b/../../up", 200, "b/%2E.%2F..%2Fup"},
	    {"/b/%2e%2e/up", 200, "b/%2E.%2Fup"},
	    {"/b/..", 200, "b/%2E."},
	    {"/b/.", 200, "b/%2E"},
	    {"/b//etc/passwd", 200, "b/%2Fetc%2Fpasswd"},
	    {"/b/a%0Ab%1b%ff", 200, "b/a%0Ab%1B%FF"},
	    {"/b/%2525", 200, "b/%2525"},
	    {"/B-1_x.y/k", 200, "B-1_x.y/k"},
	    {"/b", 400, NULL},
	    {"/b/", 400, NULL},
	    {"/", 400, NULL},
	    {"//key", 400, NULL},
	    {"/../key", 400, NULL},
	    {"/.incoming/key", 400, NULL},
	    {"/%2e%2e/key", 400, NULL},
	    {"/b%2f..%2f..%2fup", 200, "b/%2E.%2F..%2Fup"},
	    {"/a b/key", 400, NULL},
	    {"/b/%zz", 400, NULL},
	    {"/b/a%00b", 400, NULL},
	    {"*", 400, NULL},
	};
	struct stored s;
	struct talk t;

	REQUIRE(store_begin(&s, NULL));
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char path[700];
		struct stat file;

		REQUIRE(talk_begin(&t, s.served.address));
		CHECK_MESSAGE(talk_ask(&t, HTTP_PUT, rows[i].target, "x", 1) == rows[i].status,
		              "PUT %s is answered %d, not %d", rows[i].target, t.reader.status,
		              rows[i].status);
		talk_end(&t);
		snprintf(path, sizeof path, "%s/%s", s.folder, rows[i].file ? rows[i].file : "b");
		CHECK_MESSAGE(stat(path, &file) == 0, "%s has not made %s", rows[i].target, path);
	}
	store_end(&s);
}

TEST(serve_store, refuses_names_that_no_folder_holds)
{
	char target[700] = "/b/";
	struct stored s;
	struct talk t;

	REQUIRE(store_begin(&s, NULL) && talk_begin(&t, s.served.address));
	memset(target + 3, 'k', 255);
	CHECK_EQUAL(talk_ask(&t, HTTP_PUT, target, "x", 1), 200);
	target[3 + 255] = 'k';
	CHECK_EQUAL(talk_ask(&t, HTTP_PUT, target, "x", 1), 414);
	memset(target + 1, 'b', 64);
	memcpy(target + 65, "/k", 3);
	CHECK_EQUAL(talk_ask(&t, HTTP_PUT, target, "x", 1), 414);
	talk_end(&t);
	store_end(&s);
}

TEST(serve_store, speaks_http_as_clients_do)
{
	static const char pipelined[] =
	    "PUT /b/1 HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\none"
	    "PUT /b/2 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: "
	    "chunked\r\n\r\n2\r\ntw\r\n1\r\no\r\n0\r\n\r\n"
	    "GET /b/1 HTTP/1.1\r\nHost: h\r\n\r\n";
	struct stored s;
	struct talk t;

	REQUIRE(store_begin(&s, NULL) && talk_begin(&t, s.served.address));
	CHECK(talk_say(&t, pipelined));
	CHECK_EQUAL(talk_hear(&t, false), 200);
	CHECK_EQUAL(talk_hear(&t, false), 200);
	CHECK_EQUAL(talk_hear(&t, false), 200);
	CHECK_STRING(t.body, "one");
	store_check(&t, "/b/2", "two", 3);
	CHECK(talk_say(&t, "PUT /b/3 HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n"
	                   "Content-Length: 5\r\n\r\n"));
	CHECK_EQUAL(talk_hear(&t, false), 100);
	CHECK(talk_say(&t, "three"));
	CHECK_EQUAL(talk_hear(&t, false), 200);
	store_check(&t, "/b/3", "three", 5);
	CHECK_EQUAL(talk_ask(&t, HTTP_DELETE, "/b/3", "", 0), 405);
	CHECK_STRING(http_reader_header(&t.reader, "allow"), "GET, HEAD, PUT");
	CHECK(talk_say(&t, "GET /b/3 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"));
	CHECK_EQUAL(talk_hear(&t, false), 200);
	CHECK_EQUAL(talk_hear(&t, false), 0); /* it closes */
	talk_end(&t);
	store_end(&s);
}

TEST(serve_store, refuses_what_is_bad_and_what_is_too_large_and_stores_none_of_it)
{
	static const struct {
		const char *text;
		int status;
	} rows[] = {
	    {"nonsense\r\n\r\n", 400},
	    {"GET /b/k HTTP/1.1\r\n\r\n", 400}, /* no host */
	    {"PUT /b/k HTTP/1.1\r\nHost: h\r\nContent-Length: x\r\n\r\n", 400},
	    {"PUT /b/k HTTP/1.1\r\nHost: h\r\nContent-Length: 2000\r\n\r\n", 413},
	    {"PUT /b/k HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n", 413},
	    {"PUT /b/k HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\nzz", 400},
	    {"PUT /.b/k HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n",
	     400},
	};
	static const char *const options[] = {"--body-limit", "1000", NULL};
	struct stored s;
	struct talk t;

	REQUIRE(store_begin(&s, options));
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		REQUIRE(talk_begin(&t, s.served.address));
		CHECK(talk_say(&t, rows[i].text));
		CHECK_MESSAGE(talk_hear(&t, false) == rows[i].status, "%s is answered %d",
		              rows[i].text, t.reader.status);
		CHECK_EQUAL(talk_hear(&t, false), 0); /* it hangs up */
		talk_end(&t);
	}
	REQUIRE(talk_begin(&t, s.served.address)); /* a client that goes in the middle */
	CHECK(talk_say(&t, "PUT /b/k HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\nhalf"));
	talk_end(&t);
	REQUIRE(talk_begin(&t, s.served.address));
	CHECK_EQUAL(talk_ask(&t, HTTP_GET, "/b/k", "", 0), 404);
	talk_end(&t);
	store_end(&s);
}

/* On a file system of 2 MiB. */
TEST(serve_store, answers_507_when_it_is_full_and_serves_on)
{
	enum { BYTES = 3 << 20 };
	struct scratch disk;
	struct stored s;
	struct talk t;
	char why[200], *data = calloc(1, BYTES);

	if (!scratch_memory(&disk, "size=2m", why)) {
		free(data);
		SKIP("%s", why);
	}
	snprintf(s.folder, sizeof s.folder, "%s/objects", disk.directory);
	REQUIRE(data && store_begin_again(&s, NULL) && talk_begin(&t, s.served.address));
	CHECK_EQUAL(talk_ask(&t, HTTP_PUT, "/b/small", data, 1000), 200);
	CHECK_EQUAL(talk_ask(&t, HTTP_PUT, "/b/large", data, BYTES), 507);
	CHECK_CONTAINS(t.body, "full");
	CHECK_EQUAL(talk_ask(&t, HTTP_GET, "/b/large", "", 0), 404);
	CHECK_EQUAL(talk_ask(&t, HTTP_PUT, "/b/next", data, 1 << 20), 200); /* all of it is free */
	store_check(&t, "/b/small", data, 1000);
	talk_end(&t);
	CHECK_EQUAL(served_end(&s.served, SIGTERM), 0);
	scratch_close(&disk);
	free(data);
}
