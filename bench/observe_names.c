/*
 * Names for what the census numbers: the objects of calls, the kernel's functions that sleep, and
 * with what function each thread began. Each is asked for once, while it lives.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench/json_text.h"
#include "bench/observe.h"
#include "bench/routine.h"
#include "probes/park.h"

enum { NAME_SIZE = 4096, DESCRIPTORS_MAX = 4096 };

void observe_place_key(char text[64], const struct place_key *p, bool object_alone)
{
	if (object_alone)
		snprintf(text, 64, "%x:%x:%x:%llx", p->process, p->object, p->device,
		         (unsigned long long)p->inode);
	else
		snprintf(text, 64, "%x:%x:%x:%x:%x:%x:%llx", p->process, p->call, p->kind, p->state,
		         p->object, p->device, (unsigned long long)p->inode);
}

static bool is_anonymous(const struct place_key *place)
{
	return place->object == OBJECT_EPOLL || place->object == OBJECT_RING ||
	       place->object == OBJECT_EVENTFD || place->object == OBJECT_OTHER;
}

/* The name behind a descriptor, if it still is that object. */
static bool descriptor_name(pid_t pid, int fd, const struct place_key *place, char name[NAME_SIZE])
{
	struct stat status;
	char path[64];
	ssize_t length;

	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, fd);
	if (!is_anonymous(place) && (stat(path, &status) || status.st_ino != place->inode))
		return false;
	length = readlink(path, name, NAME_SIZE - 1);
	if (length <= 0)
		return false;
	name[length] = 0;
	return true;
}

/* What a thread that opens something opens, as it named it to the kernel. */
static bool opened_name(const struct census_record *thread, char name[NAME_SIZE])
{
	const bool relative = thread->place.call == SYS_openat;
	const uint64_t address = thread->argument[relative ? 1 : 0];
	char path[64];
	ssize_t length = -1;
	FILE *memory;

	snprintf(path, sizeof path, "/proc/%u/mem", thread->pid);
	memory = fopen(path, "re");
	if (!memory)
		return false;
	if (fseeko(memory, (off_t)address, SEEK_SET) == 0)
		length = (ssize_t)fread(name, 1, NAME_SIZE - 1, memory);
	fclose(memory);
	if (length <= 0)
		return false;
	name[length] = 0;
	return *name != 0;
}

static bool is_opening(const struct census_record *thread)
{
	return thread->place_since &&
	       (thread->place.call == SYS_openat || thread->place.call == SYS_open);
}

/* A worker's file has no descriptor in its call: it is looked for among all of them. */
static bool searched_name(pid_t pid, const struct place_key *place, char name[NAME_SIZE])
{
	for (int fd = 0; fd < DESCRIPTORS_MAX; fd++)
		if (descriptor_name(pid, fd, place, name))
			return true;
	return false;
}

static void name_object(struct observation *o, const struct census_record *thread)
{
	char key[64], name[NAME_SIZE];
	bool found = false;

	observe_place_key(key, &thread->place, true);
	if (json_object_get(o->names, key))
		return;
	if (thread->fd >= 0)
		found = descriptor_name((pid_t)thread->pid, thread->fd, &thread->place, name);
	else if (thread->place.object == OBJECT_FILE || thread->place.object == OBJECT_DEVICE)
		found = searched_name((pid_t)thread->pid, &thread->place, name);
	json_object_set_new(o->names, key, found ? json_text(name) : json_null());
}

/* What is being opened has no number yet: one name stands for all that a process opens. */
static void name_opened(struct observation *o, const struct census_record *thread)
{
	char key[64], name[NAME_SIZE], path[NAME_SIZE + 32];
	struct stat status;
	const json_t *before;

	if (!opened_name(thread, name))
		return;
	snprintf(path, sizeof path, "/proc/%u/%s%s", thread->pid, *name == '/' ? "root" : "cwd/",
	         name);
	if (stat(path, &status) == 0 && S_ISFIFO(status.st_mode)) {
		snprintf(key, sizeof key, "fifo:%x", thread->process);
		json_object_set_new(o->names, key, json_true());
	}
	snprintf(key, sizeof key, "open:%x", thread->process);
	before = json_object_get(o->names, key);
	if (!before)
		json_object_set_new(o->names, key, json_text(name));
	else if (!json_is_string(before) || strcmp(json_string_value(before), name) != 0)
		json_object_set_new(o->names, key, json_null()); /* several */
}

static void name_function(struct observation *o, const struct census_record *thread)
{
	const char *function;
	char key[64];

	function = symbols_sleeper(&o->symbols, thread->stack, (size_t)thread->frames);
	observe_place_key(key, &thread->place, false);
	if (function)
		json_object_set_new(o->functions, key, json_string(function));
}

/* What the probe itself knows of functions. */
static void name_functions(struct observation *o)
{
	for (size_t i = 0; i < o->now.place_count; i++) {
		const struct watch_place *place = &o->now.places[i];
		char key[64];

		observe_place_key(key, &place->key, false);
		if (place->function)
			json_object_set_new(o->functions, key, json_text(place->function));
	}
}

void observe_name_objects(struct observation *o)
{
	name_functions(o);
	for (size_t i = 0; i < o->now.thread_count; i++) {
		struct census_record *thread = &o->now.threads[i];

		if (!thread->place_since)
			continue;
		name_function(o, thread);
		if (is_opening(thread))
			name_opened(o, thread);
		else if (thread->place.inode)
			name_object(o, thread);
	}
}

/* A thread of the C library's own that has slept in a transfer is one of its POSIX AIO. */
static bool tell_helper(struct observation *o, const struct census_record *thread)
{
	if (thread->kind != KIND_APPLICATION || !thread->state_ns[STATE_PARKED_DIRECT])
		return false;
	watch_tell(&o->watch, thread->number, KIND_AIO_HELPER);
	return true;
}

static void name_routine(struct observation *o, const struct routine_library *library,
                         const struct census_record *thread, const char *key)
{
	const uint64_t routine = routine_read(library, thread->segment);
	const bool own = routine_of_library(library, routine);

	json_object_set_new(o->routines, key, json_integer(own ? 1 : (json_int_t)routine));
}

bool observe_name_threads(struct observation *o)
{
	bool told = false;
	struct routine_library library = {.memory = -1};
	uint32_t process = 0;

	for (size_t i = 0; i < o->now.thread_count; i++) {
		const struct census_record *thread = &o->now.threads[i];
		char key[32];

		if (thread->kind == KIND_IO_WQ || thread->kind == KIND_SQPOLL)
			continue;
		if (thread->process != process) {
			routine_library_close(&library);
			routine_library_open(&library, (pid_t)thread->pid);
			process = thread->process;
		}
		snprintf(key, sizeof key, "%llx", (unsigned long long)thread->number);
		if (!json_object_get(o->routines, key))
			name_routine(o, &library, thread, key);
		if (json_integer_value(json_object_get(o->routines, key)) == 1)
			told |= tell_helper(o, thread);
	}
	routine_library_close(&library);
	return told;
}
