/* Reads back what a run has written: see readback.h. */
#include "bench/readback.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench/file.h"
#include "bench/ledger.h"
#include "bench/witness.h"

/* A piece is read at once; pieces are taken in so many sweeps, so that whatever the time allows
 * is spread over the files. */
enum { PIECE_BYTES = 256 << 10, SWEEPS = 16 };

struct piece {
	const struct plan *plan;
	uint32_t file;
	uint64_t first, count; /* blocks within that file */
	char *data;
};

static uint64_t block_of(const struct piece *p, uint64_t index)
{
	return index * p->plan->files + p->file;
}

static uint64_t written_in(const struct piece *p)
{
	const struct ledger *ledger = p->plan->ledger;
	uint64_t n = 0;

	for (uint64_t i = p->first; i < p->first + p->count; i++)
		n += ledger_generation(ledger, block_of(p, i)) &&
		     !ledger_is_taken(ledger, block_of(p, i));
	return n;
}

static int read_piece(const struct piece *p, char why[PLAN_WHY_SIZE])
{
	const size_t bytes = p->count * p->plan->block_bytes;
	const uint64_t offset = p->first * p->plan->block_bytes;
	char path[PLAN_PATH_SIZE];
	int err = 0;

	file_path(p->plan->file, p->file, path);
	const int fd = open(path, O_RDONLY | O_CLOEXEC | (p->plan->direct ? O_DIRECT : 0));

	if (fd < 0)
		err = -errno;
	for (size_t done = 0; !err && done < bytes;) {
		const ssize_t n = pread(fd, p->data + done, bytes - done, (off_t)(offset + done));

		if (n > 0)
			done += (size_t)n;
		else if (n == 0)
			err = -ENODATA;
		else if (errno != EINTR)
			err = -errno;
	}
	if (err)
		snprintf(why, PLAN_WHY_SIZE, "%.200s: what was written cannot be read back: %s",
		         path, err == -ENODATA ? "its end came" : strerror(-err));
	if (fd >= 0)
		close(fd);
	return err;
}

/* What must stand in a block: one generation, any, or (returns false) it is not known. */
static bool expected(const struct plan *plan, uint64_t block, uint64_t *generation)
{
	*generation = ledger_generation(plan->ledger, block);
	if (ledger_is_taken(plan->ledger, block) || (!*generation && !plan->file_verified))
		return false;
	if (!*generation)
		*generation = FILE_ANY_GENERATION;
	return true;
}

static void check_piece(const struct piece *p, struct readback *r, char why[PLAN_WHY_SIZE])
{
	const struct plan *plan = p->plan;
	const uint64_t seed = file_seed(plan->file_seed, p->file);

	for (uint64_t i = 0; i < p->count; i++) {
		const uint64_t offset = (p->first + i) * plan->block_bytes;
		const char *data = p->data + i * plan->block_bytes;
		uint64_t generation;

		if (!expected(plan, block_of(p, p->first + i), &generation))
			continue;
		r->checked += generation != FILE_ANY_GENERATION;
		if (file_check(data, plan->block_bytes, offset, seed, generation))
			continue;
		if (!r->wrong++)
			file_explain(data, plan->block_bytes, offset, seed, generation, why);
	}
}

/* Goes over the pieces of a file that belong to a sweep. */
static int sweep_file(struct piece *p, uint64_t sweep, uint64_t until_ns,
                      const volatile sig_atomic_t *stop, struct readback *r,
                      char why[PLAN_WHY_SIZE])
{
	const uint64_t blocks = plan_blocks(p->plan) / p->plan->files;
	const uint64_t most = p->plan->block_bytes < PIECE_BYTES
	                          ? PIECE_BYTES / p->plan->block_bytes
	                          : 1;
	int err = 0;

	for (uint64_t first = sweep * most; !err && first < blocks; first += SWEEPS * most) {
		uint64_t written;

		p->first = first;
		p->count = blocks - first < most ? blocks - first : most;
		written = written_in(p);
		r->written += written;
		if (!written || *stop || witness_now_ns() > until_ns)
			continue;
		err = read_piece(p, why);
		if (!err)
			check_piece(p, r, why);
	}
	return err;
}

int readback_check(const struct plan *plan, const volatile sig_atomic_t *stop,
                   struct readback *readback, char why[PLAN_WHY_SIZE])
{
	const size_t bytes = plan->block_bytes < PIECE_BYTES ? PIECE_BYTES : plan->block_bytes;
	const uint64_t until_ns = witness_now_ns() + READBACK_NS;
	struct piece piece = {.plan = plan};
	int err = 0;

	*readback = (struct readback){0};
	piece.data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (piece.data == MAP_FAILED) {
		snprintf(why, PLAN_WHY_SIZE, "no memory for reading back %zu bytes", bytes);
		return -ENOMEM;
	}
	for (uint64_t sweep = 0; !err && sweep < SWEEPS; sweep++)
		for (piece.file = 0; !err && piece.file < plan->files; piece.file++)
			err = sweep_file(&piece, sweep, until_ns, stop, readback, why);
	munmap(piece.data, bytes);
	return err || !readback->wrong ? err : -EILSEQ;
}
