/* iostudy serve: the peers as commands, and runs against them. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/address.h"
#include "bench/message.h"
#include "tests/cli_runs.h"
#include "tests/http_talk.h"
#include "tests/served.h"
#include "tests/test.h"

TEST(serve, prints_where_it_listens_and_ends_cleanly_on_a_signal)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	static const char *const services[] = {"echo", "delay"};

	for (size_t i = 0; i < 6; i++) {
		struct served served;

		REQUIRE(served_begin(&served, services[i % 2], NULL));
		CHECK_MESSAGE(strncmp(served.address, "127.0.0.1:", 10) == 0, "%s", served.address);
		CHECK_EQUAL(served_end(&served, signals[i / 2]), 0);
	}
}

TEST(serve, echo_brings_back_every_byte_also_to_who_sends_all_first)
{
	enum { BYTES = 8 << 20 };
	char *sent = malloc(BYTES), *came = malloc(BYTES), why[ADDRESS_WHY_SIZE];
	struct address address;
	struct served served;
	size_t got = 0;
	ssize_t n = 1;
	int fd;

	REQUIRE(served_begin(&served, "echo", NULL));
	REQUIRE(address_parse(&address, served.address, why) == 0);
	fd = address_connect(&address);
	REQUIRE(fd >= 0 && sent && came);
	for (size_t i = 0; i < BYTES; i++)
		sent[i] = (char)(i * 2654435761u >> 13);
	for (size_t at = 0; at < BYTES && n > 0; at += (size_t)n)
		n = send(fd, sent + at, BYTES - at, MSG_NOSIGNAL);
	shutdown(fd, SHUT_WR); /* what was sent before the end comes back all the same */
	while ((n = recv(fd, came + got, BYTES - got, 0)) > 0)
		got += (size_t)n;
	CHECK_EQUAL(got, BYTES);
	CHECK(memcmp(sent, came, BYTES) == 0);
	close(fd);
	free(sent);
	free(came);
	CHECK_EQUAL(served_end(&served, SIGTERM), 0);
}

TEST(serve, delay_answers_in_the_order_in_which_replies_are_due)
{
	static const uint64_t delays_ms[] = {300, 0, 150};
	static const uint64_t order[] = {1, 2, 0};
	char why[ADDRESS_WHY_SIZE];
	struct address address;
	struct served served;
	struct message m[3];
	int fd;

	REQUIRE(served_begin(&served, "delay", NULL));
	REQUIRE(address_parse(&address, served.address, why) == 0);
	fd = address_connect(&address);
	for (uint64_t i = 0; i < 3; i++) {
		m[i] = (struct message){.id = i, .seed = 7, .delay_ns = delays_ms[i] * 1000000};
		m[i].check = message_check(&m[i], false);
	}
	CHECK_EQUAL(send(fd, m, sizeof m, 0), sizeof m);
	for (uint64_t i = 0; i < 3; i++) {
		struct message reply = {0};

		CHECK_EQUAL(recv(fd, &reply, sizeof reply, MSG_WAITALL), sizeof reply);
		CHECK(message_is_valid(&reply, true));
		CHECK_EQUAL(reply.id, order[i]);
	}
	memset(m, 0xa5, sizeof m); /* who sends garbage is hung up on */
	CHECK_EQUAL(send(fd, m, sizeof m, 0), sizeof m);
	CHECK(recv(fd, m, sizeof m, 0) <= 0);
	close(fd);
	CHECK_EQUAL(served_end(&served, SIGINT), 0);
}

/* Over HTTP in the order of the requests; in one piece, and byte by byte. */
TEST(serve, delay_speaks_http_on_the_same_port)
{
	static const char text[] = "GET /delay/40 HTTP/1.1\r\nHost: h\r\n\r\n"
				   "GET /delay/1 HTTP/1.1\r\nHost: h\r\n\r\n"
				   "GET /delay/x HTTP/1.1\r\nHost: h\r\n\r\n"
				   "GET /else HTTP/1.1\r\nHost: h\r\n\r\n"
				   "GET /delay/5 HTTP/1.0\r\n\r\n";
	static const int status[] = {200, 200, 400, 404, 200};
	static const char *const says[] = {"after 40.000 ms\n", "after 1.000 ms\n", "MS is",
	                                   "MS is", "after 5.000 ms\n"};
	struct served served;
	struct talk t;

	REQUIRE(served_begin(&served, "delay", NULL));
	for (int bytewise = 0; bytewise < 2; bytewise++) {
		REQUIRE(talk_begin(&t, served.address));
		for (size_t i = 0; bytewise && i < sizeof text - 1; i++) {
			REQUIRE(talk_send(&t, text + i, 1));
			usleep(i < 5 ? 10000 : 0); /* the first ones one by one for certain */
		}
		REQUIRE(bytewise || talk_say(&t, text));
		for (size_t i = 0; i < sizeof status / sizeof *status; i++) {
			CHECK_EQUAL(talk_hear(&t, false), status[i]);
			CHECK_CONTAINS(t.body, says[i]);
		}
		CHECK_EQUAL(talk_hear(&t, false), 0); /* HTTP/1.0 keeps nothing alive */
		talk_end(&t);
	}
	REQUIRE(talk_begin(&t, served.address));
	CHECK_EQUAL(talk_ask(&t, HTTP_POST, "/delay/1", "abc", 3), 405);
	CHECK(talk_say(&t, "GET \1\2 nonsense\r\n\r\n"));
	CHECK_EQUAL(talk_hear(&t, false), 400);
	CHECK_EQUAL(talk_hear(&t, false), 0);
	talk_end(&t);
	CHECK_EQUAL(served_end(&served, SIGTERM), 0);
}

TEST(serve, goes_on_when_its_descriptors_were_all_taken)
{
	enum { CLIENTS = 40, LIMIT = 24 };
	char why[ADDRESS_WHY_SIZE], byte = 'x';
	struct address address;
	struct served served;
	int fds[CLIENTS];

	REQUIRE(served_begin_limited(&served, "echo", LIMIT));
	REQUIRE(address_parse(&address, served.address, why) == 0);
	for (int i = 0; i < CLIENTS; i++) {
		fds[i] = address_connect(&address); /* the kernel's queue takes what it does not */
		REQUIRE(fds[i] >= 0);
		CHECK_EQUAL(send(fds[i], &byte, 1, MSG_NOSIGNAL), 1);
	}
	for (int i = 0; i < CLIENTS; i++) { /* each leaves room for the next */
		CHECK_EQUAL(recv(fds[i], &byte, 1, 0), 1);
		close(fds[i]);
	}
	CHECK_EQUAL(served_end(&served, SIGTERM), 0);
}

TEST(serve, refuses_what_it_cannot_be)
{
	static const struct {
		const char *arguments[4];
		int status;
		const char *says;
	} rows[] = {
	    {{"serve", NULL}, 2, "which peer?"},
	    {{"serve", "ecko", NULL}, 2, "echo"},
	    {{"serve", "echo", "delay", NULL}, 2, "one peer at a time"},
	    {{"serve", "echo", "--listen=nonsense", NULL}, 2, "is no HOST:PORT"},
	    {{"serve", "echo", "--listen=127.0.0.1:99999", NULL}, 2, "0 to 65535"},
	    {{"serve", "echo", "--listen=::1:80", NULL}, 2, "[::1]:4000"},
	    {{"serve", "echo", "--listen=192.0.2.77:0", NULL}, 1, "no address of this machine"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct process p = {.argv = rows[i].arguments};
		struct process_result r;

		process_run(&p, &r);
		CHECK_STATUS(&r, rows[i].status);
		CHECK_CONTAINS(r.err, rows[i].says);
		process_free(&r);
	}
}

TEST(serve, a_taken_port_is_named)
{
	struct process_result r;
	struct served served;
	char option[64];

	REQUIRE(served_begin(&served, "echo", NULL));
	snprintf(option, sizeof option, "--listen=%.40s", served.address);
	PROCESS_RUN(&r, "serve", "echo", option);
	CHECK_STATUS(&r, 1);
	CHECK_CONTAINS(r.err, served.address);
	CHECK_CONTAINS(r.err, "take another port");
	process_free(&r);
	CHECK_EQUAL(served_end(&served, SIGTERM), 0);
}

TEST(serve, a_run_measures_against_a_peer_that_is_named)
{
	struct served served;
	json_t *runs;

	REQUIRE(served_begin(&served, "delay", NULL));
	runs = CLI_RUNS(0, "--engine", "blocking,epoll,uring", "--workload", "socket-delay",
	                "--peer", served.address, "--depth", "4", "--delay", "5ms", "--runtime",
	                "200ms", "--warmup", "0", "--wait", "park");
	CHECK_EQUAL(json_array_size(runs), 3);
	for (size_t i = 0; i < json_array_size(runs); i++) {
		CHECK_STRING(cli_text(json_array_get(runs, i), "plan.peer"), served.address);
		CHECK(cli_number(json_array_get(runs, i), "measured.operations") > 0);
		CHECK_EQUAL(cli_number(json_array_get(runs, i), "measured.wrong"), 0);
	}
	json_decref(runs);
	CHECK_EQUAL(served_end(&served, SIGTERM), 0);
}

TEST(serve, a_run_without_its_peer_says_what_to_start)
{
	struct served served;
	json_t *runs;

	REQUIRE(served_begin(&served, "delay", NULL));
	CHECK_EQUAL(served_end(&served, SIGTERM), 0); /* nobody listens there now */
	runs = CLI_RUNS(1, "--engine", "epoll", "--workload", "socket-delay", "--peer",
	                served.address, "--runtime", "100ms", "--wait", "park");
	CHECK_CONTAINS(cli_text(json_array_get(runs, 0), "why"), served.address);
	CHECK_CONTAINS(cli_text(json_array_get(runs, 0), "why"), "iostudy serve delay");
	json_decref(runs);
}
