/* The store of the uploads, and what is in it afterwards: see upload.h. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench/child.h"
#include "bench/limits.h"
#include "bench/scenario/unpack.h"
#include "bench/scenario/upload.h"
#include "bench/witness.h"

enum { PIECE_BYTES = 32 << 10 };

/* What the store's process says. */
struct word {
	uint32_t said; /* a futex word */
	int error;
	char why[OBJECT_WHY_SIZE];
};

static int serves(void *context)
{
	witness_signal(&((struct word *)context)->said, 1);
	return 0;
}

static void store_main(const struct object_store_config *config, int listener, struct word *word)
{
	const volatile sig_atomic_t never = 0;
	struct object_store_config own = *config;

	child_close_others(&listener, 1);
	limits_raise();
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	own.ready = serves;
	own.context = word;
	word->error = object_store_run(&own, listener, &never, word->why);
	witness_signal(&word->said, 1);
	_exit(1);
}

static int await(struct word *word, pid_t pid, char why[OBJECT_WHY_SIZE])
{
	int status;

	while (!__atomic_load_n(&word->said, __ATOMIC_ACQUIRE)) {
		if (child_has_ended(pid, &status)) {
			snprintf(why, OBJECT_WHY_SIZE, "the store's process ended at once");
			return -EPIPE;
		}
		witness_wait(&word->said, 0, 100000000);
	}
	if (word->error)
		snprintf(why, OBJECT_WHY_SIZE, "%s", word->why);
	return word->error;
}

int upload_store_start(struct upload_store *store, const struct object_store_config *config,
                       char why[OBJECT_WHY_SIZE])
{
	struct word *word = mmap(NULL, sizeof *word, PROT_READ | PROT_WRITE,
	                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int listener, error = word == MAP_FAILED ? -ENOMEM : 0;

	store->pid = 0;
	snprintf(why, OBJECT_WHY_SIZE, "no memory for the store");
	if (error)
		return error;
	address_loopback(&store->address);
	listener = address_listen(&store->address);
	store->pid = listener < 0 ? listener : child_fork("iostudy-store");
	if (store->pid == 0)
		store_main(config, listener, word);
	if (listener >= 0)
		close(listener);
	error = store->pid < 0 ? (int)store->pid : 0;
	if (error)
		snprintf(why, OBJECT_WHY_SIZE, "cannot start the store: %s%s", strerror(-error),
		         child_limits(error));
	else
		error = await(word, store->pid, why);
	if (error)
		upload_store_stop(store);
	else
		*why = 0;
	munmap(word, sizeof *word);
	return error;
}

void upload_store_stop(struct upload_store *store)
{
	if (store->pid > 0)
		child_end(store->pid, 0);
	store->pid = 0;
}

/* Whether the object is the file, from the first byte to the last. */
static bool is_same(struct unpack *u, int archive, int object)
{
	char packed[PIECE_BYTES], plain[PIECE_BYTES], kept[PIECE_BYTES];
	uint64_t at = 0;

	for (;;) {
		const int n = unpack_take(u, plain, sizeof plain);

		if (n < 0)
			return false;
		if (n == 0 && !unpack_wants(u))
			return pread(object, kept, 1, (off_t)at) == 0;
		if (n == 0 && unpack_read(u, archive, packed, sizeof packed) <= 0)
			return false;
		if (n > 0 && (pread(object, kept, (size_t)n, (off_t)at) != n ||
		              memcmp(kept, plain, (size_t)n) != 0))
			return false;
		at += (uint64_t)n;
	}
}

/* NULL, or what is wrong with the object. */
static const char *compare_one(const struct upload *upload, const struct object_shelf *shelf,
                               const struct archive_file *file)
{
	char target[UPLOAD_TARGET_SIZE];
	struct object_name name;
	struct unpack unpack;
	int object;
	bool same;

	upload_target(file, target);
	if (object_name_parse(&name, target) != 0)
		return "has no name in the store";
	object = object_open(shelf, &name);
	if (object < 0)
		return "is not in the store";
	if (unpack_open(&unpack, file) != 0) {
		close(object);
		return "cannot be unpacked again: no memory";
	}
	same = is_same(&unpack, upload->archive.fd, object);
	unpack_close(&unpack);
	close(object);
	return same ? NULL : "is other bytes in the store";
}

uint32_t upload_compare(const struct upload *upload, const char *directory,
                        char why[SCENARIO_WHY_SIZE])
{
	const struct object_shelf shelf = {
	    .root = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
	uint32_t wrong = 0;

	for (uint32_t i = 0; i < upload->count; i++) {
		const struct archive_file *file = &upload->archive.files[i];
		const char *reason = compare_one(upload, &shelf, file);

		if (reason && !wrong++)
			snprintf(why, SCENARIO_WHY_SIZE, "%.100s %s", file->name, reason);
	}
	if (shelf.root >= 0)
		close(shelf.root);
	return wrong;
}
