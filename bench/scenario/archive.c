/* What is taken of a zip archive, and what is refused: see archive.h. */
#include "bench/scenario/archive.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>

#include "bench/scenario/archive_directory.h"
#include "bench/scenario/unpack.h"

enum {
	FLAG_ENCRYPTED = 1 << 0,
	FLAG_STRONGLY = 1 << 6,
	FLAG_MASKED = 1 << 13,
	SHOWN = 60, /* bytes of a name in a message */
	PIECE_BYTES = 64 << 10,
};

/* A name as it may be shown: no byte of it reaches a terminal as a command. */
static const char *name_shown(const struct archive_entry *entry, char shown[SHOWN + 1])
{
	const uint32_t n = entry->name_bytes < SHOWN ? entry->name_bytes : SHOWN;

	for (uint32_t i = 0; i < n; i++)
		shown[i] = entry->name[i] >= ' ' && entry->name[i] < 127 ? entry->name[i] : '?';
	shown[n] = 0;
	return shown;
}

/* What is wrong with a part between two slashes, or NULL. */
static const char *part_wrong(const char *part, size_t bytes)
{
	if (bytes == 0)
		return "its name is absolute or has an empty part";
	if (part[0] == '.' && (bytes == 1 || (bytes == 2 && part[1] == '.')))
		return "its name climbs (a part of it is . or ..)";
	return NULL;
}

/* Also those of C1, which some terminals obey, as UTF-8. */
static bool is_control(const char *c, const char *end)
{
	const unsigned char first = (unsigned char)c[0];

	return first < ' ' || first == 127 ||
	       (first == 0xc2 && c + 1 < end && (unsigned char)c[1] < 0xa0);
}

static const char *name_wrong(const struct archive_entry *entry)
{
	const char *name = entry->name, *end = name + entry->name_bytes, *wrong = NULL;

	if (!entry->name_bytes)
		return "it has no name";
	if (entry->name_bytes > ARCHIVE_NAME_MAX)
		return "its name has more than 200 bytes";
	for (const char *c = name; c < end; c++) {
		if (is_control(c, end))
			return "its name has control characters";
		if (*c == '\\')
			return "its name has a backslash, which some take for a slash";
	}
	while (name < end && !wrong) {
		const char *slash = memchr(name, '/', (size_t)(end - name));
		const size_t bytes = (size_t)((slash ? slash : end) - name);

		wrong = part_wrong(name, bytes);
		name += bytes + 1;
	}
	return wrong;
}

static bool is_folder(const struct archive_entry *entry)
{
	return entry->name_bytes && entry->name[entry->name_bytes - 1] == '/';
}

static const char *kind_wrong(const struct archive_entry *entry)
{
	const uint32_t kind = entry->attributes >> 16 & S_IFMT;

	if (kind == S_IFLNK)
		return "it is a symbolic link, which would lead out of the archive";
	if (kind && kind != (is_folder(entry) ? S_IFDIR : S_IFREG))
		return "it is neither a file nor a folder";
	if (is_folder(entry) && (entry->bytes || entry->packed_bytes > 2))
		return "it is a folder with contents: damaged";
	return NULL;
}

static const char *packing_wrong(const struct archive_entry *entry)
{
	if (entry->flags & (FLAG_ENCRYPTED | FLAG_STRONGLY | FLAG_MASKED))
		return "it is encrypted: unpack it, and pack it again without a password";
	if (entry->method != ARCHIVE_STORED && entry->method != ARCHIVE_DEFLATED)
		return "its method is not deflate: pack it again (zip -Z deflate)";
	if (entry->method == ARCHIVE_STORED && entry->bytes != entry->packed_bytes)
		return "it is stored, and has two lengths: damaged";
	if (entry->bytes > ARCHIVE_RATIO_FREE_BYTES &&
	    entry->bytes / ARCHIVE_RATIO_MAX > entry->packed_bytes)
		return "it grows to more than 200 times its packed size: a zip bomb";
	return NULL;
}

static int entry_check(const struct archive_entry *entry, char why[ARCHIVE_WHY_SIZE])
{
	char shown[SHOWN + 1];
	const char *wrong = name_wrong(entry);

	if (!wrong)
		wrong = kind_wrong(entry);
	if (!wrong)
		wrong = packing_wrong(entry);
	if (!wrong)
		return 0;
	snprintf(why, ARCHIVE_WHY_SIZE, "refused for the entry '%s': %s", name_shown(entry, shown),
	         wrong);
	return -EBADMSG;
}

static int by_begin(const void *a, const void *b)
{
	const struct archive_entry *const *x = a, *const *y = b;

	return ((*x)->begin > (*y)->begin) - ((*x)->begin < (*y)->begin);
}

static int by_name(const void *a, const void *b)
{
	const struct archive_entry *const *x = a, *const *y = b;
	const uint32_t n = (*x)->name_bytes < (*y)->name_bytes ? (*x)->name_bytes
	                                                       : (*y)->name_bytes;
	const int order = memcmp((*x)->name, (*y)->name, n);

	return order
	           ? order
	           : ((*x)->name_bytes > (*y)->name_bytes) - ((*x)->name_bytes < (*y)->name_bytes);
}

/* Holds each entry against its neighbour: by_begin, none reaches into the next, nor the last into
 * the directory; by_name, no two are the same. */
static int neighbours_check(const struct archive_directory *d, const struct archive_entry **sorted,
                            char why[ARCHIVE_WHY_SIZE])
{
	char shown[SHOWN + 1];

	qsort(sorted, d->count, sizeof *sorted, by_begin);
	for (uint32_t i = 0; i < d->count; i++)
		if (sorted[i]->offset + sorted[i]->packed_bytes >
		    (i + 1 < d->count ? sorted[i + 1]->begin : d->begin)) {
			snprintf(why, ARCHIVE_WHY_SIZE,
			         "refused: the entry '%s' overlaps another one, or the "
			         "directory: a zip bomb, or damaged",
			         name_shown(sorted[i], shown));
			return -EBADMSG;
		}
	qsort(sorted, d->count, sizeof *sorted, by_name);
	for (uint32_t i = 0; i + 1 < d->count; i++)
		if (by_name(&sorted[i], &sorted[i + 1]) == 0) {
			snprintf(why, ARCHIVE_WHY_SIZE, "refused: two entries are named '%s'",
			         name_shown(sorted[i], shown));
			return -EBADMSG;
		}
	return 0;
}

static int directory_check(const struct archive_directory *d, uint64_t limit_bytes,
                           char why[ARCHIVE_WHY_SIZE])
{
	const struct archive_entry **sorted = calloc(d->count + 1u, sizeof *sorted);
	uint64_t bytes = 0;
	int error = sorted ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < d->count && !error; i++) {
		sorted[i] = &d->entries[i];
		bytes += d->entries[i].bytes;
		error = entry_check(&d->entries[i], why);
	}
	if (!error)
		error = neighbours_check(d, sorted, why);
	if (!error && bytes > limit_bytes) {
		snprintf(why, ARCHIVE_WHY_SIZE,
		         "refused: its files have %llu bytes in all, and %llu are taken: see "
		         "--unpacked-limit",
		         (unsigned long long)bytes, (unsigned long long)limit_bytes);
		error = -EFBIG;
	}
	free(sorted);
	return error;
}

/* Whether libzip sees the same entry at that place. */
static bool agrees(zip_t *zip, uint32_t index, const struct archive_entry *entry)
{
	const char *name = zip_get_name(zip, index, ZIP_FL_ENC_RAW);
	zip_stat_t stat;

	return name && strlen(name) == entry->name_bytes &&
	       memcmp(name, entry->name, entry->name_bytes) == 0 &&
	       zip_stat_index(zip, index, 0, &stat) == 0 && stat.size == entry->bytes &&
	       stat.comp_size == entry->packed_bytes && stat.crc == entry->crc &&
	       stat.comp_method == entry->method && stat.encryption_method == ZIP_EM_NONE;
}

/* libzip holds the entries' own headers against the directory; both must see the same. */
static int second_opinion(int fd, const struct archive_directory *d, char why[ARCHIVE_WHY_SIZE])
{
	zip_error_t error;
	int code = 0, own = dup(fd), result = 0;
	zip_t *zip = own < 0 ? NULL : zip_fdopen(own, ZIP_CHECKCONS, &code);

	if (!zip) {
		zip_error_init_with_code(&error, code);
		snprintf(why, ARCHIVE_WHY_SIZE, "damaged: %s", zip_error_strerror(&error));
		zip_error_fini(&error);
		if (own >= 0)
			close(own);
		return own < 0 ? -EMFILE : -EBADMSG;
	}
	if (zip_get_num_entries(zip, 0) != (zip_int64_t)d->count)
		result = -EBADMSG;
	for (uint32_t i = 0; i < d->count && !result; i++)
		result = agrees(zip, i, &d->entries[i]) ? 0 : -EBADMSG;
	if (result)
		snprintf(why, ARCHIVE_WHY_SIZE,
		         "damaged: two readers of zip archives see different entries in it");
	zip_discard(zip);
	return result;
}

static int take_files(struct archive *a, const struct archive_directory *d,
                      char why[ARCHIVE_WHY_SIZE])
{
	a->files = calloc(d->count + 1u, sizeof *a->files);
	if (!a->files)
		return -ENOMEM;
	for (uint32_t i = 0; i < d->count; i++) {
		const struct archive_entry *entry = &d->entries[i];
		struct archive_file *file = &a->files[a->count];

		if (is_folder(entry))
			continue;
		*file = (struct archive_file){.offset = entry->offset,
		                              .packed_bytes = entry->packed_bytes,
		                              .bytes = entry->bytes,
		                              .crc = entry->crc,
		                              .method = entry->method};
		memcpy(file->name, entry->name, entry->name_bytes);
		a->bytes += entry->bytes;
		a->count++;
	}
	if (a->count)
		return 0;
	snprintf(why, ARCHIVE_WHY_SIZE, "there is no file in it");
	return -ENOENT;
}

/* Names the archive in front of what is wrong with it. */
static int named(const char *path, int error, char why[ARCHIVE_WHY_SIZE])
{
	char what[ARCHIVE_WHY_SIZE];

	snprintf(what, sizeof what, "%s", *why ? why : strerror(-error));
	snprintf(why, ARCHIVE_WHY_SIZE, "%.150s: %.240s", path, what);
	return error;
}

int archive_open(struct archive *a, const char *path, uint64_t limit_bytes,
                 char why[ARCHIVE_WHY_SIZE])
{
	struct archive_directory directory;
	int error;

	*why = 0;
	*a = (struct archive){.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
	if (a->fd < 0)
		return named(path, -errno, why);
	error = archive_directory_read(&directory, a->fd, why);
	if (!error) {
		error = directory_check(&directory, limit_bytes, why);
		if (!error)
			error = second_opinion(a->fd, &directory, why);
		if (!error)
			error = take_files(a, &directory, why);
		archive_directory_free(&directory);
	}
	if (error) {
		archive_close(a);
		named(path, error, why);
	}
	return error;
}

void archive_close(struct archive *a)
{
	close(a->fd);
	free(a->files);
	*a = (struct archive){.fd = -1};
}

void archive_cache_drop(const struct archive *a)
{
	fdatasync(a->fd);
	posix_fadvise(a->fd, 0, 0, POSIX_FADV_DONTNEED);
}

/* 0, -EBADMSG, or another -errno. */
static int file_test(const struct archive *a, const struct archive_file *file, char *packed,
                     char *plain)
{
	struct unpack unpack;
	int n = unpack_open(&unpack, file);

	if (n)
		return n;
	do {
		n = unpack_take(&unpack, plain, PIECE_BYTES);
		if (n || !unpack_wants(&unpack))
			continue;
		n = unpack_read(&unpack, a->fd, packed, PIECE_BYTES);
		if (n == 0)
			n = -EBADMSG;
	} while (n > 0);
	unpack_close(&unpack);
	return n;
}

int archive_test(const struct archive *a, const volatile sig_atomic_t *stop,
                 char why[ARCHIVE_WHY_SIZE])
{
	char *packed = malloc(PIECE_BYTES), *plain = malloc(PIECE_BYTES);
	int error = packed && plain ? 0 : -ENOMEM;

	snprintf(why, ARCHIVE_WHY_SIZE, "%s", strerror(-error));
	for (uint32_t i = 0; i < a->count && !error; i++) {
		error = *stop ? -EINTR : file_test(a, &a->files[i], packed, plain);
		if (error)
			snprintf(why, ARCHIVE_WHY_SIZE, "the file '%.60s' of the archive: %s",
			         a->files[i].name,
			         error == -EBADMSG
			             ? "what it unpacks to is not what its checksum says: damaged"
			             : strerror(-error));
	}
	free(packed);
	free(plain);
	return error;
}
