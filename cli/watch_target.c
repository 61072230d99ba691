/* Whom this user may watch. */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/watch.h"

bool watch_may(const struct observation *o, pid_t pid, char why[OBSERVE_WHY_SIZE])
{
	char path[64];
	struct stat status;

	if (geteuid() == 0 || *o->without_bpf)
		return true;
	snprintf(path, sizeof path, "/proc/%d", (int)pid);
	if (stat(path, &status)) { /* or it is hidden from this user: see proc(5), hidepid */
		snprintf(why, OBSERVE_WHY_SIZE, "there is no process %d", (int)pid);
		return false;
	}
	if (status.st_uid == getuid())
		return true;
	snprintf(why, OBSERVE_WHY_SIZE,
	         "process %d is of user %u: with the capabilities of the file, iostudy watches "
	         "only the caller's own processes; use sudo",
	         (int)pid, (unsigned)status.st_uid);
	return false;
}
