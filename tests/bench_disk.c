/* The disk workloads as state machines: which blocks, what is written there, what is wrong. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/file.h"
#include "bench/ledger.h"
#include "bench/order.h"
#include "bench/readback.h"
#include "bench/workload.h"
#include "tests/test.h"

static volatile sig_atomic_t never;

/* A plan over a small file of our own, which it makes. */
static bool disk_plan(struct plan *plan, struct file_lease *lease)
{
	char why[PLAN_WHY_SIZE];

	plan_default(plan);
	strcpy(plan->engine, "blocking");
	snprintf(plan->file, sizeof plan->file, "iostudy-test-%d.data", getpid());
	plan->size_bytes = 100 * 4096; /* no power of two */
	plan->direct = false;
	plan->threads = 1;
	if (file_prepare(plan, lease, &never, why) != 0)
		return false;
	plan->ledger = ledger_make(plan_blocks(plan), !plan->file_verified);
	plan->passes = calloc(1, sizeof *plan->passes);
	return plan->ledger && plan->passes;
}

static void disk_plan_end(struct plan *plan, struct file_lease *lease)
{
	free(plan->passes);
	ledger_free(plan->ledger);
	file_release(lease, false);
}

/* Makes the call that the slot asks for, and goes on with its result, to the operation's end. */
static enum workload_answer carry_out(struct workload *w, uint32_t slot)
{
	enum workload_answer answer = WORK_SUBMIT;

	while (answer == WORK_SUBMIT)
		answer = w->ops->step(w, slot, engine_call(&w->requests[slot], NULL));
	return answer;
}

/* One of the threads is four times as fast as each of the others. */
TEST(disk_randread, cold_offsets_visit_each_block_once_in_a_pass_however_fast_a_thread_is)
{
	for (uint64_t blocks = 1; blocks <= 40; blocks++)
		for (uint32_t threads = 1; threads <= 40; threads += 3) {
			struct order orders[40];
			struct order_passes passes = {0};
			uint32_t seen[40] = {0}, turn = 0;

			for (uint32_t i = 0; i < threads; i++)
				order_begin(&orders[i], ORDER_PASSES, blocks, 1, i, threads,
				            &passes);
			for (uint64_t i = 0; i < 3 * blocks; i++, turn++) {
				struct order *o = &orders[turn % 4 ? 0 : turn / 4 % threads];
				const uint64_t block = order_next(o);

				REQUIRE(block < blocks);
				CHECK_EQUAL(o->pass_over, i && i % blocks == 0);
				CHECK_EQUAL(seen[block]++, i / blocks);
				if (o->pass_over)
					order_pass_ready(o);
			}
		}
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
	disk_plan_end(&plan, &lease);
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
	disk_plan_end(&plan, &lease);
}

TEST(disk, rows_of_all_threads_together_are_the_file)
{
	for (uint64_t blocks = 1; blocks <= 30; blocks++)
		for (uint32_t threads = 1; threads <= blocks; threads++) {
			uint32_t seen[30] = {0};

			for (uint32_t thread = 0; thread < threads; thread++) {
				struct order order;
				uint64_t last = 0;

				order_begin(&order, ORDER_ROW, blocks, 1, thread, threads, NULL);
				for (uint64_t i = 0;; i++) {
					const uint64_t block = order_next(&order);

					if (order.pass_over)
						break;
					CHECK(i == 0 || block == last + 1);
					seen[last = block]++;
				}
			}
			for (uint64_t i = 0; i < blocks; i++)
				CHECK_EQUAL(seen[i], 1);
		}
}

/* Also while every other block is taken: the requests in flight are as many as the blocks. */
TEST(disk, no_two_requests_are_at_one_block)
{
	static const char *const workloads[] = {"disk-randwrite", "disk-seqwrite", "disk-randrw"};
	enum { SLOTS = 50, THREADS = 2 };

	for (size_t k = 0; k < sizeof workloads / sizeof *workloads; k++) {
		struct file_lease lease;
		struct workload w[THREADS];
		bool taken[SLOTS * THREADS] = {false};
		struct plan plan;

		REQUIRE(disk_plan(&plan, &lease));
		strcpy(plan.workload, workloads[k]);
		plan.threads = THREADS;
		for (uint32_t thread = 0; thread < THREADS; thread++) {
			REQUIRE(workload_open(&w[thread], &plan, thread, SLOTS) == 0);
			for (uint32_t slot = 0; slot < SLOTS; slot++) {
				w[thread].ops->next(&w[thread], slot, 0);
				const uint64_t block = w[thread].requests[slot].offset / 4096;

				CHECK(!taken[block]);
				taken[block] = true;
			}
		}
		for (uint32_t thread = 0; thread < THREADS; thread++)
			workload_close(&w[thread]);
		disk_plan_end(&plan, &lease);
	}
}

TEST(disk, what_is_written_is_read_back_as_the_last_write_left_it)
{
	struct file_lease lease;
	struct readback back;
	struct plan plan;
	struct workload w;
	char why[PLAN_WHY_SIZE] = "";

	REQUIRE(disk_plan(&plan, &lease));
	strcpy(plan.workload, "disk-randrw");
	REQUIRE(workload_open(&w, &plan, 0, 4) == 0);
	for (int i = 0; i < 3000; i++) {
		w.ops->next(&w, (uint32_t)i % 4, 0);
		CHECK_EQUAL(carry_out(&w, (uint32_t)i % 4), WORK_DONE);
	}
	CHECK_MESSAGE(readback_check(&plan, &never, &back, why) == 0, "%s", why);
	CHECK_EQUAL(back.written, 100);
	CHECK_EQUAL(back.checked, 100);
	CHECK_EQUAL(back.wrong, 0);
	workload_close(&w);
	disk_plan_end(&plan, &lease);
}

/* A write that never comes, one that comes to the wrong place, half of one, and foreign bytes. */
TEST(disk, a_lost_a_misplaced_and_a_torn_write_are_found)
{
	static const char *const expected[] = {"was the last one there", "carries sector",
	                                       "is torn", "foreign bytes"};

	for (int fault = 0; fault < 4; fault++) {
		struct file_lease lease;
		struct readback back;
		struct plan plan;
		struct workload w;
		char why[PLAN_WHY_SIZE] = "", block[4096];
		struct io_req *r;

		REQUIRE(disk_plan(&plan, &lease));
		strcpy(plan.workload, "disk-randwrite");
		REQUIRE(workload_open(&w, &plan, 0, 1) == 0);
		r = w.requests;
		for (int i = 0; i < 500; i++) {
			w.ops->next(&w, 0, 0);
			CHECK_EQUAL(carry_out(&w, 0), WORK_DONE);
		}
		w.ops->next(&w, 0, 0);
		if (fault == 1) /* to a neighbour; its own block keeps an earlier write */
			CHECK_EQUAL(pwrite(r->fd, r->data, 4096, r->offset ? 0 : 4096), 4096);
		if (fault == 2)
			CHECK_EQUAL(pwrite(r->fd, r->data, 512, (off_t)r->offset), 512);
		memset(block, 0x5a, sizeof block);
		if (fault == 3)
			CHECK_EQUAL(pwrite(r->fd, block, 4096, (off_t)r->offset), 4096);
		CHECK_EQUAL(w.ops->step(&w, 0, 4096), WORK_DONE); /* it says that all is well */
		CHECK_EQUAL(readback_check(&plan, &never, &back, why), -EILSEQ);
		CHECK_EQUAL(back.wrong, fault == 1 ? 2 : 1);
		if (fault != 1)
			CHECK_CONTAINS(why, expected[fault]);
		workload_close(&w);
		disk_plan_end(&plan, &lease);
	}
}

TEST(disk, a_read_of_a_mixed_run_must_bring_the_last_write)
{
	struct file_lease lease;
	struct plan plan;
	struct workload w;
	uint32_t stale = 0;

	REQUIRE(disk_plan(&plan, &lease));
	strcpy(plan.workload, "disk-randrw");
	REQUIRE(workload_open(&w, &plan, 0, 1) == 0);
	for (int i = 0; i < 400; i++) {
		struct io_req *r = w.requests;

		w.ops->next(&w, 0, 0);
		if (r->op == IO_WRITE) /* which is lost */
			CHECK_EQUAL(w.ops->step(&w, 0, 4096), WORK_DONE);
		else if (carry_out(&w, 0) == WORK_WRONG)
			stale++;
	}
	CHECK(stale > 20);
	workload_close(&w);
	disk_plan_end(&plan, &lease);
}

TEST(disk, a_short_write_goes_on_and_a_failed_one_says_why)
{
	struct file_lease lease;
	struct plan plan;
	struct workload w;
	uint64_t offset;

	REQUIRE(disk_plan(&plan, &lease));
	strcpy(plan.workload, "disk-seqwrite");
	REQUIRE(workload_open(&w, &plan, 0, 1) == 0);
	w.ops->next(&w, 0, 0);
	CHECK_EQUAL(w.requests[0].op, IO_WRITE);
	offset = w.requests[0].offset;
	CHECK_EQUAL(w.ops->step(&w, 0, 1024), WORK_SUBMIT);
	CHECK_EQUAL(w.requests[0].offset, offset + 1024);
	CHECK_EQUAL(w.requests[0].length, 3072);
	CHECK_EQUAL(w.ops->step(&w, 0, 0), WORK_FAILED);
	CHECK_CONTAINS(w.why, "nothing was written");
	CHECK_EQUAL(w.ops->step(&w, 0, -ENOSPC), WORK_FAILED);
	CHECK_CONTAINS(w.why, "write at offset 1024: No space left");
	CHECK_EQUAL(w.ops->step(&w, 0, -EFBIG), WORK_FAILED);
	CHECK_CONTAINS(w.why, "RLIMIT_FSIZE");
	CHECK(ledger_is_taken(plan.ledger, 0)); /* nobody knows what stands there */
	workload_close(&w);
	disk_plan_end(&plan, &lease);
}

TEST(disk, every_nth_write_is_followed_by_an_fsync)
{
	for (uint32_t every = 0; every <= 3; every++) {
		struct file_lease lease;
		struct plan plan;
		struct workload w;
		uint32_t syncs = 0;

		REQUIRE(disk_plan(&plan, &lease));
		strcpy(plan.workload, "disk-fsync");
		plan.fsync = every;
		REQUIRE(workload_open(&w, &plan, 0, 1) == 0);
		for (int i = 1; i <= 60; i++) {
			w.ops->next(&w, 0, 0);
			if (w.ops->step(&w, 0, 4096) == WORK_DONE)
				continue;
			CHECK_EQUAL(w.requests[0].op, IO_FSYNC);
			CHECK_EQUAL(i % every, 0);
			syncs++;
			CHECK_EQUAL(w.ops->step(&w, 0, 0), WORK_DONE);
		}
		CHECK_EQUAL(syncs, every ? 60 / every : 0);
		workload_close(&w);
		disk_plan_end(&plan, &lease);
	}
}

TEST(disk, the_share_of_reads_is_what_was_asked_for)
{
	static const uint32_t percents[] = {0, 30, 100};

	for (size_t k = 0; k < sizeof percents / sizeof *percents; k++) {
		struct file_lease lease;
		struct plan plan;
		struct workload w;
		uint32_t reads = 0;

		REQUIRE(disk_plan(&plan, &lease));
		strcpy(plan.workload, "disk-randrw");
		plan.read_percent = percents[k];
		REQUIRE(workload_open(&w, &plan, 0, 1) == 0);
		for (int i = 0; i < 10000; i++) {
			w.ops->next(&w, 0, 0);
			reads += w.requests[0].op == IO_READ;
			CHECK_EQUAL(carry_out(&w, 0), WORK_DONE);
		}
		CHECK_BETWEEN(reads / 100.0, percents[k] ? percents[k] * 0.9 : 0,
		              percents[k] * 1.1);
		workload_close(&w);
		disk_plan_end(&plan, &lease);
	}
}
