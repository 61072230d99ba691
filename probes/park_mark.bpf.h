/*
 * What a thread says of itself: its mark in the table that it shares with us.
 */
enum { READ_TRIES = 32 };

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

struct mark_copy {
	const struct thread_mark *mark;
	uint64_t since_ns, held_ns, called_ns;
	uint32_t doing;
};

/* One try to read a mark while nobody writes it; 1 ends the loop. */
static long mark_copy(uint32_t index, struct mark_copy *copy)
{
	const struct thread_mark *mark = copy->mark;
	uint32_t sequence;

	if (!mark)
		return 1;
	sequence = READ_ONCE(mark->sequence);
	copy->doing = READ_ONCE(mark->doing);
	copy->since_ns = READ_ONCE(mark->since_ns);
	copy->held_ns = READ_ONCE(mark->held_ns);
	copy->called_ns = READ_ONCE(mark->served_ns);
	return !(sequence & 1) && sequence == READ_ONCE(mark->sequence);
}

/* held_ns and called_ns of a thread up to now, by its mark or by its system calls. */
static __always_inline void mark_add_held(struct park_thread *t, struct thread_mark *mark,
                                          struct park_times *times, uint64_t now_ns)
{
	struct mark_copy copy = {.mark = mark};
	uint64_t open;

	if (!mark) {
		open = t->call_since_ns;
		open = open && now_ns > open ? now_ns - open : 0;
		times->held_ns += open;
		times->called_ns += open;
		return;
	}
	bpf_loop(READ_TRIES, mark_copy, &copy, 0);
	open = now_ns > copy.since_ns && doing_holds(copy.doing) ? now_ns - copy.since_ns : 0;
	times->held_ns = copy.held_ns + open;
	times->called_ns = copy.called_ns + (copy.doing == DOING_CALL ? open : 0);
}

struct kind_peak {
	uint32_t kind, now;
};

static long kind_raise(uint32_t index, struct kind_peak *peak)
{
	uint32_t *most = &totals.most[peak->kind & (PARK_KINDS - 1)];
	const uint32_t before = READ_ONCE(*most);

	return before >= peak->now ||
	       __sync_val_compare_and_swap(most, before, peak->now) == before;
}

/* Counts the thread in the gauge of its kind, or moves it there. */
static __always_inline void kind_settle(struct park_thread *t, uint32_t kind)
{
	struct kind_peak peak = {.kind = kind};
	uint32_t old;

	if (kind >= KIND_COUNT || READ_ONCE(t->settled) == kind + 1)
		return;
	old = __sync_lock_test_and_set(&t->settled, kind + 1);
	if (old == kind + 1)
		return;
	if (old && old <= KIND_COUNT)
		__sync_fetch_and_add(&totals.now[old - 1], -1);
	peak.now = __sync_fetch_and_add(&totals.now[kind], 1) + 1;
	bpf_loop(CHANGE_TRIES, kind_raise, &peak, 0);
}
