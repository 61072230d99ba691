/*
 * One look at a thread, and what it makes of the time since the last: see samples.h.
 */
#include "probes/samples.h"

#include <string.h>

enum {
	/* The scheduler adds the time of whoever runs now to its sums at a clock tick. */
	TICK_NS = 4000000,
};

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static bool is_parked(const struct place_key *place)
{
	return place->state == STATE_PARKED_DIRECT || place->state == STATE_PARKED_WAITER;
}

/* --- places ---------------------------------------------------------------------------------- */

static uint32_t place_hash(const struct place_key *key)
{
	const unsigned char *bytes = (const unsigned char *)key;
	uint32_t hash = 2166136261u; /* FNV-1a */

	for (size_t i = 0; i < sizeof *key; i++)
		hash = (hash ^ bytes[i]) * 16777619u;
	return hash;
}

/* The slot of a key; a free one where it has none yet; NULL: the table is full. */
static struct sampled_place *place_find(struct samples *s, const struct place_key *key)
{
	const uint32_t hash = place_hash(key);

	for (uint32_t i = 0; i < SAMPLES_PLACES; i++) {
		struct sampled_place *slot = &s->places[(hash + i) & (SAMPLES_PLACES - 1)];

		if (!slot->used || memcmp(&slot->place.key, key, sizeof *key) == 0)
			return slot;
	}
	return NULL;
}

void samples_charge(struct samples *s, const struct look *look, pid_t pid, uint64_t ns)
{
	struct place_key key = look->place;
	struct sampled_place *slot;

	if (s->place_count > SAMPLES_PLACES / 2 && !place_find(s, &key)->used) {
		s->merged++;
		key.inode = key.device = 0;
	}
	slot = place_find(s, &key);
	if (!slot)
		return;
	if (!slot->used) {
		slot->used = true;
		slot->place.key = key;
		s->place_count++;
		if (key.inode)
			look_name(pid, look->fd, slot->place.sum.name);
	}
	if (*look->function) {
		memcpy(slot->function, look->function, sizeof slot->function);
		slot->place.function = slot->function;
	}
	slot->place.sum.asleep_ns += ns;
}

/* --- threads --------------------------------------------------------------------------------- */

/* What a thread did since it was looked at last. */
struct span {
	uint64_t ran_ns, waited_ns, slept_ns;
	uint64_t turns;
};

static struct span span_since(const struct sampled *t, const struct task_turns *turns,
                              uint64_t now_ns)
{
	const uint64_t elapsed_ns = less(now_ns, t->time_ns);
	struct span span = {.turns = less(turns->count, t->turns)};

	span.ran_ns = least(less(turns->running_ns, t->running_ns), elapsed_ns);
	span.waited_ns = least(less(turns->waiting_ns, t->waiting_ns), elapsed_ns - span.ran_ns);
	span.slept_ns = elapsed_ns - span.ran_ns - span.waited_ns;
	return span;
}

/* Of a thread that is awake now, and was so without a break or but for less than the sums lag
 * behind: what they do not show yet it ran or waited. They are that much less ahead of us then. */
static void span_without_sleep(struct span *span, bool was_awake)
{
	if (was_awake && !span->turns && !span->ran_ns)
		span->waited_ns += span->slept_ns;
	else if ((was_awake && !span->turns) || span->slept_ns <= TICK_NS)
		span->ran_ns += span->slept_ns;
	else
		return;
	span->slept_ns = 0;
}

static void add_state(struct samples *s, struct sampled *t, enum thread_state state, uint64_t ns)
{
	s->sum.kinds[t->kind].state_ns[state] += ns;
	s->sum.kinds[t->kind].alive_ns += ns;
	t->state_ns[state] += ns;
}

static void account(struct samples *s, const struct sampled_process *process, struct sampled *t,
                    const struct span *span, uint64_t now_ns)
{
	const enum thread_state state = t->placed ? t->look.place.state : STATE_UNSEEN;

	add_state(s, t, STATE_RUNNING, span->ran_ns);
	add_state(s, t, STATE_RUNNABLE, span->waited_ns);
	add_state(s, t, state, span->slept_ns);
	if (t->placed && span->slept_ns)
		samples_charge(s, &t->look, process->pid, span->slept_ns);
	if (t->look.place.class == CLASS_FUTEX)
		t->futex_ns += span->slept_ns;
	t->running_ns += span->ran_ns;
	t->waiting_ns += span->waited_ns;
	t->turns += span->turns;
	t->time_ns = now_ns;
}

/* Looks anew. False: it has ended. */
static bool look_again(struct samples *s, const struct sampled_process *process, struct sampled *t,
                       uint64_t now_ns)
{
	struct look look;

	if (look_at(&s->calls, process->pid, t->tid, t->placed ? &t->look.place : NULL, &look))
		return false;
	t->kind = t->kind == KIND_AIO_HELPER ? t->kind : look.kind;
	t->asleep = look.asleep;
	t->since_ns = now_ns;
	if (look.asleep) {
		look.place.kind = (uint8_t)t->kind;
		t->look = look;
		t->placed = true;
	} else {
		t->look.stat = look.stat;
	}
	return true;
}

void samples_look(struct samples *s, const struct sampled_process *process, struct sampled *t)
{
	const bool first = !t->looked, was_asleep = t->asleep;
	const bool was_parked = is_parked(&t->look.place);
	struct task_turns turns;

	if (task_turns_read(process->pid, t->tid, &turns)) {
		t->gone = true;
		return;
	}
	const uint64_t now_ns = task_clock_ns();
	struct span span = span_since(t, &turns, now_ns);
	const bool same_sleep = was_asleep && !span.turns && !first;

	if (!same_sleep && !look_again(s, process, t, now_ns)) {
		t->gone = true;
		return;
	}
	if (!t->asleep)
		span_without_sleep(&span, !was_asleep && !first);
	/* woken once, it may have slept here and there; more often, anywhere */
	if (!same_sleep && !first &&
	    (span.turns > 1 || !was_asleep || !t->asleep ||
	     was_parked != is_parked(&t->look.place)))
		s->sum.doubt_ns += span.slept_ns;
	account(s, process, t, &span, now_ns);
	t->looked = true;
	s->sum.samples.count++;
	s->sum.samples.parked += t->asleep && is_parked(&t->look.place);
}
