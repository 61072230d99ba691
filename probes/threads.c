/*
 * The marks by which a subject's threads describe themselves: see threads.h.
 */
#include "probes/threads.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

enum { READ_TRIES = 1000 };

struct thread_mark *thread_mark_claim(struct thread_mark *table, enum thread_kind kind)
{
	const uint32_t tid = (uint32_t)gettid();

	assert(kind < KIND_COUNT);
	for (uint32_t i = 0; i < THREADS_PROBE_MAX; i++) {
		struct thread_mark *mark = &table[(tid + i) & (THREADS_MAX - 1)];
		uint32_t free = 0;

		if (__atomic_load_n(&mark->tid, __ATOMIC_RELAXED) != 0)
			continue;
		/* The kind stands before the tid does: who finds the mark finds it whole. A place
		 * lost to another thread is written by that one again. */
		if (!__atomic_compare_exchange_n(&mark->tid, &free, THREAD_MARK_CLAIMED, false,
		                                 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		mark->kind = (uint8_t)kind;
		__atomic_store_n(&mark->tid, tid, __ATOMIC_RELEASE);
		return mark;
	}
	return NULL;
}

static bool is_held(uint8_t doing)
{
	return doing == DOING_CALL || doing == DOING_WAIT || doing == DOING_RESULT;
}

/* Adds what the thread did since since_ns, up to now. */
static void account(struct thread_mark *mark, uint64_t now_ns)
{
	const uint64_t elapsed_ns = now_ns > mark->since_ns ? now_ns - mark->since_ns : 0;

	if (is_held(mark->doing))
		mark->held_ns += elapsed_ns;
	if (mark->doing == DOING_CALL)
		mark->served_ns += elapsed_ns;
	if (mark->doing == DOING_RESULT)
		mark->result_ns += elapsed_ns;
	if (mark->doing == DOING_IDLE)
		mark->idle_ns += elapsed_ns;
}

static void change(struct thread_mark *mark, enum thread_doing doing, bool ended, uint64_t now_ns)
{
	const uint32_t sequence = mark->sequence;

	__atomic_store_n(&mark->sequence, sequence + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	account(mark, now_ns);
	mark->doing = (uint8_t)doing;
	mark->since_ns = now_ns;
	mark->ended = ended;
	__atomic_store_n(&mark->sequence, sequence + 2, __ATOMIC_RELEASE);
}

void thread_mark_set(struct thread_mark *mark, enum thread_doing doing, uint64_t now_ns)
{
	assert(doing < DOING_COUNT && !mark->ended);
	change(mark, doing, false, now_ns);
}

void thread_mark_end(struct thread_mark *mark, uint64_t now_ns)
{
	assert(!mark->ended);
	change(mark, DOING_NOTHING, true, now_ns);
}

struct thread_mark thread_mark_read(const struct thread_mark *mark, uint64_t now_ns)
{
	struct thread_mark copy = {0};

	/* A thread that is preempted inside change() leaves the sequence odd for a while; the
	 * words of its mark are then old or new, each whole: off by that one change. */
	for (int i = 0; i < READ_TRIES; i++) {
		const uint32_t sequence = __atomic_load_n(&mark->sequence, __ATOMIC_ACQUIRE);

		copy = *(const volatile struct thread_mark *)mark;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (!(sequence & 1) &&
		    sequence == __atomic_load_n(&mark->sequence, __ATOMIC_RELAXED))
			break;
	}
	account(&copy, now_ns);
	return copy;
}
