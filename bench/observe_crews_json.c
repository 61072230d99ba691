/* What the crews, the waits for results and the workers of an observation are in its JSON. */
#include <stdio.h>
#include <string.h>

#include "bench/call_name.h"
#include "bench/json_text.h"
#include "bench/observe.h"
#include "probes/park.h"

enum { LISTED_MAX = 50, FUTEX_WORDS = 8 };

/* {"tid", "name", "kind"}; null: it has ended, or there is none. */
static json_t *thread_json(const struct observation *o, uint32_t process, uint64_t number)
{
	const struct census_record *thread = observe_thread(o, process, number);
	char name[17] = "";

	if (!thread)
		return json_null();
	memcpy(name, thread->name, sizeof thread->name);
	return json_pack("{s:o, s:o, s:s}", "tid", json_count(thread->tid), "name", json_text(name),
	                 "kind", thread_kind_names[thread->kind % KIND_COUNT]);
}

static json_t *place_json(uint64_t place)
{
	char text[32];

	if (!place)
		return json_null();
	snprintf(text, sizeof text, "0x%llx", (unsigned long long)place * FUTEX_WORDS);
	return json_string(text);
}

static json_t *waits_json(const struct observation *o, const struct crew *c)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "count", json_count(c->waits),
	                 "at_place", json_count(c->at_place), "given", json_count(c->given),
	                 "passed_on", json_count(c->passed_on), "futex", place_json(c->place),
	                 "sharing", json_count(c->sharing), "given_by",
	                 thread_json(o, c->process, c->giver));
}

static json_t *crew_json(const struct observation *o, const struct crew *c)
{
	static const char *const confidence[] = {
	    [CREW_NO_POOL] = NULL,
	    [CREW_CANNOT_TELL] = "cannot-tell",
	    [CREW_LIKELY_POOL] = "likely",
	};
	char name[17] = "";

	memcpy(name, c->name, 16);
	return json_pack(
	    "{s:o, s:o, s:b, s:s?, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
	    "s:o}",
	    "pid", json_count(c->pid), "name", json_text(name), "of_c_library", c->of_library,
	    "pool", confidence[crew_pool(c)], "waits", waits_json(o, c), "threads_now",
	    json_count(c->threads), "parked_now", json_count(c->parked), "on_files_now",
	    json_count(c->on_files), "on_calls_now", json_count(c->on_calls), "clients_now",
	    json_count(c->clients), "whole_window", json_count(c->whole_window), "futex_now",
	    json_count(c->futex), "waiting_now", json_count(c->waiting), "alive_ns",
	    json_count(c->alive_ns), "parked_direct_ns", json_count(c->parked_ns), "futex_ns",
	    json_count(c->futex_ns), "running_ns", json_count(c->running_ns));
}

json_t *observe_crews_json(const struct observation *o)
{
	json_t *list = json_array();

	for (size_t i = 0; i < o->crew_count; i++)
		if (o->crews[i].threads >= 2)
			json_array_append_new(list, crew_json(o, &o->crews[i]));
	return list;
}

static json_t *sync_wait_json(const struct observation *o, const struct census_record *t)
{
	const struct place_key *place = &t->waits.io_place;
	const char *call = place->call == PLACE_NO_CALL ? NULL : call_name(place->call);
	const char *name = observe_object_name(o, place);

	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:s?, s:o}", "thread",
	                 thread_json(o, t->process, t->number), "count", json_count(t->waits.by_io),
	                 "waited_ns", json_count(t->waits.by_io_ns), "asked",
	                 json_count(t->waits.asked), "waker",
	                 thread_json(o, t->process, t->waits.io_waker), "waker_syscall", call,
	                 "waker_object", name ? json_text(name) : json_null());
}

json_t *observe_sync_waits_json(const struct observation *o)
{
	json_t *list = json_array();

	for (size_t i = 0; i < o->now.thread_count; i++)
		if (o->now.threads[i].waits.asked && json_array_size(list) < LISTED_MAX)
			json_array_append_new(list, sync_wait_json(o, &o->now.threads[i]));
	return list;
}

/* The workers of one owner, of one sort. */
struct worker_group {
	uint32_t owner, count, parked;
	uint8_t bound;
};

static struct worker_group *group_find(struct worker_group *groups, size_t *count,
                                       const struct census_record *worker)
{
	for (size_t i = 0; i < *count; i++)
		if (groups[i].owner == worker->owner && groups[i].bound == worker->bound)
			return &groups[i];
	if (*count == LISTED_MAX)
		return NULL;
	groups[*count] = (struct worker_group){.owner = worker->owner, .bound = worker->bound};
	return &groups[(*count)++];
}

static json_t *group_json(const struct observation *o, const struct worker_group *group)
{
	static const char *const bounds[] = {
	    [BOUND_UNKNOWN] = NULL,
	    [BOUND_IN_TIME] = "bounded",
	    [BOUND_BY_NOTHING] = "unbounded",
	};
	char name[17] = "";

	for (size_t i = 0; i < o->now.thread_count; i++)
		if (o->now.threads[i].tid == group->owner)
			memcpy(name, o->now.threads[i].name, 16);
	return json_pack("{s:{s:o, s:o}, s:s?, s:o, s:o}", "owner", "tid", json_count(group->owner),
	                 "name", json_text(name), "bound", bounds[group->bound % 3], "threads_now",
	                 json_count(group->count), "parked_now", json_count(group->parked));
}

json_t *observe_workers_json(const struct observation *o)
{
	struct worker_group groups[LISTED_MAX];
	json_t *list = json_array();
	size_t count = 0;

	for (size_t i = 0; i < o->now.thread_count; i++) {
		const struct census_record *worker = &o->now.threads[i];
		struct worker_group *group;

		if (worker->kind != KIND_IO_WQ)
			continue;
		group = group_find(groups, &count, worker);
		if (!group)
			continue;
		group->count++;
		group->parked += (worker->word & WORD_STATE) == STATE_PARKED_DIRECT + 1;
	}
	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, group_json(o, &groups[i]));
	return list;
}
