/*
 * Watching programs that are not ours by BPF: see watch.h.
 */
#include "probes/watch_ops.h"

#include <assert.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "probes/bpf.h"
#include "probes/park.skel.h"
#include "probes/table.h"

enum { FAMILY_ROUNDS = 100, BATCH = 512 };

int watch_open(struct watch *w, bool children, bool folds, const char *test_directory,
               char why[PROBE_WHY_SIZE])
{
	const struct probe_config config = {
	    .watch = true,
	    .children = children,
	    .folds = folds,
	    .test_directory = test_directory,
	};
	int error;

	memset(w, 0, sizeof *w);
	w->ops = &watch_bpf;
	w->statistics = -1;
	error = probe_open(&w->probe, &probe_bpf, &config, why);
	if (!error)
		w->statistics = bpf_enable_stats(BPF_STATS_RUN_TIME);
	return error;
}

static int watch_bpf_add(struct watch *w, pid_t pid, uint32_t *process)
{
	struct bpf_probe *b = w->probe.state;
	const struct process_sum sum = {.named = 1};
	int error = bpf_find(b, pid);

	*process = b->totals->subject;
	b->totals->subject = 0;
	if (!error &&
	    bpf_map_update_elem(bpf_map__fd(b->object->maps.processes), process, &sum, BPF_ANY))
		error = -errno;
	return error;
}

/* A process that is forked while its parent's threads have not been seeded is found by the next
 * walk, since then its parent is watched; who is forked later begins with its first event. */
static int watch_bpf_begin(struct watch *w)
{
	struct bpf_probe *b = w->probe.state;

	for (int i = 0; i < FAMILY_ROUNDS; i++) {
		const uint64_t before = b->totals->processes_found;
		int error = bpf_walk(b->seed);

		if (!error && w->probe.config.children)
			error = bpf_walk(b->family);
		if (error)
			return error;
		if (b->totals->processes_found == before)
			return 0;
	}
	return 0;
}

static void watch_bpf_tell(struct watch *w, uint64_t number, enum thread_kind kind)
{
	struct bpf_probe *b = w->probe.state;
	const uint32_t value = kind;

	bpf_map_update_elem(bpf_map__fd(b->object->maps.told), &number, &value, BPF_ANY);
}

static uint64_t watch_bpf_births(const struct watch *w)
{
	return ((const struct bpf_probe *)w->probe.state)->totals->births;
}

static uint64_t watch_bpf_living(const struct watch *w)
{
	const struct bpf_probe *b = w->probe.state;
	uint64_t ended = 0;

	for (int k = 0; k < KIND_COUNT; k++)
		ended += b->totals->dead[k].threads;
	return b->totals->births > ended ? b->totals->births - ended : 0;
}

static int64_t watch_bpf_ring_open(const struct watch *w, uint64_t *mark)
{
	const struct bpf_probe *b = w->probe.state;

	*mark = b->totals->ring_begins_ns;
	return b->totals->ring_open;
}

static int watch_bpf_read(struct watch *w, struct probe_reading *reading)
{
	return probe_read(&w->probe, reading);
}

/* Room for one more; the pointer's memory moves. False when memory is short. */
static bool make_room(void **all, size_t *room, size_t count, size_t size)
{
	const size_t more = *room ? 2 * *room : 256;
	void *moved;

	if (count < *room)
		return true;
	moved = realloc(*all, more * size);
	if (!moved)
		return false;
	*all = moved;
	*room = more;
	return true;
}

static void add_thread(void *to, const void *record)
{
	struct watch_census *c = to;

	if (make_room((void **)&c->threads, &c->thread_room, c->thread_count, sizeof *c->threads))
		memcpy(&c->threads[c->thread_count++], record, sizeof *c->threads);
}

static void add_place(struct watch_census *c, const void *key, const void *value)
{
	struct watch_place *place;

	if (!make_room((void **)&c->places, &c->place_room, c->place_count, sizeof *c->places))
		return;
	place = &c->places[c->place_count++];
	memcpy(&place->key, key, sizeof place->key);
	memcpy(&place->sum, value, sizeof place->sum);
	place->function = NULL;
}

static void add_process(struct watch_census *c, const void *key, const void *value)
{
	struct watch_process *process;

	if (!make_room((void **)&c->processes, &c->process_room, c->process_count,
	               sizeof *c->processes))
		return;
	process = &c->processes[c->process_count++];
	memcpy(&process->process, key, sizeof process->process);
	memcpy(&process->sum, value, sizeof process->sum);
}

/* Hands out a whole table. */
static int read_table(const struct bpf_map *map, struct watch_census *c,
                      void (*add)(struct watch_census *c, const void *key, const void *value))
{
	const size_t key_size = bpf_map__key_size(map), value_size = bpf_map__value_size(map);
	char *keys = malloc(BATCH * key_size), *values = malloc(BATCH * value_size);
	uint64_t from[8], to[8]; /* a place in the table, of whatever form */
	bool first = true;
	int error = keys && values ? 0 : -ENOMEM;

	assert(key_size <= sizeof to);
	while (!error) {
		uint32_t count = BATCH;

		errno = 0;
		if (bpf_map_lookup_batch(bpf_map__fd(map), first ? NULL : from, to, keys, values,
		                         &count, NULL))
			error = errno ? -errno : -EIO;
		for (uint32_t i = 0; (!error || error == -ENOENT) && i < count; i++)
			add(c, keys + i * key_size, values + i * value_size);
		memcpy(from, to, sizeof from);
		first = false;
	}
	free(keys);
	free(values);
	return error == -ENOENT ? 0 : error;
}

static int watch_bpf_census(struct watch *w, struct watch_census *c)
{
	struct bpf_probe *b = w->probe.state;
	struct timespec now;
	int error;

	c->thread_count = c->place_count = c->process_count = 0;
	clock_gettime(CLOCK_MONOTONIC, &now);
	c->time_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	c->ring_open = b->totals->ring_open;
	c->ring_begins_ns = b->totals->ring_begins_ns;
	c->ring_most = b->totals->ring_most;
	c->ring_least = b->totals->ring_least;
	error = bpf_records(b, b->census, sizeof *c->threads, add_thread, c);
	if (!error)
		error = read_table(b->object->maps.places, c, add_place);
	if (!error)
		error = read_table(b->object->maps.processes, c, add_process);
	c->merged = b->totals->places_merged;
	c->processes_ended = b->totals->processes_ended;
	c->block_most = b->totals->block_most;
	return error;
}

/* The bytes that the kernel holds for a map, as it says in /proc. */
static uint64_t map_memory(const struct bpf_map *map)
{
	unsigned long long bytes = 0;
	char path[64], line[128];
	FILE *file;

	snprintf(path, sizeof path, "/proc/self/fdinfo/%d", bpf_map__fd(map));
	file = fopen(path, "re");
	while (file && fgets(line, sizeof line, file))
		if (sscanf(line, "memlock: %llu", &bytes) == 1)
			break;
	if (file)
		fclose(file);
	return bytes;
}

static void watch_bpf_cost(const struct watch *w, struct watch_cost *cost)
{
	const struct bpf_probe *b = w->probe.state;
	struct bpf_program *program;
	struct bpf_map *map;

	memset(cost, 0, sizeof *cost);
	cost->known = w->statistics >= 0;
	bpf_object__for_each_program(program, b->object->obj)
	{
		struct bpf_prog_info info = {0};
		uint32_t size = sizeof info;

		if (bpf_program__fd(program) < 0 ||
		    bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size))
			continue;
		cost->events += info.run_cnt;
		cost->run_ns += info.run_time_ns;
	}
	bpf_object__for_each_map(map, b->object->obj) cost->memory_bytes += map_memory(map);
}

static void watch_bpf_close(struct watch *w)
{
	probe_close(&w->probe);
	if (w->statistics >= 0)
		close(w->statistics);
	w->statistics = -1;
}

const struct watch_ops watch_bpf = {
    .name = "bpf",
    .add = watch_bpf_add,
    .begin = watch_bpf_begin,
    .tell = watch_bpf_tell,
    .births = watch_bpf_births,
    .living = watch_bpf_living,
    .ring_open = watch_bpf_ring_open,
    .read = watch_bpf_read,
    .census = watch_bpf_census,
    .cost = watch_bpf_cost,
    .close = watch_bpf_close,
};
