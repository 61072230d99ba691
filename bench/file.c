/* Finds, takes and removes the files of the disk workloads: see file.h. */
#include "bench/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/fs.h>

#include "bench/random.h"
#include "bench/units.h"

enum { CHUNK = 1 << 20, LOCK_TRIES = 100 };

static int complain(int err, const char *path, const char *what, char why[PLAN_WHY_SIZE])
{
	snprintf(why, PLAN_WHY_SIZE, "%.200s: %s: %s", path, what, strerror(-err));
	return err;
}

bool file_path(const char *path, uint32_t index, char out[PLAN_PATH_SIZE])
{
	size_t length = strlen(path);
	char digits[12];
	uint32_t count = 0;

	for (; index; index /= 10)
		digits[count++] = (char)('0' + index % 10);
	if (length + count + 2 > PLAN_PATH_SIZE)
		return false;
	memcpy(out, path, length);
	if (count)
		out[length++] = '.';
	while (count)
		out[length++] = digits[--count];
	out[length] = 0;
	return true;
}

uint64_t file_seed(uint64_t seed, uint32_t index)
{
	return index ? random_stream(seed, index) : seed;
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
	const uint64_t ends[] = {0, size < 512 ? 0 : (size & ~511ull) - 512};
	uint64_t sector[64], found = 0;

	for (int i = 0; i < 2; i++) {
		if (pread(fd, sector, sizeof sector, (off_t)ends[i]) != sizeof sector)
			return false;
		if (i == 0)
			found = sector[2];
		if (!file_check(sector, sizeof sector, ends[i], found, FILE_ANY_GENERATION))
			return false;
	}
	*seed = found;
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

/* Makes the named file, or fills it anew. Returns its descriptor, or -errno with why. */
static int make_named(const struct plan *plan, uint64_t size, const volatile sig_atomic_t *stop,
                      char why[PLAN_WHY_SIZE])
{
	const bool created = access(plan->file, F_OK) != 0;
	const int fd = open_kind(plan->file, O_RDWR | O_CREAT, why);
	int err;

	if (fd < 0)
		return fd;
	err = file_make(fd, plan->file, size, plan->seed, stop, why);
	if (!err)
		return fd;
	close(fd);
	if (created)
		unlink(plan->file);
	return err;
}

/* A file of the user's: only looked at, unless it may be overwritten and is missing or short. */
static int prepare_named(struct plan *plan, struct file_lease *lease,
                         const volatile sig_atomic_t *stop, char why[PLAN_WHY_SIZE])
{
	int fd = open_kind(plan->file, O_RDONLY, why);
	uint64_t bytes = fd >= 0 ? file_bytes(fd) : 0;
	const uint64_t want = plan->size_bytes ? plan->size_bytes : FILE_SIZE_DEFAULT;
	const bool enough = fd >= 0 && bytes >= (plan->size_bytes ? want : plan->block_bytes);

	if (fd == -ENOENT && !plan->overwrite)
		snprintf(why, PLAN_WHY_SIZE,
		         "%.200s: it does not exist; name a file that does, or add --overwrite to "
		         "have it made",
		         plan->file);
	if (fd < 0 && (fd != -ENOENT || !plan->overwrite))
		return fd;
	if (!enough) {
		if (fd >= 0)
			close(fd);
		fd = plan->overwrite ? make_named(plan, want, stop, why)
		                     : complain_short(plan, bytes, why);
		bytes = want;
	}
	if (fd < 0)
		return fd;
	if (!plan->size_bytes)
		plan->size_bytes = bytes;
	plan->file_seed = plan->seed;
	plan->file_verified = is_ours(fd, plan->size_bytes, &plan->file_seed);
	lease->fds[lease->count++] = fd;
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
	return complain(-EBUSY, path, "another iostudy is filling it or writes to it", why);
}

/* One of our own files: made, or taken over from an earlier run that kept it. */
static int prepare_own(struct plan *plan, struct file_lease *lease,
                       const volatile sig_atomic_t *stop, char why[PLAN_WHY_SIZE])
{
	const uint32_t index = lease->count;
	const uint64_t size = plan->size_bytes / plan->files & ~511ull;
	uint64_t bytes, seed = 0;
	char path[PLAN_PATH_SIZE];
	int fd, err = 0;
	bool fill;

	if (!file_path(plan->file, index, path))
		return complain(-ENAMETOOLONG, plan->file, "cannot make it", why);
	fd = open_shared(path, why);
	if (fd < 0)
		return fd;
	bytes = file_bytes(fd);
	if (bytes && !is_ours(fd, bytes, &seed)) {
		snprintf(why, PLAN_WHY_SIZE,
		         "%.200s: it exists and was not made by iostudy; remove it, name another "
		         "--directory, or use it as it is with --filename",
		         path);
		close(fd);
		return -EEXIST;
	}
	fill = bytes < size || (index && seed != file_seed(plan->file_seed, index));
	if (index == 0)
		plan->file_seed = fill ? plan->seed : seed;
	lease->fds[lease->count++] = fd; /* from here on its release is file_release's */
	if (fill && flock(fd, LOCK_EX | LOCK_NB) != 0)
		err = complain(-EBUSY, path, "it must be filled anew, and another iostudy uses it",
		               why);
	else if (fill)
		err = file_make(fd, path, size, file_seed(plan->file_seed, index), stop, why);
	if (!err)
		flock(fd, LOCK_SH);
	return err;
}

int file_prepare(struct plan *plan, struct file_lease *lease, const volatile sig_atomic_t *stop,
                 char why[PLAN_WHY_SIZE])
{
	int err = 0;

	*lease = (struct file_lease){.made = !plan->file_named};
	snprintf(lease->path, sizeof lease->path, "%s", plan->file);
	if (plan->file_named)
		return prepare_named(plan, lease, stop, why);
	if (!plan->size_bytes)
		plan->size_bytes = FILE_SIZE_DEFAULT;
	while (!err && lease->count < plan->files)
		err = prepare_own(plan, lease, stop, why);
	plan->file_verified = !err;
	if (err)
		file_release(lease, false);
	return err;
}

/* Who writes to a block device must be alone there: not below a mounted file system. */
static int claim_named(const struct plan *plan, struct file_lease *lease, char why[PLAN_WHY_SIZE])
{
	struct stat st;
	int fd;

	if (fstat(lease->fds[0], &st) != 0)
		return complain(-errno, plan->file, "cannot look at it", why);
	fd = open_kind(plan->file, O_RDWR | (S_ISBLK(st.st_mode) ? O_EXCL : 0), why);
	if (fd == -EBUSY)
		snprintf(why, PLAN_WHY_SIZE,
		         "%.200s: it is in use, by a mounted file system or another program, and "
		         "is not written to",
		         plan->file);
	if (fd < 0)
		return fd;
	close(lease->fds[0]);
	lease->fds[0] = fd;
	return 0;
}

int file_claim(const struct plan *plan, struct file_lease *lease, char why[PLAN_WHY_SIZE])
{
	int err = 0;

	if (lease->claimed)
		return 0;
	if (plan->file_named)
		err = claim_named(plan, lease, why);
	for (uint32_t i = 0; !err && i < lease->count; i++)
		if (flock(lease->fds[i], LOCK_EX | LOCK_NB) != 0)
			err = complain(-EBUSY, plan->file,
			               "it is to be written to, and another iostudy uses it; name "
			               "another --directory",
			               why);
	lease->claimed = !err;
	return err;
}

void file_unlink(const struct file_lease *lease)
{
	char path[PLAN_PATH_SIZE];

	for (uint32_t i = 0; lease->made && i < lease->count; i++)
		if (flock(lease->fds[i], LOCK_EX | LOCK_NB) == 0 && file_path(lease->path, i, path))
			unlink(path);
}

void file_release(struct file_lease *lease, bool keep)
{
	if (!keep)
		file_unlink(lease);
	for (uint32_t i = 0; i < lease->count; i++)
		close(lease->fds[i]);
	lease->count = 0;
}

static int cache_clean(int fd)
{
	return fdatasync(fd) == 0 || errno == EROFS || errno == EINVAL ? 0 : -errno;
}

static int cache_drop(int fd)
{
	const int err = cache_clean(fd);

	return err ? err : -posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
}

static int cache_fill(int fd)
{
	char *chunk = malloc(CHUNK);
	int err = chunk ? cache_clean(fd) : -ENOMEM;
	ssize_t n;

	while (!err && (n = read(fd, chunk, CHUNK)) != 0)
		if (n < 0 && errno != EINTR)
			err = -errno;
	free(chunk);
	return err;
}

static int cache_each(const struct plan *plan, int (*act)(int fd))
{
	char path[PLAN_PATH_SIZE];
	int err = 0;

	for (uint32_t i = 0; !err && i < plan->files; i++) {
		const int fd = file_path(plan->file, i, path) ? open(path, O_RDONLY | O_CLOEXEC)
		                                              : -1;

		err = fd < 0 ? -errno : act(fd);
		if (fd >= 0)
			close(fd);
	}
	return err;
}

int file_cache_drop(const struct plan *plan)
{
	return cache_each(plan, cache_drop);
}

int file_cache_fill(const struct plan *plan)
{
	return cache_each(plan, cache_fill);
}
