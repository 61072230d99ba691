/*
 * The BPF probe: loads and attaches the programs of park.bpf.c, which count, and takes them away
 * again. Reading is in bpf_read.c, the self-test and the reasons of failures in bpf_check.c.
 */
#include "probes/bpf.h"

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "probes/park.skel.h"

enum { LOG_SIZE = 256 };

/* libbpf's print function has no place for a context. */
static _Thread_local char last_warning[LOG_SIZE];

__attribute__((format(printf, 2, 0))) static int keep_warning(enum libbpf_print_level level,
                                                              const char *format,
                                                              va_list arguments)
{
	char line[LOG_SIZE];

	if (level != LIBBPF_WARN)
		return 0;
	vsnprintf(line, sizeof line, format, arguments);
	/* The first says most: what follows is the unwinding. */
	if (!last_warning[0])
		memcpy(last_warning, line, sizeof line);
	return 0;
}

static void set_knobs(struct park_knobs *knobs, const struct probe_config *config,
                      const struct bpf_variants *variants)
{
	bpf_classes_fill(knobs->classes);
	knobs->marked = config->marked;
	knobs->hidden = config->hidden_threads;
	knobs->peer_port = config->source == SOURCE_TCP ? htons(config->peer_port) : 0;
	knobs->peer = config->source == SOURCE_UNIX ? (uint32_t)config->peer : 0;
	knobs->check_context = variants->count_distance && variants->current_distance;
	knobs->count_distance = variants->count_distance;
	knobs->current_distance = variants->current_distance;
}

static void choose_programs(struct bpf_probe *b, const struct probe_config *config,
                            const struct bpf_variants *variants)
{
	(void)variants;
	(void)config;
	b->measures |= PROBE_IN_CALL | PROBE_COUNTS | PROBE_OCCUPANCY;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int attach_walks(struct bpf_probe *b)
{
	b->find = bpf_program__attach_iter(b->object->progs.walk_find, NULL);
	if (!b->find)
		return -errno;
	b->seed = bpf_program__attach_iter(b->object->progs.walk_seed, NULL);
	if (!b->seed)
		return -errno;
	b->read = bpf_program__attach_iter(b->object->progs.walk_read, NULL);
	return b->read ? 0 : -errno;
}

/* Every program but the walks, which have links of their own. */
static int attach_events(struct bpf_probe *b)
{
	bpf_program__set_autoattach(b->object->progs.walk_find, false);
	bpf_program__set_autoattach(b->object->progs.walk_seed, false);
	bpf_program__set_autoattach(b->object->progs.walk_read, false);
	return park__attach(b->object);
}

static void bpf_close(struct probe *p)
{
	struct bpf_probe *b = p->state;

	if (p->marks)
		munmap(p->marks, THREADS_MAX * sizeof(struct thread_mark));
	if (p->in_flight)
		munmap(p->in_flight, (size_t)sysconf(_SC_PAGESIZE));
	p->marks = NULL;
	p->in_flight = NULL;
	bpf_link__destroy(b->find);
	bpf_link__destroy(b->seed);
	bpf_link__destroy(b->read);
	park__destroy(b->object);
	memset(b, 0, sizeof *b);
}

static void *map_shared(const struct bpf_map *map, size_t size)
{
	void *memory =
	    mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static int bpf_open(struct probe *p, char why[PROBE_WHY_SIZE])
{
	struct bpf_probe *b = p->state;
	struct bpf_variants variants;
	int error;

	last_warning[0] = 0;
	libbpf_set_print(keep_warning);
	error = bpf_variants_find(&variants);
	if (error)
		return bpf_explain(error, "", why);
	b->object = park__open();
	if (!b->object)
		return bpf_explain(-errno, last_warning, why);
	set_knobs((struct park_knobs *)&b->object->rodata->knobs, &p->config, &variants);
	choose_programs(b, &p->config, &variants);
	error = park__load(b->object);
	if (error)
		goto fail;
	b->totals = (volatile struct park_totals *)&b->object->bss->totals;
	b->totals->updated_ns = now_ns();
	b->totals->word = b->totals->updated_ns >> 6 & ((1u << 30) - 1);
	error = -ENOMEM;
	p->marks = map_shared(b->object->maps.marks, THREADS_MAX * sizeof(struct thread_mark));
	p->in_flight = map_shared(b->object->maps.in_flight, (size_t)sysconf(_SC_PAGESIZE));
	if (!p->marks || !p->in_flight)
		goto fail;
	error = attach_events(b);
	if (!error)
		error = attach_walks(b);
	if (error)
		goto fail;
	return 0;
fail:
	bpf_explain(error, last_warning, why);
	bpf_close(p);
	return error;
}

/* Runs a walk over all threads for its effect. */
static int walk(struct bpf_link *link)
{
	char byte;
	const int fd = bpf_iter_create(bpf_link__fd(link));
	ssize_t got;

	if (fd < 0)
		return fd;
	do
		got = read(fd, &byte, 1);
	while (got > 0 || (got < 0 && errno == EAGAIN));
	const int error = got < 0 ? -errno : 0;
	close(fd);
	return error;
}

static int bpf_attach(struct probe *p, pid_t pid, char why[PROBE_WHY_SIZE])
{
	struct bpf_probe *b = p->state;
	int error;

	b->totals->wanted = (uint32_t)pid;
	error = walk(b->find);
	if (!error && !b->totals->subject) {
		snprintf(why, PROBE_WHY_SIZE, "no process %d", (int)pid);
		return -ESRCH;
	}
	if (!error)
		error = walk(b->seed);
	if (error)
		snprintf(why, PROBE_WHY_SIZE, "cannot walk over the threads of process %d: %s",
		         (int)pid, strerror(-error));
	return error;
}

const struct probe_ops probe_bpf = {
    .name = "bpf",
    .summary = "every state change of every thread, by eBPF; needs CAP_BPF and CAP_PERFMON",
    .size = sizeof(struct bpf_probe),
    .open = bpf_open,
    .attach = bpf_attach,
    .read = bpf_read,
    .close = bpf_close,
};
