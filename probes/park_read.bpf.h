/*
 * The walks over all threads: one finds the process, one seeds the threads that exist at attach,
 * one takes a reading.
 */
enum { COPY_TRIES = 16 };

/* The walk's own process is the loader: what it calls by a number is seen from its namespace. */
SEC("iter/task")
int walk_find(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	struct task_struct *loader = bpf_get_current_task_btf();
	struct pid *pid;

	if (!task || totals.subject)
		return 0;
	totals.level = BPF_CORE_READ(loader, thread_pid, level);
	pid = BPF_CORE_READ(task, thread_pid);
	if (task->pid != task->tgid || !pid || BPF_CORE_READ(pid, level) < totals.level)
		return 0;
	if (pid_number(pid, totals.level) == totals.wanted)
		totals.subject = task->tgid;
	return 0;
}

/* True if the thread sleeps. A sleeper has a state and is not queued, or, from 6.12 on, queued
 * and delayed. Whoever still switches out has been dequeued before its sched_switch; so the
 * order here, delayed before queued, leaves no moment at which a sleeper seems awake without an
 * event to come. on_cpu would: it is cleared only after the switch. */
static __always_inline bool seed_asleep(struct task_struct *task, uint32_t state)
{
	if (!state || state & (TASK_DEAD | TASK_WAKING | TASK_NEW))
		return false;
	if (bpf_core_field_exists(task->se.sched_delayed) && READ_ONCE(task->se.sched_delayed))
		return true;
	barrier();
	return READ_ONCE(task->on_rq) == 0;
}

/* How long a thread has been asleep at least, by the scheduler's own note of when it last ran. The
 * clock of its own run queue may stand still, so the time now is that of ours. */
static __always_inline uint64_t seed_asleep_ns(struct task_struct *task)
{
	const uint64_t ran_ns = task->se.exec_start;
	uint64_t now_ns, taken_ns;

	if (!bpf_core_field_exists(task->se.cfs_rq) || !ran_ns)
		return 0;
	now_ns = BPF_CORE_READ(bpf_get_current_task_btf(), se.cfs_rq, rq, clock);
	taken_ns = BPF_CORE_READ(task, se.cfs_rq, rq, clock) -
	           BPF_CORE_READ(task, se.cfs_rq, rq, clock_task);
	return now_ns > ran_ns + taken_ns ? now_ns - ran_ns - taken_ns : 0;
}

/* Its process is the subject, or one of those that are watched. */
static __always_inline bool task_counts(struct task_struct *task)
{
	if (knobs.watch)
		return process_of(task->tgid) != NULL;
	return totals.subject && task->tgid == totals.subject;
}

SEC("iter/task")
int walk_seed(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	struct park_thread *t;
	uint32_t word, state;

	if (!task || !task_counts(task) || task->exit_state)
		return 0;
	if (knobs.watch && thread_of(task))
		return 0; /* it is there since an earlier walk, or was born since */
	t = thread_begin(task);
	if (!t)
		return 0;
	if (knobs.watch)
		process_grows(task->tgid);
	t->voluntary_before = task->nvcsw;
	t->involuntary_before = task->nivcsw;
	state = READ_ONCE(task->__state);
	barrier();
	if (!seed_asleep(task, state)) {
		word = task->on_cpu ? STATE_RUNNING + 1 : STATE_RUNNABLE + 1;
		__sync_val_compare_and_swap(&t->word, WORD_UNKNOWN, word);
		return 0;
	}
	word = word_off(task, t, state, NULL);
	if (knobs.hidden && t->mark == NO_MARK && task->pid != task->tgid &&
	    (word >> WORD_CLASS_SHIFT & 0xff) == CLASS_DIRECT) {
		t->call_since_ns = t->born_ns;
		kind_settle(t, KIND_AIO_HELPER);
		word |= WORD_IN_CALL;
	}
	if (word_parked(word))
		occupancy_change(1, bpf_ktime_get_ns());
	if (knobs.watch) {
		place_open(task, t, word, t->born_ns);
		t->before_ns = seed_asleep_ns(task);
	}
	if (__sync_val_compare_and_swap(&t->word, WORD_UNKNOWN, word) != WORD_UNKNOWN &&
	    word_parked(word))
		occupancy_change(-1, bpf_ktime_get_ns());
	if (knobs.watch && READ_ONCE(t->word) != word) /* it woke meanwhile */
		__sync_val_compare_and_swap(&t->place_since_ns, t->born_ns, 0);
	return 0;
}

struct record_copy {
	struct park_thread *thread;
	struct park_record record;
	uint32_t done;
};

/* One try to copy a thread's times while no event changes them; 1 ends the loop. */
static long record_try(uint32_t index, struct record_copy *copy)
{
	struct park_thread *t = copy->thread;
	struct park_record *record = &copy->record;
	const uint32_t sequence = READ_ONCE(t->sequence);
	uint64_t since;
	uint32_t word;

	barrier();
	word = record->word = READ_ONCE(t->word);
	since = READ_ONCE(t->since_ns);
	record->times = t->times;
	barrier();
	if (sequence & 1 || sequence != READ_ONCE(t->sequence))
		return 0;
	record->now_ns = bpf_ktime_get_ns();
	copy->done = 1;
	if (word != WORD_DEAD && record->now_ns > since) {
		record->open_ns = record->now_ns - since;
		times_add(&record->times, word ? word_state(word) : STATE_RUNNING,
		          word & WORD_IN_CALL, record->open_ns);
	}
	return 1;
}

/* The workers of the thread's rings, and how many there may be. */
static __always_inline void pools_read(struct task_struct *task, struct park_record *record)
{
	struct io_wq *pools = BPF_CORE_READ(task, io_uring, io_wq);

	if (!pools || !bpf_core_field_exists(pools->acct))
		return;
	record->bounded.now = BPF_CORE_READ(pools, acct[0].nr_workers);
	record->bounded.limit = BPF_CORE_READ(pools, acct[0].max_workers);
	record->unbounded.now = BPF_CORE_READ(pools, acct[1].nr_workers);
	record->unbounded.limit = BPF_CORE_READ(pools, acct[1].max_workers);
}

SEC("iter/task")
int walk_read(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	struct record_copy copy = {};
	struct park_record *record = &copy.record;
	struct thread_mark *mark;
	struct park_thread *t;
	uint32_t claim;

	if (!task) { /* the end of the walk */
		occupancy_change(0, bpf_ktime_get_ns());
		return 0;
	}
	if (!knobs.watch && (!totals.subject || task->tgid != totals.subject))
		return 0;
	t = thread_of(task);
	if (!t)
		return 0;
	mark = mark_of(t);
	claim = READ_ONCE(t->claim);
	if (claim == CLAIM_DEAD ||
	    __sync_val_compare_and_swap(&t->claim, claim, totals.reading) != claim)
		return 0; /* it has ended, and is among the dead */
	copy.thread = t;
	bpf_loop(COPY_TRIES, record_try, &copy, 0);
	if (!copy.done)
		__sync_fetch_and_add(&totals.torn, 1);
	record->tid = t->tid;
	record->number = t->number;
	record->mark = t->mark;
	record->kind = kind_of(task, t, mark);
	if (record->kind == KIND_COUNT)
		record->kind = t->settled ? t->settled - 1 : KIND_APPLICATION;
	if (record->word != WORD_DEAD) {
		mark_add_held(t, mark, &record->times, record->now_ns);
		record->times.voluntary = task->nvcsw - t->voluntary_before;
		record->times.involuntary = task->nivcsw - t->involuntary_before;
	}
	pools_read(task, record);
	bpf_seq_write(context->meta->seq, record, sizeof(*record));
	return 0;
}
