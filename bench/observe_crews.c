/*
 * Crews: threads of one process that began with the same function. Whether a crew is a pool is
 * told from its behaviour: where it waits, and who ends its waits. Names are a hint, no more.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/syscall.h>

#include "bench/json_text.h"
#include "bench/observe.h"
#include "bench/sockets.h"
#include "probes/park.h"

enum { ENOUGH_WAITS = 20 };

/* "pool-1-thread-12" becomes "pool-#-thread-#". */
static void stem_of(char stem[16], const char name[16])
{
	size_t length = 0;

	memset(stem, 0, 16);
	for (size_t i = 0; i < 16 && name[i]; i++) {
		const bool digit = isdigit((unsigned char)name[i]);

		if (!digit || !length || stem[length - 1] != '#')
			stem[length++] = digit ? '#' : name[i];
	}
}

static struct crew *crew_find(struct observation *o, const struct census_record *thread,
                              uint64_t routine)
{
	struct crew *crew = o->crews;
	char stem[16];

	stem_of(stem, thread->name);
	for (; crew < o->crews + o->crew_count; crew++)
		if (crew->process == thread->process && crew->routine == routine &&
		    memcmp(crew->stem, stem, sizeof stem) == 0)
			return crew;
	if (o->crew_count == CREWS_MAX)
		return NULL;
	o->crew_count++;
	*crew = (struct crew){.process = thread->process, .pid = thread->pid, .routine = routine};
	crew->of_library = routine == 1;
	memcpy(crew->name, thread->name, sizeof crew->name);
	memcpy(crew->stem, stem, sizeof stem);
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

static void crew_add_waits(struct crew *crew, const struct futex_waits *waits)
{
	crew->waits += waits->count;
	crew->at_place += waits->at_place;
	crew->given += waits->given;
	crew->passed_on += waits->passed_on;
	if (!waits->count)
		return;
	if (!crew->place)
		crew->place = waits->place;
	crew->sharing += waits->place == crew->place;
	if (waits->given)
		crew->giver = waits->giver;
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
	crew->told += thread->kind == KIND_POOL;
	for (int i = 0; i < STATE_COUNT; i++)
		crew->alive_ns += thread->state_ns[i];
	crew->parked_ns += thread->state_ns[STATE_PARKED_DIRECT];
	crew->running_ns += thread->state_ns[STATE_RUNNING] + thread->state_ns[STATE_RUNNABLE];
	crew->futex_ns += thread->futex_ns;
	crew_add_waits(crew, &thread->waits);
}

static bool is_named_so(const char name[16])
{
	static const char *const words[] = {"pool", "work", "wrk", "exec"};
	char text[17] = "";

	memcpy(text, name, 16);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcasestr(text, words[i]))
			return true;
	return false;
}

/* Who wait for each other, as at a barrier, wait at the same place too, but wake each other. Each
 * at a place of its own may as well wait for what another computes: then the name must say it as
 * well. */
enum crew_pool crew_pool(const struct crew *c)
{
	if (c->of_library || c->threads < 2)
		return CREW_NO_POOL;
	if (c->told)
		return CREW_LIKELY_POOL;
	if (c->given + c->passed_on < ENOUGH_WAITS)
		return CREW_CANNOT_TELL;
	if (10 * c->given < 7 * (c->given + c->passed_on) || 10 * c->at_place < 7 * c->waits ||
	    2 * c->own_givers > c->threads)
		return CREW_NO_POOL;
	if (c->sharing >= 2 || is_named_so(c->name))
		return CREW_LIKELY_POOL;
	return CREW_CANNOT_TELL;
}

static uint64_t routine_of(const struct observation *o, const struct census_record *thread)
{
	char key[32];

	snprintf(key, sizeof key, "%llx", (unsigned long long)thread->number);
	return (uint64_t)json_integer_value(json_object_get(o->routines, key));
}

static struct crew *crew_of(struct observation *o, const struct census_record *thread)
{
	const uint64_t routine = routine_of(o, thread);

	return routine ? crew_find(o, thread, routine) : NULL;
}

static int by_number(const void *left, const void *right)
{
	const struct census_record *a = left, *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

static void add_own_givers(struct observation *o)
{
	for (size_t i = 0; i < o->now.thread_count; i++) {
		const struct census_record *thread = &o->now.threads[i], *giver;
		struct crew *crew;

		if (!thread->waits.given)
			continue;
		giver = observe_thread(o, thread->process, thread->waits.giver);
		crew = giver ? crew_of(o, thread) : NULL;
		if (crew && crew == crew_of(o, giver))
			crew->own_givers++;
	}
}

/* Tells the probe of threads that have turned out to be a pool's. */
static bool tell_pools(struct observation *o)
{
	bool told = false;

	for (size_t i = 0; i < o->now.thread_count; i++) {
		const struct census_record *thread = &o->now.threads[i];
		const struct crew *crew;

		if (thread->kind != KIND_APPLICATION)
			continue;
		crew = crew_of(o, thread);
		if (!crew || crew_pool(crew) != CREW_LIKELY_POOL)
			continue;
		watch_tell(&o->watch, thread->number, KIND_POOL);
		told = true;
	}
	return told;
}

/* On a connection of the process's own: that of a client has the port at which it listens. */
static bool is_on_call(const struct sockets *sockets, const struct census_record *thread)
{
	const struct tcp_socket *socket;

	if (!is_in(thread, STATE_PARKED_DIRECT) || thread->place.object != OBJECT_SOCKET)
		return false;
	socket = sockets_find(sockets, thread->place.inode);
	return socket && socket->port && !socket->client;
}

/* Of crews of which all are parked: whether they call somebody while clients wait. */
static void add_calls(struct observation *o)
{
	for (struct crew *crew = o->crews; crew < o->crews + o->crew_count; crew++) {
		struct sockets sockets;

		if (crew->threads < 2 || crew->parked < crew->threads || crew->on_files)
			continue;
		sockets_read(&sockets, crew->pid);
		crew->clients = sockets_clients(&sockets);
		for (size_t i = 0; crew->clients && i < o->now.thread_count; i++)
			if (crew_of(o, &o->now.threads[i]) == crew)
				crew->on_calls += is_on_call(&sockets, &o->now.threads[i]);
		sockets_free(&sockets);
	}
}

bool observe_crews(struct observation *o)
{
	o->crew_count = 0;
	if (o->now.thread_count)
		qsort(o->now.threads, o->now.thread_count, sizeof *o->now.threads, by_number);
	for (size_t i = 0; i < o->now.thread_count; i++) {
		const struct census_record *thread = &o->now.threads[i];
		struct crew *crew = crew_of(o, thread);

		if (crew)
			crew_add(crew, thread, o->begin_ns);
	}
	add_own_givers(o);
	add_calls(o);
	return tell_pools(o);
}

const struct census_record *observe_thread(const struct observation *o, uint32_t process,
                                           uint64_t number)
{
	const struct census_record key = {.process = process, .number = number};

	if (!number || !o->now.thread_count)
		return NULL;
	return bsearch(&key, o->now.threads, o->now.thread_count, sizeof key, by_number);
}
