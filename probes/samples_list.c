/*
 * Whom the samples are of: the threads of watched processes, as /proc lists them, and the processes
 * that they have forked.
 */
#include "probes/samples.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Threads of a process that are listed at most. */
enum { LISTED_MAX = 1 << 17 };

/* Its number in its own pid namespace: the last one of NSpid. */
static uint32_t number_inside(pid_t pid, uint32_t tid)
{
	char text[TASK_LINE_SIZE], *end = NULL;
	const char *at = task_line(pid, tid, "status", text) ? NULL : strstr(text, "\nNSpid:");
	unsigned long number = tid;

	for (at = at ? at + 7 : NULL; at; at = end) {
		const unsigned long next = strtoul(at, &end, 10);

		if (end == at || !next)
			break;
		number = next;
		if (*end == '\n')
			break;
	}
	return (uint32_t)number;
}

int samples_add(struct samples *s, pid_t pid, bool named)
{
	struct task_stat stat;
	struct sampled_process *process;

	for (size_t i = 0; i < s->process_count; i++)
		if (s->processes[i].pid == pid) {
			s->processes[i].sum.named |= named;
			return 0;
		}
	if (task_stat_read(pid, (uint32_t)pid, &stat))
		return -ESRCH;
	if (s->process_count == s->process_room) {
		const size_t room = s->process_room ? 2 * s->process_room : 64;
		struct sampled_process *more = realloc(s->processes, room * sizeof *more);

		if (!more)
			return -ENOMEM;
		s->processes = more;
		s->process_room = room;
	}
	process = &s->processes[s->process_count++];
	*process = (struct sampled_process){.pid = pid, .sum = {.named = named}};
	process->pid_inside = (pid_t)number_inside(pid, (uint32_t)pid);
	return 0;
}

static bool is_watched(const struct samples *s, pid_t pid)
{
	for (size_t i = 0; i < s->process_count; i++)
		if (s->processes[i].pid == pid && !s->processes[i].gone)
			return true;
	return false;
}

/* Adds the processes whose parents are watched; again as long as it finds some. */
static int list_family(struct samples *s)
{
	size_t before;
	int error = 0;

	do {
		DIR *all = opendir("/proc");
		const struct dirent *entry;

		before = s->process_count;
		while (!error && all && (entry = readdir(all))) {
			const pid_t pid = isdigit((unsigned char)entry->d_name[0])
			                      ? (pid_t)atoi(entry->d_name)
			                      : 0;
			struct task_stat stat;

			if (!pid || task_stat_read(pid, (uint32_t)pid, &stat) ||
			    !is_watched(s, stat.parent) || is_watched(s, pid) ||
			    strchr("ZXx", stat.state))
				continue;
			error = samples_add(s, pid, false);
			if (error == -ESRCH)
				error = 0;
		}
		if (all)
			closedir(all);
	} while (!error && s->process_count > before);
	return error;
}

static int ascending(const void *left, const void *right)
{
	const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return (a > b) - (a < b);
}

/* A thread that is new: from its birth on, or at the beginning from now on. */
static struct sampled thread_new(struct samples *s, const struct sampled_process *process,
                                 uint32_t tid)
{
	struct sampled thread = {.tid = tid, .number = ++s->births, .time_ns = task_clock_ns()};
	struct task_turns turns = {0};
	struct task_stat stat;

	thread.born_ns = thread.since_ns = thread.time_ns;
	thread.tid_inside = number_inside(process->pid, tid);
	if (s->begun && task_stat_read(process->pid, tid, &stat) == 0) {
		if (stat.born_ns < thread.time_ns)
			thread.born_ns = thread.time_ns = stat.born_ns;
	} else if (task_turns_read(process->pid, tid, &turns) == 0) {
		thread.running_ns = turns.running_ns;
		thread.waiting_ns = turns.waiting_ns;
		thread.turns = turns.count;
	}
	return thread;
}

/* What an ended thread did since it was looked at is not known: a loss. */
static void thread_end(struct samples *s)
{
	s->sum.lost++;
}

/* Merges the list, which is sorted, with the threads that are known. */
static int merge(struct samples *s, struct sampled_process *process, const uint32_t *tids,
                 uint32_t count)
{
	struct sampled *merged = calloc(count ? count : 1, sizeof *merged);
	uint32_t known = 0;

	if (!merged)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		for (; known < process->count && process->threads[known].tid < tids[i]; known++)
			thread_end(s);
		if (known < process->count && process->threads[known].tid == tids[i] &&
		    !process->threads[known].gone) {
			merged[i] = process->threads[known++];
			continue;
		}
		if (known < process->count && process->threads[known].tid == tids[i]) {
			thread_end(s); /* another of the same tid */
			known++;
		}
		merged[i] = thread_new(s, process, tids[i]);
	}
	for (; known < process->count; known++)
		thread_end(s);
	free(process->threads);
	process->threads = merged;
	process->count = count;
	return 0;
}

static bool is_zombie(pid_t pid)
{
	struct task_stat stat;

	return task_stat_read(pid, (uint32_t)pid, &stat) || strchr("ZXx", stat.state);
}

static int list_threads(struct samples *s, struct sampled_process *process, uint32_t *tids)
{
	int count = task_list(process->pid, tids, LISTED_MAX);
	int error;

	if (count == 1 && is_zombie(process->pid)) /* its parent has not asked for its status yet */
		count = 0;
	if (count < 0)
		count = 0;
	qsort(tids, (size_t)count, sizeof *tids, ascending);
	error = merge(s, process, tids, (uint32_t)count);
	process->next = 0;
	process->gone = !error && count == 0;
	process->sum.threads_now = process->count;
	if (process->count > process->sum.threads_max)
		process->sum.threads_max = process->count;
	s->living += process->count;
	return error;
}

/* Those that nobody named and that are gone give their place up. */
static void forget_ended(struct samples *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->process_count; i++) {
		struct sampled_process *process = &s->processes[i];

		if (process->gone && !process->sum.named) {
			free(process->threads);
			s->processes_ended++;
			continue;
		}
		s->processes[kept++] = *process;
	}
	s->process_count = kept;
}

int samples_list(struct samples *s)
{
	uint32_t *tids = malloc(LISTED_MAX * sizeof *tids);
	int error = tids ? 0 : -ENOMEM;

	if (!error && s->children)
		error = list_family(s);
	s->living = 0;
	for (size_t i = 0; i < s->process_count && !error; i++)
		if (!s->processes[i].gone)
			error = list_threads(s, &s->processes[i], tids);
	forget_ended(s);
	s->at = 0;
	free(tids);
	return error;
}
