/* Makes a zip archive by libzip, with contents made while it is packed: see archive.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zip.h>

#include "bench/random.h"
#include "bench/scenario/archive.h"

enum { LEVEL = 1, WORD_BYTES = 8, MADE_AT = 1600000000 /* s: of every file, always the same */ };

/* The contents of one file, as libzip asks for them. */
struct content {
	const struct archive_recipe *recipe;
	uint64_t index, at; /* of the file; bytes given so far */
	zip_error_t error;
};

/* Text of a few words, or bytes that nothing packs; the same at the same place. */
static void word_make(const struct content *c, uint64_t number, char word[WORD_BYTES])
{
	static const char words[][WORD_BYTES + 1] = {"thread  ", "parked  ", "waiting ",
	                                             "ring    ", "disk    ", "socket  ",
	                                             "answers ", "nobody\n "};
	const uint64_t random = random_stream(random_stream(c->recipe->seed, c->index), number);

	memcpy(word, c->recipe->compressible ? words[random % 8] : (const char *)&random,
	       WORD_BYTES);
}

static zip_int64_t content_read(struct content *c, char *data, uint64_t bytes)
{
	const uint64_t left = c->recipe->file_bytes - c->at;
	char word[WORD_BYTES];

	if (bytes > left)
		bytes = left;
	for (uint64_t i = 0; i < bytes; i++, c->at++) {
		if (i == 0 || c->at % WORD_BYTES == 0)
			word_make(c, c->at / WORD_BYTES, word);
		data[i] = word[c->at % WORD_BYTES];
	}
	return (zip_int64_t)bytes;
}

static zip_int64_t content_call(void *state, void *data, zip_uint64_t bytes,
                                zip_source_cmd_t command)
{
	struct content *c = state;

	switch (command) {
	case ZIP_SOURCE_OPEN:
		c->at = 0;
		return 0;
	case ZIP_SOURCE_READ:
		return content_read(c, data, bytes);
	case ZIP_SOURCE_STAT:
		zip_stat_init(data);
		((zip_stat_t *)data)->valid = ZIP_STAT_SIZE;
		((zip_stat_t *)data)->size = c->recipe->file_bytes;
		return sizeof(zip_stat_t);
	case ZIP_SOURCE_ERROR:
		return zip_error_to_data(&c->error, data, bytes);
	case ZIP_SOURCE_CLOSE:
		return 0;
	case ZIP_SOURCE_FREE:
		free(c);
		return 0;
	case ZIP_SOURCE_SUPPORTS:
		return zip_source_make_command_bitmap(ZIP_SOURCE_OPEN, ZIP_SOURCE_READ,
		                                      ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT,
		                                      ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE, -1);
	default:
		zip_error_set(&c->error, ZIP_ER_OPNOTSUPP, 0);
		return -1;
	}
}

static int file_add(zip_t *zip, const struct archive_recipe *recipe, uint32_t index)
{
	struct content *content = calloc(1, sizeof *content);
	zip_source_t *source = content ? zip_source_function(zip, content_call, content) : NULL;
	zip_int64_t entry;
	char name[32];

	if (!source) {
		free(content);
		return -ENOMEM;
	}
	content->recipe = recipe;
	content->index = index;
	zip_error_init(&content->error);
	snprintf(name, sizeof name, "files/%05u.%s", index, recipe->compressible ? "txt" : "bin");
	entry = zip_file_add(zip, name, source, 0);
	if (entry < 0) {
		zip_source_free(source);
		return -ENOMEM;
	}
	if (zip_file_set_mtime(zip, (zip_uint64_t)entry, MADE_AT, 0) != 0 ||
	    zip_set_file_compression(zip, (zip_uint64_t)entry,
	                             recipe->compressible ? ZIP_CM_DEFLATE : ZIP_CM_STORE,
	                             LEVEL) != 0)
		return -ENOMEM;
	return 0;
}

/* Asked by libzip from time to time: whether to give up. */
static int must_stop(zip_t *zip, void *stop)
{
	(void)zip;
	return *(const volatile sig_atomic_t *)stop != 0;
}

static int explain(const char *path, zip_error_t *zip, char why[ARCHIVE_WHY_SIZE])
{
	const int system = zip_error_system_type(zip) == ZIP_ET_SYS ? zip_error_code_system(zip)
	                                                            : 0;
	const int code = zip_error_code_zip(zip);

	snprintf(why, ARCHIVE_WHY_SIZE, "cannot make %.150s: %.150s%s", path,
	         code == ZIP_ER_EXISTS ? "it is there already" : zip_error_strerror(zip),
	         code == ZIP_ER_EXISTS ? "; take another name, or remove it"
	         : system == ENOSPC    ? "; make room, or fewer files (FILES), or smaller ones "
	                                 "(--file-size)"
	                               : "");
	if (code == ZIP_ER_CANCELLED)
		return -EINTR;
	if (code == ZIP_ER_EXISTS)
		return -EEXIST;
	return system ? -system : -EIO;
}

int archive_make(const char *path, const struct archive_recipe *recipe,
                 const volatile sig_atomic_t *stop, char why[ARCHIVE_WHY_SIZE])
{
	zip_error_t failed;
	int code = 0, error = 0;
	zip_t *zip = zip_open(path, ZIP_CREATE | ZIP_EXCL, &code);

	if (!zip) {
		const int system = errno;

		zip_error_init(&failed);
		zip_error_set(&failed, code, system);
		error = explain(path, &failed, why);
		zip_error_fini(&failed);
		return error;
	}
	zip_register_cancel_callback_with_state(zip, must_stop, NULL, (void *)(uintptr_t)stop);
	for (uint32_t i = 0; i < recipe->files && !error; i++)
		error = file_add(zip, recipe, i);
	if (error)
		snprintf(why, ARCHIVE_WHY_SIZE, "cannot make %.150s: no memory for %u files", path,
		         recipe->files);
	else if (zip_close(zip) == 0)
		return 0;
	else
		error = explain(path, zip_get_error(zip), why);
	zip_discard(zip);
	return error;
}
