/*
 * Takes a reading from the BPF programs: a walk that hands out each living thread's times, and
 * the totals of those that have ended.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "probes/bpf.h"
#include "probes/park.skel.h"

enum { STABLE_TRIES = 100000, READING_TRIES = 200 };

int bpf_records(struct bpf_probe *b, struct bpf_link *walk, size_t size,
                void (*each)(void *to, const void *record), void *to)
{
	const int fd = bpf_iter_create(bpf_link__fd(walk));
	size_t have = 0;
	ssize_t got;
	int error = 0;

	if (fd < 0)
		return fd;
	for (;;) {
		size_t at = 0;

		got = read(fd, b->buffer + have, sizeof b->buffer - have);
		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (got <= 0)
			break;
		have += (size_t)got;
		for (; have - at >= size; at += size)
			each(to, b->buffer + at);
		have -= at;
		memmove(b->buffer, b->buffer + at, have);
	}
	if (got < 0)
		error = -errno;
	close(fd);
	return error;
}

struct record_user {
	void (*each)(void *to, const struct park_record *record);
	void *to;
};

static void use_record(void *to, const void *bytes)
{
	const struct record_user *user = to;
	struct park_record record;

	memcpy(&record, bytes, sizeof record); /* it may lie anywhere */
	user->each(user->to, &record);
}

int bpf_probe_records(struct bpf_probe *b, void (*each)(void *to, const struct park_record *record),
                      void *to)
{
	struct record_user user = {each, to};

	return bpf_records(b, b->read, sizeof(struct park_record), use_record, &user);
}

static void times_add(struct park_times *to, const struct park_times *from)
{
	uint64_t *sum = (uint64_t *)to;
	const uint64_t *part = (const uint64_t *)from;

	for (size_t i = 0; i < PARK_TIMES_WORDS; i++)
		sum[i] += part[i];
}

struct living {
	struct park_times times[KIND_COUNT];
	uint32_t threads[KIND_COUNT];
	uint64_t visits, visited_ns; /* how many, and the sum of their moments */
	uint64_t births, old;        /* threads before the walk, and those of them it met */
	struct workers_reading workers;
};

static void add_living(void *to, const struct park_record *record)
{
	struct living *living = to;
	const uint32_t kind = record->kind < KIND_COUNT ? record->kind : KIND_APPLICATION;

	times_add(&living->times[kind], &record->times);
	living->visits++;
	living->old += record->number <= living->births;
	living->visited_ns += record->now_ns;
	if (record->word != WORD_DEAD)
		living->threads[kind]++;
	bpf_workers_add_open(&living->workers, record);
}

/* Copies what changes between the two counts of a gate, at a moment when nothing changes it.
 * False if there was no such moment. */
static bool copy_stable(const volatile struct park_gate *gate, void *to, const volatile void *from,
                        size_t size)
{
	for (int i = 0; i < STABLE_TRIES; i++) {
		const uint64_t ended = gate->ended;

		atomic_thread_fence(memory_order_seq_cst);
		memcpy(to, (const void *)from, size);
		atomic_thread_fence(memory_order_seq_cst);
		if (gate->begun == ended)
			return true;
	}
	return false;
}

/* The times of all threads of a kind as the contract names them. */
static void fill_kind(struct probe_kind *kind, enum thread_kind which,
                      const struct park_times *times)
{
	const uint64_t off_and_ready = times->in_call_off_ns + times->in_call_runnable_ns;

	for (int i = 0; i < STATE_COUNT; i++) {
		kind->state_ns[i] = times->state_ns[i];
		kind->alive_ns += times->state_ns[i];
	}
	kind->parks = times->parks;
	kind->voluntary_switches = times->voluntary;
	kind->involuntary_switches = times->involuntary;
	kind->called_ns = times->called_ns;
	kind->in_call_runnable_ns = times->in_call_runnable_ns;
	if (times->held_ns > off_and_ready)
		kind->in_call_running_ns = times->held_ns - off_and_ready;
	if (which == KIND_IO_WQ) { /* it runs only to serve */
		kind->in_call_running_ns = times->state_ns[STATE_RUNNING];
		kind->in_call_runnable_ns = times->state_ns[STATE_RUNNABLE];
		kind->called_ns = kind->in_call_running_ns + kind->in_call_runnable_ns +
		                  times->state_ns[STATE_PARKED_DIRECT];
	}
}

/* Events that a program missed because it interrupted itself. A wake-up that was missed so is
 * made good when the thread gets a CPU, or counted then. */
static uint64_t missed(const struct bpf_probe *b)
{
	struct bpf_program *program;
	uint64_t sum = 0;

	bpf_object__for_each_program(program, b->object->obj)
	{
		struct bpf_prog_info info = {0};
		uint32_t size = sizeof info;

		if (program != b->object->progs.on_wakeup && bpf_program__fd(program) >= 0 &&
		    !bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size))
			sum += info.recursion_misses;
	}
	return sum;
}

/* The ended, in one copy: who ends between two would be in both or in neither. */
struct ended {
	struct park_times dead[KIND_COUNT], twice[2][KIND_COUNT];
	uint64_t young[2];
};
_Static_assert(offsetof(struct park_totals, young) - offsetof(struct park_totals, dead) ==
                   offsetof(struct ended, young),
               "copied as one");

/* One walk. A thread on its way out leaves the list of tasks some moments before it runs for the
 * last time, and is then neither among the living nor among the ended: 1 if one is missing. */
static int walk_once(struct bpf_probe *b, struct living *living, struct ended *ended)
{
	volatile struct park_totals *t = b->totals;
	const uint32_t number = t->reading + 1, side = number & 1;
	uint64_t accounted;
	int error;

	memset(living, 0, sizeof *living);
	memset((void *)t->twice[side], 0, sizeof t->twice[side]);
	t->young[side] = 0;
	bpf_workers_read(&b->object->bss->workers, &living->workers);
	living->births = t->births;
	t->births_before_reading = living->births;
	atomic_thread_fence(memory_order_seq_cst);
	t->reading = number;
	atomic_thread_fence(memory_order_seq_cst);
	error = bpf_probe_records(b, add_living, living);
	if (error)
		return error;
	if (!copy_stable(&t->deaths, ended, t->dead, sizeof *ended))
		return 1;
	accounted = living->old;
	for (int k = 0; k < KIND_COUNT; k++)
		accounted += ended->dead[k].threads - ended->twice[side][k].threads;
	return accounted - ended->young[side] < living->births;
}

static int read_threads(struct bpf_probe *b, struct probe_reading *reading)
{
	struct living living;
	struct ended ended;
	int missing = 1;

	for (int i = 0; i < READING_TRIES && missing > 0; i++) {
		missing = walk_once(b, &living, &ended);
		if (missing > 0)
			sched_yield(); /* for it to run for the last time */
	}
	if (missing < 0)
		return missing;
	reading->lost += (uint64_t)missing;
	if (living.visits) /* the moment of the reading is that at which threads were read */
		reading->time_ns = living.visited_ns / living.visits;
	reading->workers = living.workers;
	for (int k = 0; k < KIND_COUNT; k++) {
		const struct park_times *twice = &ended.twice[b->totals->reading & 1][k];
		uint64_t *sum = (uint64_t *)&ended.dead[k];
		const uint32_t most = b->totals->most[k];

		times_add(&ended.dead[k], &living.times[k]);
		for (size_t i = 0; i < PARK_TIMES_WORDS; i++)
			sum[i] -= ((const uint64_t *)twice)[i];
		fill_kind(&reading->kinds[k], k, &ended.dead[k]);
		reading->kinds[k].threads_now = living.threads[k];
		reading->kinds[k].threads_max = most > living.threads[k] ? most : living.threads[k];
	}
	return 0;
}

static void read_block(const struct bpf_probe *b, struct probe_reading *reading)
{
	struct {
		uint64_t open, open_since_ns, requests, bytes, area_ns;
	} now = {0};
	_Static_assert(offsetof(struct park_totals, block_area_ns) ==
	                   offsetof(struct park_totals, block_open) + 32,
	               "copied as one");

	if (!copy_stable(&b->totals->block, &now, &b->totals->block_open, sizeof now))
		reading->lost++;
	reading->block_requests = now.requests;
	reading->block_bytes = now.bytes;
	reading->block_in_flight_ns = now.area_ns + now.open * reading->time_ns - now.open_since_ns;
}

#define COPY(field) memcpy(reading->field, (const void *)b->totals->field, sizeof reading->field)

static void read_completions(const struct bpf_probe *b, struct probe_reading *reading)
{
	COPY(parked_at_completion);
	reading->completions_unseen = b->totals->unseen_completions;
	COPY(arrived_in);
	COPY(arrived_over);
	COPY(posted_in);
	COPY(borrowed_ns);
	COPY(occupancy_ns);
	if (b->totals->overflowed)
		reading->measures &= ~(uint32_t)PROBE_OCCUPANCY;
	if (b->totals->task_work_unclear)
		reading->measures &= ~(uint32_t)PROBE_TASK_WORK;
}

int bpf_read(struct probe *p, struct probe_reading *reading)
{
	struct bpf_probe *b = p->state;
	const volatile struct park_totals *t = b->totals;
	struct timespec now;
	uint32_t alive = 0;
	int error;

	memset(reading, 0, sizeof *reading);
	clock_gettime(CLOCK_MONOTONIC, &now);
	reading->time_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	error = read_threads(b, reading);
	if (error)
		return error;
	reading->measures = b->measures;
	read_completions(b, reading);
	if (b->measures & PROBE_BLOCK)
		read_block(b, reading);
	reading->lost += t->storage_failed + t->torn + t->lost_wakeups + t->lost_switches +
	                 t->map_full + t->contended + t->context_failed + missed(b) +
	                 b->object->bss->workers.lost;
	for (int k = 0; k < KIND_COUNT; k++)
		alive += reading->kinds[k].threads_now;
	return alive ? 0 : -ESRCH;
}
