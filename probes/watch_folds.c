/* The stacks of a watch: see watch.h. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>

#include "probes/bpf.h"
#include "probes/park.skel.h"
#include "probes/watch_ops.h"

static uint32_t read_stack(int stacks, int32_t number, uint64_t frames[FOLD_FRAMES])
{
	const uint32_t id = (uint32_t)number - 1;
	uint32_t count = 0;

	if (number <= 0 || bpf_map_lookup_elem(stacks, &id, frames) != 0)
		return 0;
	while (count < FOLD_FRAMES && frames[count])
		count++;
	return count;
}

int watch_folds(const struct watch *w, struct watch_fold **folds, size_t *count)
{
	const struct bpf_probe *b = w->probe.state;
	struct watch_fold *all;
	struct fold_key key, *before = NULL;
	int table, stacks;

	*folds = NULL;
	*count = 0;
	if (!w->probe.config.folds)
		return -EOPNOTSUPP;
	all = calloc(FOLDS_MAX, sizeof *all);
	if (!all)
		return -ENOMEM;
	table = bpf_map__fd(b->object->maps.folds);
	stacks = bpf_map__fd(b->object->maps.fold_stacks);
	while (*count < FOLDS_MAX && bpf_map_get_next_key(table, before, &key) == 0) {
		struct watch_fold *fold = &all[*count];

		fold->key = key;
		before = &fold->key;
		if (bpf_map_lookup_elem(table, &key, &fold->asleep_ns) != 0)
			continue;
		fold->kernel_frames = read_stack(stacks, key.kernel, fold->kernel);
		fold->user_frames = read_stack(stacks, key.user, fold->user);
		++*count;
	}
	*folds = all;
	return 0;
}
