/*
 * The perf probe: each switch of each thread onto a CPU and off it, as the kernel records them for
 * an ordinary user. It knows who slept and who was only put aside, and no system call: the marks
 * divide the sleep, as with schedstat. A thread that was woken and waits for a CPU makes no
 * record: how long it waited in all is the scheduler's own sum (run_delay), read at the edges.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "probes/perf_rings.h"
#include "probes/roster.h"
#include "probes/table.h"
#include "probes/ticker.h"

enum {
	DRAIN_NS = 5000000,
	/* A record's time is taken a little before it can be read: so late comes none. */
	SETTLED_NS = 1000000,
	PASSES_MAX = 8, /* over the threads, at attach */
	/* Of a switch, between the records and the scheduler's books: measured, docs/method.md */
	SWITCH_NS = 25000,
};

enum perf_state {
	PERF_UNKNOWN,
	PERF_RUNNING,
	PERF_READY, /* preempted, or not begun yet */
	PERF_ASLEEP,
	PERF_AWAKE, /* at attach: running or ready, its first record will tell */
};

struct perf_thread {
	enum perf_state state;
	bool watched;      /* it has events of its own */
	uint64_t since_ns; /* in this state */
	uint64_t born_ns, running_ns, ready_ns, voluntary, involuntary;
	/* by the scheduler's own sums: on a CPU and waiting for one; last, and when counting began
	 */
	uint64_t ran_ns, ran_from_ns, delay_ns, delay_from_ns;
	bool worker, sqpoll;
};

struct perf {
	pid_t pid;
	bool has_sums; /* schedstat can be read */
	struct perf_rings rings;
	struct ticker ticker;
	uint32_t listed[THREADS_MAX];
	struct roster roster;
	struct perf_thread threads[THREADS_MAX]; /* at the roster's places */
};

static uint64_t since(const struct perf_thread *t, uint64_t now_ns)
{
	return now_ns > t->since_ns ? now_ns - t->since_ns : 0;
}

static void change(struct perf_thread *t, enum perf_state state, uint64_t now_ns)
{
	if (t->state == PERF_RUNNING)
		t->running_ns += since(t, now_ns);
	if (t->state == PERF_READY)
		t->ready_ns += since(t, now_ns);
	t->state = state;
	t->since_ns = now_ns;
}

/* Off its CPU. Where a thread has two events, of its own and inherited, the second says the same
 * again; so does one whose way onto the CPU was lost. */
static void leave(struct perf_thread *t, const struct perf_record *record)
{
	const bool preempted = record->kind == RECORD_PREEMPTED;

	if (t->state == PERF_ASLEEP || t->state == PERF_READY)
		return;
	if (t->state == PERF_AWAKE)
		t->state = PERF_RUNNING;
	change(t, preempted ? PERF_READY : PERF_ASLEEP, record->time_ns);
	t->voluntary += !preempted;
	t->involuntary += preempted;
}

static void enter(struct perf_thread *t, const struct perf_record *record)
{
	if (t->state == PERF_RUNNING)
		return;
	if (t->state == PERF_AWAKE)
		t->state = PERF_READY;
	change(t, PERF_RUNNING, record->time_ns);
}

/* Tells the roster what a thread has done up to that moment. */
static void tell(struct probe *p, uint32_t place, char state, uint64_t now_ns)
{
	struct perf *f = p->state;
	const struct perf_thread *t = &f->threads[place];
	const uint64_t delayed = t->delay_ns > t->delay_from_ns ? t->delay_ns - t->delay_from_ns
	                                                        : 0;
	uint64_t running_ns = t->running_ns + (t->state == PERF_RUNNING ? since(t, now_ns) : 0);

	if (t->state == PERF_AWAKE) /* for how long it ran until now, no record tells */
		running_ns = f->has_sums ? t->ran_ns - t->ran_from_ns : since(t, now_ns);
	struct roster_times times = {
	    .time_ns = now_ns,
	    .born_ns = t->born_ns,
	    .running_ns = running_ns,
	    .waiting_ns = t->ready_ns + (t->state == PERF_READY ? since(t, now_ns) : 0),
	    .voluntary = t->voluntary,
	    .involuntary = t->involuntary,
	    .stat = {.state = state, .worker = t->worker, .sqpoll = t->sqpoll},
	};

	if (delayed > times.waiting_ns)
		times.waiting_ns = delayed;
	roster_add(p, &f->roster, place, &times);
}

static void end(struct probe *p, uint32_t place, uint64_t now_ns)
{
	struct perf *f = p->state;

	if (f->threads[place].state == PERF_UNKNOWN)
		return;
	if (f->roster.number)
		tell(p, place, 'X', now_ns);
	roster_forget(&f->roster, place);
	f->threads[place] = (struct perf_thread){.watched = false};
}

static void begin(struct perf_thread *t, enum perf_state state, uint64_t now_ns)
{
	t->state = state;
	t->since_ns = t->born_ns = now_ns;
}

static void take(struct probe *p, const struct perf_record *record)
{
	struct perf *f = p->state;
	struct perf_thread *t;
	int place;

	if (record->kind == RECORD_LOST) {
		f->roster.sum.lost += record->lost;
		return;
	}
	if (record->pid != (uint32_t)f->pid) /* of a process that it has forked */
		return;
	place = task_place(f->roster.tids, record->tid);
	if (place < 0) {
		f->roster.sum.lost++;
		return;
	}
	t = &f->threads[place];
	if (record->kind == RECORD_END)
		end(p, (uint32_t)place, record->time_ns);
	else if (t->state == PERF_UNKNOWN)
		begin(t,
		      record->kind == RECORD_IN || record->kind == RECORD_BIRTH ? PERF_READY
		                                                                : PERF_RUNNING,
		      record->time_ns);
	if (record->kind == RECORD_IN)
		enter(t, record);
	else if (record->kind == RECORD_OUT || record->kind == RECORD_PREEMPTED)
		leave(t, record);
}

static void drain(struct probe *p, uint64_t until_ns)
{
	struct perf *f = p->state;
	struct perf_record record;

	while (perf_rings_next(&f->rings, until_ns, &record))
		take(p, &record);
}

static uint64_t drain_tick(void *argument, uint64_t due_ns)
{
	(void)due_ns;
	drain(argument, task_clock_ns() - SETTLED_NS);
	return DRAIN_NS;
}

/* What /proc adds to the records of a thread. False: it has ended. */
static bool complete(struct perf *f, uint32_t place, char *state)
{
	struct perf_thread *t = &f->threads[place];
	const uint32_t tid = f->roster.tids[place];
	struct task_stat stat;

	if (task_stat_read(f->pid, tid, &stat))
		return false;
	t->worker = stat.worker;
	t->sqpoll = stat.sqpoll;
	*state = stat.state;
	return !f->has_sums || task_schedstat_read(f->pid, tid, &t->ran_ns, &t->delay_ns) == 0;
}

static void read_all(struct probe *p)
{
	struct perf *f = p->state;
	uint64_t now_ns;

	now_ns = task_clock_ns();
	drain(p, now_ns);
	roster_begin(&f->roster);
	for (uint32_t place = 0; place < THREADS_MAX; place++) {
		char state = 'S';

		if (f->threads[place].state == PERF_UNKNOWN)
			continue;
		complete(f, place, &state); /* if it has ended, its record comes yet */
		tell(p, place, state, now_ns);
	}
	roster_end(&f->roster);
}

static int explain(struct perf *f, int error, char why[PROBE_WHY_SIZE])
{
	struct rlimit files = {0};

	getrlimit(RLIMIT_NOFILE, &files);
	if (error == -EACCES || error == -EPERM)
		snprintf(why, PROBE_WHY_SIZE,
		         "the kernel does not give its context switches to this user: "
		         "sudo sysctl kernel.perf_event_paranoid=2 allows it");
	else if (error == -EMFILE || error == -ENFILE)
		snprintf(
		    why, PROBE_WHY_SIZE,
		    "it needs a descriptor for each thread and CPU, and after %u there are no "
		    "more: RLIMIT_NOFILE is %llu; raise it with ulimit -n, or use fewer threads",
		    f->rings.event_count, (unsigned long long)files.rlim_cur);
	else
		snprintf(why, PROBE_WHY_SIZE, "context switches cannot be recorded: %s",
		         strerror(-error));
	return error;
}

/* Opens events for all threads, until a look finds none that was not known: what a thread makes
 * after it has events inherits them, what it made before stands in /proc. */
static int watch_all(struct probe *p)
{
	struct perf *f = p->state;
	bool found = true;

	for (int pass = 0; found && pass < PASSES_MAX; pass++) {
		const int count = task_list(f->pid, f->listed, THREADS_MAX);

		if (count < 0)
			return count;
		found = false;
		for (int i = 0; i < count; i++) {
			const int place = task_place(f->roster.tids, f->listed[i]);
			int error = place < 0 ? place : 0;

			if (!error && f->threads[place].watched)
				continue;
			if (!error)
				error = perf_rings_add(&f->rings, f->listed[i]);
			if (error && error != -ESRCH)
				return error;
			if (!error)
				found = f->threads[place].watched = true;
		}
		drain(p, task_clock_ns()); /* so that the rings do not overflow meanwhile */
	}
	return 0;
}

/* The state of threads that have switched is known by now; of any other /proc tells it. From now on
 * all counts. */
static void seed(struct probe *p)
{
	struct perf *f = p->state;

	for (uint32_t place = 0; place < THREADS_MAX; place++) {
		struct perf_thread *t = &f->threads[place];
		char state = 'S';

		if (!t->watched && t->state == PERF_UNKNOWN)
			continue;
		const bool lives = complete(f, place, &state);
		const uint64_t now_ns = task_clock_ns();

		drain(p, now_ns);
		if (t->state == PERF_UNKNOWN && lives)
			begin(t, state == 'R' ? PERF_AWAKE : PERF_ASLEEP, now_ns);
	}
	for (uint32_t place = 0; place < THREADS_MAX; place++) {
		struct perf_thread *t = &f->threads[place];

		t->running_ns = t->ready_ns = t->voluntary = t->involuntary = 0;
		t->ran_from_ns = t->ran_ns;
		t->delay_from_ns = t->delay_ns;
	}
	f->roster.sum.lost = 0;
}

static int perf_open(struct probe *p, char why[PROBE_WHY_SIZE])
{
	struct perf *f = p->state;
	const int error = perf_rings_open(&f->rings);

	f->has_sums = access("/proc/self/schedstat", R_OK) == 0;
	return error ? explain(f, error, why) : 0;
}

static int perf_attach(struct probe *p, pid_t pid, char why[PROBE_WHY_SIZE])
{
	struct perf *f = p->state;
	int error;

	f->pid = pid;
	error = watch_all(p);
	if (error)
		return explain(f, error, why);
	seed(p);
	read_all(p);
	error = ticker_start(&f->ticker, drain_tick, p);
	return error ? explain(f, error, why) : 0;
}

static uint64_t switches(const struct probe_reading *reading)
{
	uint64_t sum = 0;

	for (int k = 0; k < KIND_COUNT; k++)
		sum += reading->kinds[k].voluntary_switches +
		       reading->kinds[k].involuntary_switches;
	return sum;
}

static int perf_read(struct probe *p, struct probe_reading *reading)
{
	struct perf *f = p->state;
	const uint64_t time_ns = task_clock_ns();

	ticker_lock(&f->ticker);
	read_all(p);
	memcpy(reading, &f->roster.sum, sizeof *reading);
	ticker_unlock(&f->ticker);
	reading->time_ns = time_ns;
	reading->measures = PROBE_SWITCHES | PROBE_EDGE;
	reading->doubt_ns += switches(reading) * SWITCH_NS;
	if (p->config.marked && !p->config.hidden_threads)
		reading->measures |= PROBE_IN_CALL;
	for (int k = 0; k < KIND_COUNT; k++)
		if (reading->kinds[k].threads_now)
			return 0;
	return -ESRCH;
}

static void perf_close(struct probe *p)
{
	struct perf *f = p->state;

	ticker_end(&f->ticker);
	perf_rings_close(&f->rings);
}

const struct probe_ops probe_perf = {
    .name = "perf",
    .summary = "every switch of every thread, by perf_event_open; for an ordinary user",
    .size = sizeof(struct perf),
    .open = perf_open,
    .attach = perf_attach,
    .read = perf_read,
    .close = perf_close,
};
