/* bench/scenario/archive.h: real zip archives, and those that are refused. */
#include "bench/scenario/archive.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>

#include "tests/process.h"
#include "tests/test.h"
#include "tests/zip_builder.h"

static const uint64_t limit = 64 << 20;
static const volatile sig_atomic_t go_on;

struct refused {
	struct zip_entry entries[3];
	uint32_t count, disk; /* of zip_builder_end */
	const char *says;
};

static const struct refused hostile[] = {
    {{{.name = "/etc/passwd", .data = "x"}}, 0, 0, "absolute"},
    {{{.name = "../up", .data = "x"}}, 0, 0, "climbs"},
    {{{.name = "a/../../up", .data = "x"}}, 0, 0, "climbs"},
    {{{.name = "a/./b", .data = "x"}}, 0, 0, "climbs"},
    {{{.name = "a//b", .data = "x"}}, 0, 0, "empty part"},
    {{{.name = "..\\up", .data = "x"}}, 0, 0, "backslash"},
    {{{.name = "C:\\up", .data = "x"}}, 0, 0, "backslash"},
    {{{.name = "a\0b", .name_bytes = 3, .data = "x"}}, 0, 0, "'a?b': its name has control"},
    {{{.name = "a\nb", .data = "x"}}, 0, 0, "'a?b': its name has control"},
    {{{.name = "a\33[2Jb", .data = "x"}}, 0, 0, "'a?[2Jb': its name has control"},
    {{{.name = "a\xc2\x9b"
               "2J",
       .data = "x"}},
     0,
     0,
     "'a??2J': its name has control"},
    {{{.name = "a", .data = "/etc/passwd", .mode = S_IFLNK | 0777}}, 0, 0, "symbolic link"},
    {{{.name = "a", .mode = S_IFIFO | 0600}}, 0, 0, "neither a file nor a folder"},
    {{{.name = "a", .mode = S_IFCHR | 0600}}, 0, 0, "neither a file nor a folder"},
    {{{.name = "a", .mode = S_IFDIR | 0700}}, 0, 0, "neither a file nor a folder"},
    {{{.name = "a/", .data = "x"}}, 0, 0, "a folder with contents"},
    {{{.name = "a", .data = "x"}, {.name = "b", .data = "y"}, {.name = "a", .data = "z"}},
     0,
     0,
     "two entries are named 'a'"},
    {{{.name = "a", .data = "x"}, {.name = "b", .data = "x", .begin_of = 1}}, 0, 0, "overlaps"},
    {{{.name = "a", .data = "x", .flags = 1}}, 0, 0, "encrypted"},
    {{{.name = "a", .data = "x", .flags = 1 << 13}}, 0, 0, "encrypted"},
    {{{.name = "a", .data = "x", .method = 12}}, 0, 0, "zip -Z deflate"},
    {{{.name = "a", .data = "x", .bytes = 7}}, 0, 0, "two lengths"},
    {{{.name = "a", .data = "x", .method = 8, .bytes = 1 << 30}}, 0, 0, "a zip bomb"},
    {{{.name = "a", .data = "xy", .local = "b"}}, 0, 0, "damaged"},
    {{{.name = "a", .data = "x"}}, 30000, 0, "too many entries: 30000"},
    {{{.name = "a", .data = "x"}}, 0xffff, 0, "zip64"},
    {{{.name = "a", .data = "x"}}, 0, 1, "one part of several"},
    {{{.name = "a", .data = "x"}}, 9, 0, "damaged"},
    {{{.name = "folder/"}}, 0, 0, "there is no file in it"},
};

static void check_refused(const char *path, const char *says)
{
	char why[ARCHIVE_WHY_SIZE] = "";
	struct archive a;

	CHECK_MESSAGE(archive_open(&a, path, limit, why) < 0, "taken, and not: %s", says);
	CHECK_CONTAINS(why, says);
	for (const char *c = why; *c; c++)
		CHECK_MESSAGE(*c >= ' ' && *c < 127, "a byte %d in: %s", *c, why);
}

TEST(archive, a_hostile_one_is_refused_and_what_is_wrong_is_named)
{
	char directory[256];

	process_make_directory(directory);
	for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
		struct zip_builder z = {0};

		for (size_t k = 0; k < 3 && hostile[i].entries[k].name; k++)
			zip_builder_add(&z, &hostile[i].entries[k]);
		zip_builder_end(&z, hostile[i].count, hostile[i].disk);
		check_refused(zip_builder_write(&z, directory), hostile[i].says);
	}
	process_remove_directory(directory);
}

/* Ten entries, of which each is as long as may be, make more than is taken. */
TEST(archive, what_all_files_have_together_is_limited)
{
	char directory[256], why[ARCHIVE_WHY_SIZE], name[] = "a0", data[1001];
	struct zip_builder z = {0};
	struct archive a;

	process_make_directory(directory);
	memset(data, 'x', sizeof data - 1);
	data[sizeof data - 1] = 0;
	for (int i = 0; i < 10; i++, name[1]++)
		zip_builder_add(&z, &(struct zip_entry){.name = strdup(name), .data = data});
	zip_builder_end(&z, 0, 0);
	CHECK_EQUAL(archive_open(&a, zip_builder_write(&z, directory), 9999, why), -EFBIG);
	CHECK_CONTAINS(why, "10000 bytes in all, and 9999 are taken: see --unpacked-limit");
	CHECK_EQUAL(archive_open(&a, zip_builder_write(&z, directory), 10000, why), 0);
	CHECK_EQUAL(a.count, 10);
	CHECK_EQUAL(archive_test(&a, &go_on, why), 0);
	archive_close(&a);
	for (int i = 0; i < 10; i++)
		free((char *)z.entries[i].name);
	process_remove_directory(directory);
}

TEST(archive, what_is_no_zip_is_said_to_be_none)
{
	char directory[256], path[300];
	struct zip_builder z = {0};

	process_make_directory(directory);
	snprintf(path, sizeof path, "%s/none.zip", directory);
	check_refused(path, "No such file");
	check_refused(directory, "no regular file");
	check_refused("/dev/zero", "no regular file");
	CHECK_EQUAL(mkfifo(path, 0600), 0);
	check_refused(path, "no regular file");
	check_refused(zip_builder_write(&z, directory), "no zip archive"); /* empty */
	z.bytes = sizeof z.data;
	check_refused(zip_builder_write(&z, directory), "no zip archive"); /* zeros */
	process_remove_directory(directory);
}

static char *load(const char *path, size_t *bytes)
{
	char *data = malloc(1 << 20);
	FILE *file = fopen(path, "re");

	*bytes = file && data ? fread(data, 1, 1 << 20, file) : 0;
	if (file)
		fclose(file);
	return data;
}

static void save(const char *path, const char *data, size_t bytes)
{
	FILE *file = fopen(path, "we");

	CHECK(file && fwrite(data, 1, bytes, file) == bytes);
	if (file)
		fclose(file);
}

/* Opens and tests it: 0, or what of the two said no. */
static int take(const char *path)
{
	char why[ARCHIVE_WHY_SIZE];
	struct archive a;
	int error = archive_open(&a, path, limit, why);

	if (error)
		return error;
	error = archive_test(&a, &go_on, why);
	archive_close(&a);
	return error;
}

static void make_small(const char *path, bool compressible)
{
	const struct archive_recipe recipe = {
	    .files = 6, .file_bytes = 3000, .seed = 3, .compressible = compressible};
	char why[ARCHIVE_WHY_SIZE] = "";

	CHECK_MESSAGE(archive_make(path, &recipe, &go_on, why) == 0, "%s", why);
}

/* The archive says of every file what it is: where that is changed, nobody takes it. Bytes that
 * say nothing of the contents (times, versions, attributes) may change. */
TEST(archive, a_damaged_one_is_found_wherever_it_is_damaged_and_crashes_nobody)
{
	char directory[256], path[300];
	size_t bytes, found = 0, tried = 0;
	char *data;

	process_make_directory(directory);
	snprintf(path, sizeof path, "%s/a.zip", directory);
	make_small(path, true);
	data = load(path, &bytes);
	REQUIRE(bytes > 3000);
	CHECK_EQUAL(take(path), 0);
	for (size_t at = 0; at < bytes; at += 61) { /* cut short anywhere */
		save(path, data, at);
		CHECK_MESSAGE(take(path) < 0, "taken when cut at %zu", at);
	}
	for (size_t at = 0; at < bytes; at += 17, tried++) {
		data[at] ^= 0x41;
		save(path, data, bytes);
		found += take(path) < 0;
		data[at] ^= 0x41;
	}
	CHECK_MESSAGE(found * 10 > tried * 8, "%zu of %zu found", found, tried);
	free(data);
	process_remove_directory(directory);
}

TEST(archive, one_made_here_holds_what_was_asked_for_and_the_same_each_time)
{
	char directory[256], path[300], again[300];
	char *data, *same;
	size_t bytes, same_bytes;

	process_make_directory(directory);
	snprintf(path, sizeof path, "%s/a.zip", directory);
	snprintf(again, sizeof again, "%s/b.zip", directory);
	for (int compressible = 0; compressible < 2; compressible++) {
		char why[ARCHIVE_WHY_SIZE];
		struct archive a;

		make_small(path, compressible);
		make_small(again, compressible);
		data = load(path, &bytes);
		same = load(again, &same_bytes);
		CHECK(bytes == same_bytes && memcmp(data, same, bytes) == 0);
		CHECK(compressible ? bytes < 12000 : bytes > 18000);
		REQUIRE(archive_open(&a, path, limit, why) == 0);
		CHECK_EQUAL(a.count, 6);
		CHECK_EQUAL(a.bytes, 18000);
		CHECK_STRING(a.files[5].name, compressible ? "files/00005.txt" : "files/00005.bin");
		CHECK_EQUAL(archive_test(&a, &go_on, why), 0);
		archive_close(&a);
		free(data);
		free(same);
		unlink(path);
		unlink(again);
	}
	process_remove_directory(directory);
}

TEST(archive, one_that_is_there_is_not_written_over)
{
	const struct archive_recipe recipe = {.files = 1, .file_bytes = 1};
	char directory[256], path[300], why[ARCHIVE_WHY_SIZE];
	size_t bytes;
	char *data;

	process_make_directory(directory);
	snprintf(path, sizeof path, "%s/a.zip", directory);
	save(path, "mine", 4);
	CHECK_EQUAL(archive_make(path, &recipe, &go_on, why), -EEXIST);
	CHECK_CONTAINS(why, "it is there already");
	data = load(path, &bytes);
	CHECK(bytes == 4 && memcmp(data, "mine", 4) == 0);
	free(data);
	process_remove_directory(directory);
}

TEST(archive, the_making_of_one_ends_on_a_signal_and_leaves_nothing)
{
	const struct archive_recipe recipe = {.files = 50, .file_bytes = 100 << 10};
	const volatile sig_atomic_t came = SIGINT;
	char directory[256], path[300], why[ARCHIVE_WHY_SIZE];

	process_make_directory(directory);
	snprintf(path, sizeof path, "%s/a.zip", directory);
	CHECK_EQUAL(archive_make(path, &recipe, &came, why), -EINTR);
	CHECK_EQUAL(rmdir(directory), 0); /* it is empty */
	process_make_directory(directory);
	process_remove_directory(directory);
}

/* As a packer makes it, with libzip's own encryption. */
TEST(archive, a_really_encrypted_one_is_refused)
{
	char directory[256], path[300];
	int code;
	zip_t *zip;

	process_make_directory(directory);
	snprintf(path, sizeof path, "%s/a.zip", directory);
	zip = zip_open(path, ZIP_CREATE, &code);
	REQUIRE(zip);
	CHECK_EQUAL(zip_file_add(zip, "a", zip_source_buffer(zip, "secret", 6, 0), 0), 0);
	CHECK_EQUAL(zip_file_set_encryption(zip, 0, ZIP_EM_AES_256, "password"), 0);
	CHECK_EQUAL(zip_close(zip), 0);
	check_refused(path, "encrypted");
	process_remove_directory(directory);
}
