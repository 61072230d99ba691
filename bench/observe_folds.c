/* The time asleep by stacks, as text for flame graphs: see observe.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/call_name.h"
#include "bench/observe.h"
#include "probes/park.h"

enum { FRAME_BYTES = 300 };

static struct maps *maps_of(const struct observation *o, uint32_t process)
{
	for (size_t i = 0; i < o->map_count; i++)
		if (o->maps[i].process == process)
			return &o->maps[i];
	return NULL;
}

static void learn(struct observation *o, uint32_t process, pid_t pid)
{
	struct maps *maps = maps_of(o, process);

	if (!maps) {
		struct maps *grown = realloc(o->maps, (o->map_count + 1) * sizeof *grown);

		if (!grown)
			return;
		o->maps = grown;
		maps = &o->maps[o->map_count++];
		*maps = (struct maps){.process = process};
	}
	maps_read(maps, pid);
}

void observe_fold_maps(struct observation *o)
{
	for (size_t i = 0; i < o->target_count; i++)
		learn(o, o->targets[i].process, o->targets[i].pid);
	for (size_t i = 0; i < o->now.thread_count; i++)
		if (!maps_of(o, o->now.threads[i].process))
			learn(o, o->now.threads[i].process, (pid_t)o->now.threads[i].pid);
}

/* A frame holds no separator, and nothing that ends its line. */
static void put_frame(FILE *out, const char *name, const char *end)
{
	fputc(';', out);
	for (const char *c = name; *c; c++)
		fputc(*c == ';' ? ':' : (unsigned char)*c < ' ' ? '.' : *c, out);
	fputs(end, out);
}

/* Why a stack has no frames; NULL: it has. */
static const char *missing(int32_t number, uint32_t frames)
{
	if (frames)
		return NULL;
	return number == 0 ? "[asleep since before attach]" : "[no stack]";
}

static void put_user(FILE *out, const struct watch_fold *f, struct maps *maps)
{
	const char *none = missing(f->key.user, f->user_frames);
	char name[FRAME_BYTES];

	if (none)
		put_frame(out, none, "");
	for (uint32_t i = f->user_frames; i-- > 0;) {
		/* Where code has no frame pointers, what is taken for a frame may be none. */
		if (maps && !maps_say(maps, f->user[i], name, sizeof name))
			continue;
		if (!maps)
			snprintf(name, sizeof name, "0x%llx", (unsigned long long)f->user[i]);
		put_frame(out, name, "");
	}
}

/* Without what every sleep goes through. Functions of the kernel are marked as is the custom. */
static void put_kernel(const struct observation *o, FILE *out, const struct watch_fold *f)
{
	uint32_t first = 0;
	char address[32];

	while (first < f->kernel_frames) {
		const char *name = symbols_find(&o->symbols, f->kernel[first]);

		if (!name || !symbols_is_common(name))
			break;
		first++;
	}
	for (uint32_t i = f->kernel_frames; i-- > first;) {
		const char *name = symbols_find(&o->symbols, f->kernel[i]);

		snprintf(address, sizeof address, "0x%llx", (unsigned long long)f->kernel[i]);
		put_frame(out, name ? name : address, "_[k]");
	}
}

static const char *command_of(const struct observation *o, uint32_t process)
{
	for (size_t i = 0; i < o->target_count; i++)
		if (o->targets[i].process == process)
			return o->targets[i].command;
	return "child";
}

static void put_fold(const struct observation *o, FILE *out, const struct watch_fold *f)
{
	const struct place_key *place = &f->key.place;
	const char *call = place->call == PLACE_NO_CALL ? NULL : call_name(place->call);
	const char *object = observe_object_type(o, place);

	fprintf(out, "%s", observe_state_word(place->state));
	put_frame(out, call ? call : "outside of calls", "");
	if (object)
		fprintf(out, " of %s", object);
	put_frame(out, command_of(o, place->process), "");
	put_user(out, f, maps_of(o, place->process));
	put_kernel(o, out, f);
	fprintf(out, " %llu\n", (unsigned long long)(f->asleep_ns / 1000));
}

char *observe_folds(const struct observation *o, char why[OBSERVE_WHY_SIZE])
{
	struct watch_fold *folds;
	char *text = NULL;
	size_t size, count;
	FILE *out;
	const int error = watch_folds(&o->watch, &folds, &count);

	if (error) {
		snprintf(why, OBSERVE_WHY_SIZE, "the stacks cannot be read: %s", strerror(-error));
		return NULL;
	}
	out = open_memstream(&text, &size);
	for (size_t i = 0; out && i < count; i++)
		if (folds[i].asleep_ns >= 1000)
			put_fold(o, out, &folds[i]);
	free(folds);
	if (!out || fclose(out) != 0)
		snprintf(why, OBSERVE_WHY_SIZE, "out of memory");
	return text;
}
