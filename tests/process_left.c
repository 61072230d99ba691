/*
 * Finds what a program has left running. We are the subreaper, so that every orphan of the
 * program becomes our child, those that have left its session included.
 */
#include "tests/process_left.h"

#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_MS = 100 };

struct entry {
	pid_t pid, parent, session;
	char state;
	char name[64];
};

/* Reads /proc/PID/stat from its last ')': a name may hold anything. */
static bool entry_read(pid_t pid, struct entry *entry)
{
	char path[64], text[1024];
	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	FILE *file = fopen(path, "re");
	if (!file)
		return false;
	const size_t length = fread(text, 1, sizeof text - 1, file);
	fclose(file);
	text[length] = 0;
	char *open = strchr(text, '('), *close = strrchr(text, ')');
	if (!open || !close)
		return false;
	entry->pid = pid;
	snprintf(entry->name, sizeof entry->name, "%.*s", (int)(close - open - 1), open + 1);
	return sscanf(close + 1, " %c %d %*d %d", &entry->state, &entry->parent, &entry->session) ==
	       3;
}

static bool is_noted(const struct process_left *before, pid_t pid)
{
	for (unsigned i = 0; i < before->count; i++)
		if (before->noted[i] == pid)
			return true;
	return false;
}

/* Calls take for each process until it says false. */
static void each_process(bool (*take)(const struct entry *entry, void *context), void *context)
{
	struct entry entry;
	struct dirent *d;
	DIR *proc = opendir("/proc");
	while (proc && (d = readdir(proc)))
		if (isdigit((unsigned char)*d->d_name) && entry_read(atoi(d->d_name), &entry) &&
		    !take(&entry, context))
			break;
	if (proc)
		closedir(proc);
}

static bool child_note(const struct entry *entry, void *context)
{
	struct process_left *before = context;
	if (entry->parent == getpid() && before->count < PROCESS_LEFT_MAX)
		before->noted[before->count++] = entry->pid;
	return true;
}

void process_left_note(struct process_left *before)
{
	before->count = 0;
	each_process(child_note, before);
}

struct search {
	const struct process_left *before;
	pid_t session;
	bool end; /* kill what is found */
	unsigned found;
	char name[64];
};

static bool left_take(const struct entry *entry, void *context)
{
	struct search *search = context;
	const bool orphan = entry->parent == getpid() && !is_noted(search->before, entry->pid);
	if (entry->pid == search->session || (entry->session != search->session && !orphan))
		return true;
	if (entry->state == 'Z' || entry->state == 'X') {
		if (orphan)
			waitpid(entry->pid, NULL, WNOHANG);
		return true;
	}
	search->found++;
	memcpy(search->name, entry->name, sizeof search->name);
	if (search->end)
		kill(entry->pid, SIGKILL);
	return true;
}

static unsigned left_search(struct search *search, bool end)
{
	search->end = end;
	search->found = 0;
	each_process(left_take, search);
	return search->found;
}

unsigned process_left_end(const struct process_left *before, pid_t session, char *name,
                          size_t name_size)
{
	const struct timespec moment = {.tv_nsec = 5000000};
	struct search search = {.before = before, .session = session};

	name[0] = 0;
	for (int ms = 0; left_search(&search, false) && ms < PATIENCE_MS; ms += 5)
		nanosleep(&moment, NULL);
	const unsigned left = search.found;
	if (left)
		snprintf(name, name_size, "%s", search.name);
	while (left_search(&search, true))
		nanosleep(&moment, NULL);
	return left;
}
