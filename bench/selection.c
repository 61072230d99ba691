/* Engines, workloads and probes by name: see selection.h. */
#include "bench/selection.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "bench/fio_words.h"
#include "bench/nearest.h"
#include "bench/workload.h"
#include "engines/engine.h"
#include "probes/probe.h"

static const char *const basic_engines[] = {"blocking", "pool",  "posix-aio",
                                            "libaio",   "epoll", "uring"};

static void add_name(struct selection *selection, const char *name)
{
	for (uint32_t i = 0; i < selection->count; i++)
		if (strcmp(selection->names[i], name) == 0)
			return;
	if (selection->count < SELECTION_MAX)
		selection->names[selection->count++] = name;
}

static int refuse(const char *what, const char *name, const char *const *names, uint32_t count,
                  char why[PLAN_WHY_SIZE])
{
	char nearest[NEAREST_SIZE];

	snprintf(why, PLAN_WHY_SIZE, "unknown %s '%.60s'%s (iostudy list %ss)", what, name,
	         nearest_text(nearest, name, names, count), what);
	return -ENOENT;
}

int selection_add_engine(struct selection *selection, const char *name, char why[PLAN_WHY_SIZE])
{
	const bool all = strcmp(name, "all") == 0, basic = strcmp(name, "basic") == 0;
	const char *names[SELECTION_MAX];
	uint32_t n = 0;

	name = fio_words_engine(name);
	for (const struct engine_ops *const *ops = engine_table; *ops; ops++) {
		if (n < SELECTION_MAX)
			names[n++] = (*ops)->name;
		if ((all && strcmp((*ops)->name, "null") != 0) || strcmp(name, (*ops)->name) == 0)
			add_name(selection, (*ops)->name);
	}
	for (size_t i = 0; basic && i < sizeof basic_engines / sizeof *basic_engines; i++)
		if (engine_find(basic_engines[i]))
			add_name(selection, engine_find(basic_engines[i])->name);
	return all || basic || engine_find(name) ? 0 : refuse("engine", name, names, n, why);
}

int selection_add_workload(struct selection *selection, const char *name, char why[PLAN_WHY_SIZE])
{
	const bool all = strcmp(name, "all") == 0;
	const char *names[SELECTION_MAX];
	uint32_t n = 0;

	for (const struct workload_ops *const *ops = workload_table; *ops; ops++) {
		if (n < SELECTION_MAX)
			names[n++] = (*ops)->name;
		if (all || strcmp(name, (*ops)->name) == 0)
			add_name(selection, (*ops)->name);
	}
	return all || workload_find(name) ? 0 : refuse("workload", name, names, n, why);
}

int selection_add_rw(struct selection *selection, const char *rw, char why[PLAN_WHY_SIZE])
{
	const char *reason, *workload = fio_words_workload(rw, &reason);

	if (workload)
		return selection_add_workload(selection, workload, why);
	snprintf(why, PLAN_WHY_SIZE, "--rw %.40s: %s (iostudy list workloads)", rw, reason);
	return -ENOENT;
}

int selection_check_probes(const char *text, char why[PLAN_WHY_SIZE])
{
	const char *names[SELECTION_MAX] = {"auto", "none"};
	struct selection seen = {.count = 0};
	uint32_t n = 2;

	for (const struct probe_ops *const *ops = probe_table; *ops; ops++)
		names[n++] = (*ops)->name;
	if (strcmp(text, names[0]) == 0 || strcmp(text, names[1]) == 0)
		return 0;
	for (const char *at = text; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		const uint32_t before = seen.count;
		char name[80];

		snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
		for (uint32_t i = 0; i < 2; i++)
			if (strcmp(name, names[i]) == 0) {
				snprintf(why, PLAN_WHY_SIZE,
				         "probe %s stands alone: it says which ones", name);
				return -EINVAL;
			}
		if (!probe_find(name))
			return refuse("probe", name, names, n, why);
		add_name(&seen, probe_find(name)->name);
		if (seen.count == before) {
			snprintf(why, PLAN_WHY_SIZE, "probe %s is named twice", name);
			return -EINVAL;
		}
	}
	return 0;
}
