/* iostudy serve store: slow and hostile clients, many at once, its end and its death. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/http_story.h"
#include "tests/process.h"
#include "tests/store_help.h"
#include "tests/test.h"

/* Four hold all its connections: by saying nothing, by half a head, by half a body, and by not
 * reading. Each is hung up on in its time, and the fifth is served. */
TEST(serve_store, slow_clients_cannot_hold_it)
{
	enum { BYTES = 32 << 20 };
	static const char *const options[] = {"--connections", "4", "--timeout", "300ms", NULL};
	static const char *const halves[] = {
	    "", "GET /b/k HT", "PUT /b/half HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nhalf",
	    "GET /b/large HTTP/1.1\r\nHost: h\r\n\r\n"};
	struct talk slow[4], t;
	struct stored s;
	char *data = calloc(1, BYTES);

	REQUIRE(data && store_begin(&s, NULL) && talk_begin(&t, s.served.address));
	CHECK_EQUAL(talk_ask(&t, HTTP_PUT, "/b/large", data, BYTES), 200);
	talk_end(&t);
	CHECK_EQUAL(served_end(&s.served, SIGTERM), 0);
	REQUIRE(store_begin_again(&s, options));
	for (int i = 0; i < 4; i++)
		REQUIRE(talk_begin(&slow[i], s.served.address) && talk_say(&slow[i], halves[i]));
	do { /* in the kernel's queue it can be hung up on too */
		REQUIRE(talk_begin(&t, s.served.address));
		if (talk_ask(&t, HTTP_PUT, "/b/fifth", "x", 1) == 200)
			break;
		talk_end(&t);
	} while (!test_has_failed());
	store_check(&t, "/b/fifth", "x", 1);
	CHECK_EQUAL(talk_ask(&t, HTTP_GET, "/b/half", "", 0), 404);
	talk_end(&t);
	for (int i = 0; i < 4; i++)
		talk_end(&slow[i]);
	free(data);
	store_end(&s);
}

/* One after the other they would take a minute and more. */
TEST(serve_store, answers_many_after_their_delay_at_once)
{
	enum { CLIENTS = 200 };
	static const char *const options[] = {"--delay", "400ms", "--sync", "none", NULL};
	static const char put[] = "PUT /b/%d HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx";
	struct talk *clients = calloc(CLIENTS, sizeof *clients);
	struct timespec from, to;
	struct stored s;

	REQUIRE(clients && store_begin(&s, options));
	clock_gettime(CLOCK_MONOTONIC, &from);
	for (int i = 0; i < CLIENTS; i++) {
		char text[100];

		snprintf(text, sizeof text, put, i);
		REQUIRE(talk_begin(&clients[i], s.served.address) && talk_say(&clients[i], text));
	}
	for (int i = 0; i < CLIENTS; i++) {
		CHECK_EQUAL(talk_hear(&clients[i], false), 200);
		talk_end(&clients[i]);
	}
	clock_gettime(CLOCK_MONOTONIC, &to);
	CHECK_BETWEEN(to.tv_sec - from.tv_sec, 0, 40);
	free(clients);
	store_end(&s);
}

TEST(serve_store, answers_what_has_begun_when_it_is_told_to_end)
{
	static const char *const options[] = {"--delay", "300ms", NULL};
	struct stored s;
	struct talk idle, busy;
	struct stat file;
	char path[400];

	REQUIRE(store_begin(&s, options));
	REQUIRE(talk_begin(&idle, s.served.address) && talk_begin(&busy, s.served.address));
	CHECK(talk_say(&busy, "PUT /b/k HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx"));
	snprintf(path, sizeof path, "%s/b/k", s.folder);
	while (stat(path, &file) != 0) /* it waits for its delay now, or is about to */
		usleep(1000);
	kill(s.served.pid, SIGTERM);
	CHECK_EQUAL(talk_hear(&busy, false), 200);
	CHECK_STRING(http_reader_header(&busy.reader, "connection"), "close");
	CHECK_EQUAL(talk_hear(&idle, false), 0);
	talk_end(&idle);
	talk_end(&busy);
	store_end(&s);
}

TEST(serve_store, killed_and_started_again_it_has_every_object_that_it_acknowledged)
{
	enum { OBJECTS = 60, BYTES = 40000 };
	char target[40], *data = malloc(BYTES), path[400];
	struct stored s;
	struct talk t, half;

	REQUIRE(data && store_begin(&s, NULL) && talk_begin(&t, s.served.address));
	REQUIRE(talk_begin(&half, s.served.address));
	CHECK(talk_say(&half, "PUT /b/0 HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nhalf"));
	for (uint32_t i = 0; i < OBJECTS; i++) {
		snprintf(target, sizeof target, "/b/%u", i);
		store_fill(data, BYTES, i);
		CHECK_EQUAL(talk_ask(&t, HTTP_PUT, target, data, BYTES), 200);
	}
	CHECK_EQUAL(served_end(&s.served, SIGKILL), 128 + SIGKILL);
	talk_end(&t);
	talk_end(&half);
	REQUIRE(store_begin_again(&s, NULL) && talk_begin(&t, s.served.address));
	for (uint32_t i = 0; i < OBJECTS; i++) {
		snprintf(target, sizeof target, "/b/%u", i);
		store_fill(data, BYTES, i);
		store_check(&t, target, data, BYTES);
	}
	snprintf(path, sizeof path, "%s/.incoming", s.folder);
	CHECK_EQUAL(rmdir(path), 0); /* nothing is left of what was half there */
	talk_end(&t);
	free(data);
	store_end(&s);
}

/* Over a process of its own, so that a sanitizer's build sees what it does with them. */
TEST(serve_store, serves_on_after_any_number_of_mutated_requests)
{
	static const char *const options[] = {"--timeout",    "100ms", "--sync", "none",
	                                      "--body-limit", "4k",    NULL};
	static const char seed[] =
	    "PUT /bucket/key HTTP/1.1\r\nHost: h\r\nContent-Length: 12\r\n"
	    "\r\nhello, worldGET /bucket/key HTTP/1.1\r\nHost: h\r\n\r\n"
	    "PUT /b/c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n"
	    "\r\n5\r\nhello\r\n0\r\n\r\nHEAD /b/c HTTP/1.1\r\nHost: h\r\n\r\n";
	uint64_t random = 7;
	struct stored s;
	struct talk t;

	REQUIRE(store_begin(&s, options));
	for (int i = 0; i < 400 && !test_has_failed(); i++) {
		char data[2 * sizeof seed];
		size_t bytes = sizeof seed - 1;

		memcpy(data, seed, bytes);
		story_mutate(data, &bytes, sizeof data, &random);
		REQUIRE(talk_begin(&t, s.served.address));
		talk_send(&t, data, bytes);
		if (i % 3 == 0) /* or it hangs up at once, in the middle of whatever that is */
			shutdown(t.fd, SHUT_WR);
		while (i % 3 < 2 && talk_hear(&t, false))
			;
		talk_end(&t);
	}
	REQUIRE(talk_begin(&t, s.served.address));
	CHECK_EQUAL(talk_ask(&t, HTTP_PUT, "/b/k", "x", 1), 200);
	talk_end(&t);
	store_end(&s);
}

TEST(serve_store, refuses_options_and_folders_that_cannot_be)
{
	static const struct {
		const char *arguments[5];
		int status;
		const char *says;
	} rows[] = {
	    {{"serve", "store", "--sync=maybe", NULL}, 2, "it takes object or none"},
	    {{"serve", "store", "--engine=epoll", NULL}, 2, "it takes one that serves files"},
	    {{"serve", "store", "--engine=null", NULL}, 2, "it takes one that serves files"},
	    {{"serve", "store", "--connections=0", NULL}, 2, "it takes 1 to 10000"},
	    {{"serve", "store", "--delay=-1", NULL}, 2, "--delay '-1'"},
	    {{"serve", "store", "--timeout=0", NULL}, 2, "--timeout '0'"},
	    {{"serve", "store", "--body-limit=2048g", NULL}, 2, "0 to 1024g"},
	    {{"serve", "store", "--directory=/nowhere/at/all", NULL}, 1, "No such file"},
	    {{"serve", "store", "--directory=/dev/null", NULL}, 1, "Not a directory"},
	    {{"serve", "echo", "--delay=1s", NULL}, 2, "delay"},
	};
	struct stored s;
	struct process_result r;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		process_run(&(struct process){.argv = rows[i].arguments}, &r);
		CHECK_STATUS(&r, rows[i].status);
		CHECK_CONTAINS(r.err, rows[i].says);
		process_free(&r);
	}
	REQUIRE(store_begin(&s, NULL));
	PROCESS_RUN(&r, "serve", "store", "--directory", s.folder);
	CHECK_STATUS(&r, 1);
	CHECK_CONTAINS(r.err, "another store serves it");
	CHECK_STRING(r.out, "");
	process_free(&r);
	store_end(&s);
}
