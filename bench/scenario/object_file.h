/*
 * The objects of a store on disk: a folder for each bucket, a file for each object. A key is one
 * file name, in which everything but letters, digits and -_. is escaped, so that none climbs and
 * "a" and "a/b" may both be there. An object comes under its name at once and whole, by rename(2).
 */
#ifndef IOSTUDY_OBJECT_FILE_H
#define IOSTUDY_OBJECT_FILE_H

#include <stdint.h>

enum { OBJECT_WHY_SIZE = 400, OBJECT_BUCKET_MAX = 63, OBJECT_FILE_MAX = 255 };

/* Where the objects are. */
struct object_shelf {
	int root;     /* the folder */
	int incoming; /* the folder in it of what is not whole yet */
};

/* What a path of a request names. */
struct object_name {
	char bucket[OBJECT_BUCKET_MAX + 1];
	char file[OBJECT_FILE_MAX + 1]; /* the key, escaped */
};

/* Opens the folder, which is made if it is not there, for one store at a time, and removes what an
 * earlier one had begun and not ended. 0, or -errno with why; -EBUSY: another one has it. */
int object_shelf_open(struct object_shelf *shelf, const char *directory, char why[OBJECT_WHY_SIZE]);
void object_shelf_close(struct object_shelf *shelf);

/* Takes "/bucket/key" apart: as it stands in a request, escaped, maybe with a query, which does not
 * count. 0; -EINVAL: it names no object; -ENAMETOOLONG. */
int object_name_parse(struct object_name *name, const char *target);

/* A new, empty file for what comes in; number is of nobody else. A descriptor or -errno. */
int object_begin(const struct object_shelf *shelf, uint64_t number);

/* What came in is whole: it takes the name, in place of what had it. Its bucket, to be fsynced and
 * closed, or -errno. */
int object_finish(const struct object_shelf *shelf, uint64_t number,
                  const struct object_name *name);
void object_forget(const struct object_shelf *shelf, uint64_t number); /* it is not wanted */

/* Opens it to be read. A descriptor or -errno. */
int object_open(const struct object_shelf *shelf, const struct object_name *name);

#endif
