/*
 * The file system and the block device below a path. What a mount table cannot tell, whether
 * reads with O_DIRECT and RWF_NOWAIT are accepted, is tried on a nameless file.
 */
#include "bench/environment_place.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

enum { TRIAL_BYTES = 4096 };

bool environment_file_text(const char *path, char text[ENVIRONMENT_TEXT_SIZE])
{
	text[0] = 0;
	FILE *file = fopen(path, "re");
	if (!file)
		return false;
	const bool read = fgets(text, ENVIRONMENT_TEXT_SIZE, file) != NULL;
	fclose(file);
	text[strcspn(text, "\n")] = 0;
	for (char *c = text; *c; c++)
		if (iscntrl((unsigned char)*c))
			*c = '?';
	return read;
}

int64_t environment_file_number(const char *path)
{
	char text[ENVIRONMENT_TEXT_SIZE], *end;
	if (!environment_file_text(path, text))
		return -1;
	errno = 0;
	const long long value = strtoll(text, &end, 10);
	return errno || end == text ? -1 : value;
}

int64_t environment_setting(const char *name)
{
	char path[256];
	snprintf(path, sizeof path, "/proc/sys/%.200s", name);
	return environment_file_number(path);
}

const char *environment_magic_name(uint64_t magic)
{
	static const struct {
		uint64_t magic;
		const char *name;
	} names[] = {
	    {0xef53, "ext4"},        {0x58465342, "xfs"},      {0x9123683e, "btrfs"},
	    {0xf2f52010, "f2fs"},    {0x01021994, "tmpfs"},    {0x858458f6, "ramfs"},
	    {0x794c7630, "overlay"}, {0x65735546, "fuse"},     {0x6969, "nfs"},
	    {0x2fc12fc1, "zfs"},     {0xca451a4e, "bcachefs"}, {0x01021997, "9p"},
	    {0xff534d42, "cifs"},    {0xfe534d42, "smb2"},     {0x00c36400, "ceph"},
	    {0x2011bab0, "exfat"},   {0x4d44, "vfat"},         {0x73717368, "squashfs"},
	    {0xe0f5e1e2, "erofs"},   {0x9660, "iso9660"},      {0x53464846, "wslfs"},
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (names[i].magic == magic)
			return names[i].name;
	return NULL;
}

/* Copies one word of the mount table, in which a space is written as \040. */
static const char *word_copy(const char *from, char to[ENVIRONMENT_TEXT_SIZE])
{
	size_t length = 0;
	for (; *from && *from != ' ' && *from != '\n'; from++) {
		char c = *from;
		if (c == '\\' && strspn(from + 1, "01234567") >= 3) {
			c = (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + from[3] - '0');
			from += 3;
		}
		if (length + 1 < ENVIRONMENT_TEXT_SIZE)
			to[length++] = c;
	}
	to[length] = 0;
	return from + strspn(from, " ");
}

bool environment_mount_find(const char *mountinfo, uint64_t mount_id,
                            char type[ENVIRONMENT_TEXT_SIZE], char source[ENVIRONMENT_TEXT_SIZE])
{
	type[0] = source[0] = 0;
	for (const char *line = mountinfo; *line;
	     line += strcspn(line, "\n"), line += *line == '\n') {
		char *end;
		if (strtoull(line, &end, 10) != mount_id || end == line)
			continue;
		const char *dash = strstr(line, " - "), *newline = strchr(line, '\n');
		if (!dash || (newline && dash > newline))
			return false;
		word_copy(word_copy(dash + 3, type), source);
		return true;
	}
	return false;
}

void environment_chosen(const char *list, char chosen[ENVIRONMENT_TEXT_SIZE])
{
	const char *open = strchr(list, '['), *close = open ? strchr(open, ']') : NULL;
	if (close)
		snprintf(chosen, ENVIRONMENT_TEXT_SIZE, "%.*s", (int)(close - open - 1), open + 1);
	else
		snprintf(chosen, ENVIRONMENT_TEXT_SIZE, "%s", list);
}

/* The whole text of a file in /proc, which tells no size beforehand; NULL on failure. */
static char *proc_text(const char *path)
{
	char *text = NULL;
	size_t size = 0;
	FILE *file = fopen(path, "re");
	if (!file)
		return NULL;
	if (getdelim(&text, &size, '\0', file) < 0) {
		free(text);
		text = NULL;
	}
	fclose(file);
	return text;
}

/* Names the file system, and the device that its mount was made from, as dev 0 when unknown. */
static int filesystem_read(struct environment *env, const char *path, dev_t *source_device)
{
	struct statfs fs;
	struct statx sx;
	struct stat st;
	char source[ENVIRONMENT_TEXT_SIZE] = "";

	*source_device = 0;
	if (statfs(path, &fs) != 0)
		return -errno;
	env->free_bytes = (int64_t)((uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize);
	if (statx(AT_FDCWD, path, 0, STATX_MNT_ID, &sx) == 0 && (sx.stx_mask & STATX_MNT_ID)) {
		char *mounts = proc_text("/proc/self/mountinfo");
		if (mounts)
			environment_mount_find(mounts, sx.stx_mnt_id, env->filesystem, source);
		free(mounts);
	}
	const char *name = environment_magic_name((uint32_t)fs.f_type);
	if (!*env->filesystem)
		snprintf(env->filesystem, sizeof env->filesystem, "%s", name ? name : "");
	name = env->filesystem;
	env->in_memory = strcmp(name, "tmpfs") == 0 || strcmp(name, "ramfs") == 0 ||
	                 strcmp(name, "devtmpfs") == 0;
	env->layered = strcmp(name, "overlay") == 0 || strncmp(name, "fuse", 4) == 0;
	/* btrfs and others show an anonymous device in stat; their mount names the real one. */
	if (source[0] == '/' && stat(source, &st) == 0 && S_ISBLK(st.st_mode))
		*source_device = st.st_rdev;
	return 0;
}

static enum environment_answer answer_of(int64_t number)
{
	return number < 0 ? ANSWER_UNKNOWN : number > 0 ? ANSWER_YES : ANSWER_NO;
}

static int64_t queue_number(const char *disk, const char *name)
{
	char path[PATH_MAX + 64];
	snprintf(path, sizeof path, "%s/queue/%.32s", disk, name);
	return environment_file_number(path);
}

/* False when the kernel shows no such device. */
static bool device_read(struct environment *env, dev_t device)
{
	char link[64], disk[PATH_MAX], path[PATH_MAX + 32], text[ENVIRONMENT_TEXT_SIZE];

	snprintf(link, sizeof link, "/sys/dev/block/%u:%u", major(device), minor(device));
	if (!realpath(link, disk))
		return false;
	snprintf(path, sizeof path, "%s/partition", disk);
	if (access(path, F_OK) == 0)
		*strrchr(disk, '/') = 0; /* a partition lies in the folder of its disk */
	snprintf(env->device, sizeof env->device, "%.95s", strrchr(disk, '/') + 1);
	snprintf(path, sizeof path, "%s/queue/scheduler", disk);
	if (environment_file_text(path, text))
		environment_chosen(text, env->scheduler);
	env->nr_requests = queue_number(disk, "nr_requests");
	env->logical_block_bytes = queue_number(disk, "logical_block_size");
	env->rotational = answer_of(queue_number(disk, "rotational"));
	env->io_poll = answer_of(queue_number(disk, "io_poll"));
	return true;
}

/* A descriptor to try reads on: of a nameless filled file in a directory, or of the file itself.
 * -1 when there can be none. */
static int trial_open(const char *path, mode_t mode)
{
	static const char zeros[TRIAL_BYTES];
	if (!S_ISDIR(mode))
		return S_ISREG(mode) || S_ISBLK(mode) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	int fd = open(path, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0) {
		char name[PATH_MAX];
		if (snprintf(name, sizeof name, "%s/.iostudy-XXXXXX", path) >= (int)sizeof name)
			return -1;
		fd = mkostemp(name, O_CLOEXEC);
		if (fd >= 0)
			unlink(name);
	}
	if (fd >= 0 && write(fd, zeros, sizeof zeros) != (ssize_t)sizeof zeros) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Whether one read of a block is accepted. Not being able to finish it at once is acceptance. */
static enum environment_answer read_try(int fd, void *block, int flags)
{
	struct iovec part = {block, TRIAL_BYTES};
	if (preadv2(fd, &part, 1, 0, flags) >= 0 || errno == EAGAIN)
		return ANSWER_YES;
	return errno == EOPNOTSUPP || errno == EINVAL || errno == ENOSYS ? ANSWER_NO
	                                                                 : ANSWER_UNKNOWN;
}

/* From here on its reads are direct. False where the file system does not take that. */
static bool direct_set(int fd)
{
	const int flags = fcntl(fd, F_GETFL);
	return flags >= 0 && fcntl(fd, F_SETFL, flags | O_DIRECT) == 0;
}

int environment_trial_open(const char *directory)
{
	const int fd = trial_open(directory, S_IFDIR);
	if (fd >= 0)
		direct_set(fd);
	return fd;
}

static void reads_try(struct environment *env, const char *path, mode_t mode)
{
	void *block;
	const int fd = trial_open(path, mode);
	if (fd < 0)
		return;
	if (posix_memalign(&block, TRIAL_BYTES, TRIAL_BYTES) == 0) {
		/* The data must have left the page cache, or a direct read would wait for that. */
		if (S_ISDIR(mode))
			fdatasync(fd);
		const int flags = fcntl(fd, F_GETFL);
		const bool direct = direct_set(fd);
		env->direct_read = direct ? read_try(fd, block, 0) : ANSWER_NO;
		if (direct && env->direct_read != ANSWER_YES)
			fcntl(fd, F_SETFL, flags);
		env->nowait_read = read_try(fd, block, RWF_NOWAIT);
		free(block);
	}
	close(fd);
}

int environment_place_read(struct environment *env, const char *path)
{
	struct stat st;
	dev_t source_device;

	env->nr_requests = env->logical_block_bytes = env->free_bytes = -1;
	env->rotational = env->io_poll = ANSWER_UNKNOWN;
	env->direct_read = env->nowait_read = ANSWER_UNKNOWN;
	if (stat(path, &st) != 0)
		return -errno;
	const int error = filesystem_read(env, path, &source_device);
	if (error)
		return error;
	if (S_ISBLK(st.st_mode)) {
		/* its node lies on a file system in memory, its data does not */
		env->filesystem[0] = 0;
		env->in_memory = env->layered = false;
		env->free_bytes = -1;
		device_read(env, st.st_rdev);
	} else if (!device_read(env, st.st_dev) && source_device)
		device_read(env, source_device);
	reads_try(env, path, st.st_mode);
	return 0;
}
