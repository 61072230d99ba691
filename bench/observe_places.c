/*
 * The places of a window: where threads slept, gathered into rows. Files are told apart by their
 * names; sockets, pipes and their like are counted, and named where there is only one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "bench/call_name.h"
#include "bench/json_text.h"
#include "bench/observe.h"
#include "probes/park.h"

enum { ROWS_MAX = 200, NAME_COLUMNS = 200 };

static const char *const object_names[OBJECT_COUNT] = {
    [OBJECT_FILE] = "file",   [OBJECT_DEVICE] = "device", [OBJECT_SOCKET] = "socket",
    [OBJECT_PIPE] = "pipe",   [OBJECT_FIFO] = "fifo",     [OBJECT_EPOLL] = "epoll",
    [OBJECT_RING] = "ring",   [OBJECT_FUTEX] = "futex",   [OBJECT_EVENTFD] = "eventfd",
    [OBJECT_OTHER] = "other",
};

/* The places that have a row. */
struct row {
	struct place_key key; /* of the first of them */
	uint8_t object;
	const char *name, *function;
	uint64_t futex; /* the address of one of them */
	uint32_t objects, threads_now, whole_window;
	uint64_t asleep_ns, sleeps;
	uint64_t longest_ns; /* of the sleeps that go on: for so long at least */
};

struct rows {
	struct row *all;
	size_t count, room;
	json_t *index;   /* a row's words: its number */
	json_t *futexes; /* of each row, by number and address */
};

static bool is_open_call(const struct place_key *key)
{
	return key->call == SYS_openat || key->call == SYS_open;
}

/* By its whole path where that was seen in time; else its last part, as the kernel has it. */
static const char *name_of(const struct observation *o, const struct place_key *place,
                           const struct place_sum *sum)
{
	const char *name;
	char key[64];

	if (is_open_call(place))
		snprintf(key, sizeof key, "open:%x", place->process);
	else
		observe_place_key(key, place, true);
	name = json_string_value(json_object_get(o->names, key));
	return name || !sum || !*sum->name ? name : sum->name;
}

const char *observe_object_name(const struct observation *o, const struct place_key *place)
{
	const struct watch_place *found = NULL;

	for (size_t i = 0; i < o->now.place_count && !found; i++)
		if (memcmp(&o->now.places[i].key, place, sizeof *place) == 0)
			found = &o->now.places[i];
	return name_of(o, place, found ? &found->sum : NULL);
}

static uint8_t object_of(const struct observation *o, const struct place_key *place)
{
	char key[64];

	snprintf(key, sizeof key, "fifo:%x", place->process);
	if (is_open_call(place))
		return json_object_get(o->names, key) ? OBJECT_FIFO : OBJECT_FILE;
	return place->object;
}

const char *observe_object_type(const struct observation *o, const struct place_key *place)
{
	return object_names[object_of(o, place)];
}

/* Words that tell rows apart; so do the names of what has a name of its own. */
static void row_words(char *words, size_t size, const struct row *row)
{
	const bool named = row->object == OBJECT_FILE || row->object == OBJECT_DEVICE ||
	                   row->object == OBJECT_FIFO;

	snprintf(words, size, "%u:%u:%u:%u:%u:%s:%s", row->key.kind, row->key.state, row->key.call,
	         row->key.operation, row->object, row->function ? row->function : "",
	         named && row->name ? row->name : "");
}

static struct row *row_find(struct rows *rows, const struct row *like)
{
	char words[4500];
	const json_t *at;

	row_words(words, sizeof words, like);
	at = json_object_get(rows->index, words);
	if (at)
		return &rows->all[json_integer_value(at)];
	if (rows->count == rows->room) {
		const size_t room = rows->room ? 2 * rows->room : 64;
		struct row *all = realloc(rows->all, room * sizeof *all);

		if (!all)
			return NULL;
		rows->all = all;
		rows->room = room;
	}
	json_object_set_new(rows->index, words, json_integer((json_int_t)rows->count));
	rows->all[rows->count] = *like;
	return &rows->all[rows->count++];
}

/* The row of a place, which need not have anything in it yet. */
static struct row *row_of(struct observation *o, struct rows *rows, const struct place_key *place,
                          const struct place_sum *sum)
{
	struct row like = {.key = *place};
	char key[64];

	observe_place_key(key, place, false);
	like.object = object_of(o, place);
	like.name = name_of(o, place, sum);
	like.function = json_string_value(json_object_get(o->functions, key));
	return row_find(rows, &like);
}

static int by_key(const void *left, const void *right)
{
	return memcmp(left, right, sizeof(struct place_key));
}

static void add_sums(struct observation *o, struct rows *rows)
{
	qsort(o->begin.places, o->begin.place_count, sizeof *o->begin.places, by_key);
	qsort(o->now.places, o->now.place_count, sizeof *o->now.places, by_key);
	for (size_t i = 0; i < o->now.place_count; i++) {
		const struct watch_place *place = &o->now.places[i], *before = NULL;
		struct row *row;

		if (o->begin.place_count)
			before = bsearch(place, o->begin.places, o->begin.place_count,
			                 sizeof *place, by_key);
		if ((before ? before->sum.asleep_ns : 0) >= place->sum.asleep_ns)
			continue; /* nobody slept there in the window */
		row = row_of(o, rows, &place->key, &place->sum);
		if (!row)
			continue;
		if (row->objects && row->name && name_of(o, &place->key, &place->sum) != row->name)
			row->name = NULL;
		row->objects += place->key.object != OBJECT_NONE &&
		                place->key.object != OBJECT_FUTEX;
		row->asleep_ns += place->sum.asleep_ns - (before ? before->sum.asleep_ns : 0);
		row->sleeps += place->sum.sleeps - (before ? before->sum.sleeps : 0);
	}
}

/* Places do not tell futexes apart; who waits now names them. */
static void add_futex(struct rows *rows, struct row *row, uint64_t address)
{
	char key[64];

	snprintf(key, sizeof key, "%td:%llx", row - rows->all, (unsigned long long)address);
	if (json_object_get(rows->futexes, key))
		return;
	json_object_set_new(rows->futexes, key, json_true());
	row->objects++;
	row->futex = address;
}

static void add_threads(struct observation *o, struct rows *rows)
{
	for (size_t i = 0; i < o->now.thread_count; i++) {
		const struct census_record *thread = &o->now.threads[i];
		const uint64_t asleep_ns = thread->now_ns - thread->since_ns + thread->before_ns;
		const struct watch_place *place;
		struct row *row;

		if (!thread->place_since)
			continue;
		place = bsearch(&thread->place, o->now.places, o->now.place_count, sizeof *place,
		                by_key);
		row = row_of(o, rows, &thread->place, place ? &place->sum : NULL);
		if (!row)
			continue;
		row->threads_now++;
		row->whole_window += thread->since_ns <= o->begin_ns;
		if (asleep_ns > row->longest_ns)
			row->longest_ns = asleep_ns;
		if (row->object == OBJECT_FUTEX)
			add_futex(rows, row, thread->argument[0]);
	}
}

/* Most time first; then a fixed order. */
static int by_time(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	if (a->asleep_ns != b->asleep_ns)
		return a->asleep_ns < b->asleep_ns ? 1 : -1;
	return memcmp(&a->key, &b->key, sizeof a->key);
}

static json_t *object_json(const struct row *row)
{
	const size_t length = row->name ? strlen(row->name) : 0;
	const bool futex = row->objects == 1 && row->futex;
	char cut[NAME_COLUMNS + 1];

	if (!object_names[row->object])
		return json_null();
	if (futex)
		snprintf(cut, sizeof cut, "0x%llx", (unsigned long long)row->futex);
	else
		snprintf(cut, sizeof cut, "%s", row->name ? row->name : "");
	return json_pack("{s:s, s:o, s:b, s:i}", "type", object_names[row->object], "name",
	                 row->name || futex ? json_text(cut) : json_null(), "truncated",
	                 length > NAME_COLUMNS, "count", (int)row->objects);
}

const char *observe_state_word(uint8_t state)
{
	static const char *const words[STATE_COUNT] = {
	    [STATE_RUNNING] = "running",
	    [STATE_RUNNABLE] = "runnable",
	    [STATE_PARKED_DIRECT] = "parked-direct",
	    [STATE_PARKED_WAITER] = "parked-waiter",
	    [STATE_PARKED_ON_RESULT] = "parked-on-result",
	    [STATE_IDLE] = "idle",
	    [STATE_OTHER] = "other",
	    [STATE_UNSEEN] = "unseen",
	};

	return words[state % STATE_COUNT];
}

static json_t *row_json(const struct observation *o, const struct row *row)
{
	const char *call = row->key.call == PLACE_NO_CALL ? NULL : call_name(row->key.call);
	const bool worker = row->key.class == CLASS_WORKER_BUSY;

	return json_pack("{s:s, s:s, s:s?, s:s?, s:s?, s:o, s:i, s:i, s:I, s:o, s:I}", "kind",
	                 thread_kind_names[row->key.kind % KIND_COUNT], "state",
	                 observe_state_word(row->key.state), "syscall", call, "operation",
	                 worker ? workers_operation_name(row->key.operation) : NULL, "function",
	                 row->function, "object", object_json(row), "threads_now",
	                 (int)row->threads_now, "whole_window", (int)row->whole_window, "parked_ns",
	                 (json_int_t)row->asleep_ns, "sleeps",
	                 *o->without_bpf ? json_null() : json_integer((json_int_t)row->sleeps),
	                 "longest_ns", (json_int_t)row->longest_ns);
}

json_t *observe_places_json(struct observation *o)
{
	struct rows rows = {.index = json_object(), .futexes = json_object()};
	json_t *list = json_array();

	add_sums(o, &rows);
	add_threads(o, &rows);
	if (rows.count)
		qsort(rows.all, rows.count, sizeof *rows.all, by_time);
	for (size_t i = 0; i < rows.count && i < ROWS_MAX; i++)
		json_array_append_new(list, row_json(o, &rows.all[i]));
	json_decref(rows.index);
	json_decref(rows.futexes);
	free(rows.all);
	return list;
}
