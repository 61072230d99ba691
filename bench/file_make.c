/* Fills the files of the disk workloads, and says what stands in the way: see file.h. */
#include "bench/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "bench/units.h"

enum { CHUNK = 1 << 20 };

static int complain(int err, const char *path, char why[PLAN_WHY_SIZE])
{
	if (err == -EINTR)
		snprintf(why, PLAN_WHY_SIZE, "%.200s: interrupted while it was filled", path);
	else
		snprintf(why, PLAN_WHY_SIZE, "%.200s: cannot fill it: %s", path, strerror(-err));
	return err;
}

static int complain_no_space(const char *path, uint64_t size, int fd, char why[PLAN_WHY_SIZE])
{
	struct statvfs fs = {0};
	char want[32];

	fstatvfs(fd, &fs);
	snprintf(why, PLAN_WHY_SIZE,
	         "%.200s: cannot fill %s: the file system is full (%llu MiB are free); use a "
	         "smaller --size, or another --directory",
	         path, units_format_size(size, want),
	         (unsigned long long)(fs.f_bavail * fs.f_frsize >> 20));
	return -ENOSPC;
}

static int complain_file_limit(const char *path, uint64_t size, char why[PLAN_WHY_SIZE])
{
	struct rlimit limit = {0};
	char want[32];

	getrlimit(RLIMIT_FSIZE, &limit);
	snprintf(why, PLAN_WHY_SIZE,
	         "%.200s: cannot fill %s: RLIMIT_FSIZE is %llu bytes; raise it with ulimit -f, or "
	         "use a smaller --size",
	         path, units_format_size(size, want), (unsigned long long)limit.rlim_cur);
	return -EFBIG;
}

/* Whether the file system cannot hold so many bytes; better known before than after an hour. */
static bool lacks_space(int fd, uint64_t size)
{
	struct statvfs fs;
	struct stat st;

	return fstatvfs(fd, &fs) == 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	       fs.f_bavail * fs.f_frsize + (uint64_t)st.st_blocks * 512 < size;
}

int file_make(int fd, const char *path, uint64_t size, uint64_t seed,
              const volatile sig_atomic_t *stop, char why[PLAN_WHY_SIZE])
{
	char *chunk = NULL;
	int err = 0;

	if (lacks_space(fd, size))
		return complain_no_space(path, size, fd, why);
	chunk = aligned_alloc(4096, CHUNK);
	if (!chunk)
		return complain(-ENOMEM, path, why);
	for (uint64_t at = 0; at < size && !err;) {
		const size_t bytes = size - at < CHUNK ? (size - at) & ~511ull : CHUNK;
		ssize_t n;

		if (!bytes)
			break;
		file_fill(chunk, bytes, at, seed, 0);
		n = *stop ? -1 : pwrite(fd, chunk, bytes, (off_t)at);
		if (n > 0)
			at += (uint64_t)n & ~511ull;
		else if (*stop)
			err = complain(-EINTR, path, why);
		else if (errno == EFBIG)
			err = complain_file_limit(path, size, why);
		else if (n == 0 || errno == ENOSPC || errno == EDQUOT)
			err = complain_no_space(path, size, fd, why);
		else if (errno != EINTR)
			err = complain(-errno, path, why);
	}
	if (!err && fdatasync(fd) != 0)
		err = errno == ENOSPC ? complain_no_space(path, size, fd, why)
		                      : complain(-errno, path, why);
	free(chunk);
	return err;
}
