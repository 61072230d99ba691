/*
 * The times and counts of single threads against the kernel's own books: /proc/PID/task/TID.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench/environment.h"
#include "tests/probe_help.h"
#include "tests/test.h"

enum { THREADS_LIMIT = 64, WINDOW_US = 1500000 };

static const struct probe_config foreign;

struct books {
	uint32_t tid;
	uint64_t running_ns, waiting_ns, voluntary, involuntary;
};

struct table {
	struct park_record records[THREADS_LIMIT];
	struct books books[THREADS_LIMIT];
	int count;
	pid_t pid;
	int64_t steal_ns;
};

static void read_books(pid_t pid, struct books *books)
{
	char path[64], line[128];
	FILE *file;

	snprintf(path, sizeof path, "/proc/%d/task/%u/schedstat", (int)pid, books->tid);
	file = fopen(path, "r");
	if (file &&
	    fscanf(file, "%" SCNu64 " %" SCNu64, &books->running_ns, &books->waiting_ns) != 2)
		books->running_ns = 0;
	if (file)
		fclose(file);
	snprintf(path, sizeof path, "/proc/%d/task/%u/status", (int)pid, books->tid);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof line, file)) {
		sscanf(line, "voluntary_ctxt_switches: %" SCNu64, &books->voluntary);
		sscanf(line, "nonvoluntary_ctxt_switches: %" SCNu64, &books->involuntary);
	}
	if (file)
		fclose(file);
}

static void keep(void *to, const struct park_record *record)
{
	struct table *table = to;

	if (table->count < THREADS_LIMIT)
		table->records[table->count++] = *record;
}

static void read_table(struct probe *p, pid_t pid, struct table *table)
{
	memset(table, 0, sizeof *table);
	table->steal_ns = environment_steal_ns();
	bpf_probe_records(p->state, keep, table);
	for (int i = 0; i < table->count; i++) {
		table->books[i].tid = table->records[i].tid;
		read_books(pid, &table->books[i]);
	}
}

static uint64_t sum_states(const struct park_record *record)
{
	uint64_t sum = 0;

	for (int i = 0; i < STATE_COUNT; i++)
		sum += record->times.state_ns[i];
	return sum;
}

/* The books are kept by the scheduler's clock. Where that comes from a time stamp counter which the
 * kernel does not trust, it is set right at each tick, so a thread's books may gain or lose a tick
 * of time whenever the host takes the CPU away. */
static bool clock_is_trusted(void)
{
	FILE *file = fopen("/sys/devices/system/clocksource/clocksource0/available_clocksource",
	                   "r");
	char line[128] = "";

	if (file && !fgets(line, sizeof line, file))
		line[0] = 0;
	if (file)
		fclose(file);
	return strstr(line, "tsc") != NULL;
}

/* steal_ns: what the host took meanwhile. It may have come between the scheduler's look at its
 * clock and ours. */
static bool is_near(double got, double truth, double part, double steal_ns)
{
	const double off = got > truth ? got - truth : truth - got;

	return off <= truth * part + (clock_is_trusted() ? 1e6 : 50e6) + steal_ns;
}

/* Between two readings, each thread's figures against its books. False, with the first difference
 * in text, if any is off. */
static bool window_agrees(const struct table *from, const struct table *to, char text[256])
{
	const double steal_ns = (double)(to->steal_ns - from->steal_ns);

	CHECK_EQUAL(from->count, to->count);
	for (int i = 0; i < to->count && i < from->count; i++) {
		const struct park_record *a = &from->records[i], *b = &to->records[i];
		const struct books *x = &from->books[i], *y = &to->books[i];
		const double running = (double)(b->times.state_ns[STATE_RUNNING] -
		                                a->times.state_ns[STATE_RUNNING]);
		const double runnable = (double)(b->times.state_ns[STATE_RUNNABLE] -
		                                 a->times.state_ns[STATE_RUNNABLE]);
		const double ran = (double)(y->running_ns - x->running_ns);
		const double waited = (double)(y->waiting_ns - x->waiting_ns);

		CHECK_EQUAL(a->tid, b->tid);
		CHECK_EQUAL(sum_states(b) - sum_states(a), b->now_ns - a->now_ns);
		if (is_near(running, ran, 0.01, steal_ns) &&
		    is_near(runnable, waited, 0.02, steal_ns))
			continue;
		snprintf(text, 256,
		         "thread %u: running %.3f ms, its books say %.3f; runnable %.3f ms, its "
		         "books say %.3f",
		         b->tid, running / 1e6, ran / 1e6, runnable / 1e6, waited / 1e6);
		return false;
	}
	return true;
}

/* Stops the threads at both edges, so that the books stand still while they are read. */
static void one_window(struct probe *probe, struct program *program, struct table *from,
                       struct table *to)
{
	struct counts counts;

	kill(program->pid, SIGSTOP);
	CHECK(counts_settle(probe, &counts, 13));
	read_table(probe, program->pid, from);
	kill(program->pid, SIGCONT);
	usleep(WINDOW_US);
	kill(program->pid, SIGSTOP);
	CHECK(counts_settle(probe, &counts, 13));
	read_table(probe, program->pid, to);
	kill(program->pid, SIGCONT);
}

TEST(probe_times, each_threads_times_agree_with_its_schedstat_under_load)
{
	const char *const spinning[] = {"hold", "spin=4", NULL};
	const char *const arguments[] = {"storm", "6", NULL};
	struct program program, spinners;
	char why[PROBE_WHY_SIZE], text[256] = "";
	static struct table from, to;
	struct probe probe;

	OPEN_BPF(&probe, &foreign);
	REQUIRE(program_start(&spinners, "parkers", spinning));
	REQUIRE(program_expect(&spinners, "ready"));
	REQUIRE(program_start(&program, "parkers", arguments));
	REQUIRE(program_expect(&program, "ready"));
	CHECK_EQUAL(probe_attach(&probe, program.pid, why), 0);
	one_window(&probe, &program, &from, &to);
	CHECK_MESSAGE(window_agrees(&from, &to, text), "%s", text);
	program_end(&program);
	program_end(&spinners);
	probe_close(&probe);
}

/* From the first switch on: all sleeps are the kernel's voluntary switches. Those of a thread
 * that was asleep at attach began before. */
TEST(probe_times, sleeps_are_the_kernels_voluntary_switches)
{
	const char *const arguments[] = {"storm", "6", NULL};
	struct program program;
	struct probe probe;
	struct counts counts;
	char why[PROBE_WHY_SIZE];
	static struct table table;
	uint64_t sleeps = 0;

	OPEN_BPF(&probe, &foreign);
	REQUIRE(program_start(&program, "parkers", arguments));
	REQUIRE(program_expect(&program, "ready"));
	CHECK_EQUAL(probe_attach(&probe, program.pid, why), 0);
	usleep(WINDOW_US / 3);
	program_send(&program, 'f');
	CHECK(program_expect(&program, "frozen"));
	CHECK(counts_settle(&probe, &counts, 13));
	read_table(&probe, program.pid, &table);
	for (int i = 0; i < table.count; i++) {
		const struct park_times *times = &table.records[i].times;

		CHECK_BETWEEN((double)times->voluntary - (double)times->sleeps, -1, 1);
		sleeps += times->sleeps;
	}
	CHECK_BETWEEN(sleeps, 100, UINT64_MAX);
	program_end(&program);
	probe_close(&probe);
}

TEST(probe_times, thousands_of_short_threads_read_in_mid_churn_lose_none)
{
	enum { SHORT = 3000 };
	const char *const arguments[] = {"churn", "3000", NULL};
	static struct probe_reading first, last, reading;
	struct program program;
	struct probe probe;
	uint64_t before = 0;
	char why[PROBE_WHY_SIZE];

	OPEN_BPF(&probe, &foreign);
	REQUIRE(program_start(&program, "parkers", arguments));
	REQUIRE(program_expect(&program, "ready"));
	CHECK_EQUAL(probe_attach(&probe, program.pid, why), 0);
	CHECK_EQUAL(probe_read(&probe, &first), 0);
	program_send(&program, 'g');
	for (int i = 0; i < 300; i++) {
		const struct probe_kind *kind = &reading.kinds[KIND_APPLICATION];

		CHECK_EQUAL(probe_read(&probe, &reading), 0);
		/* no counter goes back, whoever dies in mid-reading */
		CHECK_BETWEEN(kind->alive_ns, before, UINT64_MAX);
		before = kind->alive_ns;
	}
	CHECK(program_expect(&program, "done"));
	CHECK_EQUAL(probe_read(&probe, &last), 0);
	CHECK_EQUAL(last.lost, 0);
	CHECK_EQUAL(last.kinds[KIND_APPLICATION].threads_now, 1);
	const struct bpf_probe *inside = probe.state;
	CHECK_EQUAL(inside->totals->dead[KIND_APPLICATION].threads, SHORT);
	CHECK_EQUAL(inside->totals->now[KIND_APPLICATION], 1);
	program_end(&program);
	probe_close(&probe);
}

TEST(probe_times, no_switch_goes_uncounted_in_the_involuntary_ones)
{
	const char *const arguments[] = {"hold", "spin=3", NULL};
	static struct probe_reading from, to, window;
	struct program program;
	struct probe probe;
	char why[PROBE_WHY_SIZE];

	OPEN_BPF(&probe, &foreign);
	REQUIRE(program_start(&program, "parkers", arguments));
	REQUIRE(program_expect(&program, "ready"));
	CHECK_EQUAL(probe_attach(&probe, program.pid, why), 0);
	probe_read(&probe, &from);
	usleep(WINDOW_US / 3);
	probe_read(&probe, &to);
	probe_difference(&window, &from, &to);
	const struct probe_kind *kind = &window.kinds[KIND_APPLICATION];
	CHECK_BETWEEN(kind->involuntary_switches, 1, UINT64_MAX);
	/* four threads, each in one state at a time: but for the walks' own time */
	CHECK_BETWEEN(kind->alive_ns / 4, window.time_ns * 0.98, window.time_ns * 1.02);
	CHECK_EQUAL(kind->threads_now, 4);
	program_end(&program);
	probe_close(&probe);
}
