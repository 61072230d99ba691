/*
 * The file system and the block device below a path; the half of environment.h that looks at
 * a place instead of the machine.
 */
#ifndef IOSTUDY_ENVIRONMENT_PLACE_H
#define IOSTUDY_ENVIRONMENT_PLACE_H

#include "bench/environment.h"

/* Fills the fields of env that belong to path, marking first all of them as not known. 0 or
 * -errno. */
int environment_place_read(struct environment *env, const char *path);

/* The first line of a small file, without its end and without control characters. False when
 * it cannot be read: then the text is empty. */
bool environment_file_text(const char *path, char text[ENVIRONMENT_TEXT_SIZE]);

/* The whole number in a small file, or -1. */
int64_t environment_file_number(const char *path);

/* The name of a file system by the magic number of statfs(2), or NULL. Several share one
 * (ext2, ext3, ext4), so the mount table is asked first. */
const char *environment_magic_name(uint64_t magic);

/* Finds the mount with this number in the text of /proc/self/mountinfo, and its type and
 * source. False when it is not there. */
bool environment_mount_find(const char *mountinfo, uint64_t mount_id,
                            char type[ENVIRONMENT_TEXT_SIZE], char source[ENVIRONMENT_TEXT_SIZE]);

/* The one in brackets of "none [mq-deadline] kyber"; the text itself when it has none. */
void environment_chosen(const char *list, char chosen[ENVIRONMENT_TEXT_SIZE]);

#endif
