/* The shared counters of a subject: see witness.h. */
#include "bench/witness.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { READ_TRIES = 50000 }; /* half a second */

static size_t witness_bytes(uint32_t threads, uint32_t slots)
{
	return sizeof(struct witness) +
	       threads * (sizeof(struct witness_thread) + sizeof(struct witness_schedule)) +
	       slots * sizeof(uint64_t);
}

struct witness *witness_make(uint32_t threads, uint32_t slots)
{
	struct witness *witness = mmap(NULL, witness_bytes(threads, slots), PROT_READ | PROT_WRITE,
	                               MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (witness == MAP_FAILED)
		return NULL;
	witness->threads = threads;
	witness->slots = slots;
	/* A fork leaves them where they are. */
	witness->schedule = (void *)&witness->thread[threads];
	witness->scheduled_ns = (void *)&witness->schedule[threads];
	return witness;
}

void witness_free(struct witness *witness)
{
	if (witness)
		munmap(witness, witness_bytes(witness->threads, witness->slots));
}

/* A copy that no write has torn: the sequence was even, and the same before and after. False when
 * there is none to be had: the writer has died, or was stopped, in the midst of a write. */
static bool read_thread(const struct witness_thread *thread, struct witness_thread *copy)
{
	for (uint32_t i = 0; i < READ_TRIES; i++) {
		const uint32_t before = __atomic_load_n(&thread->sequence, __ATOMIC_ACQUIRE);

		*copy = *(const volatile struct witness_thread *)thread;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (before % 2 == 0 &&
		    before == __atomic_load_n(&thread->sequence, __ATOMIC_RELAXED))
			return true;
		if (i % 100 == 99)
			usleep(1000); /* it may need this CPU to finish */
	}
	return false;
}

/* What the schedules of an open loop have come to. */
static void read_schedules(const struct witness *witness, struct witness_sums *sums)
{
	uint64_t oldest_ns = UINT64_MAX;
	const uint64_t now_ns = witness_now_ns();

	for (uint32_t i = 0; i < witness->threads; i++) {
		const struct witness_schedule *s = &witness->schedule[i];
		const uint64_t next_ns = __atomic_load_n(&s->next_ns, __ATOMIC_RELAXED);
		const uint32_t epoch = __atomic_load_n(&s->epoch, __ATOMIC_ACQUIRE);
		const uint64_t min_ns = __atomic_load_n(&s->min_ns, __ATOMIC_RELAXED);
		const uint64_t max_ns = __atomic_load_n(&s->max_ns, __ATOMIC_RELAXED);

		if (next_ns && next_ns < oldest_ns)
			oldest_ns = next_ns;
		if (epoch != witness->epoch || !max_ns)
			continue;
		if (!sums->scheduled_max_ns || min_ns < sums->scheduled_min_ns)
			sums->scheduled_min_ns = min_ns;
		if (max_ns > sums->scheduled_max_ns)
			sums->scheduled_max_ns = max_ns;
	}
	for (uint32_t i = 0; i < witness->slots; i++) {
		const uint64_t at_ns = __atomic_load_n(&witness->scheduled_ns[i], __ATOMIC_RELAXED);

		if (at_ns && at_ns < oldest_ns)
			oldest_ns = at_ns;
	}
	sums->unfinished_ns = oldest_ns < now_ns ? now_ns - oldest_ns : 0;
	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++)
		sums->latency_scheduled.counts[i] = __atomic_load_n(
		    &witness->latency_scheduled.counts[i], __ATOMIC_RELAXED);
}

int witness_read(const struct witness *witness, struct witness_sums *sums)
{
	const uint64_t begin_ns = witness_now_ns();
	uint64_t moments_ns = 0; /* the sum of the threads' moments, counted from begin_ns */

	assert(witness->threads >= 1);
	memset(sums, 0, sizeof *sums);
	for (uint32_t i = 0; i < witness->threads; i++) {
		struct witness_thread t;
		uint64_t now_ns;

		if (!read_thread(&witness->thread[i], &t))
			return -EBUSY;
		now_ns = witness_now_ns();
		moments_ns += now_ns - begin_ns;
		sums->in_flight_ns += t.in_flight_ns;
		if (now_ns > t.changed_ns)
			sums->in_flight_ns += t.in_flight * (now_ns - t.changed_ns);
		sums->operations += t.operations;
		sums->bytes += t.bytes;
		sums->shorts += t.shorts;
		sums->wrong += t.wrong;
		sums->failed += t.failed;
		sums->compute_units += t.compute_units;
		if (t.alone_ns)
			sums->alone_per_s += (double)t.alone_units * 1e9 / (double)t.alone_ns;
		if (t.epoch != witness->epoch || !t.latency_max_ns)
			continue;
		if (!sums->latency_max_ns || t.latency_min_ns < sums->latency_min_ns)
			sums->latency_min_ns = t.latency_min_ns;
		if (t.latency_max_ns > sums->latency_max_ns)
			sums->latency_max_ns = t.latency_max_ns;
	}
	sums->time_ns = begin_ns + moments_ns / witness->threads;
	sums->took_ns = witness_now_ns() - begin_ns;
	for (uint32_t i = 0; i < WITNESS_ERRNO_MAX; i++)
		sums->errors[i] = __atomic_load_n(&witness->errors[i], __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++)
		sums->latency.counts[i] = __atomic_load_n(&witness->latency.counts[i],
		                                          __ATOMIC_RELAXED);
	read_schedules(witness, sums);
	return 0;
}

void witness_break(struct witness *witness, const char *why)
{
	uint32_t none = 0;

	/* 2: being written; readers look for 1 */
	if (!__atomic_compare_exchange_n(&witness->broken, &none, 2, false, __ATOMIC_ACQ_REL,
	                                 __ATOMIC_RELAXED))
		return;
	snprintf(witness->why, sizeof witness->why, "%s", why);
	witness_signal(&witness->broken, 1);
}

void witness_wake(const uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void witness_signal(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
	witness_wake(word);
}

void witness_count(uint32_t *word)
{
	__atomic_fetch_add(word, 1, __ATOMIC_RELEASE);
	witness_wake(word);
}

void witness_wait(const uint32_t *word, uint32_t value, int64_t timeout_ns)
{
	const struct timespec timeout = {.tv_sec = timeout_ns / 1000000000,
	                                 .tv_nsec = timeout_ns % 1000000000};

	if (__atomic_load_n(word, __ATOMIC_ACQUIRE) == value)
		syscall(SYS_futex, word, FUTEX_WAIT, value, timeout_ns < 0 ? NULL : &timeout, NULL,
		        0);
}

uint64_t witness_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
