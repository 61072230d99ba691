/*
 * The table of probes, and the wrappers that are their only callers.
 */
#include "probes/probe.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "probes/table.h"

const struct probe_ops *const probe_table[] = {&probe_bpf, &probe_perf, &probe_schedstat,
                                               &probe_proc, NULL};

const char *const thread_kind_names[KIND_COUNT] = {
    [KIND_APPLICATION] = "application", [KIND_POOL] = "pool",
    [KIND_AIO_HELPER] = "aio-helper",   [KIND_IO_WQ] = "io-wq",
    [KIND_SQPOLL] = "sqpoll",           [KIND_HELPER] = "helper",
};

const char *const thread_state_names[STATE_COUNT] = {
    [STATE_RUNNING] = "running",
    [STATE_RUNNABLE] = "runnable",
    [STATE_PARKED_DIRECT] = "parked_direct",
    [STATE_PARKED_WAITER] = "parked_waiter",
    [STATE_PARKED_ON_RESULT] = "parked_on_result",
    [STATE_IDLE] = "idle",
    [STATE_OTHER] = "other",
    [STATE_UNSEEN] = "unseen",
};

const struct probe_ops *probe_find(const char *name)
{
	for (size_t i = 0; probe_table[i]; i++)
		if (!strcmp(probe_table[i]->name, name))
			return probe_table[i];
	return NULL;
}

static void *shared_memory(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

int probe_tables_make(struct probe_tables *tables)
{
	tables->marks = shared_memory(THREADS_MAX * sizeof *tables->marks);
	tables->in_flight = shared_memory(sizeof *tables->in_flight);
	if (tables->marks && tables->in_flight)
		return 0;
	probe_tables_free(tables);
	return -ENOMEM;
}

void probe_tables_free(struct probe_tables *tables)
{
	if (tables->marks)
		munmap(tables->marks, THREADS_MAX * sizeof *tables->marks);
	if (tables->in_flight)
		munmap(tables->in_flight, sizeof *tables->in_flight);
	*tables = (struct probe_tables){0};
}

bool probe_brings_tables(const struct probe *p)
{
	return !p->tables_are_own && p->tables.marks != p->config.tables.marks;
}

void probe_use_tables(struct probe *p, const struct probe_tables *tables)
{
	assert(!probe_brings_tables(p));
	if (p->tables_are_own)
		probe_tables_free(&p->tables);
	p->tables_are_own = false;
	p->tables = p->config.tables = *tables;
}

static int find_tables(struct probe *p)
{
	if (p->tables.marks)
		return 0;
	p->tables = p->config.tables;
	p->tables_are_own = !p->tables.marks;
	return p->tables_are_own ? probe_tables_make(&p->tables) : 0;
}

int probe_open(struct probe *p, const struct probe_ops *ops, const struct probe_config *config,
               char why[PROBE_WHY_SIZE])
{
	int error;

	memset(p, 0, sizeof *p);
	why[0] = 0;
	p->ops = ops;
	p->config = *config;
	p->state = calloc(1, ops->size);
	if (!p->state)
		return -ENOMEM;
	error = ops->open(p, why);
	assert(error <= 0);
	if (error) {
		free(p->state);
		p->state = NULL;
		return error;
	}
	error = find_tables(p);
	if (error)
		probe_close(p);
	return error;
}

int probe_attach(struct probe *p, pid_t pid, char why[PROBE_WHY_SIZE])
{
	assert(p->state && pid > 0);
	why[0] = 0;
	return p->ops->attach(p, pid, why);
}

int probe_read(struct probe *p, struct probe_reading *reading)
{
	assert(p->state);
	return p->ops->read(p, reading);
}

void probe_close(struct probe *p)
{
	if (!p->state)
		return;
	p->ops->close(p);
	if (p->tables_are_own)
		probe_tables_free(&p->tables);
	free(p->state);
	memset(p, 0, sizeof *p);
}

/* to - from, word by word; a counter that has not grown gives 0. */
static void subtract(uint64_t *window, const uint64_t *from, const uint64_t *to, size_t words)
{
	for (size_t i = 0; i < words; i++)
		window[i] = to[i] > from[i] ? to[i] - from[i] : 0;
}

#define SUBTRACT(field)                                                                            \
	subtract((uint64_t *)&window->field, (const uint64_t *)&from->field,                       \
	         (const uint64_t *)&to->field, sizeof window->field / sizeof(uint64_t))

static void kind_difference(struct probe_kind *window, const struct probe_kind *from,
                            const struct probe_kind *to)
{
	window->threads_now = to->threads_now;
	window->threads_max = to->threads_max;
	SUBTRACT(alive_ns);
	SUBTRACT(state_ns);
	SUBTRACT(in_call_running_ns);
	SUBTRACT(in_call_runnable_ns);
	SUBTRACT(called_ns);
	SUBTRACT(parks);
	SUBTRACT(voluntary_switches);
	SUBTRACT(involuntary_switches);
}

void probe_difference(struct probe_reading *window, const struct probe_reading *from,
                      const struct probe_reading *to)
{
	SUBTRACT(time_ns);
	SUBTRACT(lost);
	window->measures = from->measures & to->measures;
	for (int k = 0; k < KIND_COUNT; k++)
		kind_difference(&window->kinds[k], &from->kinds[k], &to->kinds[k]);
	SUBTRACT(parked_at_completion);
	SUBTRACT(completions_unseen);
	SUBTRACT(arrived_in);
	SUBTRACT(arrived_over);
	SUBTRACT(posted_in);
	SUBTRACT(borrowed_ns);
	SUBTRACT(occupancy_ns);
	SUBTRACT(block_requests);
	SUBTRACT(block_bytes);
	SUBTRACT(block_in_flight_ns);
	workers_difference(&window->workers, &from->workers, &to->workers);
	SUBTRACT(samples);
	SUBTRACT(doubt_ns);
	window->edge_ns = from->edge_ns + to->edge_ns;
}

/* Of the share of threads that were parked: the standard error of a ratio of sums over the looks,
 * and where all looks said the same what so many samples cannot exclude (3 in count). */
static double sampling_error(const struct probe_samples *s)
{
	const double count = (double)s->count, share = (double)s->parked / count;
	const double squares = (double)s->parked_squares - 2 * share * (double)s->product +
	                       share * share * (double)s->count_squares;

	return 4 * sqrt(squares > 0 ? squares : 0) / count + 3 / count;
}

/* A look means one moment and sees a later one, and what woke the looker may have woken the threads
 * as well: a share of so many samples can be wrong, each as likely as its thread has slept or woken
 * meanwhile. */
static double delay_error(const struct probe_samples *s, double sleeps_per_ns)
{
	double wrong = 0;

	for (int i = 0; i < PROBE_LATE_BUCKETS; i++) {
		const double chance = ldexp(sleeps_per_ns, i);

		wrong += (double)s->late[i] * (chance < 1 ? chance : 1);
	}
	return wrong / (double)s->count;
}

uint64_t probe_parked_error_ns(const struct probe_reading *window)
{
	double error_ns = (double)(window->edge_ns + window->doubt_ns);
	double alive_ns = 0, sleeps = 0;

	for (int k = 0; k < KIND_COUNT; k++) {
		alive_ns += (double)window->kinds[k].alive_ns;
		sleeps += (double)window->kinds[k].voluntary_switches;
		error_ns += (double)window->kinds[k].state_ns[STATE_UNSEEN]; /* perhaps parked */
	}
	if (window->samples.count && alive_ns > 0)
		error_ns += alive_ns * (sampling_error(&window->samples) +
		                        delay_error(&window->samples, sleeps / alive_ns));
	return (uint64_t)(error_ns < alive_ns ? error_ns : alive_ns);
}

uint32_t probe_occupancy_bucket(uint32_t count)
{
	uint32_t doubling = 0;

	if (count < 64)
		return count;
	for (; count >= 128; doubling++)
		count >>= 1;
	const uint32_t bucket = 64 + doubling * 4 + ((count >> 4) & 3);
	return bucket < PROBE_OCCUPANCY_AXIS ? bucket : PROBE_OCCUPANCY_AXIS - 1;
}

uint32_t probe_occupancy_lowest(uint32_t bucket)
{
	if (bucket < 64)
		return bucket;
	return (64 + ((bucket - 64) % 4) * 16) << ((bucket - 64) / 4);
}
