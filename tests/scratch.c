/* Scratch disks: see scratch.h. */
#include "tests/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/process.h"
#include "tests/test.h"

enum { TRIES = 50 }; /* others take loop devices too */

/* Attaches the image to a loop device that nobody has. The device's descriptor, or -errno. */
static int attach(struct scratch *disk, uint32_t sector_bytes)
{
	const int image = open(disk->image, O_RDWR | O_CLOEXEC);
	const int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	struct loop_config config = {
	    .fd = (uint32_t)image,
	    .block_size = sector_bytes,
	    .info = {.lo_flags = LO_FLAGS_AUTOCLEAR},
	};
	int fd = image < 0 || control < 0 ? -errno : -EBUSY;

	for (int i = 0; fd == -EBUSY && i < TRIES; i++) {
		const int number = ioctl(control, LOOP_CTL_GET_FREE);

		snprintf(disk->device, sizeof disk->device, "/dev/loop%d", number);
		fd = open(disk->device, O_RDWR | O_CLOEXEC);
		if (fd < 0) {
			fd = -errno;
		} else if (ioctl(fd, LOOP_CONFIGURE, &config) != 0) {
			const int err = -errno;

			close(fd);
			fd = err;
		}
	}
	if (image >= 0)
		close(image);
	if (control >= 0)
		close(control);
	return fd;
}

bool scratch_open(struct scratch *disk, uint64_t bytes, uint32_t sector_bytes, bool small,
                  char why[200])
{
	*disk = (struct scratch){.fd = -1};
	if (!process_is_root()) {
		snprintf(why, 200, "a loop device needs root");
		return false;
	}
	if (!small)
		process_make_directory(disk->directory);
	else if (!scratch_memory(disk, "size=1m", why))
		return false;
	snprintf(disk->image, sizeof disk->image, "%s/image", disk->directory);
	close(open(disk->image, O_CREAT | O_RDWR | O_CLOEXEC, 0600));
	if (truncate(disk->image, (off_t)bytes) == 0)
		disk->fd = attach(disk, sector_bytes);
	if (disk->fd >= 0)
		return true;
	snprintf(why, 200, "a loop device cannot be had here: %s", strerror(-disk->fd));
	disk->device[0] = 0;
	scratch_close(disk);
	return false;
}

/* The loop device was attached while its memory could still be written to. */
bool scratch_open_unwritable(struct scratch *disk, uint64_t bytes, char why[200])
{
	const int memory = memfd_create("iostudy-test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	*disk = (struct scratch){.fd = -1};
	if (!process_is_root()) {
		snprintf(why, 200, "a loop device needs root");
	} else if (memory >= 0 && ftruncate(memory, (off_t)bytes) == 0) {
		snprintf(disk->image, sizeof disk->image, "/proc/self/fd/%d", memory);
		disk->fd = attach(disk, 512);
		if (disk->fd < 0)
			snprintf(why, 200, "a loop device cannot be had here: %s",
			         strerror(-disk->fd));
		else if (fcntl(memory, F_ADD_SEALS, F_SEAL_WRITE) != 0)
			snprintf(why, 200, "its memory cannot be sealed: %s", strerror(errno));
		else
			*why = 0;
	} else {
		snprintf(why, 200, "no memory for a disk: %s", strerror(errno));
	}
	if (memory >= 0)
		close(memory);
	if (disk->fd >= 0 && !*why)
		return true;
	scratch_close(disk);
	return false;
}

bool scratch_memory(struct scratch *disk, const char *options, char why[200])
{
	*disk = (struct scratch){.fd = -1};
	if (!process_is_root()) {
		snprintf(why, 200, "mounting a tmpfs needs root");
		return false;
	}
	process_make_directory(disk->directory);
	disk->in_memory = mount("none", disk->directory, "tmpfs", 0, options) == 0;
	if (disk->in_memory)
		return true;
	snprintf(why, 200, "a tmpfs cannot be mounted here: %s", strerror(errno));
	scratch_close(disk);
	return false;
}

bool scratch_mount(struct scratch *disk, const char *kind, const char *options, char why[200])
{
	char script[400], program[64];
	const char *const arguments[] = {"-c", script, NULL};
	struct process_result result;
	char point[300];

	snprintf(program, sizeof program, "mkfs.%s", kind);
	if (!process_is_installed(program)) {
		snprintf(why, 200, "%s is not installed", program);
		return false;
	}
	snprintf(script, sizeof script, "%s %s %s", program, options, disk->device);
	process_run(&(struct process){.program = "sh", .argv = arguments}, &result);
	if (result.status != 0) {
		snprintf(why, 200, "%s: %.150s", program, result.err ? result.err : "");
		process_free(&result);
		return false;
	}
	process_free(&result);
	snprintf(point, sizeof point, "%.250s/mount", disk->directory);
	mkdir(point, 0755);
	if (mount(disk->device, point, kind, 0, NULL) != 0) {
		snprintf(why, 200, "%s cannot be mounted here: %s", kind, strerror(errno));
		return false;
	}
	snprintf(disk->mount, sizeof disk->mount, "%s", point);
	return true;
}

void scratch_close(struct scratch *disk)
{
	if (*disk->mount)
		CHECK_EQUAL(umount2(disk->mount, MNT_DETACH), 0);
	if (disk->fd >= 0) {
		ioctl(disk->fd, LOOP_CLR_FD, 0);
		close(disk->fd);
	}
	if (disk->in_memory)
		CHECK_EQUAL(umount2(disk->directory, MNT_DETACH), 0);
	if (*disk->directory)
		process_remove_directory(disk->directory);
}
