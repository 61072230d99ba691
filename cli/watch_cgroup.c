/*
 * The processes of a control group, which is found by its path or by its name alone: a service
 * (postgresql.service), or a container (docker-3f2a....scope).
 */
#include <dirent.h>
#include <errno.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/watch.h"

enum { PATH_SIZE = 4096, DEPTH_MAX = 32 };

/* A walk over a group and those below it. */
struct walk {
	struct observation *o; /* NULL: looks for name alone */
	const char *name;
	char found[PATH_SIZE]; /* the group of that name; empty: none yet */
	unsigned same;         /* groups of that name */
	int added;
	unsigned refused; /* processes that this user may not watch */
	char *why;
};

static int add_processes(struct walk *w, const char *path)
{
	char file[PATH_SIZE + 16];
	int pid, error = 0;
	FILE *list;

	snprintf(file, sizeof file, "%s/cgroup.procs", path);
	list = fopen(file, "re");
	if (!list) {
		error = -errno;
		snprintf(w->why, OBSERVE_WHY_SIZE, "cannot read %.200s: %s", file,
		         strerror(-error));
		return error;
	}
	while (!error && fscanf(list, "%d", &pid) == 1) {
		if (pid < 1) /* it lives where this process does not see it */
			continue;
		if (!watch_may(w->o, pid, w->why)) {
			w->refused++;
			continue;
		}
		error = observe_add(w->o, pid, w->why);
		w->added += error == 0;
		if (error == -ESRCH) /* it has just ended */
			error = 0;
	}
	fclose(list);
	return error;
}

static int visit(struct walk *w, const char *path)
{
	const char *name = strrchr(path, '/') + 1;

	if (w->o)
		return add_processes(w, path);
	if (strcmp(name, w->name) == 0 && w->same++ == 0)
		snprintf(w->found, sizeof w->found, "%s", path);
	return 0;
}

static int walk(struct walk *w, const char *path, int depth)
{
	int error = visit(w, path);
	DIR *folder = error || depth == DEPTH_MAX ? NULL : opendir(path);
	const struct dirent *entry;

	while (!error && folder && (entry = readdir(folder))) {
		char below[PATH_SIZE];

		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		snprintf(below, sizeof below, "%.3800s/%.255s", path, entry->d_name);
		error = walk(w, below, depth + 1);
		if (error == -ENOENT || error == -ENODEV) /* a group may vanish meanwhile */
			error = 0;
	}
	if (folder)
		closedir(folder);
	return error;
}

static bool is_group(const char *path)
{
	char file[PATH_SIZE + 16];

	snprintf(file, sizeof file, "%s/cgroup.procs", path);
	return access(file, F_OK) == 0;
}

/* The mounted hierarchies, version 2 first. How many. */
static unsigned hierarchies(char roots[][PATH_SIZE], unsigned max)
{
	unsigned count = 0;

	for (int version = 2; version > 0; version--) {
		FILE *mounts = setmntent("/proc/self/mounts", "re");
		const struct mntent *mount;

		while (mounts && count < max && (mount = getmntent(mounts)))
			if (strcmp(mount->mnt_type, version == 2 ? "cgroup2" : "cgroup") == 0)
				snprintf(roots[count++], PATH_SIZE, "%.3800s", mount->mnt_dir);
		if (mounts)
			endmntent(mounts);
	}
	return count;
}

/* By its path: from the root of the file system, or of a hierarchy. */
static bool find_path(const char *cgroup, char roots[][PATH_SIZE], unsigned count,
                      char path[PATH_SIZE])
{
	snprintf(path, PATH_SIZE, "%.3800s", cgroup);
	if (*cgroup == '/' && is_group(path))
		return true;
	for (unsigned i = 0; i < count; i++) {
		snprintf(path, PATH_SIZE, "%.2000s/%.2000s", roots[i],
		         cgroup + strspn(cgroup, "/"));
		if (is_group(path))
			return true;
	}
	return false;
}

static int find_group(const char *cgroup, char path[PATH_SIZE], char why[OBSERVE_WHY_SIZE])
{
	enum { ROOTS_MAX = 32 };
	static char roots[ROOTS_MAX][PATH_SIZE];
	const unsigned count = hierarchies(roots, ROOTS_MAX);
	struct walk w = {.name = cgroup};

	if (find_path(cgroup, roots, count, path))
		return 0;
	for (unsigned i = 0; i < count && !strchr(cgroup, '/') && !w.same; i++)
		walk(&w, roots[i], 0);
	if (w.same == 1) {
		snprintf(path, PATH_SIZE, "%s", w.found);
		return 0;
	}
	if (w.same > 1)
		snprintf(why, OBSERVE_WHY_SIZE,
		         "%u control groups are named %.60s; give the path of one, as in "
		         "--cgroup %.100s",
		         w.same, cgroup, w.found);
	else
		snprintf(why, OBSERVE_WHY_SIZE,
		         "there is no control group %.100s; the paths are those below %.60s, and "
		         "/proc/PID/cgroup says in which one a process is",
		         cgroup, count ? roots[0] : "/sys/fs/cgroup");
	return -ENOENT;
}

int watch_cgroup_add(struct observation *o, const char *cgroup, char why[OBSERVE_WHY_SIZE])
{
	struct walk w = {.o = o, .why = why};
	char path[PATH_SIZE];
	int error = find_group(cgroup, path, why);

	if (!error)
		error = walk(&w, path, 0);
	if (error)
		return error;
	if (w.added == 0 && !w.refused)
		snprintf(why, OBSERVE_WHY_SIZE, "the control group %.200s has no processes", path);
	return w.added ? w.added : w.refused ? -EPERM : -ESRCH;
}
