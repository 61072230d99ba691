/*
 * File systems made for a study: ext4, xfs and btrfs on a loop device, tmpfs in memory, overlay
 * over an ext4 on a loop device.
 *
 * They are mounted in a mount namespace of this process, on loop devices that free themselves and
 * image files that have no name: nothing of them lives on, however the process ends.
 */
#ifndef IOSTUDY_FILESYSTEM_H
#define IOSTUDY_FILESYSTEM_H

#include <stdint.h>

#include "bench/plan.h"

struct filesystem {
	char path[PLAN_PATH_SIZE];  /* where it is mounted: for this process and its children */
	char below[PLAN_PATH_SIZE]; /* of an overlay: what it lies on; else empty */
};

/* 0, or -ENOENT with why: the name and the nearest ones. */
int filesystem_check(const char *name, char why[PLAN_WHY_SIZE]);

/* Makes a file system with room for bytes of files and mounts it at point, which is made. The
 * image lies in directory. 0; -EPERM, -ENOENT (mkfs), -ENOSPC ... with why; nothing stays then. */
int filesystem_make(struct filesystem *filesystem, const char *name, const char *directory,
                    const char *point, uint64_t bytes, char why[PLAN_WHY_SIZE]);

/* Unmounts it and removes the empty folder. */
void filesystem_remove(struct filesystem *filesystem);

#endif
