/* The threads of an observation one by one, as they are now: for who looks closer at a group. */
#include <stdio.h>
#include <string.h>

#include "bench/call_name.h"
#include "bench/json_text.h"
#include "bench/observe.h"
#include "probes/park.h"

/* The kernel's functions in which it sleeps, the innermost first. */
static json_t *stack_json(const struct observation *o, const struct census_record *t)
{
	json_t *stack = json_array();

	for (int i = 0; i < t->frames && i < CENSUS_FRAMES; i++) {
		const char *name = symbols_find(&o->symbols, t->stack[i]);
		char address[32];

		snprintf(address, sizeof address, "0x%llx", (unsigned long long)t->stack[i]);
		json_array_append_new(stack, json_text(name ? name : address));
	}
	return stack;
}

static json_t *object_json(const struct observation *o, const struct place_key *place)
{
	const char *type = observe_object_type(o, place);
	json_t *name;
	char key[64];

	if (!type)
		return json_null();
	observe_place_key(key, place, true);
	name = json_object_get(o->names, key);
	return json_pack("{s:s, s:o}", "type", type, "name",
	                 json_is_string(name) ? json_incref(name) : json_null());
}

/* What a thread sleeps in has the words that the places have. */
static void add_place(const struct observation *o, const struct census_record *t, json_t *thread)
{
	const struct place_key *place = &t->place;
	char key[64];

	observe_place_key(key, place, false);
	json_object_set_new(thread, "syscall",
	                    place->call == PLACE_NO_CALL ? json_null()
	                                                 : json_text(call_name(place->call)));
	json_object_set_new(thread, "operation",
	                    place->class == CLASS_WORKER_BUSY
	                        ? json_text(workers_operation_name(place->operation))
	                        : json_null());
	json_object_set(thread, "function",
	                json_object_get(o->functions, key) ? json_object_get(o->functions, key)
	                                                   : json_null());
	json_object_set_new(thread, "object", object_json(o, place));
	json_object_set_new(thread, "stack", stack_json(o, t));
}

static json_t *thread_json(const struct observation *o, const struct census_record *t)
{
	const uint32_t state = t->word & WORD_STATE;
	const uint64_t asleep_ns = t->now_ns > t->since_ns ? t->now_ns - t->since_ns : 0;
	const uint64_t parked_ns = t->state_ns[STATE_PARKED_DIRECT] +
	                           t->state_ns[STATE_PARKED_WAITER] +
	                           t->state_ns[STATE_PARKED_ON_RESULT];
	char name[17] = "";
	json_t *thread;

	memcpy(name, t->name, sizeof t->name);
	thread = json_pack("{s:o, s:o, s:o, s:s, s:s, s:o, s:o}", "pid", json_count(t->pid), "tid",
	                   json_count(t->tid), "name", json_text(name), "kind",
	                   thread_kind_names[t->kind % KIND_COUNT], "state",
	                   observe_state_word(state ? (uint8_t)(state - 1) : STATE_UNSEEN),
	                   "since_ns", json_count(asleep_ns + t->before_ns), "parked_ns",
	                   json_count(parked_ns));
	if (thread && t->place_since)
		add_place(o, t, thread);
	return thread;
}

json_t *observe_threads_json(const struct observation *o)
{
	json_t *list = json_array();

	for (size_t i = 0; i < o->now.thread_count; i++)
		json_array_append_new(list, thread_json(o, &o->now.threads[i]));
	return list;
}
