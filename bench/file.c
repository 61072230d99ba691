/* Makes, finds, fills and removes the file of the disk workloads: see file.h. */
#include "bench/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <linux/fs.h>

#include "bench/units.h"

enum { CHUNK = 1 << 20, LOCK_TRIES = 100 };

static int complain(int err, const char *path, const char *what, char why[PLAN_WHY_SIZE])
{
	snprintf(why, PLAN_WHY_SIZE, "%.200s: %s: %s", path, what, strerror(-err));
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

/* Fills fd to size. Past the page cache where the file system can, so that it starts cold. */
static int fill(int fd, const struct plan *plan, const char *path, uint64_t size,
                const volatile sig_atomic_t *stop, char why[PLAN_WHY_SIZE])
{
	char *chunk = NULL;
	int err = 0;

	if (lacks_space(fd, size))
		return complain_no_space(path, size, fd, why);
	chunk = aligned_alloc(4096, CHUNK);
	if (!chunk)
		return complain(-ENOMEM, path, "cannot fill it", why);
	for (uint64_t at = 0; at < size && !err;) {
		const size_t bytes = size - at < CHUNK ? (size - at) & ~511ull : CHUNK;
		ssize_t n;

		if (!bytes)
			break;
		file_fill(chunk, bytes, at, plan->seed);
		n = *stop ? -1 : pwrite(fd, chunk, bytes, (off_t)at);
		if (n > 0)
			at += (uint64_t)n & ~511ull;
		else if (*stop)
			err = complain(-EINTR, path, "interrupted while it was filled", why);
		else if (errno == EFBIG)
			err = complain_file_limit(path, size, why);
		else if (n == 0 || errno == ENOSPC || errno == EDQUOT)
			err = complain_no_space(path, size, fd, why);
		else if (errno != EINTR)
			err = complain(-errno, path, "cannot fill it", why);
	}
	if (!err && fdatasync(fd) != 0)
		err = errno == ENOSPC ? complain_no_space(path, size, fd, why)
		                      : complain(-errno, path, "cannot fill it", why);
	free(chunk);
	return err;
}

/* The bytes of a regular file or a block device; 0 for anything else. */
static uint64_t file_bytes(int fd)
{
	struct stat st;
	uint64_t bytes = 0;

	if (fstat(fd, &st) != 0)
		return 0;
	if (S_ISREG(st.st_mode))
		return (uint64_t)st.st_size;
	if (S_ISBLK(st.st_mode) && ioctl(fd, BLKGETSIZE64, &bytes) == 0)
		return bytes;
	return 0;
}

/* Whether its first and last blocks up to size are ours; takes the seed from them. */
static bool is_ours(int fd, uint64_t size, uint64_t *seed)
{
	const uint64_t ends[] = {0, (size & ~511ull) - 512};
	uint64_t sector[64];

	for (int i = 0; i < 2; i++) {
		if (pread(fd, sector, sizeof sector, (off_t)ends[i]) != sizeof sector)
			return false;
		if (i == 0)
			*seed = sector[2];
		if (!file_check(sector, sizeof sector, ends[i], *seed))
			return false;
	}
	return true;
}

static int open_kind(const char *path, int flags, char why[PLAN_WHY_SIZE])
{
	struct stat st;
	int fd = open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0644);

	if (fd < 0)
		return complain(-errno, path, "cannot open it", why);
	if (fstat(fd, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISBLK(st.st_mode)) {
		close(fd);
		return complain(S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL, path,
		                "neither a regular file nor a block device", why);
	}
	return fd;
}

static int complain_short(const struct plan *plan, uint64_t bytes, char why[PLAN_WHY_SIZE])
{
	char have[32], want[32], block[32];

	units_format_size(bytes, have);
	if (bytes < plan->block_bytes)
		snprintf(why, PLAN_WHY_SIZE,
		         "%.200s: it has %s bytes, less than one block (--bs %s)", plan->file, have,
		         units_format_size(plan->block_bytes, block));
	else
		snprintf(why, PLAN_WHY_SIZE,
		         "%.200s: it has %s bytes and --size asks for %s: use --size %s, or "
		         "--overwrite to have it filled anew",
		         plan->file, have, units_format_size(plan->size_bytes, want), have);
	return -EINVAL;
}

/* A file of the user's: only looked at, unless it may be overwritten and is missing or short. */
static int prepare_named(struct plan *plan, struct file_lease *lease,
                         const volatile sig_atomic_t *stop, char why[PLAN_WHY_SIZE])
{
	int fd = open_kind(plan->file, O_RDONLY, why), err = 0;
	uint64_t bytes = fd >= 0 ? file_bytes(fd) : 0;
	uint64_t want = plan->size_bytes ? plan->size_bytes : FILE_SIZE_DEFAULT;
	bool created = false;
	const bool enough = fd >= 0 && bytes >= (plan->size_bytes ? want : plan->block_bytes);

	if (fd == -ENOENT && !plan->overwrite) {
		snprintf(why, PLAN_WHY_SIZE,
		         "%.200s: it does not exist; name a file that does, or add --overwrite to "
		         "have it made",
		         plan->file);
		return fd;
	}
	if (fd < 0 && fd != -ENOENT)
		return fd;
	if (!enough && plan->overwrite) {
		if (fd >= 0)
			close(fd);
		created = access(plan->file, F_OK) != 0;
		fd = open_kind(plan->file, O_RDWR | O_CREAT, why);
		if (fd < 0)
			return fd;
		err = fill(fd, plan, plan->file, want, stop, why);
		if (err && created)
			unlink(plan->file);
		bytes = want;
	} else if (!enough) {
		err = complain_short(plan, bytes, why);
	}
	if (err) {
		close(fd);
		return err;
	}
	if (!plan->size_bytes)
		plan->size_bytes = bytes;
	plan->file_verified = is_ours(fd, plan->size_bytes, &plan->file_seed);
	lease->fd = fd;
	return 0;
}

/* Whether path still names what fd has open. */
static bool is_named(int fd, const char *path)
{
	struct stat open_file, named;

	return fstat(fd, &open_file) == 0 && stat(path, &named) == 0 &&
	       open_file.st_dev == named.st_dev && open_file.st_ino == named.st_ino;
}

/* Opens, or makes, the file with a shared lock. Another iostudy may be removing it just now. */
static int open_shared(const char *path, char why[PLAN_WHY_SIZE])
{
	for (int i = 0; i < LOCK_TRIES; i++) {
		const int fd = open_kind(path, O_RDWR | O_CREAT, why);

		if (fd < 0)
			return fd;
		if (flock(fd, LOCK_SH | LOCK_NB) == 0 && is_named(fd, path))
			return fd;
		close(fd);
		usleep(10000);
	}
	return complain(-EBUSY, path, "another iostudy is filling it", why);
}

/* Our own file: made, or taken over from an earlier run that kept it. */
static int prepare_own(struct plan *plan, struct file_lease *lease,
                       const volatile sig_atomic_t *stop, char why[PLAN_WHY_SIZE])
{
	int fd = open_shared(plan->file, why), err;
	uint64_t bytes;

	if (fd < 0)
		return fd;
	if (!plan->size_bytes)
		plan->size_bytes = FILE_SIZE_DEFAULT;
	bytes = file_bytes(fd);
	if (bytes && !is_ours(fd, bytes < 512 ? 512 : bytes, &plan->file_seed)) {
		close(fd);
		snprintf(why, PLAN_WHY_SIZE,
		         "%.200s: it exists and was not made by iostudy; remove it, name another "
		         "--directory, or use it as it is with --filename",
		         plan->file);
		return -EEXIST;
	}
	if (bytes < plan->size_bytes) {
		if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
			close(fd);
			return complain(-EBUSY, plan->file,
			                "it must grow, and another iostudy uses it", why);
		}
		err = fill(fd, plan, plan->file, plan->size_bytes, stop, why);
		plan->file_seed = plan->seed;
		if (err) {
			unlink(plan->file);
			close(fd);
			return err;
		}
	}
	flock(fd, LOCK_SH);
	plan->file_verified = true;
	lease->fd = fd;
	lease->made = true;
	return 0;
}

int file_prepare(struct plan *plan, struct file_lease *lease, const volatile sig_atomic_t *stop,
                 char why[PLAN_WHY_SIZE])
{
	*lease = (struct file_lease){.fd = -1};
	snprintf(lease->path, sizeof lease->path, "%s", plan->file);
	if (plan->file_named)
		return prepare_named(plan, lease, stop, why);
	return prepare_own(plan, lease, stop, why);
}

void file_release(struct file_lease *lease, bool keep)
{
	if (lease->fd < 0)
		return;
	if (lease->made && !keep && flock(lease->fd, LOCK_EX | LOCK_NB) == 0)
		unlink(lease->path);
	close(lease->fd);
	lease->fd = -1;
}

int file_cache_drop(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	if (fdatasync(fd) != 0 && errno != EROFS && errno != EINVAL)
		err = -errno;
	if (!err)
		err = -posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	close(fd);
	return err;
}

int file_cache_fill(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = 0;
	char *chunk = malloc(CHUNK);
	ssize_t n;

	if (fd < 0 || !chunk)
		err = fd < 0 ? -errno : -ENOMEM;
	while (!err && (n = read(fd, chunk, CHUNK)) != 0)
		if (n < 0 && errno != EINTR)
			err = -errno;
	free(chunk);
	if (fd >= 0)
		close(fd);
	return err;
}
