/*
 * A scratch disk: a loop device over a sparse file of the test's own, and a file system on it; or
 * a tmpfs.
 * All of it is gone after scratch_close; a device that is not mounted also when the test dies.
 */
#ifndef IOSTUDY_TESTS_SCRATCH_H
#define IOSTUDY_TESTS_SCRATCH_H

#include <stdbool.h>
#include <stdint.h>

struct scratch {
	char directory[256]; /* holds the image and the mount point */
	bool in_memory;      /* it is itself a tmpfs */
	char image[300];
	char device[64]; /* /dev/loopN; empty: none */
	char mount[300]; /* where the file system is mounted; empty: nowhere */
	int fd;          /* of the device: it is detached when the last one is closed */
};

/* Makes a disk of so many bytes with sectors of so many. False: why it cannot be had here.
 * small: its image lies where there is room for 1 MiB, and what is written beyond is an error. */
bool scratch_open(struct scratch *disk, uint64_t bytes, uint32_t sector_bytes, bool small,
                  char why[200]);

/* A disk in memory, empty, to which each write fails with EIO. False: why it cannot be had here. */
bool scratch_open_unwritable(struct scratch *disk, uint64_t bytes, char why[200]);

/* Makes a file system of that kind on it with mkfs.KIND and options (or ""), and mounts it. */
bool scratch_mount(struct scratch *disk, const char *kind, const char *options, char why[200]);

/* Makes a tmpfs at disk->directory, of "size=4m". False: why it cannot be had here. */
bool scratch_memory(struct scratch *disk, const char *options, char why[200]);

/* Takes all of it away, mounted or not. */
void scratch_close(struct scratch *disk);

#endif
