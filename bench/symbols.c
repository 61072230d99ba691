/* The kernel's functions by their addresses: see symbols.h. */
#include "bench/symbols.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What every sleep goes through, by the heads of their names. */
static const char *const common[] = {
    "__schedule",      "schedule",
    "io_schedule",     "preempt_schedule",
    "__traceiter",     "bpf_",
    "__bpf",           "trace_",
    "__cond_resched",  "bit_wait",
    "__wait_on_bit",   "__wait_for_com",
    "wait_for_compl",  "out_of_line_wait",
    "__switch_to",     "perf_trace",
    "__raw_spin",      "_raw_spin",
    "wait_woken",      "do_sched",
    "prepare_to_wait",
};

int symbols_add(struct symbols *s, uint64_t address, const char *name)
{
	const size_t length = strlen(name) + 1;

	if (s->count == s->room) {
		const size_t room = s->room ? 2 * s->room : 1 << 16;
		struct symbol *all = realloc(s->all, room * sizeof *all);

		if (!all)
			return -ENOMEM;
		s->all = all;
		s->room = room;
	}
	if (s->text_used + length > s->text_room) {
		const size_t room = s->text_room ? 2 * s->text_room : 1 << 21;
		char *text = realloc(s->text, room);

		if (!text)
			return -ENOMEM;
		s->text = text;
		s->text_room = room;
	}
	s->all[s->count++] = (struct symbol){address, (uint32_t)s->text_used};
	memcpy(s->text + s->text_used, name, length);
	s->text_used += length;
	return 0;
}

static int by_address(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

void symbols_sort(struct symbols *s)
{
	if (s->count)
		qsort(s->all, s->count, sizeof *s->all, by_address);
}

int symbols_load(struct symbols *s)
{
	char line[512], *end;
	FILE *file = fopen("/proc/kallsyms", "re");
	int error = file ? 0 : -errno;

	memset(s, 0, sizeof *s);
	while (!error && fgets(line, sizeof line, file)) {
		const uint64_t address = strtoull(line, &end, 16);

		if (!address || end[0] != ' ' || !end[1] || !strchr("tTwW", end[1]) || !end[2])
			continue;
		end[3 + strcspn(end + 3, "\t\n ")] = 0;
		error = symbols_add(s, address, end + 3);
	}
	if (file)
		fclose(file);
	if (!error && !s->count)
		error = -EPERM;
	if (error)
		symbols_free(s);
	else
		symbols_sort(s);
	return error;
}

void symbols_free(struct symbols *s)
{
	free(s->all);
	free(s->text);
	memset(s, 0, sizeof *s);
}

const char *symbols_find(const struct symbols *s, uint64_t address)
{
	size_t low = 0, high = s->count;

	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (s->all[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? s->text + s->all[low - 1].name : NULL;
}

bool symbols_is_common(const char *name)
{
	for (size_t i = 0; i < sizeof common / sizeof *common; i++)
		if (strncmp(name, common[i], strlen(common[i])) == 0)
			return true;
	return false;
}

const char *symbols_sleeper(const struct symbols *s, const uint64_t *stack, size_t frames)
{
	for (size_t i = 0; i < frames; i++) {
		const char *name = symbols_find(s, stack[i]);

		if (name && !symbols_is_common(name))
			return name;
	}
	return NULL;
}
