/*
 * A watch by samples: whoever may not use BPF. See samples.h for what it can tell.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probes/samples.h"
#include "probes/watch_ops.h"

enum {
	SLICE = 256,              /* threads that are looked at at once */
	SHARE = 32,               /* of the time may be spent on looking, at most: one in so many */
	PAUSE_LEAST_NS = 5000000, /* between two looks */
	PAUSE_MOST_NS = 500000000,
	FULL_NS = 20000000, /* so long a look at all is good for census and reading */
};

/* The next thread of this round; NULL: the round is over. */
static struct sampled *next_thread(struct samples *s, struct sampled_process **process)
{
	for (; s->at < s->process_count; s->at++) {
		*process = &s->processes[s->at];
		if ((*process)->next < (*process)->count)
			return &(*process)->threads[(*process)->next++];
	}
	return NULL;
}

static void count_kinds(struct samples *s)
{
	for (int k = 0; k < KIND_COUNT; k++)
		s->sum.kinds[k].threads_now = 0;
	for (size_t i = 0; i < s->process_count; i++)
		for (uint32_t t = 0; t < s->processes[i].count; t++)
			s->sum.kinds[s->processes[i].threads[t].kind].threads_now++;
	for (int k = 0; k < KIND_COUNT; k++) {
		struct probe_kind *kind = &s->sum.kinds[k];

		if (kind->threads_now > kind->threads_max)
			kind->threads_max = kind->threads_now;
	}
}

/* Looks at some threads; begins a round where the last one is over. */
static int look_on(struct samples *s, uint32_t most)
{
	struct sampled_process *process;
	struct sampled *thread;
	int error = 0;

	if (s->at >= s->process_count)
		error = samples_list(s);
	while (!error && most-- && (thread = next_thread(s, &process)))
		samples_look(s, process, thread);
	if (s->at >= s->process_count)
		count_kinds(s);
	return error;
}

/* Every thread, now: so that a census and a reading in a row are of one moment. */
static int look_at_all(struct samples *s)
{
	int error;

	if (s->full_ns && task_clock_ns() - s->full_ns < FULL_NS)
		return 0;
	error = samples_list(s);
	if (!error)
		error = look_on(s, UINT32_MAX);
	s->full_ns = task_clock_ns();
	return error;
}

/* At random distances, so that no rhythm of the program falls in step with the looks. */
static uint64_t tick(void *argument, uint64_t due_ns)
{
	struct samples *s = argument;
	const uint64_t began_ns = task_clock_ns();
	uint64_t pause_ns;

	(void)due_ns;
	look_on(s, SLICE);
	pause_ns = (task_clock_ns() - began_ns) * SHARE;
	if (pause_ns < PAUSE_LEAST_NS)
		pause_ns = PAUSE_LEAST_NS;
	if (pause_ns > PAUSE_MOST_NS)
		pause_ns = PAUSE_MOST_NS;
	s->random ^= s->random << 13; /* xorshift */
	s->random ^= s->random >> 17;
	s->random ^= s->random << 5;
	return pause_ns / 2 + s->random % pause_ns;
}

static int samples_begin(struct watch *w)
{
	struct samples *s = w->state;
	int error = look_at_all(s);

	s->begun = true;
	return error ? error : ticker_start(&s->ticker, tick, s);
}

static int samples_name(struct watch *w, pid_t pid, uint32_t *process)
{
	*process = (uint32_t)pid;
	return samples_add(w->state, pid, true);
}

static void samples_tell(struct watch *w, uint64_t number, enum thread_kind kind)
{
	struct samples *s = w->state;

	ticker_lock(&s->ticker);
	for (size_t i = 0; i < s->process_count; i++)
		for (uint32_t t = 0; t < s->processes[i].count; t++)
			if (s->processes[i].threads[t].number == number)
				s->processes[i].threads[t].kind = kind;
	ticker_unlock(&s->ticker);
}

static uint64_t samples_births(const struct watch *w)
{
	struct samples *s = w->state;
	uint64_t births;

	ticker_lock(&s->ticker);
	births = s->births;
	ticker_unlock(&s->ticker);
	return births;
}

static uint64_t samples_living(const struct watch *w)
{
	struct samples *s = w->state;
	uint64_t living;

	ticker_lock(&s->ticker);
	living = s->living;
	ticker_unlock(&s->ticker);
	return living;
}

static void samples_fresh(struct watch *w)
{
	struct samples *s = w->state;

	ticker_lock(&s->ticker);
	s->full_ns = 0;
	ticker_unlock(&s->ticker);
}

static int samples_read(struct watch *w, struct probe_reading *reading)
{
	struct samples *s = w->state;
	int error;

	ticker_lock(&s->ticker);
	error = look_at_all(s);
	memcpy(reading, &s->sum, sizeof *reading);
	reading->time_ns = s->full_ns;
	if (!error && !s->living)
		error = -ESRCH;
	ticker_unlock(&s->ticker);
	reading->measures = PROBE_SAMPLES;
	return error;
}

/* Room for so many more. */
static int make_room(void **all, size_t *room, size_t count, size_t size)
{
	void *more;

	if (count <= *room)
		return 0;
	more = realloc(*all, count * size);
	if (!more)
		return -ENOMEM;
	*all = more;
	*room = count;
	return 0;
}

static void record_thread(struct census_record *record, const struct sampled_process *process,
                          const struct sampled *t)
{
	const struct look *look = &t->look;

	memset(record, 0, sizeof *record);
	record->process = record->pid = (uint32_t)process->pid;
	record->pid_inside = (uint32_t)process->pid_inside;
	record->tid = t->tid;
	record->tid_inside = t->tid_inside;
	record->kind = t->kind;
	record->number = t->number;
	record->now_ns = t->time_ns;
	record->since_ns = t->since_ns;
	record->born_ns = t->born_ns;
	record->fd = -1;
	record->futex_ns = t->futex_ns;
	record->word = (uint32_t)STATE_RUNNING + 1;
	memcpy(record->state_ns, t->state_ns, sizeof record->state_ns);
	memcpy(record->name, look->stat.name, sizeof record->name);
	if (!t->asleep)
		return;
	record->word = (uint32_t)look->place.state + 1;
	record->word |= (uint32_t)look->place.class << WORD_CLASS_SHIFT;
	record->place = look->place;
	record->place_since = 1;
	record->fd = look->fd;
	record->argument[0] = look->argument[0];
	record->argument[1] = look->argument[1];
}

static int census_threads(struct samples *s, struct watch_census *c)
{
	int error = make_room((void **)&c->threads, &c->thread_room, s->living, sizeof *c->threads);

	if (!error)
		error = make_room((void **)&c->processes, &c->process_room, s->process_count,
		                  sizeof *c->processes);
	for (size_t i = 0; i < s->process_count && !error; i++) {
		const struct sampled_process *process = &s->processes[i];

		c->processes[c->process_count].process = (uint32_t)process->pid;
		c->processes[c->process_count++].sum = process->sum;
		for (uint32_t t = 0; t < process->count; t++)
			if (!process->threads[t].gone)
				record_thread(&c->threads[c->thread_count++], process,
				              &process->threads[t]);
	}
	return error;
}

static int census_places(struct samples *s, struct watch_census *c)
{
	const int error = make_room((void **)&c->places, &c->place_room, s->place_count,
	                            sizeof *c->places);

	for (size_t i = 0; i < SAMPLES_PLACES && !error; i++)
		if (s->places[i].used)
			c->places[c->place_count++] = s->places[i].place;
	return error;
}

static int samples_census(struct watch *w, struct watch_census *c)
{
	struct samples *s = w->state;
	int error;

	c->thread_count = c->place_count = c->process_count = 0;
	ticker_lock(&s->ticker);
	error = look_at_all(s);
	c->time_ns = s->full_ns;
	if (!error)
		error = census_threads(s, c);
	if (!error)
		error = census_places(s, c);
	c->merged = s->merged;
	c->processes_ended = s->processes_ended;
	c->unreadable = 0;
	for (size_t i = 0; i < s->process_count; i++)
		for (uint32_t t = 0; t < s->processes[i].count; t++)
			c->unreadable += s->processes[i].threads[t].placed &&
			                 !s->processes[i].threads[t].look.readable;
	ticker_unlock(&s->ticker);
	return error;
}

static void samples_cost(const struct watch *w, struct watch_cost *cost)
{
	(void)w;
	memset(cost, 0, sizeof *cost); /* it is all in this process's own */
}

static void samples_close(struct watch *w)
{
	struct samples *s = w->state;

	ticker_end(&s->ticker);
	for (size_t i = 0; i < s->process_count; i++)
		free(s->processes[i].threads);
	free(s->processes);
	free(s->places);
	free(s);
}

int watch_open_samples(struct watch *w, bool children, char why[PROBE_WHY_SIZE])
{
	struct task_turns turns;
	struct samples *s;

	memset(w, 0, sizeof *w);
	w->statistics = -1;
	if (task_turns_read(getpid(), (uint32_t)getpid(), &turns)) {
		snprintf(why, PROBE_WHY_SIZE,
		         "/proc/self/schedstat cannot be read: /proc must be mounted, and the "
		         "kernel needs CONFIG_SCHED_INFO");
		return -EOPNOTSUPP;
	}
	s = calloc(1, sizeof *s);
	if (s)
		s->places = calloc(SAMPLES_PLACES, sizeof *s->places);
	if (!s || !s->places) {
		free(s);
		snprintf(why, PROBE_WHY_SIZE, "no memory for watching");
		return -ENOMEM;
	}
	s->children = children;
	s->random = (uint32_t)task_clock_ns() | 1;
	look_calls_fill(&s->calls);
	w->ops = &watch_samples;
	w->state = s;
	return 0;
}

const struct watch_ops watch_samples = {
    .name = "proc",
    .add = samples_name,
    .begin = samples_begin,
    .tell = samples_tell,
    .births = samples_births,
    .living = samples_living,
    .fresh = samples_fresh,
    .read = samples_read,
    .census = samples_census,
    .cost = samples_cost,
    .close = samples_close,
};
