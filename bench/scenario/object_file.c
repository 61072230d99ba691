/* The objects of a store on disk: see object_file.h. */
#include "bench/scenario/object_file.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/scenario/http.h"

enum { NUMBER_SIZE = 24 };

static int folder_open(int at, const char *name, int make)
{
	int fd;

	if (make && mkdirat(at, name, 0777) != 0 && errno != EEXIST)
		return -errno;
	fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	return fd < 0 ? -errno : fd;
}

/* Removes what is in the folder of what comes in: nobody was told that it is there. */
static int incoming_clear(int incoming)
{
	DIR *folder = fdopendir(dup(incoming));
	struct dirent *entry;

	if (!folder)
		return -errno;
	while ((entry = readdir(folder)))
		if (entry->d_name[0] != '.')
			unlinkat(incoming, entry->d_name, 0);
	closedir(folder);
	return 0;
}

static int shelf_fail(const char *directory, int error, char why[OBJECT_WHY_SIZE])
{
	snprintf(why, OBJECT_WHY_SIZE, "the folder %.200s: %s", directory,
	         error == -EBUSY ? "another store serves it: take another one (--directory)"
	                         : strerror(-error));
	return error;
}

int object_shelf_open(struct object_shelf *shelf, const char *directory, char why[OBJECT_WHY_SIZE])
{
	int error = 0;

	if (mkdir(directory, 0777) != 0 && errno != EEXIST)
		return shelf_fail(directory, -errno, why);
	shelf->root = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (shelf->root < 0)
		return shelf_fail(directory, -errno, why);
	if (flock(shelf->root, LOCK_EX | LOCK_NB) != 0)
		error = errno == EWOULDBLOCK ? -EBUSY : -errno;
	shelf->incoming = error ? error : folder_open(shelf->root, ".incoming", 1);
	error = shelf->incoming < 0 ? shelf->incoming : incoming_clear(shelf->incoming);
	if (!error)
		return 0;
	if (shelf->incoming >= 0)
		close(shelf->incoming);
	close(shelf->root);
	return shelf_fail(directory, error, why);
}

void object_shelf_close(struct object_shelf *shelf)
{
	close(shelf->incoming);
	close(shelf->root);
}

static int bucket_take(struct object_name *name, const char *bucket, size_t bytes)
{
	if (bytes == 0 || !isalnum((unsigned char)bucket[0]))
		return -EINVAL;
	if (bytes > OBJECT_BUCKET_MAX)
		return -ENAMETOOLONG;
	for (size_t i = 0; i < bytes; i++)
		if (!isalnum((unsigned char)bucket[i]) && !strchr("-_.", bucket[i]))
			return -EINVAL;
	memcpy(name->bucket, bucket, bytes);
	name->bucket[bytes] = 0;
	return 0;
}

/* Letters are those of ASCII: no locale has been set. */
static int key_take(struct object_name *name, const char *key)
{
	size_t at = 0;

	if (!*key)
		return -EINVAL;
	for (const unsigned char *c = (const void *)key; *c; c++) {
		const int plain = isalnum(*c) || *c == '-' || *c == '_' || (*c == '.' && at);

		if (at + (plain ? 1 : 3) > OBJECT_FILE_MAX)
			return -ENAMETOOLONG;
		at += (size_t)snprintf(name->file + at, 4, plain ? "%c" : "%%%02X", *c);
	}
	return 0;
}

int object_name_parse(struct object_name *name, const char *target)
{
	char *path = strndup(target, strcspn(target, "?#")), *slash;
	int error = -EINVAL;

	if (!path)
		return -ENOMEM;
	if (*path == '/' && http_decode(path) && (slash = strchr(path + 1, '/'))) {
		error = bucket_take(name, path + 1, (size_t)(slash - path - 1));
		if (!error)
			error = key_take(name, slash + 1);
	}
	free(path);
	return error;
}

static const char *number_text(uint64_t number, char text[NUMBER_SIZE])
{
	snprintf(text, NUMBER_SIZE, "%" PRIu64, number);
	return text;
}

int object_begin(const struct object_shelf *shelf, uint64_t number)
{
	char text[NUMBER_SIZE];
	const int fd = openat(shelf->incoming, number_text(number, text),
	                      O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

	return fd < 0 ? -errno : fd;
}

/* A bucket is made by its first object, and that it is there must last as long. It happens once,
 * so it is waited for here. */
static int bucket_open(const struct object_shelf *shelf, const char *bucket)
{
	int fd = folder_open(shelf->root, bucket, 0);

	if (fd != -ENOENT)
		return fd;
	fd = folder_open(shelf->root, bucket, 1);
	if (fd >= 0 && fsync(shelf->root) != 0) {
		close(fd);
		return -errno;
	}
	return fd;
}

int object_finish(const struct object_shelf *shelf, uint64_t number, const struct object_name *name)
{
	const int bucket = bucket_open(shelf, name->bucket);
	char text[NUMBER_SIZE];

	if (bucket < 0)
		return bucket;
	if (renameat(shelf->incoming, number_text(number, text), bucket, name->file) != 0) {
		const int error = errno;

		close(bucket);
		return -error;
	}
	return bucket;
}

void object_forget(const struct object_shelf *shelf, uint64_t number)
{
	char text[NUMBER_SIZE];

	unlinkat(shelf->incoming, number_text(number, text), 0);
}

int object_open(const struct object_shelf *shelf, const struct object_name *name)
{
	const int bucket = folder_open(shelf->root, name->bucket, 0);
	int fd;

	if (bucket < 0)
		return bucket;
	fd = openat(bucket, name->file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		fd = -errno;
	close(bucket);
	return fd;
}
