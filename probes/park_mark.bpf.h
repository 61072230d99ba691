/*
 * What a thread says of itself: its mark in the table that it shares with us.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, THREADS_MAX);
	__type(key, uint32_t);
	__type(value, struct thread_mark);
} marks SEC(".maps");

struct mark_search {
	uint64_t born_ns;
	uint32_t tid;
	uint32_t place; /* where it was found, or NO_MARK */
};

static long mark_look(uint32_t index, struct mark_search *search)
{
	uint32_t place = (search->tid + index) & (THREADS_MAX - 1);
	struct thread_mark *mark = bpf_map_lookup_elem(&marks, &place);

	if (!mark || !mark->tid)
		return 1;
	if (mark->tid != search->tid || (mark->ended && mark->since_ns < search->born_ns))
		return 0;
	search->place = place;
	return 1;
}

/* Looks for the thread's mark from its tid on, as thread_mark_claim does. A mark that ended
 * before this thread was born is of an earlier thread of the same tid. */
static __noinline uint32_t mark_find(struct park_thread *t)
{
	struct mark_search search = {.place = NO_MARK};

	if (!t)
		return NO_MARK;
	search.tid = t->tid;
	search.born_ns = t->born_ns;
	bpf_loop(THREADS_PROBE_MAX, mark_look, &search, 0);
	t->mark = search.place;
	return search.place;
}

static __always_inline struct thread_mark *mark_of(struct park_thread *t)
{
	uint32_t place = t->mark;

	if (!knobs.marked)
		return NULL;
	if (place == NO_MARK)
		place = mark_find(t);
	return place == NO_MARK ? NULL : bpf_map_lookup_elem(&marks, &place);
}

static __always_inline bool doing_holds(uint32_t doing)
{
	return doing == DOING_CALL || doing == DOING_WAIT || doing == DOING_RESULT;
}

/* held_ns and called_ns of a thread up to now, by its mark or by its system calls. */
static __always_inline void mark_add_held(struct park_thread *t, struct thread_mark *mark,
                                          struct park_times *times, uint64_t now_ns)
{
	uint64_t held = 0, called = 0, open = 0;

	if (!mark) {
		open = t->call_since_ns;
		open = open && now_ns > open ? now_ns - open : 0;
		times->held_ns += open;
		times->called_ns += open;
		return;
	}
	for (int i = 0; i < 16; i++) {
		const uint32_t sequence = READ_ONCE(mark->sequence);
		const uint32_t doing = READ_ONCE(mark->doing);
		const uint64_t since = READ_ONCE(mark->since_ns);

		held = READ_ONCE(mark->held_ns);
		called = READ_ONCE(mark->served_ns);
		open = now_ns > since && doing_holds(doing) ? now_ns - since : 0;
		held += open;
		called += doing == DOING_CALL ? open : 0;
		if (!(sequence & 1) && sequence == READ_ONCE(mark->sequence))
			break;
	}
	times->held_ns = held;
	times->called_ns = called;
}

/* Counts the thread in the gauge of its kind, or moves it there. */
static __always_inline void kind_settle(struct park_thread *t, uint32_t kind)
{
	uint32_t old, now;

	if (kind >= KIND_COUNT || READ_ONCE(t->settled) == kind + 1)
		return;
	old = __sync_lock_test_and_set(&t->settled, kind + 1);
	if (old == kind + 1)
		return;
	if (old && old <= KIND_COUNT)
		__sync_fetch_and_add(&totals.now[old - 1], -1);
	now = __sync_fetch_and_add(&totals.now[kind], 1) + 1;
	for (int i = 0; i < 16; i++) {
		const uint32_t most = READ_ONCE(totals.most[kind]);

		if (most >= now ||
		    __sync_val_compare_and_swap(&totals.most[kind], most, now) == most)
			break;
	}
}
