/* Whom to watch: the processes of a control group, and whom this user may watch. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/watch.h"

enum { PATH_SIZE = 4096, DEPTH_MAX = 32 };

bool watch_may(pid_t pid, char why[OBSERVE_WHY_SIZE])
{
	char path[64];
	struct stat status;

	snprintf(path, sizeof path, "/proc/%d", (int)pid);
	if (geteuid() == 0 || stat(path, &status) || status.st_uid == getuid())
		return true;
	snprintf(why, OBSERVE_WHY_SIZE,
	         "process %d is of user %u: with the capabilities of the file, iostudy watches "
	         "only the caller's own processes; use sudo",
	         (int)pid, (unsigned)status.st_uid);
	return false;
}

static int add_processes(struct observation *o, const char *path, char why[OBSERVE_WHY_SIZE])
{
	char file[PATH_SIZE + 16];
	int pid, count = 0;
	FILE *list;

	snprintf(file, sizeof file, "%s/cgroup.procs", path);
	list = fopen(file, "re");
	if (!list) {
		snprintf(why, OBSERVE_WHY_SIZE, "cannot read %.200s: %s", file, strerror(errno));
		return -errno;
	}
	while (fscanf(list, "%d", &pid) == 1)
		if (pid > 0 && watch_may(pid, why) && observe_add(o, pid, why) == 0)
			count++;
	fclose(list);
	return count;
}

static int add_below(struct observation *o, const char *path, int depth, char why[OBSERVE_WHY_SIZE])
{
	int count = add_processes(o, path, why);
	DIR *folder = count < 0 || depth == DEPTH_MAX ? NULL : opendir(path);
	struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		char below[PATH_SIZE];
		int more;

		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		snprintf(below, sizeof below, "%.3800s/%.255s", path, entry->d_name);
		more = add_below(o, below, depth + 1, why);
		count += more > 0 ? more : 0; /* a group may vanish meanwhile */
	}
	if (folder)
		closedir(folder);
	return count;
}

int watch_cgroup_add(struct observation *o, const char *cgroup, char why[OBSERVE_WHY_SIZE])
{
	char path[PATH_SIZE];
	const bool whole = strncmp(cgroup, "/sys/fs/cgroup", 14) == 0;
	int count;

	snprintf(path, sizeof path, "%s%s%.3800s", whole ? "" : "/sys/fs/cgroup",
	         whole || *cgroup == '/' ? "" : "/", cgroup);
	count = add_below(o, path, 0, why);
	if (count == 0) {
		snprintf(why, OBSERVE_WHY_SIZE, "the control group %.200s has no processes", path);
		return -ESRCH;
	}
	return count;
}
