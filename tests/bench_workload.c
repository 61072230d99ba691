/* The workloads as state machines: what they ask, and what they find wrong. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "bench/file.h"
#include "bench/message.h"
#include "bench/workload.h"
#include "tests/test.h"

/* A peer of the test's own: the listening end of the abstract name in the plan. */
static int listen_as_peer(struct plan *plan)
{
	struct sockaddr_un local = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(plan->peer_name, sizeof plan->peer_name, "iostudy-test-%d", getpid());
	memcpy(local.sun_path + 1, plan->peer_name, strlen(plan->peer_name));
	if (bind(fd, (struct sockaddr *)&local,
	         (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
	                     strlen(plan->peer_name))) != 0 ||
	    listen(fd, 8) != 0) {
		close(fd);
		return -1;
	}
	return fd;
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

/* A plan over a small file of our own, which it makes. */
static bool disk_plan(struct plan *plan, struct file_lease *lease)
{
	static volatile sig_atomic_t never;
	char why[PLAN_WHY_SIZE];

	plan_default(plan);
	strcpy(plan->engine, "blocking");
	snprintf(plan->file, sizeof plan->file, "iostudy-test-%d.data", getpid());
	plan->size_bytes = 100 * 4096; /* no power of two */
	plan->direct = false;
	plan->threads = 1;
	return file_prepare(plan, lease, &never, why) == 0;
}

TEST(disk_randread, cold_offsets_visit_each_block_once_in_a_pass)
{
	struct file_lease lease;
	struct plan plan;
	struct workload w;

	REQUIRE(disk_plan(&plan, &lease));
	for (uint64_t blocks = 1; blocks <= 40; blocks++) {
		plan.size_bytes = blocks * 4096;
		for (plan.threads = 1; plan.threads <= 40; plan.threads += 3) {
			uint32_t seen[40] = {0}, all = 0;

			for (uint32_t thread = 0; thread < plan.threads; thread++) {
				REQUIRE(workload_open(&w, &plan, thread, 1) == 0);
				for (uint64_t at = thread; at < blocks; at += plan.threads) {
					w.ops->next(&w, 0, 0);
					REQUIRE(w.requests[0].offset / 4096 < blocks);
					seen[w.requests[0].offset / 4096]++;
				}
				w.ops->next(&w, 0, 0); /* the next pass begins */
				workload_close(&w);
			}
			for (uint64_t i = 0; i < blocks; i++)
				all += seen[i] == 1;
			CHECK_EQUAL(all, blocks);
		}
	}
	file_release(&lease, false);
}

TEST(disk_randread, the_same_seed_asks_for_the_same_offsets)
{
	struct file_lease lease;
	struct plan plan;
	struct workload a, b;
	uint32_t same = 0;

	REQUIRE(disk_plan(&plan, &lease));
	plan.cache = CACHE_HOT;
	REQUIRE(workload_open(&a, &plan, 0, 1) == 0);
	REQUIRE(workload_open(&b, &plan, 0, 1) == 0);
	for (int i = 0; i < 1000; i++) {
		a.ops->next(&a, 0, 0);
		b.ops->next(&b, 0, 0);
		CHECK_EQUAL(a.requests[0].offset, b.requests[0].offset);
	}
	workload_close(&b);
	REQUIRE(workload_open(&b, &plan, 1, 1) == 0); /* another thread, other offsets */
	for (int i = 0; i < 1000; i++) {
		a.ops->next(&a, 0, 0);
		b.ops->next(&b, 0, 0);
		same += a.requests[0].offset == b.requests[0].offset;
	}
	CHECK(same < 100);
	workload_close(&a);
	workload_close(&b);
	file_release(&lease, false);
}

TEST(disk_randread, a_short_read_goes_on_and_a_wrong_block_is_found)
{
	struct file_lease lease;
	struct plan plan;
	struct workload w;
	uint64_t offset;

	REQUIRE(disk_plan(&plan, &lease));
	REQUIRE(workload_open(&w, &plan, 0, 1) == 0);
	w.ops->next(&w, 0, 0);
	offset = w.requests[0].offset;
	file_fill(w.memory, 4096, offset, 1, 0);
	CHECK_EQUAL(w.ops->step(&w, 0, 512), WORK_SUBMIT);
	CHECK_EQUAL(w.requests[0].offset, offset + 512);
	CHECK_EQUAL(w.requests[0].length, 4096 - 512);
	CHECK_EQUAL(w.ops->step(&w, 0, 4096 - 512), WORK_DONE);
	CHECK_EQUAL(w.shorts, 1);
	w.ops->next(&w, 0, 0);
	file_fill(w.memory, 4096, w.requests[0].offset + 4096, 1, 0); /* the neighbour */
	CHECK_EQUAL(w.ops->step(&w, 0, 4096), WORK_WRONG);
	CHECK_CONTAINS(w.why, "carries sector");
	w.ops->next(&w, 0, 0);
	CHECK_EQUAL(w.ops->step(&w, 0, 0), WORK_WRONG);
	CHECK_EQUAL(w.ops->step(&w, 0, -EIO), WORK_FAILED);
	workload_close(&w);
	file_release(&lease, false);
}
