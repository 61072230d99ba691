/* The workloads as state machines: what they ask, and what they find wrong. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/message.h"
#include "bench/workload.h"
#include "tests/test.h"

/* A peer of the test's own: the listening end of the abstract name in the plan. */
static int listen_as_peer(struct plan *plan)
{
	address_local(&plan->peer);
	return address_listen(&plan->peer);
}

struct talk {
	struct plan plan;
	struct workload w;
	int listener, peer;
};

static bool talk_begin(struct talk *t)
{
	memset(t, 0, sizeof *t);
	plan_default(&t->plan);
	strcpy(t->plan.workload, "socket-delay");
	strcpy(t->plan.engine, "blocking");
	t->plan.threads = 1;
	t->plan.transport = TRANSPORT_UNIX;
	t->listener = listen_as_peer(&t->plan);
	if (t->listener < 0 || workload_open(&t->w, &t->plan, 0, 1) != 0)
		return false;
	t->peer = accept(t->listener, NULL, NULL);
	return t->peer >= 0;
}

static void talk_end(struct talk *t)
{
	workload_close(&t->w);
	close(t->peer);
	close(t->listener);
}

/* Sends the request and takes it at the other end. */
static struct message ask(struct talk *t)
{
	struct message m = {0};

	CHECK_EQUAL(t->w.ops->next(&t->w, 0, 0), WORK_SUBMIT);
	CHECK_EQUAL(t->w.requests[0].op, IO_SEND);
	CHECK_EQUAL(engine_call(&t->w.requests[0], NULL), sizeof m);
	CHECK_EQUAL(t->w.ops->step(&t->w, 0, sizeof m), WORK_SUBMIT);
	CHECK_EQUAL(t->w.requests[0].op, IO_RECV);
	CHECK_EQUAL(recv(t->peer, &m, sizeof m, MSG_WAITALL), sizeof m);
	CHECK(message_is_valid(&m, false));
	return m;
}

static enum workload_answer answer_with(struct talk *t, const void *bytes, size_t n)
{
	CHECK_EQUAL(send(t->peer, bytes, n, 0), n);
	return t->w.ops->step(&t->w, 0, engine_call(&t->w.requests[0], NULL));
}

TEST(socket_delay, a_true_reply_is_done)
{
	struct talk t;
	struct message m;

	REQUIRE(talk_begin(&t));
	m = ask(&t);
	CHECK_EQUAL(m.delay_ns, 20000000);
	m.check = message_check(&m, true);
	CHECK_EQUAL(answer_with(&t, &m, sizeof m), WORK_DONE);
	talk_end(&t);
}

TEST(socket_delay, garbage_is_wrong)
{
	struct talk t;
	struct message m;

	REQUIRE(talk_begin(&t));
	m = ask(&t);
	memset(&m, 0xa5, sizeof m);
	CHECK_EQUAL(answer_with(&t, &m, sizeof m), WORK_WRONG);
	CHECK_CONTAINS(t.w.why, "garbage");
	talk_end(&t);
}

TEST(socket_delay, each_single_wrong_bit_is_wrong)
{
	struct talk t;

	REQUIRE(talk_begin(&t));
	for (uint32_t bit = 0; bit < 8 * sizeof(struct message); bit++) {
		struct message m = ask(&t);

		m.check = message_check(&m, true);
		((char *)&m)[bit / 8] ^= (char)(1 << bit % 8);
		CHECK_EQUAL(answer_with(&t, &m, sizeof m), WORK_WRONG);
	}
	talk_end(&t);
}

TEST(socket_delay, a_reply_for_another_request_is_wrong)
{
	struct talk t;
	struct message m;

	REQUIRE(talk_begin(&t));
	m = ask(&t);
	m.id++;
	m.check = message_check(&m, true);
	CHECK_EQUAL(answer_with(&t, &m, sizeof m), WORK_WRONG);
	CHECK_CONTAINS(t.w.why, "is for request");
	talk_end(&t);
}

TEST(socket_delay, a_late_last_byte_is_waited_for)
{
	struct talk t;
	struct message m;

	REQUIRE(talk_begin(&t));
	m = ask(&t);
	m.check = message_check(&m, true);
	CHECK_EQUAL(answer_with(&t, &m, sizeof m - 1), WORK_SUBMIT);
	CHECK_EQUAL(t.w.requests[0].length, 1);
	CHECK_EQUAL(answer_with(&t, (char *)&m + sizeof m - 1, 1), WORK_DONE);
	CHECK_EQUAL(t.w.shorts, 1);
	talk_end(&t);
}

TEST(socket_delay, a_byte_too_many_makes_the_next_reply_wrong)
{
	enum workload_answer answer;
	struct talk t;
	struct message m;
	char late = 0;

	REQUIRE(talk_begin(&t));
	m = ask(&t);
	m.check = message_check(&m, true);
	CHECK_EQUAL(answer_with(&t, &m, sizeof m), WORK_DONE);
	CHECK_EQUAL(send(t.peer, &late, 1, 0), 1);
	m = ask(&t);
	m.check = message_check(&m, true);
	answer = answer_with(&t, &m, sizeof m);
	if (answer == WORK_SUBMIT) /* the late byte came alone */
		answer = t.w.ops->step(&t.w, 0, engine_call(&t.w.requests[0], NULL));
	CHECK_EQUAL(answer, WORK_WRONG);
	talk_end(&t);
}

TEST(socket_delay, a_dead_peer_is_a_failure_and_says_so)
{
	struct talk t;

	REQUIRE(talk_begin(&t));
	ask(&t);
	shutdown(t.peer, SHUT_RDWR);
	CHECK_EQUAL(t.w.ops->step(&t.w, 0, engine_call(&t.w.requests[0], NULL)), WORK_FAILED);
	CHECK_CONTAINS(t.w.why, "has it died?");
	CHECK_EQUAL(t.w.ops->step(&t.w, 0, -ECONNRESET), WORK_FAILED);
	talk_end(&t);
}
