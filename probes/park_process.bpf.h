/*
 * The processes that are watched: how many threads each has, and requests of the disk in flight.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, PROCESSES_MAX);
	__type(key, uint32_t);
	__type(value, struct process_sum);
} processes SEC(".maps");

static __always_inline struct process_sum *process_of(uint32_t process)
{
	return bpf_map_lookup_elem(&processes, &process);
}

static __always_inline void process_begin(uint32_t process, bool named)
{
	const struct process_sum new = {.named = named};

	if (bpf_map_update_elem(&processes, &process, &new, BPF_NOEXIST) && !process_of(process))
		__sync_fetch_and_add(&totals.map_full, 1);
}

/* The most at once may be missed by who comes between: each thread that is born tries anew. */
static __noinline int process_grows(uint32_t process)
{
	struct process_sum *sum = process_of(process);
	uint32_t now;

	if (!sum)
		return 0;
	now = __sync_fetch_and_add(&sum->threads_now, 1) + 1;
	if (now > READ_ONCE(sum->threads_max))
		WRITE_ONCE(sum->threads_max, now);
	return 0;
}

static __noinline int process_shrinks(uint32_t process)
{
	struct process_sum *sum = process_of(process);

	if (!sum || __sync_fetch_and_add(&sum->threads_now, -1) != 1 || sum->named)
		return 0;
	__sync_fetch_and_add(&totals.processes_ended, 1);
	bpf_map_delete_elem(&processes, &process);
	return 0;
}

static __always_inline void process_block(uint32_t process, int by)
{
	struct process_sum *sum = process_of(process);

	if (sum)
		__sync_fetch_and_add(&sum->block_open, by);
}

static __always_inline void process_leaves_child(uint32_t process)
{
	struct process_sum *sum = process_of(process);

	if (sum)
		__sync_fetch_and_add(&sum->children, 1);
}
