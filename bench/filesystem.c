/* File systems made for a study: see filesystem.h. */
#include "bench/filesystem.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <sched.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/nearest.h"

extern char **environ;

enum { LOOP_TRIES = 64 };

/* Beside the files: journals, trees, and what btrfs wants at least. */
#define OVERHEAD_BYTES (512ull << 20)

static const struct kind {
	const char *name;
	const char *make[8]; /* the program that makes it, to which the device is added */
	const char *package; /* that holds it */
} kinds[] = {
    {"ext4", {"mkfs.ext4", "-q", "-F"}, "e2fsprogs"},
    {"xfs", {"mkfs.xfs", "-q", "-f"}, "xfsprogs"},
    {"btrfs", {"mkfs.btrfs", "-q", "-f"}, "btrfs-progs"},
    {"tmpfs", {NULL}, NULL},
    {"overlay", {NULL}, NULL},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static const struct kind *kind_find(const char *name)
{
	for (int i = 0; i < KINDS; i++)
		if (strcmp(name, kinds[i].name) == 0)
			return &kinds[i];
	return NULL;
}

int filesystem_check(const char *name, char why[PLAN_WHY_SIZE])
{
	const char *names[KINDS];
	char nearest[NEAREST_SIZE];

	if (kind_find(name))
		return 0;
	for (int i = 0; i < KINDS; i++)
		names[i] = kinds[i].name;
	snprintf(why, PLAN_WHY_SIZE,
	         "unknown file system '%.60s'%s; a study can make ext4, xfs, btrfs, tmpfs, overlay",
	         name, nearest_text(nearest, name, names, KINDS));
	return -ENOENT;
}

static int fail(const char *name, const char *what, int err, char why[PLAN_WHY_SIZE])
{
	snprintf(why, PLAN_WHY_SIZE, "filesystem=%s: cannot %s: %s%s", name, what, strerror(err),
	         err == EPERM || err == EACCES ? "; it needs root (CAP_SYS_ADMIN)" : "");
	return -err;
}

/* Mounts of ours are to be seen by nobody else, and to end with us. */
static int namespace_leave(const char *name, char why[PLAN_WHY_SIZE])
{
	static bool left;

	if (left)
		return 0;
	if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		return fail(name, "have mounts of its own", errno, why);
	left = true;
	return 0;
}

/* A loop device over a nameless file, which frees itself at the last close. Its descriptor, and
 * its path in device; or -errno with why. */
static int loop_open(const char *name, const char *directory, uint64_t bytes, char device[32],
                     char why[PLAN_WHY_SIZE])
{
	struct loop_config config = {.info.lo_flags = LO_FLAGS_AUTOCLEAR | LO_FLAGS_DIRECT_IO};
	const int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	const int image = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	int loop = -1, err = control < 0 || image < 0 ? errno : 0;

	if (!err && ftruncate(image, (off_t)bytes) != 0)
		err = errno;
	config.fd = (uint32_t)image;
	for (int i = 0; !err && i < LOOP_TRIES; i++) {
		const int number = ioctl(control, LOOP_CTL_GET_FREE);

		snprintf(device, 32, "/dev/loop%d", number);
		loop = number < 0 ? -1 : open(device, O_RDWR | O_CLOEXEC);
		if (loop >= 0 && ioctl(loop, LOOP_CONFIGURE, &config) == 0)
			break;
		if (errno == EINVAL && config.info.lo_flags & LO_FLAGS_DIRECT_IO)
			config.info.lo_flags &= ~(uint32_t)LO_FLAGS_DIRECT_IO;
		else if (errno != EBUSY || i + 1 == LOOP_TRIES) /* another took it first */
			err = errno;
		if (loop >= 0)
			close(loop);
		loop = -1;
	}
	if (image >= 0)
		close(image);
	if (control >= 0)
		close(control);
	return loop >= 0 ? loop : fail(name, "make a loop device", err ? err : EBUSY, why);
}

/* mkfs is in sbin, which a user's PATH may leave out. */
static bool program_find(const char *name, char path[64])
{
	static const char *const folders[] = {"/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/bin"};

	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		snprintf(path, 64, "%s/%s", folders[i], name);
		if (access(path, X_OK) == 0)
			return true;
	}
	return false;
}

/* Runs kind's mkfs on the device, without output. */
static int device_format(const struct kind *kind, char *device, char why[PLAN_WHY_SIZE])
{
	posix_spawn_file_actions_t quiet;
	char *arguments[10], path[64];
	int n = 0, status = 0, err;
	pid_t pid;

	if (!program_find(kind->make[0], path)) {
		snprintf(why, PLAN_WHY_SIZE, "filesystem=%s: %s is missing: install the package %s",
		         kind->name, kind->make[0], kind->package);
		return -ENOENT;
	}
	for (; kind->make[n]; n++)
		arguments[n] = (char *)kind->make[n];
	arguments[n] = device;
	arguments[n + 1] = NULL;
	posix_spawn_file_actions_init(&quiet);
	posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&quiet, 2, "/dev/null", O_WRONLY, 0);
	err = posix_spawn(&pid, path, &quiet, NULL, arguments, environ);
	posix_spawn_file_actions_destroy(&quiet);
	if (err)
		return fail(kind->name, "run mkfs", err, why);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	snprintf(why, PLAN_WHY_SIZE, "filesystem=%s: %s %s failed, status %d", kind->name, path,
	         device, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	return -EIO;
}

static int mount_device(const struct kind *kind, const char *directory, const char *point,
                        uint64_t bytes, char why[PLAN_WHY_SIZE])
{
	char device[32];
	const int loop = loop_open(kind->name, directory, bytes, device, why);
	int err = loop < 0 ? loop : device_format(kind, device, why);

	if (!err && mount(device, point, kind->name, MS_NOATIME, NULL) != 0)
		err = fail(kind->name, "mount it", errno, why);
	if (loop >= 0)
		close(loop);
	return err;
}

static int mount_memory(const char *point, uint64_t bytes, char why[PLAN_WHY_SIZE])
{
	char options[64];

	snprintf(options, sizeof options, "size=%llu", (unsigned long long)bytes);
	return mount("tmpfs", point, "tmpfs", MS_NOATIME, options) == 0
	           ? 0
	           : fail("tmpfs", "mount it", errno, why);
}

/* Over an ext4, which holds all three of its folders. */
static int mount_overlay(struct filesystem *fs, const char *directory, uint64_t bytes,
                         char why[PLAN_WHY_SIZE])
{
	static const char *const folders[] = {"lower", "upper", "work"};
	char options[3 * PLAN_PATH_SIZE + 64], path[PLAN_PATH_SIZE + 16];
	int err;

	if (strpbrk(fs->below, ",:\\")) {
		snprintf(why, PLAN_WHY_SIZE,
		         "filesystem=overlay: %.200s holds , or : or \\, which overlay cannot "
		         "take; name another -o DIR",
		         fs->below);
		return -EINVAL;
	}
	if (mkdir(fs->below, 0700) != 0 && errno != EEXIST)
		return fail("overlay", "make a folder", errno, why);
	err = mount_device(kind_find("ext4"), directory, fs->below, bytes, why);
	if (err) {
		rmdir(fs->below);
		return err;
	}
	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof path, "%s/%s", fs->below, folders[i]);
		if (mkdir(path, 0755) != 0)
			err = fail("overlay", "make a folder", errno, why);
	}
	snprintf(options, sizeof options, "lowerdir=%s/lower,upperdir=%s/upper,workdir=%s/work",
	         fs->below, fs->below, fs->below);
	if (!err && mount("overlay", fs->path, "overlay", MS_NOATIME, options) != 0)
		err = fail("overlay", "mount it", errno, why);
	if (err) {
		umount2(fs->below, MNT_DETACH);
		rmdir(fs->below);
	}
	return err;
}

int filesystem_make(struct filesystem *fs, const char *name, const char *directory,
                    const char *point, uint64_t bytes, char why[PLAN_WHY_SIZE])
{
	const struct kind *kind = kind_find(name);
	char *real;
	int err = namespace_leave(name, why);

	*fs = (struct filesystem){.path = ""};
	if (err)
		return err;
	if (mkdir(point, 0755) != 0 && errno != EEXIST)
		return fail(name, "make a folder to mount it on", errno, why);
	real = realpath(point, NULL);
	snprintf(fs->path, sizeof fs->path, "%s", real ? real : point);
	free(real);
	if (strcmp(name, "overlay") == 0) {
		snprintf(fs->below, sizeof fs->below, "%.4080s-below", fs->path);
		err = mount_overlay(fs, directory, bytes + OVERHEAD_BYTES, why);
	} else if (strcmp(name, "tmpfs") == 0) {
		err = mount_memory(fs->path, bytes + OVERHEAD_BYTES / 16, why);
	} else {
		err = mount_device(kind, directory, fs->path, bytes + OVERHEAD_BYTES, why);
	}
	if (err) {
		rmdir(fs->path);
		fs->path[0] = 0;
	}
	return err;
}

void filesystem_remove(struct filesystem *fs)
{
	if (!*fs->path)
		return;
	umount2(fs->path, MNT_DETACH);
	rmdir(fs->path);
	if (*fs->below) {
		umount2(fs->below, MNT_DETACH);
		rmdir(fs->below);
	}
	fs->path[0] = 0;
}
