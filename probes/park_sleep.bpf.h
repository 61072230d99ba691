/*
 * Sleeps that need a closer look than the system call: those of a submitter inside a submission,
 * whose cause the kernel's stack tells, and those of a worker, by the request in its hand.
 *
 * Such a sleep has a slot in workers.sleeps, which the thread's word carries, so that whoever
 * moves the word closes the sleep exactly once.
 *
 * Two functions here are global and take numbers, so that they are verified once, and not on each
 * path that leads to them.
 */
enum { SYSCALL_IO_SUBMIT = 209, SYSCALL_IO_URING_ENTER = 426 };

struct frames {
	uint64_t address[SLEEP_FRAMES];
};

/* [0] for the scheduler's event, which nothing interrupts on its CPU, [1] for the one walk. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2);
	__type(key, uint32_t);
	__type(value, struct frames);
} stacks SEC(".maps");

struct hand {
	uint32_t operation, device;
	uint64_t inode;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, WORKERS_FILES);
	__type(key, struct hand);
	__type(value, uint32_t); /* its place in workers.files */
} hands SEC(".maps");

struct frame_search {
	const struct frames *frames;
	uint32_t count, cause;
};

/* The cause that a function of the kernel stands for; the first one from the sleep outwards that
 * stands for any counts. 1 ends the loop. */
static long frame_look(uint32_t index, struct frame_search *search)
{
	uint64_t address, below, at = 0;

	if (index >= search->count || index >= SLEEP_FRAMES || !search->frames)
		return 1;
	address = search->frames->address[index & (SLEEP_FRAMES - 1)] - 1; /* inside the call */
	/* Without branches, of which each would double what has to be verified. */
#pragma unroll
	for (uint64_t step = PARK_FUNCTIONS / 2; step; step /= 2) {
		below = address - knobs.functions[(at + step) & (PARK_FUNCTIONS - 1)].begin;
		below >>= 63;
		barrier_var(below);
		at += step & (below - 1);
		barrier_var(at); /* or the mask above is left out, which Linux 6.1 wants to see */
	}
	at &= PARK_FUNCTIONS - 1;
	if (address < knobs.functions[at].begin || address >= knobs.functions[at].end)
		return 0;
	search->cause = knobs.functions[at].cause;
	return 1;
}

__noinline int frames_cause(uint32_t key, uint32_t count)
{
	struct frame_search search = {.count = count, .cause = CAUSE_OTHER};

	search.frames = bpf_map_lookup_elem(&stacks, &key);
	bpf_loop(SLEEP_FRAMES, frame_look, &search, 0);
	return search.cause;
}

/* context: of the switch that is under way, or NULL. Without it the stack has no function of the
 * scheduler's own, to which the kernel counts those that wait for its locks. */
static __always_inline uint32_t sleep_cause(struct task_struct *task, void *context)
{
	uint32_t key = task == bpf_get_current_task_btf() ? 0 : 1;
	struct frames *frames = bpf_map_lookup_elem(&stacks, &key);
	long bytes;

	if (!frames || !knobs.functions_known)
		return CAUSE_UNKNOWN;
	bytes = context ? bpf_get_stack(context, frames, sizeof(*frames), 0)
	                : bpf_get_task_stack(task, frames, sizeof(*frames), 0);
	if (bytes <= 0) {
		__sync_fetch_and_add(&workers.lost, 1);
		return CAUSE_UNKNOWN;
	}
	return frames_cause(key, bytes / sizeof(uint64_t));
}

/* A new place for a file, whose name and kind are noted; 0: there is none left. */
static __always_inline uint32_t hand_new(const struct hand *hand, struct file *file)
{
	const uint32_t place = __sync_fetch_and_add(&workers.files_used, 1) + 1;
	struct worker_file *entry;

	if (place >= WORKERS_FILES || bpf_map_update_elem(&hands, hand, &place, BPF_NOEXIST))
		return 0;
	entry = &workers.files[place & (WORKERS_FILES - 1)];
	entry->operation = hand->operation;
	entry->device = hand->device;
	entry->inode = hand->inode;
	if (!file)
		return place;
	entry->mode = BPF_CORE_READ(file, f_inode, i_mode);
	bpf_probe_read_kernel_str(entry->name, sizeof(entry->name),
	                          BPF_CORE_READ(file, f_path.dentry, d_name.name));
	return place;
}

__noinline int worker_slot(uint64_t address)
{
	struct io_worker *worker = (void *)address;
	struct io_wq_work *work = BPF_CORE_READ(worker, cur_work);
	struct io_kiocb *request = NULL;
	struct file *file;
	struct hand hand = {};
	uint32_t *place;

	if (!work)
		return SLOT_NONE;
	request = (void *)work - bpf_core_field_offset(request->work);
	hand.operation = BPF_CORE_READ(request, opcode);
	file = BPF_CORE_READ(request, file);
	if (file) {
		hand.inode = BPF_CORE_READ(file, f_inode, i_ino);
		hand.device = BPF_CORE_READ(file, f_inode, i_sb, s_dev);
	}
	place = bpf_map_lookup_elem(&hands, &hand);
	return SLOT_FILES + ((place ? *place : hand_new(&hand, file)) & (WORKERS_FILES - 1));
}

/* The slot of a sleep that begins, or SLOT_NONE for all that need none. */
static __always_inline uint32_t sleep_slot(struct task_struct *task, uint32_t class, void *context)
{
	uint32_t call;

	if (class == CLASS_WORKER_BUSY)
		return worker_slot((uint64_t)BPF_CORE_READ(task, worker_private)) &
		       (SLOT_COUNT - 1);
	if (class == CLASS_SUBMITTER)
		call = SLEEP_URING_ENTER;
	else if (class == CLASS_SQPOLL_BUSY)
		call = SLEEP_SQPOLL;
	else if (class == CLASS_DIRECT &&
	         ((struct pt_regs *)bpf_task_pt_regs(task))->orig_ax == SYSCALL_IO_SUBMIT)
		call = SLEEP_IO_SUBMIT;
	else
		return SLOT_NONE;
	return (SLOT_SUBMITTER + call * CAUSE_COUNT + sleep_cause(task, context)) &
	       (SLOT_COUNT - 1);
}

static __always_inline void sleep_begins(uint32_t word)
{
	const uint32_t slot = word >> WORD_SLOT_SHIFT & (SLOT_COUNT - 1);

	if (slot)
		__sync_fetch_and_add(&workers.sleeps[slot].count, 1);
}

static __always_inline void sleep_ends(uint32_t word, uint64_t elapsed_ns)
{
	const uint32_t slot = word >> WORD_SLOT_SHIFT & (SLOT_COUNT - 1);

	if (slot)
		__sync_fetch_and_add(&workers.sleeps[slot].parked_ns, elapsed_ns);
}
