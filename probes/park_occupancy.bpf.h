/*
 * How many threads are parked while how many requests are in flight. One 64-bit word holds both
 * counts and the time of the last change, so that whoever changes it by compare-and-exchange
 * owns the time that has passed, and adds it to the histogram: no event is counted twice or lost.
 */
enum {
	TIME_BITS = 30, /* in units of 64 ns: a turn is 68.7 s */
	TIME_SHIFT = 6,
	COUNT_BITS = 17,
	COUNT_MAX = (1 << COUNT_BITS) - 1,
	CHANGE_TRIES = 64,
};
#define TIME_MASK ((1ull << TIME_BITS) - 1)

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, uint32_t);
} in_flight SEC(".maps");

/* As probe_occupancy_bucket, by a table: branches would have to be verified, each way. */
static __always_inline uint32_t occupancy_bucket(uint32_t count)
{
	uint32_t doubling;

	if (count < 64)
		return count;
	doubling = knobs.doublings[(count >> 6) & (PARK_DOUBLINGS - 1)];
	return 64 + doubling * 4 + ((count >> doubling >> 4) & 3);
}

/* The time since the word was set, in units. The word alone knows it but for whole turns; the
 * plain copy of its time is right within moments, and tells the turns. */
static __always_inline int64_t occupancy_elapsed(uint64_t word, uint64_t units)
{
	const int64_t about = units - (READ_ONCE(totals.updated_ns) >> TIME_SHIFT);
	const uint64_t in_turn = (units - word) & TIME_MASK;
	const int64_t wrong = (int64_t)((in_turn - about) << (64 - TIME_BITS)) >> (64 - TIME_BITS);

	return about + wrong;
}

static __always_inline uint32_t parked_now(void)
{
	return READ_ONCE(totals.word) >> (TIME_BITS + COUNT_BITS);
}

struct occupancy_step {
	uint64_t now_ns, flight;
	int by;
	bool done;
};

/* One try to move the word; 1 ends the loop. */
static __always_inline long occupancy_try(struct occupancy_step *step)
{
	const uint64_t units = step->now_ns >> TIME_SHIFT;
	const uint64_t old = READ_ONCE(totals.word);
	const uint32_t parked = old >> (TIME_BITS + COUNT_BITS);
	const int64_t elapsed = occupancy_elapsed(old, units);
	const uint64_t time = elapsed < 0 ? old & TIME_MASK : units & TIME_MASK;
	const uint64_t count = (parked + step->by) & COUNT_MAX;
	const uint64_t new = count << (TIME_BITS + COUNT_BITS) | step->flight << TIME_BITS | time;
	uint32_t x, y;

	if (__sync_val_compare_and_swap(&totals.word, old, new) != old)
		return 0;
	step->done = true;
	if (elapsed <= 0)
		return 1;
	WRITE_ONCE(totals.updated_ns, step->now_ns);
	x = occupancy_bucket(parked) & (PROBE_OCCUPANCY_AXIS - 1);
	y = occupancy_bucket(old >> TIME_BITS & COUNT_MAX) & (PROBE_OCCUPANCY_AXIS - 1);
	__sync_fetch_and_add(&totals.occupancy_ns[x][y], (uint64_t)elapsed << TIME_SHIFT);
	return 1;
}

static long occupancy_retry(uint32_t index, struct occupancy_step *step)
{
	return occupancy_try(step);
}

static __noinline int occupancy_change(int by, uint64_t now_ns)
{
	uint32_t zero = 0, *gauge = bpf_map_lookup_elem(&in_flight, &zero);
	struct occupancy_step step = {.now_ns = now_ns, .by = by};

	step.flight = gauge ? READ_ONCE(*gauge) : 0;
	if (step.flight > COUNT_MAX) {
		__sync_fetch_and_add(&totals.overflowed, 1);
		step.flight = COUNT_MAX;
	}
	/* Mostly nobody comes between. A helper's loop is verified once, not step by step. */
	if (occupancy_try(&step))
		return 0;
	bpf_loop(CHANGE_TRIES, occupancy_retry, &step, 0);
	if (!step.done)
		__sync_fetch_and_add(&totals.contended, 1);
	return 0;
}
