/* Observing programs that are not ours: see observe.h. */
#include "bench/observe.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { COMMANDS_READ = 16, FIRST_LOOKS = 7, LOOKS_APART = 30, MANY_THREADS = 256 };

static uint64_t own_cpu_ns(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return ((uint64_t)usage.ru_utime.tv_sec + (uint64_t)usage.ru_stime.tv_sec) * 1000000000 +
	       ((uint64_t)usage.ru_utime.tv_usec + (uint64_t)usage.ru_stime.tv_usec) * 1000;
}

static int open_watch(struct observation *o, const char *probe, const char *directory,
                      char why[OBSERVE_WHY_SIZE])
{
	int error;

	if (strcmp(probe, "proc") != 0) {
		error = watch_open(&o->watch, o->children, o->folds, directory, why);
		if (!error || strcmp(probe, "bpf") == 0)
			return error;
		snprintf(o->without_bpf, sizeof o->without_bpf, "%s", why);
	} else {
		snprintf(o->without_bpf, sizeof o->without_bpf, "samples were asked for");
	}
	return watch_open_samples(&o->watch, o->children, why);
}

int observe_open(struct observation *o, const char *probe, bool children, bool folds,
                 const char *directory, char why[OBSERVE_WHY_SIZE])
{
	int error;

	memset(o, 0, sizeof *o);
	o->children = children;
	o->folds = folds;
	o->first = calloc(3, sizeof *o->first);
	o->targets = calloc(OBSERVE_TARGETS_MAX, sizeof *o->targets);
	o->names = json_object();
	o->functions = json_object();
	o->routines = json_object();
	if (!o->first || !o->targets || !o->names || !o->functions || !o->routines) {
		snprintf(why, OBSERVE_WHY_SIZE, "no memory for watching");
		observe_close(o);
		return -ENOMEM;
	}
	o->last = o->first + 1;
	o->window = o->first + 2;
	error = open_watch(o, probe, directory, why);
	if (error)
		observe_close(o);
	else
		symbols_load(&o->symbols); /* without them functions have no names */
	return error;
}

/* The parent of a process by its line in /proc, whatever its name holds: after the last ")". */
static int parent_of(const char *pid)
{
	char path[300], line[1024];
	const char *after;
	int parent = -1;
	FILE *file;

	snprintf(path, sizeof path, "/proc/%s/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return -1;
	line[fread(line, 1, sizeof line - 1, file)] = 0;
	fclose(file);
	after = strrchr(line, ')');
	if (!after || sscanf(after + 1, " %*c %d", &parent) != 1)
		return -1;
	return parent;
}

static uint32_t children_of(pid_t pid)
{
	DIR *all = opendir("/proc");
	struct dirent *entry;
	uint32_t count = 0;

	while (all && (entry = readdir(all)))
		count += isdigit((unsigned char)entry->d_name[0]) &&
		         parent_of(entry->d_name) == (int)pid;
	if (all)
		closedir(all);
	return count;
}

static void read_command(struct observe_target *target)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof path, "/proc/%d/comm", (int)target->pid);
	file = fopen(path, "re");
	if (!file)
		return;
	const size_t length = fread(target->command, 1, sizeof target->command - 1, file);
	target->command[length] = 0;
	if (length && target->command[length - 1] == '\n') /* one within is the name's own */
		target->command[length - 1] = 0;
	fclose(file);
}

int observe_add(struct observation *o, pid_t pid, char why[OBSERVE_WHY_SIZE])
{
	struct observe_target *target = &o->targets[o->target_count];
	int error = -E2BIG;

	if (o->target_count < OBSERVE_TARGETS_MAX)
		error = watch_add(&o->watch, pid, &target->process);
	if (error == -ESRCH)
		snprintf(why, OBSERVE_WHY_SIZE, "there is no process %d", (int)pid);
	else if (error == -E2BIG)
		snprintf(why, OBSERVE_WHY_SIZE,
		         "more than %d processes; name fewer, or one with -f", OBSERVE_TARGETS_MAX);
	else if (error)
		snprintf(why, OBSERVE_WHY_SIZE, "cannot watch process %d: %s", (int)pid,
		         strerror(-error));
	if (error)
		return error;
	for (size_t i = 0; i < o->target_count; i++)
		if (o->targets[i].process == target->process)
			return 0;
	target->pid = pid;
	target->children = o->children ? 0 : children_of(pid);
	read_command(target);
	o->target_count++;
	return 0;
}

static int take_census(struct observation *o)
{
	int error = watch_census(&o->watch, &o->now);

	o->births = watch_births(&o->watch);
	if (error)
		return error;
	const bool helpers = observe_name_threads(o), pools = observe_crews(o);

	if (helpers || pools) /* some are of another kind than they seemed */
		error = watch_census(&o->watch, &o->now);
	observe_name_objects(o);
	observe_aio_queues(o);
	return error;
}

static int take_reading(struct observation *o, struct probe_reading *reading)
{
	const int error = watch_read(&o->watch, reading);

	o->alive = error == 0;
	return error == -ESRCH ? 0 : error;
}

int observe_begin(struct observation *o)
{
	int error = watch_begin(&o->watch);

	if (!error)
		error = take_census(o); /* whose threads are of what kind, before they count */
	if (!error)
		o->rings_before = observe_rings(o);
	if (!error)
		error = watch_census(&o->watch, &o->begin);
	if (!error)
		error = take_reading(o, o->first);
	*o->last = *o->first;
	o->begin_ns = o->first->time_ns;
	watch_cost(&o->watch, &o->cost_begin);
	o->own_cpu_begin_ns = own_cpu_ns();
	return error;
}

int observe_look(struct observation *o, bool reading)
{
	int error = 0;

	for (size_t i = 0; i < o->target_count && i < COMMANDS_READ; i++)
		read_command(&o->targets[i]); /* a command has another name after its exec */

	o->looks++;
	if (watch_births(&o->watch) != o->births || o->looks % LOOKS_APART == 0 ||
	    (o->looks < FIRST_LOOKS && o->now.thread_count < MANY_THREADS))
		error = take_census(o);
	else
		observe_aio_queues(o);
	if (o->folds)
		observe_fold_maps(o);
	o->alive = watch_living(&o->watch) > 0;
	if (!error && reading)
		error = take_reading(o, o->last);
	if (!error && !o->alive)
		error = -ESRCH;
	return error;
}

int observe_end(struct observation *o)
{
	int error;

	watch_fresh(&o->watch);
	error = take_census(o);

	if (!error)
		error = take_reading(o, o->last);
	if (!error)
		error = watch_census(&o->watch, &o->now);
	if (error)
		return error;
	o->rings_after = o->alive ? observe_rings(o) : RINGS_UNKNOWN;
	o->end_ns = o->last->time_ns;
	probe_difference(o->window, o->first, o->last);
	watch_cost(&o->watch, &o->cost);
	o->own_cpu_ns = own_cpu_ns() - o->own_cpu_begin_ns;
	for (size_t i = 0; i < o->target_count; i++)
		read_command(&o->targets[i]);
	observe_crews(o);
	if (o->folds)
		observe_fold_maps(o);
	return 0;
}

void observe_close(struct observation *o)
{
	watch_close(&o->watch);
	watch_census_free(&o->begin);
	watch_census_free(&o->now);
	symbols_free(&o->symbols);
	json_decref(o->names);
	json_decref(o->functions);
	json_decref(o->routines);
	for (size_t i = 0; i < o->map_count; i++)
		maps_free(&o->maps[i]);
	free(o->maps);
	free(o->targets);
	free(o->first);
	memset(o, 0, sizeof *o);
}
