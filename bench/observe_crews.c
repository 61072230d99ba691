/*
 * Crews: threads of one process that began with the same function. Whether a crew is a pool is
 * for its behaviour to tell; here it is only counted.
 */
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "bench/json_text.h"
#include "bench/observe.h"
#include "probes/park.h"

static struct crew *crew_find(struct observation *o, const struct census_record *thread,
                              uint64_t routine)
{
	struct crew *crew = o->crews;

	for (; crew < o->crews + o->crew_count; crew++)
		if (crew->process == thread->process && crew->routine == routine)
			return crew;
	if (o->crew_count == CREWS_MAX)
		return NULL;
	o->crew_count++;
	*crew = (struct crew){.process = thread->process, .pid = thread->pid, .routine = routine};
	crew->of_library = routine == 1;
	memcpy(crew->name, thread->name, sizeof crew->name);
	return crew;
}

static bool is_in(const struct census_record *thread, enum thread_state state)
{
	return (thread->word & WORD_STATE) == (uint32_t)state + 1;
}

/* What it opens may be a FIFO; but reading one is what a connection's thread does. */
static bool is_on_file(const struct place_key *place)
{
	return place->object == OBJECT_FILE || place->object == OBJECT_DEVICE ||
	       place->call == SYS_openat || place->call == SYS_open;
}

static void crew_add(struct crew *crew, const struct census_record *thread, uint64_t begin_ns)
{
	const uint32_t class = thread->word >> WORD_CLASS_SHIFT & 0xff;
	const bool parked = is_in(thread, STATE_PARKED_DIRECT);

	crew->threads++;
	crew->parked += parked;
	crew->on_files += parked && is_on_file(&thread->place);
	crew->whole_window += parked && thread->since_ns <= begin_ns;
	crew->futex += class == CLASS_FUTEX;
	crew->waiting += class == CLASS_WAITER_POLL || class == CLASS_WAITER_RING;
	for (int i = 0; i < STATE_COUNT; i++)
		crew->alive_ns += thread->state_ns[i];
	crew->parked_ns += thread->state_ns[STATE_PARKED_DIRECT];
	crew->running_ns += thread->state_ns[STATE_RUNNING] + thread->state_ns[STATE_RUNNABLE];
	crew->futex_ns += thread->futex_ns;
}

void observe_crews(struct observation *o)
{
	o->crew_count = 0;
	for (size_t i = 0; i < o->now.thread_count; i++) {
		const struct census_record *thread = &o->now.threads[i];
		uint64_t routine;
		struct crew *crew;
		char key[32];

		snprintf(key, sizeof key, "%llx", (unsigned long long)thread->number);
		routine = (uint64_t)json_integer_value(json_object_get(o->routines, key));
		if (!routine)
			continue;
		crew = crew_find(o, thread, routine);
		if (crew)
			crew_add(crew, thread, o->begin_ns);
	}
}

static json_t *number(uint64_t value)
{
	return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

json_t *observe_crews_json(const struct observation *o)
{
	json_t *list = json_array();

	for (size_t i = 0; i < o->crew_count; i++) {
		const struct crew *c = &o->crews[i];
		char name[17] = "";

		if (c->threads < 2)
			continue;
		memcpy(name, c->name, 16);
		json_array_append_new(
		    list,
		    json_pack("{s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
		              "pid", number(c->pid), "name", json_text(name), "of_c_library",
		              c->of_library, "threads_now", number(c->threads), "parked_now",
		              number(c->parked), "on_files_now", number(c->on_files),
		              "whole_window", number(c->whole_window), "futex_now",
		              number(c->futex), "waiting_now", number(c->waiting), "alive_ns",
		              number(c->alive_ns), "parked_direct_ns", number(c->parked_ns),
		              "futex_ns", number(c->futex_ns), "running_ns",
		              number(c->running_ns)));
	}
	return list;
}
