/* iostudy serve gateway: five ways to handle a request, the same answers; and who is hostile. */
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/address.h"
#include "tests/cli_runs.h"
#include "tests/http_story.h"
#include "tests/http_talk.h"
#include "tests/process.h"
#include "tests/served.h"
#include "tests/test.h"

/* Each handler on the loops and in a pool; another engine; several loops. A reply that a loop
 * itself waits for needs another loop, or a pool. */
static const char *const ways[][SERVED_OPTIONS_MAX] = {
    {"--handler", "callback", NULL},
    {"--handler", "coroutine", NULL},
    {"--handler", "coroutine", "--engine", "uring", "--loops", "2", NULL},
    {"--handler", "callback", "--engine", "epoll-offload", NULL},
    {"--handler", "blocking", NULL},
    {"--handler", "blocking", "--threads", "8", NULL},
    {"--handler", "blocking-wait", "--threads", "8", NULL},
    {"--handler", "sync-over-async", NULL},
    {"--handler", "sync-over-async", "--threads", "8", "--loops", "2", NULL},
};
enum { WAYS = sizeof ways / sizeof *ways };

enum { LOOKS_MAX = 100000 };

static json_t *threads_of(struct talk *t)
{
	CHECK_EQUAL(talk_ask(t, HTTP_GET, "/threads.json", "", 0), 200);
	return t->body ? json_loads(t->body, 0, NULL) : NULL;
}

TEST(serve_gateway, answers_the_same_however_it_handles_a_request)
{
	for (size_t i = 0; i < WAYS; i++) {
		struct served s;
		struct talk t;

		REQUIRE(served_begin_with(&s, "gateway", ways[i]) && talk_begin(&t, s.address));
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

	for (size_t i = 0; i < WAYS; i++) {
		char text[REQUESTS * 120], wanted[80];
		size_t at = 0;
		struct served s;
		struct talk t;

		REQUIRE(served_begin_with(&s, "gateway", ways[i]) && talk_begin(&t, s.address));
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
	for (size_t i = 0; i < WAYS; i++) {
		const int longest = i < 4              ? CLIENTS
		                    : i == 4 || i == 7 ? 3
		                                       : 20; /* parked for each */
		struct served s;

		REQUIRE(served_begin_with(&s, "gateway", ways[i]));
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
			threads = threads_of(&t);
		} while (threads && ++looks < LOOKS_MAX && !test_has_failed() &&
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
	for (size_t i = 0; i < WAYS; i++) {
		const char *options[SERVED_OPTIONS_MAX] = {"--call-timeout", "300ms", "--service"};
		struct served service, s;
		struct talk t;
		char address[128];
		size_t n = 4;

		REQUIRE(served_begin(&service, "delay", NULL));
		strcpy(address, service.address);
		options[3] = address;
		for (size_t k = 0; ways[i][k]; k++)
			options[n++] = ways[i][k];
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

/* All its connections are held: by saying nothing, by half a head, by a head that never ends, and
 * by reading nothing. Each is hung up on in its time. */
TEST(serve_gateway, slow_clients_cannot_hold_it)
{
	static const char *const options[] = {"--connections",  "4",     "--timeout", "300ms",
	                                      "--head-timeout", "300ms", NULL};
	struct talk slow[4], t;
	struct served s;

	REQUIRE(served_begin_with(&s, "gateway", options));
	for (int i = 0; i < 4; i++)
		REQUIRE(talk_begin(&slow[i], s.address));
	CHECK(talk_say(&slow[1], "GET /str"));
	CHECK(talk_say(&slow[2], "GET /string HTTP/1.1\r\nX: 1\r\n"));
	for (int i = 0; i < 20000 && send(slow[3].fd, "GET /threads HTTP/1.1\r\nHost: h\r\n\r\n",
	                                  34, MSG_DONTWAIT | MSG_NOSIGNAL) > 0;
	     i++)
		;
	do { /* in the kernel's queue it can be hung up on too */
		REQUIRE(talk_begin(&t, s.address));
		if (talk_ask(&t, HTTP_GET, "/string", "", 0) == 200)
			break;
		talk_end(&t);
	} while (!test_has_failed());
	talk_end(&t);
	for (int i = 0; i < 4; i++)
		talk_end(&slow[i]);
	CHECK_EQUAL(served_end(&s, SIGTERM), 0);
}

TEST(serve_gateway, refuses_heads_and_bodies_without_end)
{
	enum { BYTES = 100 << 10 };
	char *much = malloc(BYTES + 1);
	struct served s;
	struct talk t;

	REQUIRE(much && served_begin(&s, "gateway", NULL));
	memset(much, 'a', BYTES);
	much[BYTES] = 0;
	REQUIRE(talk_begin(&t, s.address) && talk_say(&t, "GET /"));
	talk_say(&t, much);
	CHECK_EQUAL(talk_hear(&t, false), 431);
	talk_end(&t);
	REQUIRE(talk_begin(&t, s.address));
	CHECK_EQUAL(talk_ask(&t, HTTP_PUT, "/string", much, BYTES), 413);
	talk_end(&t);
	REQUIRE(talk_begin(&t, s.address));
	CHECK_EQUAL(talk_ask(&t, HTTP_GET, "/string", "", 0), 200);
	talk_end(&t);
	free(much);
	CHECK_EQUAL(served_end(&s, SIGTERM), 0);
}

TEST(serve_gateway, serves_on_after_any_number_of_mutated_requests)
{
	static const char seed[] = "GET /delay/1 HTTP/1.1\r\nHost: h\r\nX-Request-Id: 7\r\n\r\n"
				   "HEAD /threads.json HTTP/1.1\r\nHost: h\r\n\r\n"
				   "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n"
				   "\r\n5\r\nhello\r\n0\r\n\r\nGET /string HTTP/1.0\r\n\r\n";

	static const size_t tried[] = {0, 2, 5}; /* one that parks, one on another engine */

	for (size_t n = 0; n < 3; n++) {
		const size_t way = tried[n];
		const char *options[SERVED_OPTIONS_MAX] = {"--head-timeout", "30ms",
		                                           "--call-timeout", "100ms"};
		uint64_t random = 7 + way;
		struct served s;
		struct talk t;

		for (size_t k = 0; ways[way][k]; k++)
			options[4 + k] = ways[way][k];
		REQUIRE(served_begin_with(&s, "gateway", options));
		for (int i = 0; i < 100 && !test_has_failed(); i++) {
			char data[2 * sizeof seed];
			size_t bytes = sizeof seed - 1;

			memcpy(data, seed, bytes);
			story_mutate(data, &bytes, sizeof data, &random);
			REQUIRE(talk_begin(&t, s.address));
			talk_send(&t, data, bytes);
			if (i % 3 == 0) /* or it hangs up at once */
				shutdown(t.fd, SHUT_WR);
			while (i % 3 < 2 && talk_hear(&t, false))
				;
			talk_end(&t);
		}
		REQUIRE(talk_begin(&t, s.address));
		CHECK_EQUAL(talk_ask(&t, HTTP_GET, "/string", "", 0), 200);
		talk_end(&t);
		CHECK_EQUAL(served_end(&s, SIGTERM), 0);
	}
}

/* What is in flight is answered; who asks nothing is hung up on. */
TEST(serve_gateway, answers_what_has_begun_when_it_is_told_to_end)
{
	for (size_t i = 0; i < WAYS; i++) {
		struct talk busy, idle, t;
		json_t *threads = NULL;
		struct served s;
		int looks = 0;

		REQUIRE(served_begin_with(&s, "gateway", ways[i]));
		REQUIRE(talk_begin(&busy, s.address) && talk_begin(&idle, s.address));
		REQUIRE(talk_begin(&t, s.address));
		CHECK_EQUAL(talk_ask(&t, HTTP_GET, "/string", "", 0), 200);
		CHECK(talk_say(&busy, "GET /delay/400 HTTP/1.1\r\nHost: h\r\n\r\n"));
		do { /* where its loop is parked, this is answered when that is over */
			json_decref(threads);
			threads = threads_of(&t);
		} while (threads && ++looks < LOOKS_MAX && !test_has_failed() &&
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
	for (size_t i = 0; i < WAYS; i++) {
		const char *options[SERVED_OPTIONS_MAX] = {"--grace", "50ms"};
		struct talk busy[10];
		struct served s;

		for (size_t k = 0; ways[i][k]; k++)
			options[2 + k] = ways[i][k];
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

/* Each holds a descriptor here and there. */
TEST(serve_gateway, ten_thousand_clients_are_held_by_one_thread)
{
	enum { CLIENTS = 10000 };
	int *clients = malloc(CLIENTS * sizeof *clients), open = 0;
	struct rlimit files;
	struct address address;
	char why[ADDRESS_WHY_SIZE];
	json_t *threads = NULL;
	struct served s;
	struct talk t;

	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	if (files.rlim_max < CLIENTS + 200) {
		free(clients);
		SKIP("10,000 clients need as many descriptors; RLIMIT_NOFILE is %llu",
		     (unsigned long long)files.rlim_max);
	}
	REQUIRE(clients && served_begin_with(&s, "gateway",
	                                     (const char *const[]){"--connections", "10100",
	                                                           "--timeout", "10m", NULL}));
	REQUIRE(address_parse(&address, s.address, why) == 0);
	while (open < CLIENTS && (clients[open] = address_connect(&address)) >= 0)
		open++;
	CHECK_EQUAL(open, CLIENTS);
	for (int i = 0; i < open; i++)
		CHECK_EQUAL(send(clients[i], "GET /delay/1000 HTTP/1.1\r\nHost: h\r\n\r\n", 37,
		                 MSG_NOSIGNAL),
		            37);
	REQUIRE(talk_begin(&t, s.address));
	threads = threads_of(&t);
	CHECK_EQUAL(cli_number(threads, "all.threads"), 1);
	json_decref(threads);
	for (int i = 0; i < open; i++) {
		char answer[200] = "";

		CHECK(recv(clients[i], answer, sizeof answer - 1, 0) > 0 &&
		      strncmp(answer, "HTTP/1.1 200 OK", 15) == 0 &&
		      strstr(answer, "the service took 1000.000 ms"));
		close(clients[i]);
	}
	talk_end(&t);
	free(clients);
	CHECK_EQUAL(served_end(&s, SIGTERM), 0);
}

TEST(serve_gateway, refuses_what_cannot_be)
{
	static const struct {
		const char *arguments[8];
		int status;
		const char *says;
	} rows[] = {
	    {{"serve", "gateway", "--handler=magic", NULL}, 2, "it takes callback, coroutine"},
	    {{"serve", "gateway", "--engine=nothing", NULL}, 2, "iostudy list engines"},
	    {{"serve", "gateway", "--engine=blocking", NULL}, 1, "use epoll or uring"},
	    {{"serve", "gateway", "--engine=null", NULL}, 1, "use epoll or uring"},
	    {{"serve", "gateway", "--loops=0", NULL}, 2, "it takes 1 to 64"},
	    {{"serve", "gateway", "--threads=5000", NULL}, 2, "it takes 0 to 4096"},
	    {{"serve", "gateway", "--threads=2", NULL}, 1, "callback needs no threads"},
	    {{"serve", "gateway", "--connections=1", "--loops=2", NULL}, 1, "2 loops"},
	    {{"serve", "gateway", "--delay=5ms-1ms", NULL}, 2, "must not be over"},
	    {{"serve", "gateway", "--service=nowhere", NULL}, 2, "--service"},
	    {{"serve", "gateway", "--timeout=0", NULL}, 2, "10ms to 1h"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct process_result r;

		process_run(&(struct process){.argv = rows[i].arguments}, &r);
		CHECK_STATUS(&r, rows[i].status);
		CHECK_CONTAINS(r.err, rows[i].says);
		CHECK_STRING(r.out, "");
		process_free(&r);
	}
}
