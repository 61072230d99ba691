/*
 * The census: each watched thread as it is now. And the walk that finds the children of the
 * processes that are watched already.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct census_record);
} census SEC(".maps");

/* What the loader has found out about threads: tid as the kernel numbers it, enum thread_kind. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, THREADS_MAX);
	__type(key, uint64_t); /* park_thread.number */
	__type(value, uint32_t);
} told SEC(".maps");

static __always_inline uint32_t number_seen(struct task_struct *task, uint32_t *inside)
{
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	uint32_t level;

	*inside = 0;
	if (!pid)
		return 0;
	level = BPF_CORE_READ(pid, level);
	*inside = pid_number(pid, level);
	return level < totals.level ? 0 : pid_number(pid, totals.level);
}

enum { WORKER_FOR_BOUNDED = 1 << 3 };

/* Whether a worker serves what ends in bounded time. */
static __always_inline uint32_t worker_bound(struct io_worker *worker)
{
	struct io_wq *pools = BPF_CORE_READ(worker, wq);
	bool bounded;

	if (!pools || !bpf_core_field_exists(pools->acct))
		return BOUND_UNKNOWN;
	if (bpf_core_field_exists(worker->acct))
		bounded = (uint64_t)BPF_CORE_READ(worker, acct) ==
		          (uint64_t)pools + bpf_core_field_offset(pools->acct);
	else if (bpf_core_field_exists(worker->flags))
		bounded = BPF_CORE_READ(worker, flags) & WORKER_FOR_BOUNDED;
	else
		return BOUND_UNKNOWN;
	return bounded ? BOUND_IN_TIME : BOUND_BY_NOTHING;
}

static __always_inline void census_worker(struct task_struct *task, struct census_record *record)
{
	struct io_worker *worker = task->worker_private;
	struct task_struct *owner;
	uint32_t inside;

	if (!worker)
		return;
	record->bound = worker_bound(worker);
	owner = BPF_CORE_READ(worker, wq, task);
	if (owner)
		record->owner = number_seen(owner, &inside);
}

static __always_inline void census_thread(struct task_struct *task, struct park_thread *t,
                                          struct census_record *record)
{
	struct task_struct *leader = BPF_CORE_READ(task, group_leader);
	struct pt_regs *registers = (struct pt_regs *)bpf_task_pt_regs(task);

	record->process = task->tgid;
	record->tid = number_seen(task, &record->tid_inside);
	record->pid = number_seen(leader, &record->pid_inside);
	record->kind = kind_of(task, t, NULL);
	record->number = t->number;
	record->born_ns = t->born_ns;
	record->segment = task->thread.fsbase;
	record->argument[0] = registers->di;
	record->argument[1] = registers->si;
	record->argument[2] = registers->dx;
	record->stack_pointer = registers->sp;
	record->iowait = BPF_CORE_READ_BITFIELD(task, in_iowait);
	BPF_CORE_READ_STR_INTO(&record->name, task, comm);
	if (task->flags & PF_IO_WORKER)
		census_worker(task, record);
}

SEC("iter/task")
int walk_census(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	struct record_copy copy = {};
	uint32_t zero = 0, *kind;
	struct census_record *record = bpf_map_lookup_elem(&census, &zero);
	struct park_thread *t;
	long bytes;

	if (!task || !record)
		return 0;
	t = thread_of(task);
	if (!t || READ_ONCE(t->claim) == CLAIM_DEAD)
		return 0;
	kind = bpf_map_lookup_elem(&told, &t->number);
	if (kind)
		t->told = *kind + 1;
	place_flush(t, bpf_ktime_get_ns());
	__builtin_memset(record, 0, sizeof(*record));
	copy.thread = t;
	bpf_loop(COPY_TRIES, record_try, &copy, 0);
	record->word = copy.record.word;
	record->now_ns = copy.record.now_ns;
	record->since_ns = t->since_ns;
	record->place = t->place;
	record->place_since = t->place_since_ns != 0;
	record->fd = t->place_fd;
	record->futex_ns = t->futex_ns;
	record->before_ns = t->before_ns;
	record->waits = t->waits;
	record->parks = copy.record.times.parks;
	__builtin_memcpy(record->state_ns, copy.record.times.state_ns, sizeof(record->state_ns));
	census_thread(task, t, record);
	if (word_asleep(record->word)) {
		bytes = bpf_get_task_stack(task, record->stack, sizeof(record->stack), 0);
		record->frames = bytes > 0 ? bytes / sizeof(uint64_t) : 0;
	}
	bpf_seq_write(context->meta->seq, record, sizeof(*record));
	return 0;
}

/* Adds the processes whose parents are watched. */
SEC("iter/task")
int walk_family(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	uint32_t parent;

	if (!task || task->pid != task->tgid || task->exit_state || process_of(task->tgid))
		return 0;
	parent = BPF_CORE_READ(task, real_parent, tgid);
	if (!process_of(parent))
		return 0;
	process_begin(task->tgid, false);
	totals.processes_found++;
	return 0;
}
