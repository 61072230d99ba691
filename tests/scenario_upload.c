/* iostudy scenario upload: every object comes there, by as many threads as each mode has. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/scenario/upload.h"
#include "tests/cli_runs.h"
#include "tests/process.h"
#include "tests/scenario_help.h"
#include "tests/scratch.h"
#include "tests/test.h"
#include "tests/zip_builder.h"

enum { FILES = 12 };

static const volatile sig_atomic_t go_on;

static unsigned entries_in(const char *directory)
{
	DIR *folder = opendir(directory);
	unsigned count = 0;

	while (folder && readdir(folder))
		count++;
	if (folder)
		closedir(folder);
	return count < 2 ? 0 : count - 2;
}

static void make_zip(const char *path)
{
	const struct archive_recipe recipe = {
	    .files = FILES, .file_bytes = 20000, .seed = 1, .compressible = true};
	char why[ARCHIVE_WHY_SIZE] = "";

	CHECK_MESSAGE(archive_make(path, &recipe, &go_on, why) == 0, "%s", why);
}

/* Each mode has two cases: without the delay, and with it. */
static void check_mode(const json_t *cases, const char *mode, const char *name, double threads)
{
	unsigned count = 0;

	for (size_t i = 0; i < json_array_size(cases); i++) {
		const json_t *one = json_array_get(cases, i);
		const json_t *names = json_object_get(json_object_get(one, "measured"),
		                                      "threads_by_name");

		if (strcmp(cli_text(one, "plan.mode"), mode) != 0)
			continue;
		count++;
		CHECK_STRING(cli_text(one, "status"), "ok");
		CHECK_EQUAL(cli_number(one, "measured.calls"), FILES);
		CHECK_EQUAL(cli_number(one, "measured.failed"), 0);
		CHECK_EQUAL(cli_number(one, "measured.objects"), FILES);
		CHECK_EQUAL(cli_number(one, "measured.objects_wrong"), 0);
		CHECK_EQUAL(json_array_size(json_object_get(one, "calls")), FILES);
		CHECK_MESSAGE(json_integer_value(json_object_get(names, name)) == threads,
		              "%s: %lld threads %s", mode,
		              (long long)json_integer_value(json_object_get(names, name)), name);
	}
	CHECK_MESSAGE(count == 2, "%s: %u cases", mode, count);
}

TEST(scenario_upload, brings_every_file_there_by_as_many_threads_as_each_mode_has)
{
	char directory[256], path[300], row[200];
	json_t *cases;
	FILE *csv;

	process_make_directory(directory);
	snprintf(path, sizeof path, "%s/times.csv", directory);
	cases = SCENARIO_CASES(0, "upload", "--files", "12", "--file-size", "20000", "--delay",
	                       "200ms", "--time-scale", "0.01", "--directory", directory, "--csv",
	                       path);
	check_mode(cases, "sequential", "pool", 1);
	check_mode(cases, "thread-per-file", "caller", FILES);
	check_mode(cases, "ring", "iostudy-subject", 1);
	CHECK(cli_number(scenario_case_of(cases, "epoll-offload"), "measured.threads_max") > 1);
	CHECK_EQUAL(json_array_size(cases), 8);
	CHECK_CONTAINS(cli_text(scenario_case_of(cases, "ring"), "because"), "without a delay");
	json_decref(cases);
	csv = fopen(path, "re");
	REQUIRE(csv && fgets(row, sizeof row, csv));
	CHECK_STRING(row, "mode,files,delay_ns,total_ns,threads_max,failed,wrong\n");
	REQUIRE(fgets(row, sizeof row, csv) && fgets(row, sizeof row, csv));
	CHECK_MESSAGE(strncmp(row, "sequential,12,2000000,", 22) == 0, "%s", row);
	fclose(csv);
	CHECK_EQUAL(entries_in(directory),
	            1); /* the objects and the archive made for it are gone */
	process_remove_directory(directory);
}

TEST(scenario_upload, takes_a_number_of_the_files_of_an_archive_that_is_given)
{
	char directory[256], path[300];
	json_t *cases;

	process_make_directory(directory);
	snprintf(path, sizeof path, "%s/mine.zip", directory);
	make_zip(path);
	cases = SCENARIO_CASES(0, "upload", "--archive", path, "--files", "3,99", "--delay", "0",
	                       "--sync", "none", "--compare-only", "ring", "--directory",
	                       directory);
	REQUIRE(json_array_size(cases) == 2);
	CHECK_EQUAL(cli_number(json_array_get(cases, 0), "measured.objects"), 3);
	CHECK_EQUAL(cli_number(json_array_get(cases, 1), "measured.objects"), FILES);
	json_decref(cases);
	CHECK_EQUAL(entries_in(directory), 1); /* the archive is still there */
	process_remove_directory(directory);
}

TEST(scenario_upload, makes_an_archive_and_no_other_in_its_place)
{
	char directory[256], path[300], why[ARCHIVE_WHY_SIZE];
	struct process_result r;
	struct archive a;

	process_make_directory(directory);
	snprintf(path, sizeof path, "%s/new.zip", directory);
	for (int again = 0; again < 2; again++) {
		PROCESS_RUN(&r, "scenario", "upload", "--make-zip", "FILES=7", "--file-size", "2k",
		            "--archive", path);
		CHECK_STATUS(&r, again);
		CHECK_CONTAINS(r.err, again ? "it is there already" : "7 files of 2k");
		process_free(&r);
	}
	REQUIRE(archive_open(&a, path, 1 << 20, why) == 0);
	CHECK_EQUAL(a.count, 7);
	CHECK_EQUAL(a.bytes, 7 * 2048);
	archive_close(&a);
	PROCESS_RUN(&r, "scenario", "upload", "--make-zip", "FILES=0");
	CHECK_STATUS(&r, 2);
	process_free(&r);
	PROCESS_RUN(&r, "scenario", "upload", "--make-zip", "many");
	CHECK_STATUS(&r, 2);
	CHECK_CONTAINS(r.err, "it takes FILES=N");
	process_free(&r);
	process_remove_directory(directory);
}

TEST(scenario_upload, refuses_a_hostile_archive_before_anything_is_written)
{
	char directory[256];
	struct zip_builder z = {0};
	struct process_result r;
	const char *path;

	process_make_directory(directory);
	zip_builder_add(&z, &(struct zip_entry){.name = "good", .data = "x"});
	zip_builder_add(&z, &(struct zip_entry){.name = "../bad", .data = "x"});
	zip_builder_end(&z, 0, 0);
	path = zip_builder_write(&z, directory);
	PROCESS_RUN(&r, "scenario", "upload", "--archive", path, "--directory", directory);
	CHECK_STATUS(&r, 1);
	CHECK_CONTAINS(r.err, "'../bad': its name climbs");
	CHECK_STRING(r.out, "");
	process_free(&r);
	CHECK_EQUAL(entries_in(directory), 1);
	process_remove_directory(directory);
}

TEST(scenario_upload, says_that_the_store_was_full_and_fails)
{
	char directory[256], path[300], why[200];
	struct scratch disk;
	struct process_result r;
	json_t *one;

	if (!scratch_memory(&disk, "size=128k", why))
		SKIP("%s", why);
	process_make_directory(directory);
	snprintf(path, sizeof path, "%s/mine.zip", directory);
	make_zip(path);
	PROCESS_RUN(&r, "scenario", "upload", "--archive", path, "--delay", "0", "--compare-only",
	            "sequential", "--directory", disk.directory, "--json");
	CHECK_STATUS(&r, 1);
	CHECK_CONTAINS(r.err, "objects are not what was uploaded: sequential: files/");
	one = json_loads(r.out, 0, NULL);
	CHECK(cli_number(one, "measured.failed") > 0);
	CHECK_EQUAL(cli_number(one, "measured.failed"), cli_number(one, "measured.objects_wrong"));
	CHECK_CONTAINS(cli_text(one, "because"), "objects are not what was uploaded");
	CHECK(json_object_get(json_object_get(json_object_get(one, "measured"), "failures"),
	                      "the store is full (507)"));
	json_decref(one);
	process_free(&r);
	process_remove_directory(directory);
	scratch_close(&disk);
}

TEST(scenario_upload, a_signal_leaves_neither_files_nor_processes)
{
	char directory[256];
	const struct process p = {
	    .argv = (const char *const[]){"scenario", "upload", "--files", "50", "--delay", "10s",
	                                  "--compare-only", "ring", "--directory", directory,
	                                  "--json", NULL},
	    .signal = SIGINT,
	    .signal_when = "\"delay_ns\":0}",
	    .signal_delay_ns = 200000000,
	};
	struct process_result r;

	process_make_directory(directory);
	process_run(&p, &r);
	CHECK_STATUS(&r, 128 + SIGINT);
	CHECK_CONTAINS(r.out, "interrupted");
	process_free(&r);
	CHECK_EQUAL(entries_in(directory), 0);
	process_remove_directory(directory);
}

/* The objects as a store keeps them, by hand: the same, longer, shorter, other bytes, none. */
TEST(scenario_upload, finds_every_object_that_is_not_its_file)
{
	static const char *const kept[] = {"same", "longer!", "short", "other", NULL};
	static const char *const sent[] = {"same", "longer", "shorter", "bytes", "none"};
	char directory[256], path[400], why[SCENARIO_WHY_SIZE] = "";
	struct zip_builder z = {0};
	struct upload upload = {.count = 5};

	process_make_directory(directory);
	snprintf(path, sizeof path, "%s/upload", directory);
	CHECK_EQUAL(mkdir(path, 0700), 0);
	for (int i = 0; i < 5; i++) {
		FILE *file;

		zip_builder_add(&z, &(struct zip_entry){.name = sent[i], .data = sent[i]});
		snprintf(path, sizeof path, "%s/upload/%s", directory, sent[i]);
		file = kept[i] ? fopen(path, "we") : NULL;
		CHECK(!kept[i] || (file && fputs(kept[i], file) >= 0));
		if (file)
			fclose(file);
	}
	zip_builder_end(&z, 0, 0);
	REQUIRE(archive_open(&upload.archive, zip_builder_write(&z, directory), 1 << 20, why) == 0);
	CHECK_EQUAL(upload_compare(&upload, directory, why), 4);
	CHECK_STRING(why, "longer is other bytes in the store");
	upload.count = 1;
	CHECK_EQUAL(upload_compare(&upload, directory, why), 0);
	archive_close(&upload.archive);
	process_remove_directory(directory);
}
