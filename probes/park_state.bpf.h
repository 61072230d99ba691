/*
 * The state of each thread, moved by the scheduler's events. sched_switch and sched_wakeup fire
 * under the run queue lock of the thread they name, so one thread's events never overlap; only
 * the seeding at attach and readings come from the side, and the word's exchange settles those.
 *
 * No sched_waking: a thread that was woken before it had left the CPU never slept, and its
 * switch says so; one that has left is woken by try_to_wake_up, whose last act under the lock,
 * when the thread is queued, is sched_wakeup.
 */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct park_thread);
} threads SEC(".maps");

static __always_inline struct park_thread *thread_of(struct task_struct *task)
{
	return bpf_task_storage_get(&threads, task, 0, 0);
}

/* Not inlined, for the size of its frame. */
static __noinline struct park_thread *thread_begin(struct task_struct *task)
{
	struct park_thread new = {.mark = NO_MARK}, *t = thread_of(task);
	struct pid *pid = BPF_CORE_READ(task, thread_pid);

	if (t)
		return t;
	new.number = __sync_fetch_and_add(&totals.births, 1) + 1;
	new.born_ns = new.since_ns = bpf_ktime_get_ns();
	new.delay_before_ns = task->sched_info.run_delay;
	new.arrival_before_ns = task->sched_info.last_arrival;
	if (pid) { /* as gettid() says it, in whatever pid namespace */
		const uint32_t level = BPF_CORE_READ(pid, level);

		new.tid = pid_number(pid, level);
	}
	t = bpf_task_storage_get(&threads, task, &new, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!t)
		__sync_fetch_and_add(&totals.storage_failed, 1);
	return t;
}

static __always_inline uint32_t word_state(uint32_t word)
{
	return (word & WORD_STATE) - 1; /* of a word that is neither unknown nor dead */
}

static __always_inline bool word_is(uint32_t word, uint32_t first, uint32_t last)
{
	const uint32_t state = word & WORD_STATE;

	return state >= first + 1 && state <= last + 1;
}

static __always_inline bool word_parked(uint32_t word)
{
	return word_is(word, STATE_PARKED_DIRECT, STATE_PARKED_ON_RESULT);
}

static __always_inline bool word_asleep(uint32_t word)
{
	return word_is(word, STATE_PARKED_DIRECT, STATE_UNSEEN);
}

static __always_inline void times_add(struct park_times *times, uint32_t state, bool in_call,
                                      uint64_t ns)
{
	times->state_ns[state & (STATE_COUNT - 1)] += ns;
	if (!in_call)
		return;
	if (state == STATE_RUNNABLE)
		times->in_call_runnable_ns += ns;
	else if (state != STATE_RUNNING)
		times->in_call_off_ns += ns;
}

/* Moves the thread's word and closes the interval that ends. What the thread was doing until
 * now is told by the event better than by the word: awake says whether it ran or was ready.
 * Returns the old word. To be called while sequence is odd. */
static __always_inline uint32_t word_move(struct park_thread *t, uint32_t word, uint32_t awake,
                                          uint64_t now_ns)
{
	const uint64_t elapsed = now_ns > t->since_ns ? now_ns - t->since_ns : 0;
	const uint32_t old = __sync_lock_test_and_set(&t->word, word);
	const uint32_t state = word_asleep(old) ? word_state(old) : awake;

	times_add(&t->times, state, old & WORD_IN_CALL, elapsed);
	sleep_ends(old, elapsed);
	sleep_begins(word);
	if (knobs.watch) {
		place_close(t, now_ns);
		wait_closed(t, state, old >> WORD_CLASS_SHIFT & 0xff, elapsed);
	}
	t->since_ns = now_ns;
	if (word_asleep(word)) {
		t->times.sleeps++;
		t->times.parks += word_parked(word);
	}
	return old;
}

static __always_inline void sequence_step(struct park_thread *t)
{
	barrier();
	WRITE_ONCE(t->sequence, t->sequence + 1);
	barrier();
}

static __always_inline uint32_t thread_move(struct park_thread *t, uint32_t word, uint32_t awake,
                                            uint64_t now_ns)
{
	uint32_t old;

	sequence_step(t);
	old = word_move(t, word, awake, now_ns);
	sequence_step(t);
	if (word_parked(old) != word_parked(word))
		occupancy_change(word_parked(word) ? 1 : -1, now_ns);
	return old;
}

static __always_inline void times_sum(struct park_times *to, const struct park_times *from)
{
	uint64_t *sum = (uint64_t *)to;
	const uint64_t *part = (const uint64_t *)from;

	for (int i = 0; i < PARK_TIMES_WORDS; i++)
		__sync_fetch_and_add(&sum[i], part[i]);
}

/* The thread has run for the last time. If a reading has taken it already, that is told apart,
 * so that the reading can subtract it. */
static __noinline int thread_end(struct task_struct *task, struct park_thread *t, uint64_t now_ns)
{
	struct thread_mark *mark;
	uint32_t claim, kind;

	if (!task || !t)
		return 0;
	mark = mark_of(t);
	kind_settle(t, kind_of(task, t, mark));
	kind = t->settled && t->settled <= KIND_COUNT ? t->settled - 1 : KIND_APPLICATION;
	__sync_fetch_and_add(&totals.deaths.begun, 1);
	claim = __sync_lock_test_and_set(&t->claim, CLAIM_DEAD);
	sequence_step(t);
	word_move(t, WORD_DEAD, STATE_RUNNING, now_ns);
	mark_add_held(t, mark, &t->times, now_ns);
	t->times.voluntary = task->nvcsw - t->voluntary_before;
	t->times.involuntary = task->nivcsw - t->involuntary_before;
	t->times.threads = 1;
	sequence_step(t);
	times_sum(&totals.dead[kind], &t->times);
	if (claim && claim == READ_ONCE(totals.reading))
		times_sum(&totals.twice[claim & 1][kind], &t->times);
	if (t->number > READ_ONCE(totals.births_before_reading))
		__sync_fetch_and_add(&totals.young[READ_ONCE(totals.reading) & 1], 1);
	if (t->settled)
		__sync_fetch_and_add(&totals.now[kind], -1);
	__sync_fetch_and_add(&totals.deaths.ended, 1);
	if (knobs.watch)
		process_shrinks(task->tgid);
	return 0;
}

/* Some events are not seen: a kernel may keep tracing away from a process of its own choice, and
 * what happens while that one is current happens unseen, a wake-up or a switch to one of ours. The
 * scheduler's own notes of when a thread was queued and when it got its CPU put the times right, as
 * soon as the thread's next event shows the gap. They are in the run queue's clock. */
struct notes {
	uint64_t queued_ns, arrived_ns; /* 0: not noted */
};

static __always_inline bool notes_read(struct task_struct *task, uint64_t now_ns,
                                       struct notes *notes)
{
	uint64_t ahead_ns;

	if (!bpf_core_field_exists(task->sched_info.last_queued) ||
	    !bpf_core_field_exists(task->se.cfs_rq))
		return false;
	ahead_ns = now_ns - BPF_CORE_READ(task, se.cfs_rq, rq, clock);
	notes->queued_ns = task->sched_info.last_queued;
	if (notes->queued_ns)
		notes->queued_ns += ahead_ns;
	notes->arrived_ns = task->sched_info.last_arrival;
	if (notes->arrived_ns)
		notes->arrived_ns += ahead_ns;
	return true;
}

/* The run queue's clock and ours may be moments apart. */
static __always_inline uint64_t clamp_ns(uint64_t moment_ns, uint64_t from_ns, uint64_t to_ns)
{
	return moment_ns < from_ns ? from_ns : moment_ns > to_ns ? to_ns : moment_ns;
}

static __always_inline void wake_at(struct park_thread *t, uint64_t woken_ns)
{
	const uint32_t in_call = READ_ONCE(t->word) & WORD_IN_CALL;

	__sync_fetch_and_add(&totals.late_wakeups, 1);
	thread_move(t, (STATE_RUNNABLE + 1) | in_call, STATE_RUNNABLE, woken_ns);
}

/* A thread gets the CPU whose wake-up was not seen. */
static __always_inline void wake_late(struct task_struct *task, struct park_thread *t,
                                      uint64_t now_ns)
{
	struct notes notes;

	if (notes_read(task, now_ns, &notes) && notes.queued_ns)
		wake_at(t, clamp_ns(notes.queued_ns, t->since_ns, now_ns));
	else
		__sync_fetch_and_add(&totals.lost_wakeups, 1);
}

/* A thread was not seen to get the CPU that it has; its wait for it is what its books grew by. */
static __always_inline void arrive_late(struct task_struct *task, struct park_thread *t,
                                        uint64_t now_ns)
{
	struct notes notes;
	uint64_t arrived_ns, waited_ns;

	if (!notes_read(task, now_ns, &notes) || !notes.arrived_ns) {
		__sync_fetch_and_add(&totals.lost_switches, 1);
		return;
	}
	arrived_ns = clamp_ns(notes.arrived_ns, t->since_ns, now_ns);
	waited_ns = task->sched_info.run_delay - t->delay_before_ns;
	if (word_asleep(READ_ONCE(t->word)))
		wake_at(t, clamp_ns(arrived_ns - waited_ns, t->since_ns, arrived_ns));
	__sync_fetch_and_add(&totals.late_switches, 1);
	thread_move(t, STATE_RUNNING + 1, STATE_RUNNABLE, arrived_ns);
}

static __always_inline void thread_sleep(struct task_struct *task, struct park_thread *t,
                                         uint32_t sleep_state, uint64_t now_ns, void *context)
{
	const uint32_t word = word_off(task, t, sleep_state, context);

	thread_move(t, word, STATE_RUNNING, now_ns);
	if (knobs.folds && sleep_state)
		fold_take(context, t);
	if (knobs.watch && sleep_state)
		place_open(task, t, word, now_ns);
}

/* The thread leaves the CPU. */
static __always_inline void thread_out(struct task_struct *task, struct park_thread *t,
                                       uint32_t sleep_state, uint64_t now_ns, void *context)
{
	const uint32_t word = READ_ONCE(t->word);

	if (word != STATE_RUNNING + 1 && word != WORD_UNKNOWN)
		arrive_late(task, t, now_ns);
	t->delay_before_ns = task->sched_info.run_delay;
	t->arrival_before_ns = task->sched_info.last_arrival;
	if (sleep_state & TASK_DEAD)
		thread_end(task, t, now_ns);
	else
		thread_sleep(task, t, sleep_state, now_ns, context);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempted, struct task_struct *out, struct task_struct *in,
             unsigned int sleep_state)
{
	struct park_thread *t = thread_of(out);
	uint64_t now_ns = 0;

	if (t) {
		now_ns = bpf_ktime_get_ns();
		thread_out(out, t, preempted ? 0 : sleep_state, now_ns, ctx);
	}
	t = thread_of(in);
	if (t) {
		if (!now_ns)
			now_ns = bpf_ktime_get_ns();
		if (word_asleep(READ_ONCE(t->word)))
			wake_late(in, t, now_ns);
		thread_move(t, STATE_RUNNING + 1, STATE_RUNNABLE, now_ns);
	}
	return 0;
}

static __always_inline int thread_wake(struct task_struct *task)
{
	struct park_thread *t = thread_of(task);
	uint32_t word;

	if (!t)
		return 0;
	word = READ_ONCE(t->word);
	if (!word_asleep(word) && word != WORD_UNKNOWN)
		return 0;
	if (word_asleep(word) && task->sched_info.last_arrival != t->arrival_before_ns)
		arrive_late(task, t, bpf_ktime_get_ns()); /* it does not sleep at all */
	else
		thread_move(t, (STATE_RUNNABLE + 1) | (word & WORD_IN_CALL), STATE_RUNNABLE,
		            bpf_ktime_get_ns());
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_wakeup, struct task_struct *task)
{
	return thread_wake(task);
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_wakeup_new, struct task_struct *task)
{
	return thread_wake(task);
}

/* Who has a watched parent is watched: a thread always, a process where children are. */
static __always_inline int watch_newtask(struct task_struct *task, bool is_thread)
{
	struct task_struct *parent = bpf_get_current_task_btf();

	if (!thread_of(parent))
		return 0;
	if (!is_thread && !knobs.children) {
		process_leaves_child(parent->tgid);
		return 0;
	}
	if (!is_thread)
		process_begin(task->tgid, false);
	if (thread_begin(task))
		process_grows(task->tgid);
	return 0;
}

/* Not sched_process_fork: io_uring's threads appear only here. */
SEC("tp_btf/task_newtask")
int BPF_PROG(on_newtask, struct task_struct *task, uint64_t clone_flags)
{
	if (knobs.watch)
		return watch_newtask(task, clone_flags & CLONE_THREAD);
	if (clone_flags & CLONE_THREAD && totals.subject && task->tgid == totals.subject)
		thread_begin(task);
	return 0;
}
