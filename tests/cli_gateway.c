/* iostudy serve gateway: five ways to handle a request, the same answers. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/cli_runs.h"
#include "tests/gateway_help.h"
#include "tests/test.h"

TEST(serve_gateway, answers_the_same_however_it_handles_a_request)
{
	for (size_t i = 0; i < GATEWAY_WAYS; i++) {
		struct served s;
		struct talk t;

		REQUIRE(served_begin_with(&s, "gateway", gateway_ways[i]) &&
		        talk_begin(&t, s.address));
		CHECK_EQUAL(talk_ask(&t, HTTP_GET, "/delay/7", "", 0), 200);
		CHECK_STRING(t.body, "the service took 7.000 ms\n");
		CHECK_EQUAL(talk_ask(&t, HTTP_GET, "/string", "", 0), 200);
		CHECK_STRING(t.body, "hello\n");
		CHECK_EQUAL(talk_ask(&t, HTTP_GET, "/delay/", "", 0), 400);
		CHECK_EQUAL(talk_ask(&t, HTTP_GET, "/delay/1e3", "", 0), 400);
		CHECK_EQUAL(talk_ask(&t, HTTP_GET, "/delay/600001", "", 0), 400);
		CHECK_EQUAL(talk_ask(&t, HTTP_GET, "/other", "", 0), 404);
		CHECK_EQUAL(talk_ask(&t, HTTP_POST, "/string", "abc", 3), 405);
		CHECK_STRING(http_reader_header(&t.reader, "allow"), "GET, HEAD");
		CHECK_EQUAL(talk_ask(&t, HTTP_GET, "/threads", "", 0), 200);
		CHECK_CONTAINS(t.body, "<th>parked in a call</th>");
		talk_end(&t);
		CHECK_EQUAL(served_end(&s, SIGTERM), 0);
	}
}

/* Twenty requests in one piece, the later ones with the shorter delays. */
TEST(serve_gateway, pipelined_answers_come_in_the_order_of_their_requests)
{
	enum { REQUESTS = 20 };

	for (size_t i = 0; i < GATEWAY_WAYS; i++) {
		char text[REQUESTS * 120], wanted[80];
		size_t at = 0;
		struct served s;
		struct talk t;

		REQUIRE(served_begin_with(&s, "gateway", gateway_ways[i]) &&
		        talk_begin(&t, s.address));
		for (int k = 0; k < REQUESTS; k++)
			at += (size_t)snprintf(text + at, sizeof text - at,
			                       "GET /delay/%d HTTP/1.1\r\nHost: h\r\n"
			                       "X-Request-Id: number %d\r\n\r\n",
			                       REQUESTS - k, k);
		REQUIRE(talk_say(&t, text));
		for (int k = 0; k < REQUESTS; k++) {
			REQUIRE(talk_hear(&t, false) == 200);
			snprintf(wanted, sizeof wanted, "the service took %d.000 ms\n",
			         REQUESTS - k);
			CHECK_STRING(t.body, wanted);
			snprintf(wanted, sizeof wanted, "number %d", k);
			CHECK_STRING(http_reader_header(&t.reader, "x-request-id"), wanted);
		}
		talk_end(&t);
		CHECK_EQUAL(served_end(&s, SIGTERM), 0);
	}
}

/* Two hundred at once: each gets its own answer, and none another's. */
TEST(serve_gateway, many_clients_get_each_its_own_answer)
{
	enum { CLIENTS = 200 };
	struct talk *clients = calloc(CLIENTS, sizeof *clients);

	REQUIRE(clients);
	for (size_t i = 0; i < GATEWAY_WAYS; i++) {
		const int longest = i < 4              ? CLIENTS
		                    : i == 4 || i == 7 ? 3
		                                       : 20; /* parked for each */
		struct served s;

		REQUIRE(served_begin_with(&s, "gateway", gateway_ways[i]));
		for (int k = 0; k < CLIENTS; k++) {
			char text[100];

			snprintf(text, sizeof text, "GET /delay/%d HTTP/1.1\r\nHost: h\r\n\r\n",
			         k % longest);
			REQUIRE(talk_begin(&clients[k], s.address) && talk_say(&clients[k], text));
		}
		for (int k = 0; k < CLIENTS; k++) {
			char wanted[80];

			snprintf(wanted, sizeof wanted, "the service took %d.000 ms\n",
			         k % longest);
			CHECK_EQUAL(talk_hear(&clients[k], false), 200);
			CHECK_STRING(clients[k].body, wanted);
			talk_end(&clients[k]);
		}
		CHECK_EQUAL(served_end(&s, SIGTERM), 0);
	}
	free(clients);
}

/* The page says who is parked: all of a pool's, or nobody. */
TEST(serve_gateway, its_page_tells_an_exhausted_pool_from_one_that_is_free)
{
	static const char *const blocking[] = {"--handler", "blocking", "--threads", "2",
	                                       "--grace",   "0",        NULL},
				 *const callback[] = {"--grace", "0", NULL};

	for (int is_blocking = 0; is_blocking < 2; is_blocking++) {
		struct talk waiting[5], t;
		json_t *threads = NULL;
		struct served s;
		int looks = 0;

		REQUIRE(served_begin_with(&s, "gateway", is_blocking ? blocking : callback));
		for (int k = 0; k < 5; k++)
			REQUIRE(
			    talk_begin(&waiting[k], s.address) &&
			    talk_say(&waiting[k], "GET /delay/600000 HTTP/1.1\r\nHost: h\r\n\r\n"));
		REQUIRE(talk_begin(&t, s.address));
		do {
			json_decref(threads);
			threads = gateway_threads(&t);
		} while (threads && ++looks < GATEWAY_LOOKS_MAX && !test_has_failed() &&
		         (cli_number(threads, "in_flight") < 5 ||
		          cli_number(threads, "pool.parked") < 2 * is_blocking));
		CHECK_EQUAL(cli_number(threads, "pool.parked"), 2 * is_blocking);
		CHECK_EQUAL(cli_number(threads, "all.parked"), 2 * is_blocking);
		CHECK_EQUAL(cli_number(threads, "pool.free"), 0);
		CHECK_EQUAL(cli_number(threads, "all.threads"), 1 + 2 * is_blocking);
		json_decref(threads);
		for (int k = 0; k < 5; k++)
			talk_end(&waiting[k]);
		talk_end(&t);
		CHECK_EQUAL(served_end(&s, SIGTERM), 0);
	}
}

TEST(serve_gateway, a_loop_that_waits_for_a_reply_that_it_must_deliver_itself_is_deadlocked)
{
	static const char *const options[] = {"--handler", "blocking-wait", "--call-timeout",
	                                      "200ms", NULL};
	struct served s;
	struct talk t;

	REQUIRE(served_begin_with(&s, "gateway", options) && talk_begin(&t, s.address));
	CHECK_EQUAL(talk_ask(&t, HTTP_GET, "/delay/1", "", 0), 504);
	CHECK_EQUAL(talk_ask(&t, HTTP_GET, "/string", "", 0), 200);
	talk_end(&t);
	CHECK_EQUAL(served_end(&s, SIGTERM), 0);
}

/* Whichever way: a service that is slow is told from one that is away, and is found again. */
TEST(serve_gateway, answers_504_502_and_200_as_its_service_goes_and_comes)
{
	for (size_t i = 0; i < GATEWAY_WAYS; i++) {
		const char *options[SERVED_OPTIONS_MAX] = {"--call-timeout", "300ms", "--service"};
		struct served service, s;
		struct talk t;
		char address[128];
		size_t n = 4;

		REQUIRE(served_begin(&service, "delay", NULL));
		strcpy(address, service.address);
		options[3] = address;
		for (size_t k = 0; gateway_ways[i][k]; k++)
			options[n++] = gateway_ways[i][k];
		REQUIRE(served_begin_with(&s, "gateway", options) && talk_begin(&t, s.address));
		CHECK_EQUAL(talk_ask(&t, HTTP_GET, "/delay/1", "", 0), 200);
		CHECK_EQUAL(talk_ask(&t, HTTP_GET, "/delay/5000", "", 0), 504);
		CHECK_EQUAL(talk_ask(&t, HTTP_GET, "/delay/1", "", 0), 200);
		CHECK_EQUAL(served_end(&service, SIGKILL), 128 + SIGKILL);
		CHECK_EQUAL(talk_ask(&t, HTTP_GET, "/delay/1", "", 0), 502);
		REQUIRE(served_begin(&service, "delay", address));
		CHECK_EQUAL(talk_ask(&t, HTTP_GET, "/delay/1", "", 0), 200);
		talk_end(&t);
		CHECK_EQUAL(served_end(&s, SIGTERM), 0);
		CHECK_EQUAL(served_end(&service, SIGTERM), 0);
	}
}

/* What is in flight is answered; who asks nothing is hung up on. */
TEST(serve_gateway, answers_what_has_begun_when_it_is_told_to_end)
{
	for (size_t i = 0; i < GATEWAY_WAYS; i++) {
		struct talk busy, idle, t;
		json_t *threads = NULL;
		struct served s;
		int looks = 0;

		REQUIRE(served_begin_with(&s, "gateway", gateway_ways[i]));
		REQUIRE(talk_begin(&busy, s.address) && talk_begin(&idle, s.address));
		REQUIRE(talk_begin(&t, s.address));
		CHECK_EQUAL(talk_ask(&t, HTTP_GET, "/string", "", 0), 200);
		CHECK(talk_say(&busy, "GET /delay/400 HTTP/1.1\r\nHost: h\r\n\r\n"));
		do { /* where its loop is parked, this is answered when that is over */
			json_decref(threads);
			threads = gateway_threads(&t);
		} while (threads && ++looks < GATEWAY_LOOKS_MAX && !test_has_failed() &&
		         cli_number(threads, "requests") < 2);
		json_decref(threads);
		kill(s.pid, SIGTERM);
		CHECK_EQUAL(talk_hear(&busy, false), 200);
		CHECK_STRING(busy.body, "the service took 400.000 ms\n");
		CHECK_EQUAL(talk_hear(&idle, false), 0);
		talk_end(&busy);
		talk_end(&idle);
		talk_end(&t);
		CHECK_EQUAL(served_end(&s, SIGTERM), 0);
	}
}

/* It does not wait for them longer than it was told. */
TEST(serve_gateway, ends_in_its_grace_whatever_is_in_flight)
{
	for (size_t i = 0; i < GATEWAY_WAYS; i++) {
		const char *options[SERVED_OPTIONS_MAX] = {"--grace", "50ms"};
		struct talk busy[10];
		struct served s;

		for (size_t k = 0; gateway_ways[i][k]; k++)
			options[2 + k] = gateway_ways[i][k];
		REQUIRE(served_begin_with(&s, "gateway", options));
		for (int k = 0; k < 10; k++)
			REQUIRE(
			    talk_begin(&busy[k], s.address) &&
			    talk_say(&busy[k], "GET /delay/600000 HTTP/1.1\r\nHost: h\r\n\r\n"));
		usleep(20000); /* some have come, or none */
		CHECK_EQUAL(served_end(&s, SIGTERM), 0);
		for (int k = 0; k < 10; k++)
			talk_end(&busy[k]);
	}
}
