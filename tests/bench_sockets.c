/* socket-echo and socket-multiplex as state machines: what they ask, and what they find wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/message.h"
#include "bench/workload.h"
#include "tests/test.h"

enum { SLOTS = 8, BLOCK = 1000, SENDER = SLOTS, RECEIVER = SLOTS + 1 };

struct talk {
	struct plan plan;
	struct workload w;
	int listener, peer;
};

static bool talk_begin(struct talk *t, const char *workload)
{
	memset(t, 0, sizeof *t);
	plan_default(&t->plan);
	snprintf(t->plan.workload, sizeof t->plan.workload, "%s", workload);
	strcpy(t->plan.engine, "blocking");
	t->plan.threads = t->plan.connections = 1;
	t->plan.block_bytes = BLOCK;
	t->plan.transport = TRANSPORT_UNIX;
	address_local(&t->plan.peer);
	t->listener = address_listen(&t->plan.peer);
	if (t->listener < 0 || workload_open(&t->w, &t->plan, 0, SLOTS) != 0)
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

/* Makes the request of a slot, and hands its result over. */
static enum workload_answer perform(struct talk *t, uint32_t slot)
{
	return t->w.ops->step(&t->w, slot, engine_call(&t->w.requests[slot], NULL));
}

/* --- socket-echo ---------------------------------------------------------------------------- */

static void echo_ask(struct talk *t, char message[BLOCK])
{
	CHECK_EQUAL(t->w.ops->next(&t->w, 0, 0), WORK_SUBMIT);
	CHECK_EQUAL(t->w.requests[0].op, IO_SEND);
	CHECK_EQUAL(t->w.requests[0].length, BLOCK);
	CHECK_EQUAL(perform(t, 0), WORK_SUBMIT);
	CHECK_EQUAL(t->w.requests[0].op, IO_RECV);
	CHECK_EQUAL(recv(t->peer, message, BLOCK, MSG_WAITALL), BLOCK);
}

static enum workload_answer echo_answer(struct talk *t, const char *message, size_t bytes)
{
	CHECK_EQUAL(send(t->peer, message, bytes, 0), bytes);
	return perform(t, 0);
}

TEST(socket_echo, a_message_that_comes_back_whole_is_done)
{
	char message[BLOCK], other[BLOCK];
	struct talk t;

	REQUIRE(talk_begin(&t, "socket-echo"));
	echo_ask(&t, message);
	CHECK_EQUAL(echo_answer(&t, message, BLOCK - 1), WORK_SUBMIT);
	CHECK_EQUAL(t.w.requests[0].length, 1); /* the late byte is waited for */
	CHECK_EQUAL(echo_answer(&t, message + BLOCK - 1, 1), WORK_DONE);
	CHECK_EQUAL(t.w.shorts, 1);
	CHECK_EQUAL(t.w.bytes, 2 * BLOCK);
	echo_ask(&t, other);
	CHECK(memcmp(message, other, BLOCK) != 0); /* none is like another */
	CHECK_EQUAL(echo_answer(&t, other, BLOCK), WORK_DONE);
	talk_end(&t);
}

TEST(socket_echo, a_message_sent_in_parts_goes_on_where_it_was)
{
	struct talk t;

	REQUIRE(talk_begin(&t, "socket-echo"));
	CHECK_EQUAL(t.w.ops->next(&t.w, 0, 0), WORK_SUBMIT);
	const char *begin = t.w.requests[0].data;
	CHECK_EQUAL(t.w.ops->step(&t.w, 0, 300), WORK_SUBMIT);
	CHECK_EQUAL(t.w.requests[0].op, IO_SEND);
	CHECK_EQUAL(t.w.requests[0].length, BLOCK - 300);
	CHECK_EQUAL((const char *)t.w.requests[0].data - begin, 300);
	talk_end(&t);
}

TEST(socket_echo, every_wrong_byte_another_message_and_garbage_are_wrong)
{
	char message[BLOCK], before[BLOCK];
	struct talk t;

	REQUIRE(talk_begin(&t, "socket-echo"));
	for (size_t at = 0; at < BLOCK; at += at < 16 || at > BLOCK - 10 ? 1 : 97) {
		echo_ask(&t, message);
		memcpy(before, message, BLOCK);
		message[at] ^= 0x40;
		CHECK_MESSAGE(echo_answer(&t, message, BLOCK) == WORK_WRONG, "byte %zu", at);
	}
	CHECK_CONTAINS(t.w.why, " of 1000 of what came back");
	echo_ask(&t, message);
	CHECK_EQUAL(echo_answer(&t, before, BLOCK), WORK_WRONG); /* an answer to the last one */
	CHECK_CONTAINS(t.w.why, "the message was");
	echo_ask(&t, message);
	memset(message, 0xa5, BLOCK);
	CHECK_EQUAL(echo_answer(&t, message, BLOCK), WORK_WRONG);
	talk_end(&t);
}

TEST(socket_echo, a_byte_too_many_makes_the_next_one_wrong)
{
	char message[BLOCK + 1];
	struct talk t;

	REQUIRE(talk_begin(&t, "socket-echo"));
	echo_ask(&t, message);
	message[BLOCK] = 0;
	CHECK_EQUAL(echo_answer(&t, message, BLOCK + 1), WORK_DONE);
	echo_ask(&t, message);
	CHECK_EQUAL(send(t.peer, message, BLOCK, 0), BLOCK);
	enum workload_answer answer = perform(&t, 0);
	if (answer == WORK_SUBMIT) /* the late byte came alone */
		answer = perform(&t, 0);
	CHECK_EQUAL(answer, WORK_WRONG);
	talk_end(&t);
}

/* --- socket-multiplex ----------------------------------------------------------------------- */

/* Begins n operations, sends them in one go, and takes them at the other end. */
static void multiplex_ask(struct talk *t, uint32_t n, struct message *m)
{
	for (uint32_t slot = 0; slot < n; slot++)
		CHECK_EQUAL(t->w.ops->next(&t->w, slot, 0), WORK_WAIT);
	REQUIRE(t->w.posted_count == 1);
	CHECK_EQUAL(workload_take_post(&t->w).slot, SENDER);
	CHECK_EQUAL(t->w.ops->step(&t->w, SENDER, 0), WORK_SUBMIT);
	CHECK_EQUAL(t->w.requests[SENDER].length, n * sizeof *m);
	CHECK_EQUAL(perform(t, SENDER), WORK_WAIT);
	CHECK_EQUAL(recv(t->peer, m, n * sizeof *m, MSG_WAITALL), n * sizeof *m);
	for (uint32_t i = 0; i < n; i++) {
		CHECK(message_is_valid(&m[i], false));
		m[i].check = message_check(&m[i], true);
	}
	REQUIRE(t->w.posted_count == 1);
	CHECK_EQUAL(workload_take_post(&t->w).slot, RECEIVER);
	CHECK_EQUAL(t->w.ops->step(&t->w, RECEIVER, 0), WORK_SUBMIT);
	CHECK_EQUAL(t->w.requests[RECEIVER].op, IO_RECV);
}

static enum workload_answer multiplex_answer(struct talk *t, const void *bytes, size_t n)
{
	CHECK_EQUAL(send(t->peer, bytes, n, 0), n);
	return perform(t, RECEIVER);
}

TEST(socket_multiplex, replies_in_any_order_end_their_own_operations)
{
	static const uint32_t order[] = {2, 0, 3, 1};
	struct message m[4] = {{0}};
	struct talk t;

	REQUIRE(talk_begin(&t, "socket-multiplex"));
	CHECK_EQUAL(t.w.services, 2);
	multiplex_ask(&t, 4, m);
	for (uint32_t i = 0; i < 4; i++) {
		CHECK_EQUAL(multiplex_answer(&t, &m[order[i]], sizeof *m),
		            i == 3 ? WORK_WAIT : WORK_SUBMIT); /* it rests when none is to come */
		REQUIRE(t.w.posted_count == 1);
		CHECK_EQUAL(workload_take_post(&t.w).slot, order[i]);
		CHECK_EQUAL(t.w.ops->step(&t.w, order[i], 0), WORK_DONE);
	}
	multiplex_ask(&t, 2, m); /* and it begins anew */
	talk_end(&t);
}

TEST(socket_multiplex, replies_together_and_in_parts_are_taken_whole)
{
	struct message m[4] = {{0}};
	struct talk t;

	REQUIRE(talk_begin(&t, "socket-multiplex"));
	multiplex_ask(&t, 4, m);
	CHECK_EQUAL(multiplex_answer(&t, m, sizeof *m * 2 + 7), WORK_SUBMIT);
	CHECK_EQUAL(t.w.posted_count, 2);
	CHECK_EQUAL(multiplex_answer(&t, (char *)m + sizeof *m * 2 + 7, sizeof *m * 2 - 7),
	            WORK_WAIT);
	CHECK_EQUAL(t.w.posted_count, 4);
	talk_end(&t);
}

TEST(socket_multiplex, a_reply_that_overtakes_the_end_of_its_send_is_taken)
{
	struct message m;
	struct talk t;

	REQUIRE(talk_begin(&t, "socket-multiplex"));
	multiplex_ask(&t, 1, &m); /* the receiver is under way */
	CHECK_EQUAL(t.w.ops->next(&t.w, 1, 0), WORK_WAIT);
	CHECK_EQUAL(workload_take_post(&t.w).slot, SENDER);
	CHECK_EQUAL(t.w.ops->step(&t.w, SENDER, 0), WORK_SUBMIT);
	CHECK_EQUAL(engine_call(&t.w.requests[SENDER], NULL), sizeof m);
	struct message both[2] = {m};
	CHECK_EQUAL(recv(t.peer, &both[1], sizeof m, MSG_WAITALL), sizeof m);
	both[1].check = message_check(&both[1], true);
	CHECK_EQUAL(multiplex_answer(&t, both, sizeof both), WORK_WAIT);
	CHECK_EQUAL(t.w.posted_count, 2);
	CHECK_EQUAL(t.w.ops->step(&t.w, SENDER, sizeof m), WORK_WAIT); /* only now */
	CHECK_EQUAL(t.w.posted_count, 2);
	talk_end(&t);
}

static void check_wrong(void (*spoil)(struct message *), const char *says)
{
	struct message m[2] = {{0}};
	struct talk t;

	REQUIRE(talk_begin(&t, "socket-multiplex"));
	multiplex_ask(&t, 2, m);
	spoil(m);
	CHECK_EQUAL(multiplex_answer(&t, m, sizeof m), WORK_WRONG);
	CHECK_CONTAINS(t.w.why, says);
	talk_end(&t);
}

static void spoil_garbage(struct message *m)
{
	memset(m, 0xa5, sizeof *m);
}

static void spoil_id(struct message *m)
{
	m->id += 1u << 20; /* a later request of that slot */
	m->check = message_check(m, true);
}

static void spoil_slot(struct message *m)
{
	m->id |= SLOTS + 3; /* a slot that is none */
	m->check = message_check(m, true);
}

static void spoil_twice(struct message *m)
{
	m[1] = m[0];
}

static void spoil_seed(struct message *m)
{
	m->seed++;
	m->check = message_check(m, true);
}

static void spoil_shift(struct message *m)
{
	memmove((char *)m + 1, m, 2 * sizeof *m - 1); /* a byte too many before them */
}

TEST(socket_multiplex, garbage_a_shift_and_a_reply_for_another_or_for_nobody_are_wrong)
{
	check_wrong(spoil_garbage, "garbage");
	check_wrong(spoil_shift, "garbage");
	check_wrong(spoil_id, "nobody on connection 0 waits");
	check_wrong(spoil_slot, "nobody on connection 0 waits");
	check_wrong(spoil_twice, "nobody on connection 0 waits");
	check_wrong(spoil_seed, "nobody on connection 0 waits");
}

TEST(socket_multiplex, a_late_byte_that_nobody_waits_for_is_wrong)
{
	struct message m[2] = {{0}};
	struct talk t;

	REQUIRE(talk_begin(&t, "socket-multiplex"));
	multiplex_ask(&t, 1, m);
	memset(&m[1], 0, sizeof m[1]);
	CHECK_EQUAL(multiplex_answer(&t, m, sizeof *m + 1), WORK_WRONG);
	CHECK_CONTAINS(t.w.why, "1 bytes too many came on connection 0");
	talk_end(&t);
}
