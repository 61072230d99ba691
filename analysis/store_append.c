/*
 * A run kept: one line at the end of DIR/runs.jsonl, wholly or not at all.
 */
#include "analysis/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/format.h"

char *store_line(const json_t *run)
{
	/* ten digits say more than any of these figures knows, and read well */
	return json_dumps(run, JSON_COMPACT | JSON_REAL_PRECISION(10));
}

static int fail(char why[STORE_WHY_SIZE], const char *path, const char *what, int error)
{
	char shown[200];

	format_name(shown, sizeof shown, path, 180, false);
	snprintf(why, STORE_WHY_SIZE, "%s: %s: %s%s", shown, what, strerror(error),
	         error == ENOSPC || error == EDQUOT  ? "; make room there, or name another -o DIR"
	         : error == EACCES || error == EROFS ? "; name a -o DIR that you may write to"
	                                             : "");
	return -error;
}

/* Makes path and the folders that lead there. 0 or -errno. */
static int folders_make(const char *path)
{
	char copy[4000];

	if (strlen(path) >= sizeof copy)
		return -ENAMETOOLONG;
	strcpy(copy, path);
	for (char *slash = copy + 1; *copy && (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		if (mkdir(copy, 0777) != 0 && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	return mkdir(copy, 0777) == 0 || errno == EEXIST ? 0 : -errno;
}

/* A line that an earlier crash cut short must not swallow this one. */
static bool file_ends_in_line(int fd, off_t size)
{
	char last;

	return size == 0 || pread(fd, &last, 1, size - 1) != 1 || last == '\n';
}

/* Writes all of line in one call where the system can; takes back what did not fit. */
static int line_append(int fd, const char *line, size_t length)
{
	struct stat before;
	ssize_t written;

	if (flock(fd, LOCK_EX) != 0 || fstat(fd, &before) != 0)
		return -errno;
	if (!file_ends_in_line(fd, before.st_size) && write(fd, "\n", 1) != 1)
		return -errno;
	do
		written = write(fd, line, length);
	while (written < 0 && errno == EINTR);
	if (written == (ssize_t)length)
		return fsync(fd) == 0 || errno == EINVAL || errno == EROFS ? 0 : -errno;
	const int error = written < 0 ? errno : ENOSPC;
	if (S_ISREG(before.st_mode) && ftruncate(fd, before.st_size) != 0)
		return -errno;
	return -error;
}

/* The descriptor, or -errno with why. path becomes DIR/NAME. */
static int file_open(const char *directory, const char *name, char *path, size_t size,
                     char why[STORE_WHY_SIZE])
{
	const int status = folders_make(directory);

	why[0] = '\0';
	if (status)
		return fail(why, directory, "cannot make this folder", -status);
	snprintf(path, size, "%s/%s", directory, name);
	const int fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	return fd < 0 ? fail(why, path, "cannot be opened", errno) : fd;
}

int store_prepare(const char *directory, char why[STORE_WHY_SIZE])
{
	char path[4200];
	const int fd = file_open(directory, STORE_RUNS, path, sizeof path, why);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

/* Where the last line begins: after the last line's end before size. -1 with errno. */
static off_t last_line_find(int fd, off_t size)
{
	char block[4096];
	off_t at = size;

	while (at > 0) {
		const off_t from = at > (off_t)sizeof block ? at - (off_t)sizeof block : 0;
		ssize_t n = pread(fd, block, (size_t)(at - from), from);

		if (n != at - from)
			return -1;
		for (; n > 0; n--)
			if (block[n - 1] == '\n')
				return from + n;
		at = from;
	}
	return 0;
}

/* Whether the line from there to the end is a whole run that lacks only its end. */
static bool line_is_whole(int fd, off_t from, off_t size)
{
	const size_t length = (size_t)(size - from);
	char *line = length <= STORE_LINE_MAX ? malloc(length) : NULL;
	json_t *run = NULL;

	if (line && pread(fd, line, length, from) == (ssize_t)length)
		run = json_loadb(line, length, 0, NULL);
	free(line);
	json_decref(run);
	return run != NULL;
}

static int end_repair(int fd, const char *path, char why[STORE_WHY_SIZE])
{
	struct stat file;
	char shown[200];
	off_t from;

	if (flock(fd, LOCK_EX) != 0 || fstat(fd, &file) != 0)
		return fail(why, path, "cannot be mended", errno);
	if (file_ends_in_line(fd, file.st_size))
		return 0;
	from = last_line_find(fd, file.st_size);
	format_name(shown, sizeof shown, path, 180, false);
	if (from >= 0 && line_is_whole(fd, from, file.st_size)) {
		snprintf(why, STORE_WHY_SIZE, "%s: its last line lacked its end, and has it now",
		         shown);
		return write(fd, "\n", 1) == 1 ? 1 : fail(why, path, "cannot be mended", errno);
	}
	snprintf(why, STORE_WHY_SIZE, "%s: its last line was cut short, and is taken away", shown);
	return from >= 0 && ftruncate(fd, from) == 0 ? 1
	                                             : fail(why, path, "cannot be mended", errno);
}

int store_repair(const char *directory, char why[STORE_WHY_SIZE])
{
	char path[4200];
	struct stat file;

	why[0] = '\0';
	snprintf(path, sizeof path, "%s/%s", directory, STORE_RUNS);
	if (stat(path, &file) != 0 || !S_ISREG(file.st_mode))
		return 0;
	const int fd = open(path, O_RDWR | O_APPEND | O_CLOEXEC);
	if (fd < 0)
		return fail(why, path, "cannot be opened", errno);
	const int status = end_repair(fd, path, why);
	close(fd);
	return status;
}

int store_append(const char *directory, const json_t *run, char why[STORE_WHY_SIZE])
{
	return store_append_as(directory, STORE_RUNS, run, why);
}

int store_append_as(const char *directory, const char *name, const json_t *run,
                    char why[STORE_WHY_SIZE])
{
	char path[4200];
	const int fd = file_open(directory, name, path, sizeof path, why);

	if (fd < 0)
		return fd;
	char *text = store_line(run);
	char *line = text ? realloc(text, strlen(text) + 2) : NULL;
	if (!line) {
		free(text);
		close(fd);
		return fail(why, path, "cannot be written", ENOMEM);
	}
	strcat(line, "\n");
	int status = line_append(fd, line, strlen(line));
	if (close(fd) != 0 && !status)
		status = -errno;
	free(line);
	if (status)
		fail(why, path, "this run could not be kept (those before it are)", -status);
	return status;
}
