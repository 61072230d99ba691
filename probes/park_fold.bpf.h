/*
 * Watching with stacks: the time asleep by the stacks, the kernel's and the program's own, with
 * which the sleep began.
 */
struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__uint(value_size, FOLD_FRAMES * sizeof(uint64_t));
} fold_stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct fold_key);
	__type(value, uint64_t);
} folds SEC(".maps");

/* A stack's number + 1; FOLD_LOST: it is not kept. */
static __always_inline int32_t fold_number(long id)
{
	return id < 0 ? FOLD_LOST : (int32_t)id + 1;
}

/* The thread that is about to sleep is the current one still. */
static __noinline int fold_take(void *context, struct park_thread *t)
{
	if (!t)
		return 0;
	t->fold_kernel = fold_number(bpf_get_stackid(context, &fold_stacks, 0));
	t->fold_user = fold_number(bpf_get_stackid(context, &fold_stacks, BPF_F_USER_STACK));
	return 0;
}

static __noinline int fold_add(struct park_thread *t, uint64_t ns)
{
	struct fold_key key = {};
	uint64_t *sum;

	if (!t)
		return 0;
	key.place = t->place;
	key.place.inode = 0;
	key.place.device = 0;
	key.kernel = t->fold_kernel;
	key.user = t->fold_user;
	sum = bpf_map_lookup_elem(&folds, &key);
	if (!sum) {
		if (!bpf_map_update_elem(&folds, &key, &ns, BPF_NOEXIST))
			return 0;
		sum = bpf_map_lookup_elem(&folds, &key);
	}
	if (sum)
		__sync_fetch_and_add(sum, ns);
	else
		__sync_fetch_and_add(&totals.map_full, 1);
	return 0;
}
