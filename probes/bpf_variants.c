/*
 * What differs between kernels, found in the running kernel's own description of its types.
 */
#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probes/bpf.h"

/* The number of arguments of a tracepoint's function, or -1 where there is none. */
static int tracepoint_arguments(const struct btf *btf, const char *name)
{
	char full[64];
	const struct btf_type *type;
	int id;

	snprintf(full, sizeof full, "btf_trace_%s", name);
	id = btf__find_by_name_kind(btf, full, BTF_KIND_TYPEDEF);
	if (id < 0)
		return -1;
	type = btf__type_by_id(btf, btf__type_by_id(btf, (uint32_t)id)->type); /* a pointer */
	type = btf__type_by_id(btf, type->type);
	return btf_vlen(type) - 1; /* the first is the tracepoint's own */
}

/* The place of a variable in each CPU's area, or -1. */
static long percpu_offset(const struct btf *btf, const struct btf_type *section, const char *name)
{
	const struct btf_var_secinfo *variable = btf_var_secinfos(section);

	for (int i = 0; i < btf_vlen(section); i++) {
		const struct btf_type *type = btf__type_by_id(btf, variable[i].type);

		if (!strcmp(btf__name_by_offset(btf, type->name_off), name))
			return variable[i].offset;
	}
	return -1;
}

static long member_offset(const struct btf *btf, const char *structure, const char *name)
{
	const int id = btf__find_by_name_kind(btf, structure, BTF_KIND_STRUCT);
	const struct btf_type *type;
	const struct btf_member *member;

	if (id < 0)
		return -1;
	type = btf__type_by_id(btf, (uint32_t)id);
	member = btf_members(type);
	for (int i = 0; i < btf_vlen(type); i++) {
		if (!strcmp(btf__name_by_offset(btf, member[i].name_off), name))
			return btf_member_bit_offset(type, (uint32_t)i) / 8;
		/* pcpu_hot is a struct in an unnamed union: its offset is that union's, 0 */
		const struct btf_type *inner = btf__type_by_id(btf, member[i].type);
		for (int depth = 0; depth < 2 && btf_is_composite(inner); depth++) {
			const struct btf_member *inside = btf_members(inner);
			for (int j = 0; j < btf_vlen(inner); j++)
				if (!strcmp(btf__name_by_offset(btf, inside[j].name_off), name))
					return btf_member_bit_offset(type, (uint32_t)i) / 8 +
					       btf_member_bit_offset(inner, (uint32_t)j) / 8;
			if (!btf_vlen(inner))
				break;
			inner = btf__type_by_id(btf, inside[0].type);
		}
	}
	return -1;
}

/* The preemption count and the running task lie in each CPU's own area, at a distance from the
 * run queue that is the same on all CPUs. From 6.2 to 6.14 they were members of pcpu_hot. */
static void find_context(const struct btf *btf, struct bpf_variants *variants)
{
	const int id = btf__find_by_name_kind(btf, ".data..percpu", BTF_KIND_DATASEC);
	const struct btf_type *section;
	long queues, count, current, hot;

	if (id < 0)
		return;
	section = btf__type_by_id(btf, (uint32_t)id);
	queues = percpu_offset(btf, section, "runqueues");
	count = percpu_offset(btf, section, "__preempt_count");
	current = percpu_offset(btf, section, "current_task");
	hot = percpu_offset(btf, section, "pcpu_hot");
	if (count < 0 && hot >= 0) {
		count = member_offset(btf, "pcpu_hot", "preempt_count");
		current = member_offset(btf, "pcpu_hot", "current_task");
		count = count < 0 ? -1 : hot + count;
		current = current < 0 ? -1 : hot + current;
	}
	if (queues < 0 || count < 0 || current < 0)
		return;
	variants->count_distance = count - queues;
	variants->current_distance = current - queues;
}

/* From 6.16 on the description can be mapped; to read it takes a call for every 4 KiB of it. */
static struct btf *load_description(void)
{
	struct btf *btf = NULL;
	struct stat status;
	void *memory;
	const int fd = open("/sys/kernel/btf/vmlinux", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &status)) {
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	memory = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (memory == MAP_FAILED)
		return btf__load_vmlinux_btf();
	btf = btf__new(memory, (uint32_t)status.st_size);
	munmap(memory, (size_t)status.st_size);
	return btf;
}

int bpf_variants_find(struct bpf_variants *variants)
{
	struct btf *btf = load_description();

	memset(variants, 0, sizeof *variants);
	if (!btf)
		return errno ? -errno : -ENOENT;
	variants->block_io_start = tracepoint_arguments(btf, "block_io_start") == 1;
	variants->sk_data_ready = tracepoint_arguments(btf, "sk_data_ready") == 1;
	variants->io_uring_complete_cqe = tracepoint_arguments(btf, "io_uring_complete") == 3;
	variants->io_uring_complete_words = tracepoint_arguments(btf, "io_uring_complete") == 7;
	variants->io_uring_work_run = tracepoint_arguments(btf, "io_uring_task_work_run") >= 2;
	variants->io_uring_local_work_run = tracepoint_arguments(btf, "io_uring_local_work_run") >=
	                                    2;
	variants->io_uring_submit_req = tracepoint_arguments(btf, "io_uring_submit_req") == 1;
	variants->io_uring_submit_sqe = tracepoint_arguments(btf, "io_uring_submit_sqe") == 2;
	variants->io_uring_punt = tracepoint_arguments(btf, "io_uring_queue_async_work") == 2;
	variants->io_uring_short_write = tracepoint_arguments(btf, "io_uring_short_write") >= 0;
	find_context(btf, variants);
	btf__free(btf);
	return 0;
}
