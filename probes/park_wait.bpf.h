/*
 * Watching programs that are not ours: what a thread's waits on futexes tell of it. Where it waits
 * again and again, and who ends its waits: one that gives it work, or one that brings the result
 * of an I/O. Accounted at sched_waking, which alone happens where the waker is.
 */
enum { FUTEX_WORDS = 8, IO_OF_RUN = 4, IO_OF_WAIT = 8 };

/* Where a thread waits that is inside a call on a futex. */
static __always_inline uint64_t wait_place(struct task_struct *task)
{
	return ((struct pt_regs *)bpf_task_pt_regs(task))->di / FUTEX_WORDS;
}

/* A pool's thread has no work where it waits most. */
static __always_inline bool wait_is_idle(struct task_struct *task, struct park_thread *t)
{
	return t->told == KIND_POOL + 1 && t->waits.place == wait_place(task);
}

/* Finds the value that comes in more than half of all cases. True while it is this one. */
static __always_inline bool wait_vote(uint64_t *most, uint32_t *votes, uint64_t value)
{
	if (!*votes)
		*most = value;
	if (*most == value)
		++*votes;
	else
		--*votes;
	return *most == value;
}

/* A sleep for a file, or on a ring whose requests the disk has. */
static __always_inline bool wait_was_io(const struct park_thread *t, uint32_t state, uint32_t class)
{
	if (state == STATE_PARKED_WAITER)
		return true;
	return class == CLASS_FAULT ||
	       (state == STATE_PARKED_DIRECT &&
	        (t->place.object == OBJECT_FILE || t->place.object == OBJECT_DEVICE));
}

/* An interval of a thread has ended, in that state and, if it was a sleep, of that class. */
static __always_inline void wait_closed(struct park_thread *t, uint32_t state, uint32_t class,
                                        uint64_t elapsed_ns)
{
	if (state == STATE_RUNNING)
		t->ran_ns += elapsed_ns;
	if (class == CLASS_NONE)
		return;
	t->before_ns = 0;
	if (class == CLASS_FUTEX && !t->place.lock) {
		t->io_ns = t->ran_ns = 0;
		t->gave = 0;
	} else if (wait_was_io(t, state, class)) {
		t->io_ns += elapsed_ns;
	}
}

/* Whoever gave work to others and is brought back by one that was parked for I/O, and not for much
 * less than it computed, waited for that I/O. A wait that was much longer had other reasons. */
static __always_inline void wait_by_io(struct park_thread *t, struct park_thread *waker,
                                       uint64_t now_ns)
{
	const uint64_t waited_ns = now_ns > t->since_ns ? now_ns - t->since_ns : 0;
	const uint64_t ran_ns = waker->ran_ns + now_ns - waker->since_ns;

	if (!t->gave)
		return;
	t->waits.asked++;
	if (IO_OF_RUN * waker->io_ns < ran_ns || IO_OF_WAIT * waker->io_ns < waited_ns)
		return;
	t->waits.by_io++;
	t->waits.by_io_ns += waited_ns;
	t->waits.io_waker = waker->number;
	if (waker->place.class != CLASS_FUTEX) /* its last sleep */
		t->waits.io_place = waker->place;
}

/* A thread's wait on a futex ends, by another thread of its process. */
static __noinline int wait_ended(struct task_struct *task, struct park_thread *t,
                                 struct park_thread *waker, uint64_t now_ns)
{
	struct futex_waits *waits;
	uint64_t place;

	if (!task || !t || !waker)
		return 0;
	waits = &t->waits;
	place = wait_place(task);
	if (!wait_is_idle(task, t))
		wait_by_io(t, waker, now_ns);
	if (waker->waits.place == place) {
		waits->passed_on++;
		return 0;
	}
	waker->gave += waits->place == place;
	waits->given++;
	wait_vote(&waits->giver, &waits->giver_votes, waker->number);
	return 0;
}

/* And by whomever, a time limit included. */
static __always_inline void wait_count(struct task_struct *task, struct park_thread *t)
{
	struct futex_waits *waits = &t->waits;
	const uint64_t before = waits->place;

	waits->count++;
	if (!wait_vote(&waits->place, &waits->votes, wait_place(task)))
		return;
	if (waits->place != before)
		waits->at_place = 0;
	waits->at_place++;
}
