/* Keeps what a bpftrace script said in a file beside the runs: see scripts.h. */
#include "cli/scripts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NAMES_MAX = 10000, FILE_NAME_SIZE = 200 };

static const char *string_of(const json_t *object, const char *key, const char *otherwise)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value ? value : otherwise;
}

/* A new file "workers-uring-disk-randread-park-1.txt" in the directory, its descriptor or -errno;
 * the number is the first that is free. */
static int open_new(int directory, const json_t *run, char name[FILE_NAME_SIZE])
{
	const json_t *plan = json_object_get(run, "plan");
	const char *script = string_of(json_object_get(run, "script"), "name", "script");

	for (int i = 1; i < NAMES_MAX; i++) {
		snprintf(name, FILE_NAME_SIZE, "%.*s-%.32s-%.32s-%.16s-%d.txt",
		         (int)strcspn(script, "."), script, string_of(plan, "engine", "none"),
		         string_of(plan, "workload", "none"), string_of(plan, "wait", "none"), i);
		const int fd = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
		                      0666);
		if (fd >= 0 || errno != EEXIST)
			return fd < 0 ? -errno : fd;
	}
	return -EEXIST;
}

static int write_all(int fd, const char *text)
{
	size_t left = strlen(text);

	while (left) {
		const ssize_t n = write(fd, text, left);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			text += n;
			left -= (size_t)n;
		}
	}
	return 0;
}

int scripts_keep(const char *path, json_t *run, char why[SCRIPT_WHY_SIZE])
{
	json_t *script = json_object_get(run, "script");
	char name[FILE_NAME_SIZE] = "";
	int directory, fd, error;

	if (!script)
		return 0;
	directory = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	fd = directory < 0 ? -errno : open_new(directory, run, name);
	error = fd < 0 ? fd : write_all(fd, string_of(script, "output", ""));
	if (fd >= 0 && close(fd) && !error)
		error = -errno;
	if (error && fd >= 0) /* half of it would look like all of it */
		unlinkat(directory, name, 0);
	if (directory >= 0)
		close(directory);
	if (error)
		snprintf(why, SCRIPT_WHY_SIZE,
		         "what the script said cannot be kept in %.200s: %s; it stands in the run",
		         path, strerror(-error));
	else
		json_object_set_new(script, "file", json_string(name));
	return error;
}
