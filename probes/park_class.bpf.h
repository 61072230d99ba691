/*
 * Where a thread sleeps and what that means: first what the kernel alone can tell (its class),
 * then what the thread's own word makes of it (its state).
 */
enum { SYSCALL_RESTART = 219 };

static __always_inline uint32_t class_of_syscall(struct task_struct *task, struct park_thread *t,
                                                 uint32_t sleep_state)
{
	struct pt_regs *registers = (struct pt_regs *)bpf_task_pt_regs(task);
	const long number = registers->orig_ax;

	if (number < 0)
		return CLASS_FAULT; /* outside a system call */
	if (number == SYSCALL_RESTART)
		return t->last_class ? t->last_class : CLASS_OTHER;
	if (number >= PARK_SYSCALLS)
		return CLASS_OTHER;
	/* Its own wait for completions is one that signals end. */
	if (number == SYSCALL_IO_URING_ENTER && sleep_state & TASK_UNINTERRUPTIBLE)
		return CLASS_SUBMITTER;
	return knobs.classes[number];
}

static __always_inline uint32_t class_of(struct task_struct *task, struct park_thread *t,
                                         uint32_t sleep_state)
{
	if (task->flags & PF_IO_WORKER) {
		struct io_worker *worker = task->worker_private;

		if (worker)
			return BPF_CORE_READ(worker, cur_work) ? CLASS_WORKER_BUSY
			                                       : CLASS_WORKER_IDLE;
		return sleep_state & TASK_UNINTERRUPTIBLE ? CLASS_SQPOLL_BUSY : CLASS_SQPOLL_IDLE;
	}
	if (sleep_state & STOPPED_STATES)
		return CLASS_STOPPED;
	if (task->flags & PF_USER_WORKER)
		return CLASS_OTHER;
	return class_of_syscall(task, t, sleep_state);
}

/* How many requests the subject has in flight, where that is known. */
static __always_inline bool any_in_flight(void)
{
	uint32_t zero = 0, *gauge = bpf_map_lookup_elem(&in_flight, &zero);

	return (gauge && *gauge) || READ_ONCE(totals.block_open);
}

/* The same of one of the processes that are watched. */
static __always_inline bool any_of_process(uint32_t process)
{
	struct process_sum *sum = process_of(process);

	return sum && READ_ONCE(sum->block_open);
}

static __always_inline uint32_t state_of_waiter(struct task_struct *task, uint32_t class,
                                                uint32_t doing)
{
	if (doing == DOING_SUBMIT)
		return STATE_PARKED_DIRECT;
	if (knobs.marked)
		return any_in_flight() ? STATE_PARKED_WAITER : STATE_IDLE;
	if (class == CLASS_WAITER_RING && knobs.watch)
		return any_of_process(task->tgid) ? STATE_PARKED_WAITER : STATE_UNSEEN;
	return class == CLASS_WAITER_RING && any_in_flight() ? STATE_PARKED_WAITER : STATE_UNSEEN;
}

static __always_inline uint32_t state_of(struct task_struct *task, struct park_thread *t,
                                         uint32_t class, uint32_t doing, bool is_marked)
{
	if (class == CLASS_STOPPED)
		return STATE_OTHER;
	switch (doing) {
	case DOING_CALL:
		return STATE_PARKED_DIRECT;
	case DOING_WAIT:
		return STATE_PARKED_WAITER;
	case DOING_RESULT:
		return STATE_PARKED_ON_RESULT;
	case DOING_IDLE:
		return STATE_IDLE;
	}
	switch (class) {
	case CLASS_DIRECT:
	case CLASS_SUBMITTER:
	case CLASS_FAULT:
	case CLASS_WORKER_BUSY:
	case CLASS_SQPOLL_BUSY:
		return STATE_PARKED_DIRECT;
	case CLASS_WORKER_IDLE:
	case CLASS_SQPOLL_IDLE:
		return STATE_IDLE;
	case CLASS_WAITER_RING:
	case CLASS_WAITER_POLL:
		return state_of_waiter(task, class, doing);
	case CLASS_FUTEX:
		if (knobs.watch && wait_is_idle(task, t))
			return STATE_IDLE;
		if (!knobs.marked)
			return STATE_UNSEEN;
		return knobs.hidden && !is_marked ? STATE_IDLE : STATE_OTHER;
	default:
		return STATE_OTHER;
	}
}

/* Whose thread it is, from what is known of it now; KIND_COUNT: not known yet. */
static __always_inline uint32_t kind_of(struct task_struct *task, struct park_thread *t,
                                        struct thread_mark *mark)
{
	if (mark)
		return mark->kind;
	if (task->flags & PF_IO_WORKER) /* a worker that ends has given its notes back */
		return task->worker_private || READ_ONCE(t->settled) == KIND_IO_WQ + 1
		           ? KIND_IO_WQ
		           : KIND_SQPOLL;
	if (t->told)
		return t->told - 1;
	return knobs.marked ? KIND_COUNT : KIND_APPLICATION;
}

/* The word of a thread that goes off the CPU: asleep (sleep_state is not 0) or only ready. context:
 * as sleep_cause wants it. */
static __always_inline uint32_t word_off(struct task_struct *task, struct park_thread *t,
                                         uint32_t sleep_state, void *context)
{
	struct thread_mark *mark = mark_of(t);
	const uint32_t doing = mark ? READ_ONCE(mark->doing) : DOING_NOTHING;
	const uint32_t in_call = doing_holds(doing) || t->call_since_ns ? WORD_IN_CALL : 0;
	uint32_t class;

	if (!sleep_state)
		return (STATE_RUNNABLE + 1) | in_call;
	kind_settle(t, kind_of(task, t, mark));
	class = class_of(task, t, sleep_state);
	if (class != CLASS_STOPPED) /* a call that goes on after a stop is restart_syscall */
		t->last_class = class;
	return (state_of(task, t, class, doing, mark != NULL) + 1) | class << WORD_CLASS_SHIFT |
	       in_call | sleep_slot(task, class, context) << WORD_SLOT_SHIFT;
}
