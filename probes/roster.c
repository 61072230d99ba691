/*
 * Threads by their totals and marks: see roster.h.
 */
#include "probes/roster.h"

#include <string.h>

/* The scheduler books a running thread's time at its ticks, and a waiting one's when it gets a
 * CPU: so much of a thread that is awake at an edge may be missing (a tick of the slowest). And its
 * clock, where the machine's counter is not trusted, is set right in steps: docs/method.md. */
enum { EDGE_AWAKE_NS = 10000000, EDGE_CLOCK_NS = 20000000 };

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* a * b / c without overflow, for times. */
static uint64_t share(uint64_t a, uint64_t b, uint64_t c)
{
	return c ? (uint64_t)((double)a * ((double)b / (double)c)) : 0;
}

const struct thread_mark *roster_mark(const struct probe *p, uint32_t tid, uint64_t born_ns)
{
	for (uint32_t i = 0; i < THREADS_PROBE_MAX; i++) {
		const struct thread_mark *mark = &p->tables.marks[(tid + i) & (THREADS_MAX - 1)];

		if (!mark->tid)
			break;
		if (mark->tid == tid && (!mark->ended || mark->since_ns >= born_ns))
			return mark;
	}
	return NULL;
}

enum thread_kind roster_kind_unmarked(const struct probe *p, const struct task_stat *stat,
                                      enum thread_state *off)
{
	*off = STATE_UNSEEN;
	if (stat->sqpoll) {
		*off = STATE_IDLE;
		return KIND_SQPOLL;
	}
	if (stat->worker)
		return KIND_IO_WQ;
	if (p->config.hidden_threads)
		return KIND_AIO_HELPER;
	if (p->config.marked)
		*off = STATE_OTHER;
	return KIND_APPLICATION;
}

/* Splits the time that a marked thread was off the CPU by what it said it did. Off and on the
 * CPU are told apart for the whole thread only: where it was idle too, each gets its share. */
static void add_marked(struct probe_reading *sum, const struct thread_mark *from,
                       const struct thread_mark *to, uint64_t off_ns, uint64_t waiting_ns)
{
	struct probe_kind *kind = &sum->kinds[to->kind];
	const uint64_t held = less(to->held_ns, from->held_ns);
	const uint64_t served = least(less(to->served_ns, from->served_ns), held);
	const uint64_t result = least(less(to->result_ns, from->result_ns), held - served);
	const uint64_t idle = less(to->idle_ns, from->idle_ns);
	const uint64_t known_off = least(off_ns, held + idle);
	const uint64_t held_off = least(share(known_off, held, held + idle), held);
	const uint64_t ready = least(share(waiting_ns, held, held + idle), held - held_off);
	const uint64_t direct = share(held_off, served, held);
	const uint64_t on_result = share(held_off, result, held);

	kind->state_ns[STATE_PARKED_DIRECT] += direct;
	kind->state_ns[STATE_PARKED_ON_RESULT] += on_result;
	kind->state_ns[STATE_PARKED_WAITER] += less(held_off, direct + on_result);
	kind->state_ns[STATE_IDLE] += known_off - held_off;
	kind->state_ns[STATE_OTHER] += off_ns - known_off;
	kind->in_call_runnable_ns += ready;
	kind->in_call_running_ns += held - held_off - ready;
	kind->called_ns += served;
	/* it may have been off the CPU in calls for all the time that they took, or only for what
	 * does not fit into its idle time */
	sum->doubt_ns += most(least(off_ns, held) - held_off,
	                      less(held_off, least(less(off_ns, idle), held)));
}

void roster_begin(struct roster *r)
{
	r->number++;
	r->awake = 0;
	memset(r->now, 0, sizeof r->now);
}

void roster_add(struct probe *p, struct roster *r, uint32_t place, const struct roster_times *t)
{
	const struct thread_mark *mark = roster_mark(p, r->tids[place], t->born_ns);
	struct roster_thread *known = &r->threads[place];
	enum thread_state off_state = STATE_UNSEEN;
	struct thread_mark now_mark = {0};
	struct probe_kind *kind;

	if (mark)
		now_mark = thread_mark_read(mark, t->time_ns);
	if (!known->reading && r->number > 1)
		known->time_ns = least(t->born_ns, t->time_ns);
	else if (!known->reading) /* at attach: from now on */
		*known = (struct roster_thread){
		    0,       t->time_ns, t->running_ns, t->waiting_ns, t->voluntary, t->involuntary,
		    now_mark};
	const enum thread_kind k = mark ? now_mark.kind
	                                : roster_kind_unmarked(p, &t->stat, &off_state);
	const uint64_t elapsed = less(t->time_ns, known->time_ns);
	const uint64_t ran = least(less(t->running_ns, known->running_ns), elapsed);
	const uint64_t waited = least(less(t->waiting_ns, known->waiting_ns), elapsed - ran);
	const uint64_t off = elapsed - ran - waited;

	kind = &r->sum.kinds[k];
	r->now[k]++;
	r->awake += t->stat.state == 'R';
	kind->alive_ns += elapsed;
	kind->state_ns[STATE_RUNNING] += ran;
	kind->state_ns[STATE_RUNNABLE] += waited;
	kind->voluntary_switches += less(t->voluntary, known->voluntary);
	kind->involuntary_switches += less(t->involuntary, known->involuntary);
	if (mark)
		add_marked(&r->sum, &known->mark, &now_mark, off, waited);
	else
		kind->state_ns[off_state] += off;
	*known = (struct roster_thread){r->number,
	                                most(t->time_ns, known->time_ns),
	                                most(t->running_ns, known->running_ns),
	                                most(t->waiting_ns, known->waiting_ns),
	                                t->voluntary,
	                                t->involuntary,
	                                now_mark};
}

void roster_forget(struct roster *r, uint32_t place)
{
	/* its tid stays: others may lie behind it */
	r->threads[place] = (struct roster_thread){0};
}

void roster_end(struct roster *r)
{
	for (uint32_t i = 0; i < THREADS_MAX; i++) {
		if (!r->threads[i].reading || r->threads[i].reading == r->number)
			continue;
		r->sum.lost++;
		roster_forget(r, i);
	}
	for (int k = 0; k < KIND_COUNT; k++) {
		r->sum.kinds[k].threads_now = r->now[k];
		if (r->now[k] > r->sum.kinds[k].threads_max)
			r->sum.kinds[k].threads_max = r->now[k];
	}
	r->sum.edge_ns = (uint64_t)r->awake * EDGE_AWAKE_NS + EDGE_CLOCK_NS;
}
