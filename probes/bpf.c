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
                                                              const char *format, va_list arguments)
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
	bpf_classes_fill(knobs->classes, knobs->transfers);
	for (uint32_t i = 2; i < PARK_DOUBLINGS; i++)
		knobs->doublings[i] = knobs->doublings[i / 2] + 1;
	bpf_objects_fill(knobs->objects);
	knobs->watch = config->watch;
	knobs->children = config->children;
	knobs->folds = config->folds;
	knobs->disk = config->source == SOURCE_DISK;
	knobs->marked = config->marked;
	knobs->hidden = config->hidden_threads;
	knobs->peer_port = config->source == SOURCE_TCP ? htons(config->peer_port) : 0;
	knobs->peer = config->source == SOURCE_UNIX ? (uint32_t)config->peer : 0;
	knobs->check_context = variants->count_distance && variants->current_distance;
	knobs->count_distance = variants->count_distance;
	knobs->current_distance = variants->current_distance;
	bpf_workers_fill(knobs);
}

/* Loads only what this kernel has and this run needs, and marks what can be measured so. */
static void choose_programs(struct bpf_probe *b, const struct probe_config *config,
                            const struct bpf_variants *has)
{
	struct bpf_program *program;
	const bool disk = config->source == SOURCE_DISK || !config->marked;
	const bool socket = config->source == SOURCE_TCP || config->source == SOURCE_UNIX;
	const bool interrupts = config->source != SOURCE_NONE;
	const bool context = has->count_distance && has->current_distance;
	const struct {
		const char *name;
		bool wanted;
	} optional[] = {
	    {"on_block_start", disk && has->block_io_start},
	    {"on_block_issue", disk && !has->block_io_start},
	    {"on_block_merge", disk},
	    {"on_block_complete", disk},
	    {"on_data_ready", socket && has->sk_data_ready},
	    {"on_uring_cqe", has->io_uring_complete_cqe},
	    {"on_uring_words", has->io_uring_complete_words},
	    {"on_task_work", has->io_uring_work_run},
	    {"on_local_work", has->io_uring_local_work_run},
	    {"on_irq_entry", interrupts},
	    {"on_irq_exit", interrupts},
	    {"on_softirq_entry", interrupts},
	    {"on_softirq_exit", interrupts},
	    {"on_uring_submit", has->io_uring_submit_req},
	    {"on_uring_submit_sqe", has->io_uring_submit_sqe},
	    {"on_punt", has->io_uring_punt},
	    {"on_short_write", has->io_uring_short_write},
	    {"on_waking", config->watch},
	    {"walk_census", config->watch},
	    {"walk_family", config->watch && config->children},
	    {"on_sys_enter", config->hidden_threads},
	    {"on_sys_exit", config->hidden_threads},
	};

	for (size_t i = 0; i < sizeof optional / sizeof optional[0]; i++) {
		program = bpf_object__find_program_by_name(b->object->obj, optional[i].name);
		bpf_program__set_autoload(program, optional[i].wanted);
	}
	b->measures = PROBE_EDGE | PROBE_IN_CALL | PROBE_PARKS | PROBE_SWITCHES | PROBE_OCCUPANCY |
	              PROBE_SLEEPS;
	if (has->io_uring_punt && (has->io_uring_submit_req || has->io_uring_submit_sqe))
		b->measures |= PROBE_PUNTS;
	if (disk)
		b->measures |= PROBE_BLOCK;
	if (config->source == SOURCE_DISK || (socket && has->sk_data_ready)) {
		b->measures |= PROBE_COMPLETIONS;
		if (context)
			b->measures |= PROBE_BORROWED | PROBE_ARRIVED;
	}
	if (has->io_uring_complete_cqe || has->io_uring_complete_words) {
		b->measures |= PROBE_POSTED;
		if (has->io_uring_work_run && has->io_uring_local_work_run)
			b->measures |= PROBE_TASK_WORK;
	}
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int attach_walks(struct bpf_probe *b, bool watch, bool children)
{
	b->find = bpf_program__attach_iter(b->object->progs.walk_find, NULL);
	if (!b->find)
		return -errno;
	b->seed = bpf_program__attach_iter(b->object->progs.walk_seed, NULL);
	if (!b->seed)
		return -errno;
	b->read = bpf_program__attach_iter(b->object->progs.walk_read, NULL);
	if (!b->read)
		return -errno;
	if (watch)
		b->census = bpf_program__attach_iter(b->object->progs.walk_census, NULL);
	if (watch && !b->census)
		return -errno;
	if (children)
		b->family = bpf_program__attach_iter(b->object->progs.walk_family, NULL);
	return children && !b->family ? -errno : 0;
}

/* Every program but the walks, which have links of their own. */
static int attach_events(struct bpf_probe *b)
{
	bpf_program__set_autoattach(b->object->progs.walk_find, false);
	bpf_program__set_autoattach(b->object->progs.walk_seed, false);
	bpf_program__set_autoattach(b->object->progs.walk_read, false);
	bpf_program__set_autoattach(b->object->progs.walk_census, false);
	bpf_program__set_autoattach(b->object->progs.walk_family, false);
	return park__attach(b->object);
}

static void bpf_close(struct probe *p)
{
	struct bpf_probe *b = p->state;

	probe_tables_free(&p->tables);
	bpf_link__destroy(b->find);
	bpf_link__destroy(b->seed);
	bpf_link__destroy(b->read);
	bpf_link__destroy(b->family);
	bpf_link__destroy(b->census);
	park__destroy(b->object);
	memset(b, 0, sizeof *b);
}

static void *map_shared(const struct bpf_map *map, size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);

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
	if (p->config.watch)
		bpf_map__set_max_entries(b->object->maps.places, PLACES_MAX);
	if (p->config.folds) {
		bpf_map__set_max_entries(b->object->maps.folds, FOLDS_MAX);
		bpf_map__set_max_entries(b->object->maps.fold_stacks, FOLDS_MAX);
	}
	error = park__load(b->object);
	if (error)
		goto fail;
	b->totals = (volatile struct park_totals *)&b->object->bss->totals;
	b->totals->updated_ns = now_ns();
	b->totals->word = b->totals->updated_ns >> 6 & ((1u << 30) - 1);
	error = -ENOMEM;
	p->tables.marks = map_shared(b->object->maps.marks,
	                             THREADS_MAX * sizeof(struct thread_mark));
	p->tables.in_flight = map_shared(b->object->maps.in_flight, sizeof(uint32_t));
	if (!p->tables.marks || !p->tables.in_flight)
		goto fail;
	error = attach_events(b);
	if (!error)
		error = attach_walks(b, p->config.watch, p->config.watch && p->config.children);
	if (error)
		goto fail;
	if (p->config.source == SOURCE_DISK || p->config.watch)
		bpf_self_test(p);
	return 0;
fail:
	bpf_explain(error, last_warning, why);
	bpf_close(p);
	return error;
}

int bpf_walk(struct bpf_link *link)
{
	const int fd = bpf_iter_create(bpf_link__fd(link));
	ssize_t got;
	char byte;
	int error;

	if (fd < 0)
		return fd;
	do
		got = read(fd, &byte, 1);
	while (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR)));
	error = got < 0 ? -errno : 0;
	close(fd);
	return error;
}

int bpf_find(struct bpf_probe *b, pid_t pid)
{
	int error;

	b->totals->subject = 0;
	b->totals->wanted = (uint32_t)pid;
	error = bpf_walk(b->find);
	return error ? error : b->totals->subject ? 0 : -ESRCH;
}

static int bpf_attach(struct probe *p, pid_t pid, char why[PROBE_WHY_SIZE])
{
	struct bpf_probe *b = p->state;
	int error = bpf_find(b, pid);

	if (!error)
		error = bpf_walk(b->seed);
	if (error == -ESRCH)
		snprintf(why, PROBE_WHY_SIZE, "there is no process %d", (int)pid);
	else if (error)
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
