/*
 * The proc probe: samples of the threads' states in /proc/PID/task/TID, for where nothing better is
 * allowed. A sample stands for the time since the thread's last one. What a sleeping thread sleeps
 * in is told by its mark, and without one by its system call or, of io_uring's workers, by the
 * kernel's function, where this user may read them.
 *
 * Looks come at random distances, so that no rhythm of the subject falls in step with them, and see
 * some threads each: to walk over many takes a CPU from the very threads that are counted.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probes/bpf.h"
#include "probes/roster.h"
#include "probes/table.h"
#include "probes/ticker.h"

enum {
	LOOK_NS = 1000000,     /* between two looks, in the mean */
	LOOK_THREADS = 2,      /* seen by one look */
	ROUND_LOOKS = 25,      /* looks that a round over all threads takes at most */
	BACKLOG_NS = 40000000, /* of CPU time that the clock ticks brought late */
};

struct seen {
	uint32_t round; /* the last one that saw it; 0: none yet */
	uint64_t time_ns, cpu_ns;
	uint64_t voluntary, involuntary;
};

/* One sample of one thread. */
struct sample {
	enum thread_kind kind;
	enum thread_state state; /* RUNNING: or ready, which /proc does not tell apart */
	bool in_call, called;
};

struct proc {
	pid_t pid;
	struct ticker ticker;
	uint32_t round, random;
	bool counts; /* this look reads the threads' switches as well: it is an edge */
	uint32_t listed[THREADS_MAX];
	int count, next;                 /* of this round */
	uint32_t now[KIND_COUNT];        /* threads of this round so far */
	uint64_t backlog_ns[KIND_COUNT]; /* CPU time that the samples have not accounted for yet */
	struct probe_reading sum;
	uint32_t tids[THREADS_MAX];
	struct seen seen[THREADS_MAX];
	uint8_t classes[PARK_SYSCALLS], transfers[PARK_SYSCALLS];
};

static bool holds(uint8_t doing)
{
	return doing == DOING_CALL || doing == DOING_WAIT || doing == DOING_RESULT;
}

static bool is_parked(enum thread_state state)
{
	return state == STATE_PARKED_DIRECT || state == STATE_PARKED_WAITER ||
	       state == STATE_PARKED_ON_RESULT;
}

/* The class of the system call that a thread sleeps in; CLASS_NONE: not to be read. */
static enum park_class read_class(const struct proc *s, uint32_t tid)
{
	char line[TASK_LINE_SIZE], *end;

	if (task_line(s->pid, tid, "syscall", line))
		return CLASS_NONE;
	const long number = strtol(line, &end, 10);
	if (end == line) /* "running": it has just woken */
		return CLASS_NONE;
	return number < 0 ? CLASS_FAULT : number < PARK_SYSCALLS ? s->classes[number] : CLASS_OTHER;
}

static enum thread_state state_of_waiter(const struct probe *p)
{
	if (!p->config.marked)
		return STATE_UNSEEN;
	return __atomic_load_n(p->tables.in_flight, __ATOMIC_RELAXED) ? STATE_PARKED_WAITER
	                                                              : STATE_IDLE;
}

static enum thread_state state_of_call(const struct probe *p, uint32_t tid, bool marked,
                                       enum thread_state otherwise)
{
	switch (read_class(p->state, tid)) {
	case CLASS_NONE:
		return otherwise;
	case CLASS_DIRECT:
	case CLASS_FAULT:
		return STATE_PARKED_DIRECT;
	case CLASS_WAITER_RING:
	case CLASS_WAITER_POLL:
		return state_of_waiter(p);
	case CLASS_FUTEX:
		if (!p->config.marked)
			return STATE_UNSEEN;
		return p->config.hidden_threads && !marked ? STATE_IDLE : STATE_OTHER;
	default:
		return STATE_OTHER;
	}
}

static enum thread_state state_of_worker(const struct proc *s, uint32_t tid,
                                         const struct task_stat *stat)
{
	char function[TASK_LINE_SIZE];

	if (stat->sqpoll)
		return stat->state == 'D' ? STATE_PARKED_DIRECT : STATE_IDLE;
	if (task_line(s->pid, tid, "wchan", function) || strcmp(function, "0") == 0)
		return STATE_UNSEEN;
	return strncmp(function, "io_wq", 5) == 0 ? STATE_IDLE : STATE_PARKED_DIRECT;
}

static enum thread_state state_asleep(const struct probe *p, uint32_t tid, uint8_t doing,
                                      bool marked, enum thread_state otherwise)
{
	switch (doing) {
	case DOING_CALL:
	case DOING_SUBMIT:
		return STATE_PARKED_DIRECT;
	case DOING_WAIT:
		return STATE_PARKED_WAITER;
	case DOING_RESULT:
		return STATE_PARKED_ON_RESULT;
	case DOING_IDLE:
		return STATE_IDLE;
	default:
		return state_of_call(p, tid, marked, otherwise);
	}
}

/* What the thread does now. False: it has ended. */
static bool look_at(struct probe *p, uint32_t tid, struct task_stat *stat, struct sample *sample)
{
	enum thread_state off;

	if (task_stat_read(((const struct proc *)p->state)->pid, tid, stat) ||
	    strchr("ZXx", stat->state))
		return false;
	const struct thread_mark *mark = roster_mark(p, tid, stat->born_ns);
	const uint8_t doing = mark ? __atomic_load_n(&mark->doing, __ATOMIC_RELAXED)
	                           : DOING_NOTHING;

	*sample = (struct sample){.kind = roster_kind_unmarked(p, stat, &off)};
	if (mark)
		sample->kind = mark->kind;
	if (stat->state == 'R')
		sample->state = STATE_RUNNING;
	else if (strchr("Tt", stat->state))
		sample->state = STATE_OTHER;
	else if (!mark && stat->worker)
		sample->state = state_of_worker(p->state, tid, stat);
	else
		sample->state = state_asleep(p, tid, doing, mark != NULL, off);
	sample->in_call = holds(doing);
	sample->called = doing == DOING_CALL;
	return true;
}

/* Time on a CPU or ready for one. How much of it was on one is known from the thread's CPU time,
 * which comes in clock ticks: some looks later. */
static void add_awake(struct proc *s, const struct sample *sample, uint64_t time_ns)
{
	struct probe_kind *kind = &s->sum.kinds[sample->kind];
	uint64_t *backlog_ns = &s->backlog_ns[sample->kind];
	const uint64_t ran_ns = *backlog_ns < time_ns ? *backlog_ns : time_ns;

	*backlog_ns -= ran_ns;
	kind->state_ns[STATE_RUNNING] += ran_ns;
	kind->state_ns[STATE_RUNNABLE] += time_ns - ran_ns;
	if (sample->in_call) {
		kind->in_call_running_ns += ran_ns;
		kind->in_call_runnable_ns += time_ns - ran_ns;
	}
}

/* A thread that is new counts from its birth; at attach, from now. */
static struct seen first_sight(const struct proc *s, uint32_t tid, const struct task_stat *stat,
                               uint64_t now_ns)
{
	struct seen seen = {.time_ns = now_ns, .cpu_ns = stat->cpu_ns};

	if (s->round > 1)
		return (struct seen){.time_ns = stat->born_ns};
	task_switches_read(s->pid, tid, &seen.voluntary, &seen.involuntary);
	return seen;
}

static void add_switches(const struct proc *s, uint32_t tid, struct probe_kind *kind,
                         struct seen *seen)
{
	const struct seen before = *seen;

	if (task_switches_read(s->pid, tid, &seen->voluntary, &seen->involuntary))
		return;
	kind->voluntary_switches += seen->voluntary - before.voluntary;
	kind->involuntary_switches += seen->involuntary - before.involuntary;
}

static void add_delay(struct probe_samples *samples, uint64_t delay_ns)
{
	uint32_t bucket = 0;

	while (bucket < PROBE_LATE_BUCKETS - 1 && delay_ns >> bucket)
		bucket++;
	samples->late[bucket]++;
}

/* True if it was parked. due_ns: the moment that is meant. */
static bool sample_thread(struct probe *p, uint32_t tid, uint64_t due_ns)
{
	struct proc *s = p->state;
	const int place = task_place(s->tids, tid);
	struct sample sample;
	struct task_stat stat;

	if (place < 0) {
		s->sum.lost++;
		return false;
	}
	struct seen *seen = &s->seen[place];
	if (!look_at(p, tid, &stat, &sample))
		return false;
	const uint64_t now_ns = task_clock_ns();
	if (seen->round && stat.born_ns > seen->time_ns)
		seen->round = 0; /* another thread of the same tid */
	if (!seen->round)
		*seen = first_sight(s, tid, &stat, now_ns);
	struct probe_kind *kind = &s->sum.kinds[sample.kind];
	const uint64_t time_ns = now_ns > seen->time_ns ? now_ns - seen->time_ns : 0;
	uint64_t *backlog_ns = &s->backlog_ns[sample.kind];

	*backlog_ns += stat.cpu_ns > seen->cpu_ns ? stat.cpu_ns - seen->cpu_ns : 0;
	kind->alive_ns += time_ns;
	kind->called_ns += sample.called ? time_ns : 0;
	if (sample.state == STATE_RUNNING)
		add_awake(s, &sample, time_ns);
	else
		kind->state_ns[sample.state] += time_ns;
	if (*backlog_ns > BACKLOG_NS)
		*backlog_ns = BACKLOG_NS;
	s->now[sample.kind]++;
	add_delay(&s->sum.samples, now_ns - due_ns);
	if (s->counts)
		add_switches(s, tid, kind, seen);
	seen->round = s->round;
	seen->time_ns = now_ns;
	seen->cpu_ns = stat.cpu_ns;
	return is_parked(sample.state);
}

static void end_round(struct proc *s)
{
	for (int k = 0; k < KIND_COUNT; k++) {
		struct probe_kind *kind = &s->sum.kinds[k];

		kind->threads_now = s->now[k];
		if (kind->threads_now > kind->threads_max)
			kind->threads_max = kind->threads_now;
		s->now[k] = 0;
	}
}

/* Looks at so many threads, or fewer where the round ends. 0, or -errno of the listing. */
static int look(struct probe *p, int threads, uint64_t due_ns)
{
	struct proc *s = p->state;
	uint64_t count = 0, parked = 0;

	if (s->next >= s->count) {
		s->count = task_list(s->pid, s->listed, THREADS_MAX);
		s->next = 0;
		s->round++;
	}
	if (s->count < 0)
		return s->count;
	for (; count < (uint64_t)threads && s->next < s->count; count++)
		parked += sample_thread(p, s->listed[s->next++], due_ns);
	if (s->next >= s->count)
		end_round(s);
	s->sum.samples.count += count;
	s->sum.samples.parked += parked;
	s->sum.samples.count_squares += count * count;
	s->sum.samples.parked_squares += parked * parked;
	s->sum.samples.product += count * parked;
	return 0;
}

static uint64_t tick(void *argument, uint64_t due_ns)
{
	struct probe *p = argument;
	struct proc *s = p->state;
	const int part = s->count / ROUND_LOOKS;

	look(p, part > LOOK_THREADS ? part : LOOK_THREADS, due_ns);
	s->random ^= s->random << 13; /* xorshift */
	s->random ^= s->random >> 17;
	s->random ^= s->random << 5;
	return LOOK_NS / 2 + s->random % LOOK_NS;
}

/* Sees every thread now, and how often it has switched. 0, or -errno of the listing. */
static int look_at_all(struct probe *p)
{
	struct proc *s = p->state;
	int error;

	memset(s->now, 0, sizeof s->now);
	s->next = s->count = 0;
	s->counts = true;
	error = look(p, THREADS_MAX, task_clock_ns());
	s->counts = false;
	return error;
}

static int proc_open(struct probe *p, char why[PROBE_WHY_SIZE])
{
	struct proc *s = p->state;

	if (access("/proc/self/task", R_OK)) {
		snprintf(why, PROBE_WHY_SIZE, "/proc/self/task cannot be read: %s; mount /proc",
		         strerror(errno));
		return -EOPNOTSUPP;
	}
	bpf_classes_fill(s->classes, s->transfers);
	s->random = (uint32_t)task_clock_ns() | 1;
	return 0;
}

static int proc_attach(struct probe *p, pid_t pid, char why[PROBE_WHY_SIZE])
{
	struct proc *s = p->state;
	int error;

	s->pid = pid;
	error = look_at_all(p);
	if (!error)
		error = ticker_start(&s->ticker, tick, p);
	if (error)
		snprintf(why, PROBE_WHY_SIZE, "cannot read /proc/%d/task: %s", (int)pid,
		         strerror(-error));
	return error;
}

static int proc_read(struct probe *p, struct probe_reading *reading)
{
	struct proc *s = p->state;
	const uint64_t time_ns = task_clock_ns();
	int error;

	ticker_lock(&s->ticker);
	error = look_at_all(p);
	memcpy(reading, &s->sum, sizeof *reading);
	ticker_unlock(&s->ticker);
	reading->time_ns = time_ns;
	reading->measures = PROBE_SAMPLES | PROBE_SWITCHES;
	if (p->config.marked && !p->config.hidden_threads)
		reading->measures |= PROBE_IN_CALL;
	return error;
}

static void proc_close(struct probe *p)
{
	struct proc *s = p->state;

	ticker_end(&s->ticker);
}

const struct probe_ops probe_proc = {
    .name = "proc",
    .summary = "samples of the threads' states in /proc: estimates; needs no privileges",
    .size = sizeof(struct proc),
    .open = proc_open,
    .attach = proc_attach,
    .read = proc_read,
    .close = proc_close,
};
