/* iostudy serve gateway: slow and hostile clients, many at once, and what it refuses. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/address.h"
#include "tests/cli_runs.h"
#include "tests/gateway_help.h"
#include "tests/http_story.h"
#include "tests/process.h"
#include "tests/test.h"

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
		const char *options[SERVED_OPTIONS_MAX] = {
		    "--timeout", "100ms", "--head-timeout", "30ms", "--call-timeout", "100ms"};
		uint64_t random = 7 + way;
		struct served s;
		struct talk t;

		for (size_t k = 0; gateway_ways[way][k]; k++)
			options[6 + k] = gateway_ways[way][k];
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
	threads = gateway_threads(&t);
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
