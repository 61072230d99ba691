/* The file of the disk workloads: what is written, what is refused, what is found wrong. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/environment.h"
#include "bench/file.h"
#include "bench/run_files.h"
#include "tests/test.h"

static volatile sig_atomic_t never;

/* A folder of the test's own, removed with the one file in it. */
struct place {
	char directory[64];
	struct plan plan;
	struct file_lease lease;
	char why[PLAN_WHY_SIZE];
};

static bool place_make(struct place *p, const char *name)
{
	memset(p, 0, sizeof *p);
	snprintf(p->directory, sizeof p->directory, "iostudy-test-XXXXXX");
	plan_default(&p->plan);
	if (!mkdtemp(p->directory))
		return false;
	snprintf(p->plan.file, sizeof p->plan.file, "%s/%s", p->directory, name);
	p->plan.size_bytes = 1 << 20;
	return true;
}

static void place_remove(struct place *p)
{
	file_release(&p->lease, true);
	unlink(p->plan.file);
	CHECK_EQUAL(rmdir(p->directory), 0);
}

static int prepare(struct place *p)
{
	return file_prepare(&p->plan, &p->lease, &never, p->why);
}

static void write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	if (f)
		fputs(text, f);
	if (f)
		fclose(f);
}

TEST(file, is_made_filled_found_again_and_removed)
{
	struct place p;
	char block[4096];
	int fd;

	REQUIRE(place_make(&p, FILE_NAME_DEFAULT));
	REQUIRE_MESSAGE(prepare(&p) == 0, "%s", p.why);
	CHECK(p.plan.file_verified);
	fd = open(p.plan.file, O_RDWR);
	for (uint64_t at = 0; at < p.plan.size_bytes; at += sizeof block) {
		CHECK_EQUAL(pread(fd, block, sizeof block, (off_t)at), sizeof block);
		CHECK(file_check(block, sizeof block, at, 1, 0));
		CHECK(!file_check(block, sizeof block, at + sizeof block, 1, 0));
		CHECK(!file_check(block, sizeof block, at, 2, 0));
	}
	close(fd);
	file_release(&p.lease, true);
	p.plan.seed = 99; /* a kept file keeps its own */
	REQUIRE(prepare(&p) == 0);
	CHECK_EQUAL(p.plan.file_seed, 1);
	file_release(&p.lease, false);
	CHECK_EQUAL(access(p.plan.file, F_OK), -1);
	place_remove(&p);
}

TEST(file, one_changed_byte_at_either_end_of_a_page_is_found)
{
	char data[8192];

	for (size_t at = 0; at < sizeof data; at += 4096) {
		file_fill(data, sizeof data, 65536, 3, 0);
		CHECK(file_check(data, sizeof data, 65536, 3, 0));
		data[at] ^= 1;
		CHECK(!file_check(data, sizeof data, 65536, 3, 0));
		data[at] ^= 1;
		data[at + 4095] ^= 1;
		CHECK(!file_check(data, sizeof data, 65536, 3, 0));
	}
}

TEST(file, a_foreign_file_under_our_name_is_not_touched)
{
	struct place p;
	char text[16] = "";
	FILE *f;

	REQUIRE(place_make(&p, FILE_NAME_DEFAULT));
	write_text(p.plan.file, "a thesis");
	CHECK_EQUAL(prepare(&p), -EEXIST);
	CHECK_CONTAINS(p.why, "was not made by iostudy");
	f = fopen(p.plan.file, "r");
	REQUIRE(f);
	CHECK(fgets(text, sizeof text, f));
	fclose(f);
	CHECK_STRING(text, "a thesis");
	place_remove(&p);
}

TEST(file, a_named_file_is_read_as_it_is)
{
	struct place p;
	char *zeros = calloc(1, 65536);
	int fd;

	REQUIRE(zeros && place_make(&p, "users"));
	p.plan.file_named = true;
	p.plan.size_bytes = 0;
	fd = open(p.plan.file, O_CREAT | O_WRONLY, 0600);
	CHECK_EQUAL(write(fd, zeros, 65536), 65536);
	close(fd);
	CHECK_EQUAL(prepare(&p), 0);
	CHECK_EQUAL(p.plan.size_bytes, 65536);
	CHECK(!p.plan.file_verified);
	file_release(&p.lease, false);
	CHECK_EQUAL(access(p.plan.file, F_OK), 0); /* a named file is never removed */
	free(zeros);
	place_remove(&p);
}

TEST(file, a_named_file_that_is_missing_or_short_needs_overwrite)
{
	struct place p;
	struct stat st;

	REQUIRE(place_make(&p, "users"));
	p.plan.file_named = true;
	CHECK_EQUAL(prepare(&p), -ENOENT);
	CHECK_CONTAINS(p.why, "--overwrite");
	write_text(p.plan.file, "short");
	CHECK_EQUAL(prepare(&p), -EINVAL);
	CHECK_CONTAINS(p.why, "5 bytes");
	CHECK_EQUAL(stat(p.plan.file, &st), 0);
	CHECK_EQUAL(st.st_size, 5);
	p.plan.overwrite = true;
	REQUIRE_MESSAGE(prepare(&p) == 0, "%s", p.why);
	CHECK(p.plan.file_verified);
	CHECK_EQUAL(stat(p.plan.file, &st), 0);
	CHECK_EQUAL(st.st_size, 1 << 20);
	place_remove(&p);
}

TEST(file, what_is_no_file_is_refused)
{
	static const char *const paths[] = {"/", "/dev/null", "/dev/zero"};
	struct place p;

	REQUIRE(place_make(&p, "fifo"));
	p.plan.file_named = true;
	REQUIRE(mkfifo(p.plan.file, 0600) == 0);
	CHECK(prepare(&p) < 0); /* and does not wait for a writer */
	CHECK_CONTAINS(p.why, "neither a regular file");
	unlink(p.plan.file);
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		snprintf(p.plan.file, sizeof p.plan.file, "%s", paths[i]);
		CHECK(prepare(&p) < 0);
		CHECK_CONTAINS(p.why, "neither a regular file");
	}
	snprintf(p.plan.file, sizeof p.plan.file, "%s/none", p.directory);
	place_remove(&p);
}

TEST(file, a_full_file_system_is_named_with_what_is_free)
{
	struct place p;

	if (geteuid() != 0)
		SKIP("mounting a small tmpfs needs root");
	REQUIRE(place_make(&p, FILE_NAME_DEFAULT));
	if (mount("none", p.directory, "tmpfs", 0, "size=256k") != 0) {
		rmdir(p.directory);
		SKIP("a tmpfs cannot be mounted here: %s", strerror(errno));
	}
	CHECK_EQUAL(prepare(&p), -ENOSPC);
	CHECK_CONTAINS(p.why, "MiB are free");
	CHECK_CONTAINS(p.why, "--directory");
	CHECK_EQUAL(access(p.plan.file, F_OK), -1);
	CHECK_EQUAL(umount(p.directory), 0);
	place_remove(&p);
}

TEST(file, filling_ends_when_a_signal_has_come)
{
	static volatile sig_atomic_t came = SIGINT;
	struct place p;

	REQUIRE(place_make(&p, FILE_NAME_DEFAULT));
	CHECK_EQUAL(file_prepare(&p.plan, &p.lease, &came, p.why), -EINTR);
	CHECK_EQUAL(access(p.plan.file, F_OK), -1);
	place_remove(&p);
}

TEST(file, several_are_made_and_none_is_taken_for_another)
{
	struct place p;
	char path[PLAN_PATH_SIZE], first[4096], other[4096];
	int fd;

	REQUIRE(place_make(&p, FILE_NAME_DEFAULT));
	p.plan.files = 12;
	REQUIRE_MESSAGE(prepare(&p) == 0, "%s", p.why);
	CHECK_EQUAL(p.lease.count, 12);
	for (uint32_t i = 0; i < 12; i++) {
		REQUIRE(file_path(p.plan.file, i, path));
		fd = open(path, O_RDONLY);
		CHECK_EQUAL(pread(fd, i ? other : first, 4096, 0), 4096);
		CHECK_EQUAL(lseek(fd, 0, SEEK_END), (1 << 20) / 12 / 512 * 512);
		close(fd);
		CHECK(file_check(i ? other : first, 4096, 0, file_seed(p.plan.file_seed, i), 0));
		CHECK(!i || !file_check(other, 4096, 0, p.plan.file_seed, 0));
	}
	CHECK_STRING(path + strlen(p.directory), "/" FILE_NAME_DEFAULT ".11");
	file_release(&p.lease, false);
	for (uint32_t i = 0; i < 12 && file_path(p.plan.file, i, path); i++)
		CHECK_EQUAL(access(path, F_OK), -1);
	place_remove(&p);
}

TEST(file, a_foreign_one_among_several_ends_it_and_leaves_the_others_unmade)
{
	struct place p;
	char path[PLAN_PATH_SIZE];

	REQUIRE(place_make(&p, FILE_NAME_DEFAULT));
	p.plan.files = 3;
	REQUIRE(file_path(p.plan.file, 2, path));
	write_text(path, "a thesis");
	CHECK_EQUAL(prepare(&p), -EEXIST);
	CHECK_CONTAINS(p.why, ".data.2: it exists and was not made by iostudy");
	CHECK_EQUAL(access(p.plan.file, F_OK), -1);
	CHECK_EQUAL(unlink(path), 0);
	place_remove(&p);
}

TEST(file, one_that_is_to_be_written_has_one_user)
{
	struct place p, q;

	REQUIRE(place_make(&p, FILE_NAME_DEFAULT));
	REQUIRE(prepare(&p) == 0);
	q = p;
	REQUIRE(prepare(&q) == 0); /* reading, they share it */
	CHECK_EQUAL(file_claim(&p.plan, &p.lease, p.why), -EBUSY);
	CHECK_CONTAINS(p.why, "another iostudy uses it");
	file_release(&q.lease, true);
	CHECK_EQUAL(file_claim(&p.plan, &p.lease, p.why), 0);
	CHECK_EQUAL(file_claim(&p.plan, &p.lease, p.why), 0);
	CHECK_EQUAL(prepare(&q), -EBUSY);
	CHECK_CONTAINS(q.why, "writes to it");
	place_remove(&p);
}

/* What a run writes beside a user's bytes must not make the file pass for one of ours. */
TEST(file, a_users_file_that_was_written_to_is_still_not_known)
{
	struct place p;
	char block[4096] = "";
	int fd;

	REQUIRE(place_make(&p, "users"));
	p.plan.file_named = true;
	p.plan.size_bytes = 0;
	fd = open(p.plan.file, O_CREAT | O_RDWR, 0600);
	for (int i = 0; i < 4; i++) {
		if (i % 3 == 0)
			file_fill(block, sizeof block, (uint64_t)i * 4096, 1,
			          FILE_AMONG_FOREIGN | 7);
		else
			memset(block, 'x', sizeof block);
		CHECK_EQUAL(pwrite(fd, block, sizeof block, i * 4096), sizeof block);
	}
	close(fd);
	REQUIRE(prepare(&p) == 0);
	CHECK(!p.plan.file_verified);
	place_remove(&p);
}

static size_t pages_in_cache(const struct plan *plan)
{
	unsigned char in_core[256] = {0};
	const int fd = open(plan->file, O_RDONLY | O_CLOEXEC);
	void *map = mmap(NULL, plan->size_bytes, PROT_READ, MAP_SHARED, fd, 0);
	size_t pages = 0;

	CHECK(map != MAP_FAILED && plan->size_bytes / 4096 <= sizeof in_core);
	CHECK_EQUAL(mincore(map, plan->size_bytes, in_core), 0);
	for (size_t i = 0; i < sizeof in_core; i++)
		pages += in_core[i] & 1;
	munmap(map, plan->size_bytes);
	close(fd);
	return pages;
}

TEST(file, has_nothing_in_the_cache_when_a_direct_run_begins_whatever_was_written_before)
{
	static struct run_result result;
	static struct environment environment;
	char block[4096] = "";
	struct place p;

	REQUIRE(place_make(&p, "data"));
	REQUIRE(prepare(&p) == 0);
	environment_read(&environment, p.directory);
	const int fd = open(p.plan.file, O_WRONLY | O_CLOEXEC);
	for (off_t at = 0; at < 1 << 20; at += sizeof block)
		CHECK_EQUAL(pwrite(fd, block, sizeof block, at), (ssize_t)sizeof block);
	close(fd);
	result.plan = p.plan;
	result.plan.direct = true;
	if (!environment.in_memory)
		CHECK(pages_in_cache(&p.plan) == 256);
	CHECK_EQUAL(run_files_begin(&result), 0);
	if (!environment.in_memory)
		CHECK_EQUAL(pages_in_cache(&p.plan), 0);
	run_files_finish(&result, false, &never);
	place_remove(&p);
	if (environment.in_memory)
		SKIP("this folder is memory, which is a cache itself");
}
