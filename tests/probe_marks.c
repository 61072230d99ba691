/*
 * Threads that say what they do: their marks decide what their sleep is, in both probes.
 */
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/probe_help.h"
#include "tests/test.h"

/* What a thread of the subject does with its mark, and what its sleep then is. */
static const struct role {
	enum thread_kind kind;
	enum thread_doing doing;
	bool in_poll; /* else in a read */
	enum thread_state state;
} roles[] = {
    {KIND_APPLICATION, DOING_CALL, false, STATE_PARKED_DIRECT},
    {KIND_APPLICATION, DOING_WAIT, true, STATE_PARKED_WAITER},
    {KIND_APPLICATION, DOING_RESULT, false, STATE_PARKED_ON_RESULT},
    {KIND_POOL, DOING_IDLE, false, STATE_IDLE},
    {KIND_POOL, DOING_CALL, true, STATE_PARKED_DIRECT},
    {KIND_APPLICATION, DOING_SUBMIT, true, STATE_PARKED_DIRECT},
    {KIND_APPLICATION, DOING_NOTHING, true, STATE_IDLE}, /* a poll with nothing in flight */
    {KIND_APPLICATION, DOING_NOTHING, false, STATE_PARKED_DIRECT},
};

enum { ROLES = sizeof roles / sizeof roles[0] };

struct subject {
	struct thread_mark *marks;
	const struct role *role;
};

static void *plays(void *argument)
{
	const struct subject *subject = argument;
	struct thread_mark *mark = thread_mark_claim(subject->marks, subject->role->kind);

	thread_mark_set(mark, subject->role->doing, clock_ns());
	for (;;) {
		if (subject->role->in_poll) {
			poll(NULL, 0, 1 << 30);
		} else {
			int ends[2];
			char byte;

			(void)!pipe(ends);
			(void)!read(ends[0], &byte, 1);
		}
	}
	return NULL;
}

static void body(void *argument, int input, int output)
{
	struct subject subjects[ROLES];
	pthread_t thread;
	char byte;

	for (size_t i = 0; i < ROLES; i++) {
		subjects[i] = (struct subject){argument, &roles[i]};
		pthread_create(&thread, NULL, plays, &subjects[i]);
	}
	dprintf(output, "ready\n");
	(void)!read(input, &byte, 1);
	_exit(0);
}

TEST(probe_marks, the_mark_decides_what_a_sleep_is)
{
	const struct probe_config config = {.marked = true};
	static struct probe_reading from, to, window;
	struct program program;
	struct counts counts;
	struct probe probe;
	char why[PROBE_WHY_SIZE];

	OPEN_BPF(&probe, &config);
	REQUIRE(program_fork(&program, body, probe.tables.marks));
	REQUIRE(program_expect(&program, "ready"));
	CHECK_EQUAL(probe_attach(&probe, program.pid, why), 0);
	CHECK(counts_settle(&probe, &counts, ROLES + 1));
	CHECK_EQUAL(counts.by_state[STATE_PARKED_DIRECT], 4 + 1); /* and the first, in its read */
	CHECK_EQUAL(counts.by_state[STATE_PARKED_WAITER], 1);
	CHECK_EQUAL(counts.by_state[STATE_PARKED_ON_RESULT], 1);
	CHECK_EQUAL(counts.by_state[STATE_IDLE], 2);
	CHECK_EQUAL(probe_read(&probe, &from), 0);
	usleep(200000);
	CHECK_EQUAL(probe_read(&probe, &to), 0);
	probe_difference(&window, &from, &to);
	const struct probe_kind *application = &window.kinds[KIND_APPLICATION];
	const struct probe_kind *pool = &window.kinds[KIND_POOL];
	CHECK_EQUAL(application->threads_now, 7);
	CHECK_EQUAL(pool->threads_now, 2);
	CHECK_EQUAL(pool->threads_max, 2);
	/* asleep all the while: the call is held, and none of it ran */
	CHECK_EQUAL(pool->in_call_running_ns, 0);
	CHECK_BETWEEN(pool->called_ns, window.time_ns * 0.98, window.time_ns * 1.02);
	CHECK_BETWEEN(pool->state_ns[STATE_PARKED_DIRECT], pool->called_ns * 0.999,
	              pool->called_ns * 1.001);
	CHECK_EQUAL(to.lost, 0);
	program_end(&program);
	probe_close(&probe);
}

/* The occupancy of so many parked, summed over how many were in flight, is the parked time. */
static void check_marginals(const struct probe_reading *window)
{
	double parked_ns = 0, all_ns = 0, states_ns = 0, flight_ns = 0;

	for (uint32_t x = 0; x < PROBE_OCCUPANCY_AXIS; x++)
		for (uint32_t y = 0; y < PROBE_OCCUPANCY_AXIS; y++) {
			const double ns = (double)window->occupancy_ns[x][y];

			parked_ns += ns * probe_occupancy_lowest(x);
			flight_ns += ns * probe_occupancy_lowest(y);
			all_ns += ns;
		}
	for (int k = 0; k < KIND_COUNT; k++)
		for (int s = STATE_PARKED_DIRECT; s <= STATE_PARKED_ON_RESULT; s++)
			states_ns += (double)window->kinds[k].state_ns[s];
	CHECK_BETWEEN(all_ns, window->time_ns * 0.99, window->time_ns * 1.01);
	CHECK_BETWEEN(parked_ns, states_ns * 0.995, states_ns * 1.005);
	CHECK_BETWEEN(flight_ns, window->time_ns * 7 * 0.99, window->time_ns * 7 * 1.01);
}

TEST(probe_marks, the_occupancys_margins_are_the_times_of_the_states)
{
	const struct probe_config config = {.source = SOURCE_NONE};
	const char *const arguments[] = {"storm", "5", NULL};
	static struct probe_reading from, to, window;
	struct program program;
	struct probe probe;
	char why[PROBE_WHY_SIZE];

	OPEN_BPF(&probe, &config);
	REQUIRE(program_start(&program, "parkers", arguments));
	REQUIRE(program_expect(&program, "ready"));
	*probe.tables.in_flight = 7;
	CHECK_EQUAL(probe_attach(&probe, program.pid, why), 0);
	usleep(50000);
	CHECK_EQUAL(probe_read(&probe, &from), 0);
	usleep(500000);
	CHECK_EQUAL(probe_read(&probe, &to), 0);
	probe_difference(&window, &from, &to);
	CHECK(window.measures & PROBE_OCCUPANCY);
	check_marginals(&window);
	program_end(&program);
	probe_close(&probe);
}

TEST(probe_marks, buckets_of_the_occupancy_are_exact_to_64_then_four_a_doubling)
{
	uint32_t before = 0;

	for (uint32_t n = 0; n < 1 << 17; n++) {
		const uint32_t bucket = probe_occupancy_bucket(n);

		CHECK(bucket == before || bucket == before + 1);
		CHECK(probe_occupancy_lowest(bucket) <= n);
		CHECK(probe_occupancy_lowest(bucket + 1) > n);
		if (n < 64)
			CHECK_EQUAL(bucket, n);
		if (test_has_failed())
			return;
		before = bucket;
	}
}

/* A thread that holds one call of 10 ms after another, and computes in between. */
static void *works(void *argument)
{
	struct thread_mark *mark = thread_mark_claim(argument, KIND_APPLICATION);

	for (;;) {
		thread_mark_set(mark, DOING_CALL, clock_ns());
		poll(NULL, 0, 10);
		thread_mark_set(mark, DOING_NOTHING, clock_ns());
		for (const uint64_t until = clock_ns() + 5000000; clock_ns() < until;)
			continue;
	}
	return NULL;
}

static void working_body(void *argument, int input, int output)
{
	pthread_t thread;
	char byte;

	for (int i = 0; i < 4; i++)
		pthread_create(&thread, NULL, works, argument);
	dprintf(output, "ready\n");
	(void)!read(input, &byte, 1);
	_exit(0);
}

static void read_window(struct probe *probe, struct probe_reading *window, struct program *program)
{
	static struct probe_reading from, to;
	char why[PROBE_WHY_SIZE];

	REQUIRE(program_fork(program, working_body, probe->tables.marks));
	REQUIRE(program_expect(program, "ready"));
	CHECK_EQUAL(probe_attach(probe, program->pid, why), 0);
	CHECK_EQUAL(probe_read(probe, &from), 0);
	usleep(1000000);
	CHECK_EQUAL(probe_read(probe, &to), 0);
	probe_difference(window, &from, &to);
}

static double held_ns(const struct probe_kind *kind)
{
	return (double)(kind->state_ns[STATE_PARKED_DIRECT] + kind->in_call_running_ns +
	                kind->in_call_runnable_ns);
}

TEST(probe_marks, schedstat_and_bpf_agree_on_the_same_work)
{
	const struct probe_config config = {.marked = true};
	static struct probe_reading bpf, schedstat;
	struct program program;
	struct probe probe;
	char why[PROBE_WHY_SIZE];

	CHECK_EQUAL(probe_open(&probe, &probe_schedstat, &config, why), 0);
	read_window(&probe, &schedstat, &program);
	program_end(&program);
	probe_close(&probe);
	CHECK_EQUAL(schedstat.lost, 0);
	const struct probe_kind *a = &schedstat.kinds[KIND_APPLICATION];
	CHECK_EQUAL(a->threads_now, 5);
	CHECK_BETWEEN(held_ns(a), a->called_ns * 0.98, a->called_ns * 1.02 + 1e6);
	CHECK_BETWEEN(a->alive_ns, schedstat.time_ns * 4.9, schedstat.time_ns * 5.1);

	OPEN_BPF(&probe, &config);
	read_window(&probe, &bpf, &program);
	program_end(&program);
	probe_close(&probe);
	const struct probe_kind *b = &bpf.kinds[KIND_APPLICATION];
	CHECK_EQUAL(b->threads_now, 5);
	CHECK_EQUAL(bpf.lost, 0);
	/* BPF counts the first thread's read of its input as parked: it carries no mark */
	const double parked_a = (double)a->state_ns[STATE_PARKED_DIRECT] / schedstat.time_ns;
	const double parked_b = (double)b->state_ns[STATE_PARKED_DIRECT] / bpf.time_ns - 1;
	CHECK_BETWEEN(parked_b, parked_a - 0.5, parked_a + 0.5);
	CHECK_BETWEEN(held_ns(b) - bpf.time_ns, b->called_ns * 0.98 - 2e6,
	              b->called_ns * 1.02 + 2e6);
}

TEST(probe_marks, a_mark_counts_what_it_holds_up_to_the_moment_of_reading)
{
	static struct thread_mark table[THREADS_MAX];
	struct thread_mark *mark = thread_mark_claim(table, KIND_POOL);
	struct thread_mark copy;

	REQUIRE(mark);
	CHECK_EQUAL(mark->kind, KIND_POOL);
	thread_mark_set(mark, DOING_CALL, 1000);
	copy = thread_mark_read(mark, 1500);
	CHECK_EQUAL(copy.held_ns, 500);
	CHECK_EQUAL(copy.served_ns, 500);
	thread_mark_set(mark, DOING_WAIT, 2000);
	thread_mark_set(mark, DOING_RESULT, 2100);
	thread_mark_set(mark, DOING_IDLE, 2300);
	thread_mark_set(mark, DOING_SUBMIT, 3300);
	thread_mark_end(mark, 4000);
	copy = thread_mark_read(mark, 9000);
	CHECK_EQUAL(copy.held_ns, 1000 + 100 + 200);
	CHECK_EQUAL(copy.served_ns, 1000);
	CHECK_EQUAL(copy.result_ns, 200);
	CHECK_EQUAL(copy.idle_ns, 1000);
	CHECK(copy.ended);
}
