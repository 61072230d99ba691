/*
 * The disk workloads: blocks of one or several files are read and written, and what is read is
 * checked. What is written carries its generation; see ledger.h.
 */
#include "bench/workload.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/file.h"
#include "bench/ledger.h"
#include "bench/order.h"
#include "bench/random.h"

struct disk {
	int fds[FILE_COUNT_MAX];
	struct order order;
	struct ledger *ledger; /* NULL: nothing is written */
	uint64_t random;       /* for what is read and what is written */
	uint64_t written;      /* blocks of this thread that have been */
	uint64_t *block;       /* [slots]: at which the slot is */
	uint32_t *done;        /* [slots]: bytes of the block that have been moved */
};

static uint32_t file_of(const struct workload *w, uint64_t block)
{
	return (uint32_t)(block % w->plan->files);
}

static uint64_t offset_of(const struct workload *w, uint64_t block)
{
	return block / w->plan->files * w->plan->block_bytes;
}

static char *data_of(const struct workload *w, uint32_t slot)
{
	return (char *)w->memory + slot * w->plan->block_bytes;
}

/* What O_DIRECT asks of a transfer's place and size there, in bytes; 0: not known. */
static uint32_t direct_unit(int fd)
{
#ifdef STATX_DIOALIGN
	struct statx sx;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &sx) == 0 && sx.stx_mask & STATX_DIOALIGN)
		return sx.stx_dio_offset_align;
#else
	(void)fd;
#endif
	return 0;
}

static int refuse_direct(struct workload *w, const char *path, uint32_t unit)
{
	if (unit)
		snprintf(w->why, sizeof w->why,
		         "%.200s: O_DIRECT takes multiples of %u bytes there, and --bs is %llu: "
		         "use --bs %u, or --direct 0",
		         path, unit, (unsigned long long)w->plan->block_bytes, unit);
	else
		snprintf(w->why, sizeof w->why,
		         "%.200s: %s: this file system does not take O_DIRECT; use --direct 0",
		         path, strerror(EINVAL));
	return -EINVAL;
}

static int open_file(struct workload *w, uint32_t index)
{
	const struct plan *plan = w->plan;
	/* who writes can read: an engine may try a read when it opens */
	const int access = w->ops->does & WORK_WRITES ? O_RDWR : O_RDONLY;
	struct disk *d = w->state;
	char path[PLAN_PATH_SIZE];
	uint32_t unit;
	int fd;

	if (!file_path(plan->file, index, path))
		return -ENAMETOOLONG;
	fd = open(path, access | O_CLOEXEC | (plan->direct ? O_DIRECT : 0));
	if (fd < 0 && errno == EINVAL && plan->direct)
		return refuse_direct(w, path, 0);
	if (fd < 0) {
		snprintf(w->why, sizeof w->why, "%.200s: %s", path, strerror(errno));
		return -errno;
	}
	d->fds[w->fd_count++] = fd;
	unit = plan->direct ? direct_unit(fd) : 0;
	if (unit && plan->block_bytes % unit != 0)
		return refuse_direct(w, path, unit);
	if (!plan->direct && !(w->ops->does & WORK_IN_ORDER))
		posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
	return 0;
}

static int take_memory(struct workload *w)
{
	struct disk *d = w->state;

	w->memory_bytes = w->slots * w->plan->block_bytes;
	w->memory = mmap(NULL, w->memory_bytes, PROT_READ | PROT_WRITE,
	                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	d->block = calloc(w->slots, sizeof *d->block);
	d->done = calloc(w->slots, sizeof *d->done);
	if (w->memory != MAP_FAILED && d->block && d->done)
		return 0;
	snprintf(w->why, sizeof w->why,
	         "no memory for %zu bytes of blocks; use a smaller --depth or --bs",
	         w->memory_bytes);
	return -ENOMEM;
}

static void disk_close(struct workload *w)
{
	struct disk *d = w->state;

	for (uint32_t i = 0; i < w->fd_count; i++)
		close(d->fds[i]);
	free(d->done);
	free(d->block);
	if (w->memory != MAP_FAILED)
		munmap(w->memory, w->memory_bytes);
}

static enum order_kind kind_of(const struct workload *w)
{
	const struct plan *plan = w->plan;

	if (w->ops->does & WORK_IN_ORDER)
		return ORDER_ROW;
	return !plan->direct && plan->cache == CACHE_COLD && w->ops->does & WORK_READS
	           ? ORDER_PASSES
	           : ORDER_RANDOM;
}

static int disk_open(struct workload *w)
{
	const struct plan *plan = w->plan;
	struct disk *d = w->state;
	int err = take_memory(w);

	for (uint32_t i = 0; !err && i < plan->files; i++)
		err = open_file(w, i);
	if (err) {
		disk_close(w);
		return err;
	}
	order_begin(&d->order, kind_of(w), plan_blocks(plan), plan->seed, w->thread, w->threads,
	            plan->passes);
	d->random = random_stream(~plan->seed, w->thread);
	if (w->ops->does & WORK_WRITES) {
		assert(plan->ledger && plan->ledger->blocks >= plan_blocks(plan));
		d->ledger = plan->ledger;
	}
	w->fds = d->fds;
	return 0;
}

/* A cold read's blocks have been read once: empty the cache, before they are read again. */
static void begin_pass(struct workload *w)
{
	struct disk *d = w->state;

	if (!w->plan->direct && w->plan->cache == CACHE_COLD && w->ops->does & WORK_READS)
		for (uint32_t i = 0; i < w->fd_count; i++)
			posix_fadvise(d->fds[i], 0, 0, POSIX_FADV_DONTNEED);
	order_pass_ready(&d->order);
}

static uint64_t next_block(struct workload *w)
{
	struct disk *d = w->state;
	uint64_t block = order_next(&d->order);

	if (d->order.pass_over)
		begin_pass(w);
	/* Its neighbour where a request is at it: there are more blocks than requests. */
	while (d->ledger && !ledger_take(d->ledger, block))
		block = block + 1 == d->order.blocks ? 0 : block + 1;
	return block;
}

static bool writes_next(struct workload *w)
{
	struct disk *d = w->state;

	if (!(w->ops->does & WORK_READS))
		return true;
	return w->ops->does & WORK_WRITES && random_below(&d->random, 100) >= w->plan->read_percent;
}

static enum workload_answer disk_next(struct workload *w, uint32_t slot, uint64_t now_ns)
{
	const struct plan *plan = w->plan;
	struct disk *d = w->state;
	const uint64_t block = next_block(w);
	const uint32_t file = file_of(w, block);
	struct io_req *r = &w->requests[slot];

	(void)now_ns;
	d->done[slot] = 0;
	d->block[slot] = block;
	*r = (struct io_req){
	    .op = writes_next(w) ? IO_WRITE : IO_READ,
	    .fd = d->fds[file],
	    .offset = offset_of(w, block),
	    .data = data_of(w, slot),
	    .length = (uint32_t)plan->block_bytes,
	};
	if (r->op == IO_WRITE) {
		file_fill(r->data, plan->block_bytes, r->offset, file_seed(plan->file_seed, file),
		          ledger_write(d->ledger, block));
	}
	return WORK_SUBMIT;
}

static enum workload_answer fail(struct workload *w, uint32_t slot, int32_t result)
{
	static const char *const names[IO_OP_COUNT] = {
	    [IO_READ] = "read", [IO_WRITE] = "write", [IO_FSYNC] = "fsync"};
	const struct io_req *r = &w->requests[slot];
	const struct disk *d = w->state;
	char path[PLAN_PATH_SIZE];

	file_path(w->plan->file, file_of(w, d->block[slot]), path);
	if (result < 0)
		snprintf(w->why, sizeof w->why, "%.200s: %s at offset %llu: %s%s", path,
		         names[r->op], (unsigned long long)r->offset, strerror(-result),
		         result == -EFBIG ? "; the limit is RLIMIT_FSIZE (ulimit -f), or the file "
		                            "system's"
		                          : "");
	else
		snprintf(w->why, sizeof w->why, "%.200s: %s at offset %llu%s", path,
		         r->op == IO_READ ? "its end came" : "nothing was written",
		         (unsigned long long)r->offset, r->op == IO_READ ? ": it was cut" : "");
	return result < 0 || r->op == IO_WRITE ? WORK_FAILED : WORK_WRONG;
}

/* Whether the block that was read is what must stand there. */
static bool is_right(struct workload *w, uint32_t slot)
{
	const struct plan *plan = w->plan;
	const struct disk *d = w->state;
	const uint64_t block = d->block[slot], offset = offset_of(w, block);
	const uint64_t seed = file_seed(plan->file_seed, file_of(w, block));
	uint64_t generation = d->ledger ? ledger_generation(d->ledger, block) : 0;

	if (!w->checked || (!plan->file_verified && !generation))
		return true;
	if (!generation)
		generation = FILE_ANY_GENERATION;
	if (file_check(data_of(w, slot), plan->block_bytes, offset, seed, generation))
		return true;
	file_explain(data_of(w, slot), plan->block_bytes, offset, seed, generation, w->why);
	return false;
}

static enum workload_answer disk_step(struct workload *w, uint32_t slot, int32_t result)
{
	struct io_req *r = &w->requests[slot];
	struct disk *d = w->state;

	if (result < 0 || (result == 0 && r->op != IO_FSYNC))
		return fail(w, slot, result);
	if (r->op != IO_FSYNC) {
		d->done[slot] += (uint32_t)result;
		if (d->done[slot] < w->plan->block_bytes) { /* the rest of a short transfer */
			w->shorts++;
			r->offset += (uint32_t)result;
			r->data = (char *)r->data + result;
			r->length -= (uint32_t)result;
			return WORK_SUBMIT;
		}
		w->bytes += d->done[slot];
	}
	if (r->op == IO_READ && !is_right(w, slot))
		return WORK_WRONG;
	if (r->op == IO_WRITE && w->plan->fsync && ++d->written % w->plan->fsync == 0) {
		r->op = IO_FSYNC;
		return WORK_SUBMIT;
	}
	if (d->ledger)
		ledger_give(d->ledger, d->block[slot]);
	return WORK_DONE;
}

#define DISK_WORKLOAD(symbol, title, text, what)                                                   \
	const struct workload_ops symbol = {                                                       \
	    .name = title,                                                                         \
	    .summary = text,                                                                       \
	    .size = sizeof(struct disk),                                                           \
	    .need = ENGINE_FILES,                                                                  \
	    .does = what,                                                                          \
	    .open = disk_open,                                                                     \
	    .next = disk_next,                                                                     \
	    .step = disk_step,                                                                     \
	    .close = disk_close,                                                                   \
	}

DISK_WORKLOAD(disk_randread, "disk-randread",
              "reads of one block at random offsets, each block checked", WORK_READS);
DISK_WORKLOAD(disk_seqread, "disk-seqread", "reads of block after block, each block checked",
              WORK_READS | WORK_IN_ORDER);
DISK_WORKLOAD(disk_randwrite, "disk-randwrite",
              "writes of one block at random offsets, read back after the run", WORK_WRITES);
DISK_WORKLOAD(disk_seqwrite, "disk-seqwrite",
              "writes of block after block, read back after the run", WORK_WRITES | WORK_IN_ORDER);
DISK_WORKLOAD(disk_randrw, "disk-randrw",
              "reads and writes at random offsets, each read checked, each write read back",
              WORK_READS | WORK_WRITES);
DISK_WORKLOAD(disk_fsync, "disk-fsync",
              "writes at random offsets, each followed by an fsync before it counts as done",
              WORK_WRITES | WORK_SYNCS);
