/*
 * The bed on which an engine is tested: an open engine with requests, memory and a file, and
 * waits that only a hang can fail.
 */
#ifndef IOSTUDY_TESTS_ENGINE_BED_H
#define IOSTUDY_TESTS_ENGINE_BED_H

#include "engines/engine.h"
#include "tests/test.h"

#include <pthread.h>

enum {
	BED_BLOCK = 4096,     /* bytes of memory of each slot */
	BED_HANG_MS = 30000,  /* only a hang takes longer */
	BED_LOST = INT32_MIN, /* no result: the request did not come back */
};

struct bed {
	struct engine e;
	struct io_req *requests;
	char *memory; /* BED_BLOCK bytes for each slot */
	uint32_t slots;
	bool open;
};

/* Opens an engine; a failed check and false where it does not open. */
bool bed_open(struct bed *b, const struct engine_ops *ops, uint32_t slots, uint32_t need);
void bed_close(struct bed *b);

/* As config for engine_open: what bed_open uses. Memory is taken anew; 0 or -errno. */
int bed_try(struct bed *b, const struct engine_ops *ops, struct engine_config config,
            char why[ENGINE_WHY_SIZE]);

/* Fills a request. data NULL: the slot's own memory. */
void bed_request(struct bed *b, uint32_t slot, enum io_op op, int fd, void *data, uint32_t length,
                 uint64_t offset);

/* Submits one slot, again while there is back-pressure; reaps meanwhile into *early (may be
 * NULL: then nothing else may be in flight). False: the engine broke, or a hang. */
bool bed_submit(struct bed *b, uint32_t slot);

/* Waits for any one completion. False: a hang, or the engine broke; the test has failed. */
bool bed_reap(struct bed *b, struct io_done *done);

/* Submits and waits for that slot, which must be the only one in flight. */
int32_t bed_do(struct bed *b, uint32_t slot);

/* Fills and does in one. */
int32_t bed_call(struct bed *b, enum io_op op, int fd, void *data, uint32_t length,
                 uint64_t offset);

/* A new file of that many bytes without a name, on the build's file system; each byte is a
 * function of its place. */
int bed_file(size_t bytes);
char bed_byte(uint64_t place);

/* Connected sockets; a listening one on loopback, whose address is stored. */
bool bed_pair(int pair[2], bool tcp);
int bed_listen(void *address, uint32_t *length, bool tcp, int backlog);

/* A thread that receives from *fd, and throws away, until the end; join it. */
bool bed_drain(pthread_t *thread, const int *fd);

uint64_t bed_now_ns(void);
uint32_t bed_threads(void); /* of this process, workers of the kernel's io-wq not counted */
uint32_t bed_fds(void);

/* Waits until this process has no more than that many threads (bounded, by BED_HANG_MS). */
bool bed_threads_down_to(uint32_t threads);

#endif
