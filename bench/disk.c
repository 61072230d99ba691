/*
 * The disk workloads: blocks at random offsets of one file, each checked when it comes.
 *
 * Buffered and cold, the offsets are a permutation of the file's blocks, so that no block is
 * read twice from a cache that the run itself has filled; after a pass the cache is dropped.
 */
#include "bench/workload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench/file.h"
#include "bench/random.h"

struct disk {
	int fd;
	uint64_t blocks;
	uint64_t random;
	bool cold;
	uint32_t bits;     /* of the permutation's numbers */
	uint64_t position; /* in it */
	uint32_t *done;    /* [slots]: bytes of the block that have come */
};

static int disk_open(struct workload *w)
{
	const struct plan *plan = w->plan;
	struct disk *d = w->state;
	int err;

	w->memory_bytes = w->slots * plan->block_bytes;
	w->memory = mmap(NULL, w->memory_bytes, PROT_READ | PROT_WRITE,
	                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	d->done = calloc(w->slots, sizeof *d->done);
	if (w->memory == MAP_FAILED || !d->done) {
		snprintf(w->why, sizeof w->why,
		         "no memory for %zu bytes of blocks; use a smaller "
		         "--depth or --bs",
		         w->memory_bytes);
		err = -ENOMEM;
		goto fail;
	}
	d->fd = open(plan->file, O_RDONLY | O_CLOEXEC | (plan->direct ? O_DIRECT : 0));
	if (d->fd < 0) {
		err = -errno;
		snprintf(w->why, sizeof w->why, "%.200s: %s%s", plan->file, strerror(errno),
		         errno == EINVAL && plan->direct
		             ? ": this file system does not take O_DIRECT; use --direct 0"
		             : "");
		goto fail;
	}
	if (!plan->direct)
		posix_fadvise(d->fd, 0, 0, POSIX_FADV_RANDOM);
	d->blocks = plan->size_bytes / plan->block_bytes;
	d->random = random_stream(plan->seed, w->thread);
	d->cold = !plan->direct && plan->cache == CACHE_COLD;
	d->position = w->thread % d->blocks;
	while (d->bits < 63 && 1ull << d->bits < d->blocks)
		d->bits++;
	w->fds = &d->fd;
	w->fd_count = 1;
	return 0;
fail:
	if (w->memory != MAP_FAILED)
		munmap(w->memory, w->memory_bytes);
	free(d->done);
	return err;
}

/* A bijection of the numbers of so many bits: odd factors and shifted copies are invertible. */
static uint64_t permute(uint64_t x, uint32_t bits, uint64_t seed)
{
	const uint64_t mask = (1ull << bits) - 1;

	for (int round = 0; round < 3; round++) {
		x = (x * 0x9e3779b97f4a7c15ull + random_stream(seed, (uint64_t)round)) & mask;
		x ^= x >> (bits / 2 + 1);
	}
	return x;
}

/* The block at a position of the permutation: what falls beyond the blocks is permuted again, so
 * each of them stands at one position below their number. */
static uint64_t permuted_block(const struct disk *d, uint64_t position, uint64_t seed)
{
	do
		position = permute(position, d->bits, seed);
	while (position >= d->blocks);
	return position;
}

static uint64_t next_block(struct workload *w, struct disk *d)
{
	uint64_t position;

	if (!d->cold)
		return random_below(&d->random, d->blocks);
	if (d->position >= d->blocks) { /* the thread's share of a pass is over */
		d->position = w->thread % d->blocks;
		if (w->thread == 0)
			posix_fadvise(d->fd, 0, 0, POSIX_FADV_DONTNEED);
	}
	position = d->position;
	d->position += w->threads;
	return permuted_block(d, position, w->plan->seed);
}

static enum workload_answer randread_next(struct workload *w, uint32_t slot, uint64_t now_ns)
{
	struct disk *d = w->state;

	(void)now_ns;
	d->done[slot] = 0;
	w->requests[slot] = (struct io_req){
	    .op = IO_READ,
	    .fd = d->fd,
	    .offset = next_block(w, d) * w->plan->block_bytes,
	    .data = (char *)w->memory + slot * w->plan->block_bytes,
	    .length = (uint32_t)w->plan->block_bytes,
	};
	return WORK_SUBMIT;
}

static enum workload_answer disk_step(struct workload *w, uint32_t slot, int32_t result)
{
	struct io_req *r = &w->requests[slot];
	struct disk *d = w->state;

	if (result < 0) {
		snprintf(w->why, sizeof w->why, "%.200s: read at offset %llu: %s", w->plan->file,
		         (unsigned long long)r->offset, strerror(-result));
		return WORK_FAILED;
	}
	if (result == 0) {
		snprintf(w->why, sizeof w->why, "%.200s: its end came at offset %llu: it was cut",
		         w->plan->file, (unsigned long long)r->offset);
		return WORK_WRONG;
	}
	d->done[slot] += (uint32_t)result;
	if (d->done[slot] < w->plan->block_bytes) { /* the rest of a short read */
		w->shorts++;
		r->offset += (uint32_t)result;
		r->data = (char *)r->data + result;
		r->length -= (uint32_t)result;
		return WORK_SUBMIT;
	}
	w->bytes += d->done[slot];
	if (w->checked && w->plan->file_verified) {
		const void *data = (char *)w->memory + slot * w->plan->block_bytes;
		const uint64_t offset = r->offset + (uint32_t)result - d->done[slot];

		if (!file_check(data, w->plan->block_bytes, offset, w->plan->file_seed)) {
			file_explain(data, offset, w->plan->file_seed, w->why);
			return WORK_WRONG;
		}
	}
	return WORK_DONE;
}

static void disk_close(struct workload *w)
{
	struct disk *d = w->state;

	close(d->fd);
	free(d->done);
	munmap(w->memory, w->memory_bytes);
}

const struct workload_ops disk_randread = {
    .name = "disk-randread",
    .summary = "reads of one block at random offsets of a file, each block checked",
    .size = sizeof(struct disk),
    .need = ENGINE_FILES,
    .open = disk_open,
    .next = randread_next,
    .step = disk_step,
    .close = disk_close,
};
