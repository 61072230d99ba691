/*
 * upload: every file of a zip archive goes into an object store, which answers each after a delay:
 * one after the other, by a thread for each file, and by coroutines on one thread. The archive's
 * files are read from the disk, unpacked and sent in one chain (upload_send.c).
 */
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/scenario/measure.h"
#include "bench/scenario/upload.h"
#include "bench/units.h"

enum { FILES_PUBLISHED = 500 };

static const char *const content_names[] = {"random", "text", NULL};
static const char *const sync_names[] = {"object", "none", NULL};

static const struct scenario_parameter parameters[] = {
    {"archive", "FILE", "the zip archive; without one, it is made, and removed at the end", "",
     PARAMETER_TEXT, 0, 0, NULL},
    {"files", "N,...", "so many of its files; with several numbers, a case for each; 0: all", "0",
     PARAMETER_NUMBERS, 0, UPLOAD_FILES_MAX, NULL},
    {"delay", "TIME", "what the store waits before each answer", "250ms", PARAMETER_TIME, 0,
     60000000000, NULL},
    {"sync", "object|none", "whether the store fsyncs each object before its answer", "object",
     PARAMETER_WORDS, 0, 0, sync_names},
    {"make-zip", "FILES=N", "only make an archive of N files, as --archive or upload.zip", "",
     PARAMETER_TEXT, 0, 0, NULL},
    {"file-size", "SIZE", "of each file in an archive that is made", "100k", PARAMETER_SIZE, 0,
     1 << 30, NULL},
    {"content", "random|text", "of an archive that is made: what nothing packs, or text", "random",
     PARAMETER_WORDS, 0, 0, content_names},
    {"unpacked-limit", "SIZE", "bytes that an archive may unpack to", "4g", PARAMETER_SIZE, 1,
     1ull << 40, NULL},
    {"csv", "FILE", "write time against number of files there", "", PARAMETER_TEXT, 0, 0, NULL},
    {0},
};

/* A mode's own. */
struct way {
	const char *engine;
	uint32_t threads;
	bool sequential;
};

static const struct scenario_mode modes[] = {
    {"sequential", "one file after the other, on one thread",
     "{\"files\": 500, \"file_bytes\": 102400, \"total_ns\": null, \"said\": \"minutes\"}",
     &(const struct way){.threads = 1, .sequential = true}},
    {"thread-per-file", "a thread for every file",
     "{\"files\": 500, \"file_bytes\": 102400, \"total_ns\": 40000000000, \"said\": \"about 40 "
     "s\"}",
     &(const struct way){.threads = 0}},
    {"ring", "coroutines on one thread, disk and sockets over one io_uring ring",
     "{\"files\": 500, \"file_bytes\": 102400, \"total_ns\": 20000000000, \"said\": \"about 20 "
     "s\"}",
     &(const struct way){.engine = "uring"}},
    {"epoll-offload", "coroutines on one thread, sockets over epoll, the disk by a pool behind it",
     NULL, &(const struct way){.engine = "epoll-offload"}},
    {0},
};

/* The scenario's own, from prepare to finish. */
struct uploads {
	struct upload upload;
	char place[UPLOAD_PATH_SIZE];        /* a folder of our own; empty: none */
	char objects[UPLOAD_PATH_SIZE + 32]; /* of the present case, in it */
	uint64_t undelayed_ns;               /* of the same mode and files */
	const struct way *way;
	FILE *csv;
	uint32_t cases, wrong;
	char wrong_why[SCENARIO_WHY_SIZE];
};

static uint64_t files_most(const struct scenario_run *run)
{
	uint64_t numbers[SCENARIO_LIST_MAX], most = 0;
	const uint32_t n = scenario_numbers(run, "files", numbers);

	for (uint32_t i = 0; i < n; i++)
		most = numbers[i] > most ? numbers[i] : most;
	return most ? most : FILES_PUBLISHED;
}

static int make(struct scenario_run *run, const char *path, uint64_t files)
{
	const struct archive_recipe recipe = {
	    .files = (uint32_t)files,
	    .file_bytes = scenario_number(run, "file-size"),
	    .seed = run->seed,
	    .compressible = scenario_has_word(run, "content", "text"),
	};

	if (files < 1 || files > ARCHIVE_FILES_MAX) {
		snprintf(run->why, sizeof run->why, "--make-zip: FILES is 1 to %d",
		         ARCHIVE_FILES_MAX);
		return -EINVAL;
	}
	if (run->progress)
		run->progress(run->context, "making the archive");
	return archive_make(path, &recipe, run->signal, run->why);
}

/* --make-zip FILES=N. 1, or -errno. */
static int make_only(struct scenario_run *run, const char *value)
{
	const char *path = scenario_text(run, "archive");
	char size[32];
	uint64_t files = 0;
	int error;

	if (strncmp(value, "FILES=", 6) == 0)
		value += 6;
	if (units_parse_count(value, &files) != 0) {
		snprintf(run->why, sizeof run->why, "--make-zip '%.40s': it takes FILES=N", value);
		return -EINVAL;
	}
	if (!*path)
		path = "upload.zip";
	error = make(run, path, files);
	if (error)
		return error;
	snprintf(run->why, sizeof run->why, "made %.200s: %llu files of %s", path,
	         (unsigned long long)files,
	         units_format_size(scenario_number(run, "file-size"), size));
	return 1;
}

static int place_make(struct scenario_run *run, struct uploads *own)
{
	snprintf(own->place, sizeof own->place, "%.3000s/iostudy.upload.XXXXXX", run->directory);
	if (mkdtemp(own->place))
		return 0;
	snprintf(run->why, sizeof run->why, "cannot make a folder in %.200s: %s; see --directory",
	         run->directory, strerror(errno));
	own->place[0] = 0;
	return -EACCES;
}

static int csv_open(struct scenario_run *run, struct uploads *own)
{
	const char *path = scenario_text(run, "csv");

	if (!*path)
		return 0;
	own->csv = fopen(path, "we");
	if (own->csv &&
	    fputs("mode,files,delay_ns,total_ns,threads_max,failed,wrong\n", own->csv) >= 0)
		return 0;
	snprintf(run->why, sizeof run->why, "--csv %.200s: %s", path, strerror(errno));
	return -EIO;
}

static int archive_take(struct scenario_run *run, struct uploads *own)
{
	struct upload *upload = &own->upload;
	const char *given = scenario_text(run, "archive");
	int error = 0;

	if (*given) {
		snprintf(upload->path, sizeof upload->path, "%.4000s", given);
	} else {
		snprintf(upload->path, sizeof upload->path, "%.4000s/files.zip", own->place);
		error = make(run, upload->path, files_most(run));
	}
	if (!error)
		error = archive_open(&upload->archive, upload->path,
		                     scenario_number(run, "unpacked-limit"), run->why);
	if (!error)
		error = archive_test(&upload->archive, run->signal, run->why);
	return error;
}

static int upload_prepare(struct scenario_run *run)
{
	const char *only_make = scenario_text(run, "make-zip");
	struct uploads *own;
	int error;

	if (*only_make)
		return make_only(run, only_make);
	own = run->own = calloc(1, sizeof *own);
	if (!own) {
		snprintf(run->why, sizeof run->why, "no memory for the scenario");
		return -ENOMEM;
	}
	own->upload.archive.fd = -1;
	error = csv_open(run, own);
	if (!error)
		error = place_make(run, own);
	return error ? error : archive_take(run, own);
}

static int remove_one(const char *path, const struct stat *file, int kind, struct FTW *where)
{
	(void)file;
	(void)kind;
	(void)where;
	return remove(path);
}

static void upload_finish(struct scenario_run *run)
{
	struct uploads *own = run->own;

	if (!own)
		return;
	if (own->upload.archive.fd >= 0)
		archive_close(&own->upload.archive);
	if (own->csv)
		fclose(own->csv);
	if (own->place[0])
		nftw(own->place, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(own);
}

static uint64_t total_ns(const json_t *measured)
{
	return (uint64_t)json_integer_value(json_object_get(measured, "total_ns"));
}

static void set_number(json_t *object, const char *name, uint64_t value)
{
	json_object_set_new(object, name, json_integer((json_int_t)value));
}

/* What the time must be: the delays in turn, or one delay and the work. */
static void explain(const struct uploads *own, json_t *measured, char because[SCENARIO_WHY_SIZE])
{
	const struct upload *u = &own->upload;
	const uint64_t total = total_ns(measured), least = u->count * u->delay_ns;
	const uint64_t most = u->delay_ns + 3 * own->undelayed_ns;
	const bool agrees = own->way->sequential ? total >= least : total <= most;

	set_number(measured, "undelayed_ns", own->undelayed_ns);
	set_number(measured, own->way->sequential ? "expected_least_ns" : "expected_most_ns",
	           own->way->sequential ? least : most);
	json_object_set_new(measured, "as_expected", json_boolean(agrees));
	if (own->way->sequential)
		snprintf(because, SCENARIO_WHY_SIZE,
		         "one upload is in flight at a time, so that the delays add up: %u times "
		         "%.3f s are %.2f s, and without them it takes %.2f s",
		         u->count, (double)u->delay_ns / 1e9, (double)least / 1e9,
		         (double)own->undelayed_ns / 1e9);
	else
		snprintf(because, SCENARIO_WHY_SIZE,
		         "all uploads are in flight at once, so that their delays pass together: "
		         "%.2f s, where one delay and three times the undelayed %.2f s would be "
		         "%.2f s: %s",
		         (double)total / 1e9, (double)own->undelayed_ns / 1e9, (double)most / 1e9,
		         agrees ? "as expected" : "more than expected");
}

static void upload_conclude(const struct board_side *side, const struct measure_work *work,
                            json_t *measured, json_t *series, char because[SCENARIO_WHY_SIZE])
{
	struct uploads *own = side->run->own;
	char why[SCENARIO_WHY_SIZE] = "";
	const uint32_t wrong = upload_compare(&own->upload, own->objects, why);

	(void)series;
	set_number(measured, "objects", own->upload.count - wrong);
	set_number(measured, "objects_wrong", wrong);
	if (!own->upload.delay_ns) {
		own->undelayed_ns = total_ns(measured);
		snprintf(
		    because, SCENARIO_WHY_SIZE,
		    "without a delay: the work of the disk, the unpacking and the store alone");
	} else {
		explain(own, measured, because);
	}
	if (own->csv)
		fprintf(own->csv, "%s,%u,%llu,%llu,%lld,%llu,%u\n", work->mode->name,
		        own->upload.count, (unsigned long long)own->upload.delay_ns,
		        (unsigned long long)total_ns(measured),
		        (long long)json_integer_value(json_object_get(measured, "threads_max")),
		        (unsigned long long)side->board->failed, wrong);
	if (!wrong)
		return;
	if (!own->wrong)
		snprintf(own->wrong_why, sizeof own->wrong_why, "%s: %.300s", work->mode->name,
		         why);
	own->wrong += wrong;
	snprintf(because, SCENARIO_WHY_SIZE, "%u objects are not what was uploaded: %.300s", wrong,
	         why);
}

static int run_case(struct scenario_run *run, const struct scenario_mode *mode, uint64_t delay_ns)
{
	struct uploads *own = run->own;
	struct object_store_config config;
	struct upload_store store;
	char text[100];
	int error;

	own->upload.delay_ns = delay_ns;
	snprintf(own->objects, sizeof own->objects, "%.4000s/objects.%u", own->place, ++own->cases);
	object_store_defaults(&config);
	config.directory = own->objects;
	config.connections = own->upload.count + 16;
	config.delay_ns = delay_ns;
	config.timeout_ns = 300000000000;
	config.body_limit_bytes = UINT32_MAX;
	config.sync = scenario_has_word(run, "sync", "object");
	error = upload_store_start(&store, &config, run->why);
	if (error)
		return error;
	own->upload.store = store.address;
	archive_cache_drop(&own->upload.archive);
	struct measure_work work = {
	    .mode = mode,
	    .own = &own->upload,
	    .shared_bytes = sizeof(int),
	    .body = upload_body,
	    .setting = json_pack("{s:i, s:I}", "files", (int)own->upload.count, "delay_ns",
	                         (json_int_t)delay_ns),
	    .conclude = upload_conclude,
	};
	snprintf(text, sizeof text, "%s, %u files%s", mode->name, own->upload.count,
	         delay_ns ? "" : ", without delay");
	if (run->progress)
		run->progress(run->context, text);
	error = measure_case(run, &work);
	upload_store_stop(&store);
	nftw(own->objects, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return error;
}

/* First without the delay: that tells what the work itself takes. */
static int run_count(struct scenario_run *run, const struct scenario_mode *mode, uint64_t count)
{
	struct uploads *own = run->own;
	const uint64_t delay_ns = scenario_time_ns(run, "delay");
	int error;

	if (!count || count > own->upload.archive.count)
		count = own->upload.archive.count;
	if (count > UPLOAD_FILES_MAX) {
		snprintf(run->why, sizeof run->why,
		         "the archive has %llu files, and at most %d are uploaded at once: see "
		         "--files",
		         (unsigned long long)count, UPLOAD_FILES_MAX);
		return -E2BIG;
	}
	own->upload.count = (uint32_t)count;
	own->undelayed_ns = 0;
	error = run_case(run, mode, 0);
	if (!error && delay_ns)
		error = run_case(run, mode, delay_ns);
	return error;
}

static int upload_run(struct scenario_run *run, const struct scenario_mode *mode)
{
	struct uploads *own = run->own;
	uint64_t counts[SCENARIO_LIST_MAX];
	const uint32_t n = scenario_numbers(run, "files", counts);
	int error = 0;

	own->way = mode->own;
	own->upload.engine = own->way->engine;
	own->upload.threads = own->way->threads;
	for (uint32_t i = 0; i < n && !error; i++)
		error = run_count(run, mode, counts[i]);
	if (!error && own->csv && (fflush(own->csv) != 0 || ferror(own->csv))) {
		snprintf(run->why, sizeof run->why, "--csv: cannot be written: %s",
		         strerror(errno));
		error = -EIO;
	}
	if (!error && own->wrong) {
		snprintf(run->why, sizeof run->why, "%u objects are not what was uploaded: %.300s",
		         own->wrong, own->wrong_why);
		error = -EBADMSG;
	}
	return error;
}

const struct scenario scenario_upload = {
    .name = "upload",
    .summary = "unpack an archive and put every file into an object store",
    .parameters = parameters,
    .modes = modes,
    .prepare = upload_prepare,
    .run = upload_run,
    .finish = upload_finish,
};
