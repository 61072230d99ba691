/* What the processes of a case share: see board.h. */
#include "bench/scenario/board.h"

#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "bench/witness.h"

/* The calling thread's. */
static _Thread_local struct thread_mark *own_mark;
static _Thread_local uint32_t own_row; /* + 1 */

void board_ready(struct board_side *side)
{
	struct board *b = side->board;

	board_doing(DOING_IDLE);
	witness_signal(&b->ready, 1);
	while (!__atomic_load_n(&b->go, __ATOMIC_ACQUIRE))
		witness_wait(&b->go, 0, -1);
	board_doing(DOING_NOTHING);
	b->begin_ns = witness_now_ns();
}

void board_break(struct board_side *side, bool refused, const char *why)
{
	struct board *b = side->board;
	uint32_t free = 0;

	if (!__atomic_compare_exchange_n(&b->broken, &free, 2, false, __ATOMIC_ACQUIRE,
	                                 __ATOMIC_RELAXED))
		return;
	b->refused = refused;
	snprintf(b->why, sizeof b->why, "%s", why);
	witness_signal(&b->broken, 1);
	witness_signal(&b->ready, 1);
	witness_signal(&b->finished, 1);
}

void board_thread_begin(struct board_side *side, enum thread_kind kind, const char *name)
{
	own_mark = thread_mark_claim(side->marks, kind);
	own_row = __atomic_add_fetch(&side->board->rows, 1, __ATOMIC_RELAXED);
	snprintf(side->board->names[kind], sizeof side->board->names[kind], "%s", name);
	prctl(PR_SET_NAME, name);
	board_doing(DOING_NOTHING);
}

void board_rest(struct board_side *side, uint32_t *resting)
{
	board_doing(DOING_IDLE);
	witness_count(resting);
	while (!__atomic_load_n(&side->board->stop, __ATOMIC_ACQUIRE))
		witness_wait(&side->board->stop, 0, -1);
}

void board_await(const uint32_t *resting, uint32_t count)
{
	uint32_t now;

	board_doing(DOING_IDLE);
	while ((now = __atomic_load_n(resting, __ATOMIC_ACQUIRE)) < count)
		witness_wait(resting, now, -1);
	board_doing(DOING_NOTHING);
}

struct thread_mark *board_mark(void)
{
	return own_mark;
}

void board_doing(enum thread_doing doing)
{
	if (own_mark)
		thread_mark_set(own_mark, doing, witness_now_ns());
}

uint64_t board_call_begin(struct board_side *side)
{
	__atomic_add_fetch(side->in_flight, 1, __ATOMIC_RELAXED);
	return witness_now_ns();
}

static void lock(uint32_t *word)
{
	while (__atomic_exchange_n(word, 1, __ATOMIC_ACQUIRE))
		witness_wait(word, 1, 1000000);
}

static void unlock(uint32_t *word)
{
	__atomic_store_n(word, 0, __ATOMIC_RELEASE);
	witness_signal(word, 0);
}

/* The last place takes all reasons for which there is none. */
static void count_failure(struct board *b, const char *reason)
{
	uint32_t i = 0;

	lock(&b->lock);
	while (i < BOARD_FAILURES - 1 && *b->failures[i].reason &&
	       strncmp(b->failures[i].reason, reason, BOARD_REASON_SIZE - 1) != 0)
		i++;
	if (i == BOARD_FAILURES - 1)
		reason = "other reasons";
	snprintf(b->failures[i].reason, BOARD_REASON_SIZE, "%s", reason);
	b->failures[i].count++;
	unlock(&b->lock);
}

static void grow(uint64_t *most, uint64_t value)
{
	uint64_t old = __atomic_load_n(most, __ATOMIC_RELAXED);

	while (value > old && !__atomic_compare_exchange_n(most, &old, value, false,
	                                                   __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

void board_call_end(struct board_side *side, uint64_t start_ns, uint64_t since_ns,
                    const char *reason)
{
	struct board *b = side->board;
	const uint64_t now_ns = witness_now_ns();
	const uint64_t box = __atomic_fetch_add(&b->boxes, 1, __ATOMIC_RELAXED);

	__atomic_sub_fetch(side->in_flight, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&b->in_flight_ns, now_ns - start_ns, __ATOMIC_RELAXED);
	if (box < BOARD_BOXES)
		b->box[box] = (struct board_box){.start_ns = start_ns,
		                                 .end_ns = now_ns,
		                                 .latency_ns = now_ns - since_ns,
		                                 .failed = reason != NULL,
		                                 .row = own_row ? own_row - 1 : 0};
	if (reason) {
		__atomic_add_fetch(&b->failed, 1, __ATOMIC_RELAXED);
		count_failure(b, reason);
	} else {
		histogram_add(&b->latency, now_ns - since_ns, true);
		grow(&b->latency_max_ns, now_ns - since_ns);
	}
	__atomic_add_fetch(&b->calls, 1, __ATOMIC_RELAXED);
	grow(&b->end_ns, now_ns);
}
