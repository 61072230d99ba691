/*
 * upload: what its parts have in common. Each file of an archive is unpacked and put into an object
 * store (object_store.h), over a connection of its own: read, unpack, send, hear the answer.
 */
#ifndef IOSTUDY_UPLOAD_H
#define IOSTUDY_UPLOAD_H

#include "bench/address.h"
#include "bench/scenario/archive.h"
#include "bench/scenario/board.h"
#include "bench/scenario/caller.h"
#include "bench/scenario/object_store.h"

enum {
	UPLOAD_PATH_SIZE = PLAN_PATH_SIZE,
	UPLOAD_TARGET_SIZE = 3 * ARCHIVE_NAME_MAX + 16,
	/* Each needs a descriptor here and two in the store, and 20,000 is what there often is. */
	UPLOAD_FILES_MAX = 9000,
};

/* One case, handed to the measured process. */
struct upload {
	const char *engine; /* of coroutines, or NULL */
	uint32_t threads;   /* where there is no engine; 0: one for each file */
	struct archive archive;
	char path[UPLOAD_PATH_SIZE]; /* of the archive */
	uint32_t count;              /* the first of its files */
	uint64_t delay_ns;
	struct address store;
};

/* The body of all modes. */
int upload_body(struct board_side *side);

/* Where a file becomes an object: "/upload/" and its name, escaped. */
void upload_target(const struct archive_file *file, char target[UPLOAD_TARGET_SIZE]);

/* A store in a process of its own. */
struct upload_store {
	pid_t pid; /* 0: none */
	struct address address;
};

/* Starts one, with a free port, and waits until it serves. 0, or -errno with why. */
int upload_store_start(struct upload_store *store, const struct object_store_config *config,
                       char why[OBJECT_WHY_SIZE]);
void upload_store_stop(struct upload_store *store);

/* Holds the objects in a store's folder against the files they came from: how many of the first
 * count differ or are not there, and the first of them in why. */
uint32_t upload_compare(const struct upload *upload, const char *directory,
                        char why[SCENARIO_WHY_SIZE]);

#endif
