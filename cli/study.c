/* `iostudy study`: carries out a matrix of runs, keeps each at once, and goes on where it ended. */
#include "cli/study.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "analysis/store.h"
#include "bench/limits.h"
#include "bench/witness.h"
#include "cli/cli.h"
#include "cli/nearest.h"
#include "cli/scripts.h"
#include "cli/signals.h"

enum { LOCK_TRIES = 30, LOCK_PAUSE_US = 100000 };

struct work {
	struct study_options options;
	struct study study;
	struct study_places places;
	struct study_progress progress;
	bool *done;   /* by run: kept already, or of another part */
	int lock_fd;  /* of DIR */
	bool stopped; /* by a signal, or since a run could not be kept */
	uint32_t outcomes[OUTCOME_INTERRUPTED + 1];
	bool store_failed;
};

/* The path of a study by its name; the path itself when it is one. Ends the program with status 2
 * when there is neither. */
static const char *study_locate(const char *file, char path[SCRIPT_PATH_SIZE + 80])
{
	const char *names[SCRIPTS_MAX];
	struct scripts studies;

	if (strchr(file, '/') || access(file, F_OK) == 0)
		return file;
	studies_find(&studies);
	for (unsigned i = 0; i < studies.count; i++) {
		char *name = studies.list[i].name;

		snprintf(path, SCRIPT_PATH_SIZE + 80, "%s/%s", studies.directory, name);
		if (strcmp(file, name) == 0)
			return path;
		*strrchr(name, '.') = 0;
		if (strcmp(file, name) == 0)
			return path;
		names[i] = name;
	}
	fprintf(stderr, "iostudy study: no file and no study '%.60s'", file);
	nearest_print(stderr, file, names, studies.count);
	fputs(" (iostudy list studies)\n", stderr);
	exit(EXIT_BAD_USAGE);
}

/* Only one study at a time writes into DIR. The lock ends with the process: and, where that was
 * killed, with its children a moment later. */
static int lock(struct work *w, char why[STUDY_WHY_SIZE])
{
	w->lock_fd = open(w->options.output, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; w->lock_fd >= 0 && i < LOCK_TRIES; i++) {
		if (flock(w->lock_fd, LOCK_EX | LOCK_NB) == 0)
			return 0;
		if (errno != EWOULDBLOCK)
			break;
		usleep(LOCK_PAUSE_US);
	}
	if (errno == EWOULDBLOCK)
		snprintf(why, STUDY_WHY_SIZE,
		         "%.300s: another study writes there just now; wait for it, or name "
		         "another -o DIR",
		         w->options.output);
	else
		snprintf(why, STUDY_WHY_SIZE, "%.300s: %s", w->options.output, strerror(errno));
	return -EBUSY;
}

/* Counts what is left to do. */
static void count_work(struct work *w)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < w->study.run_count; i++) {
		const struct study_run *run = &w->study.runs[i];

		if (!study_is_in_shard(run, w->options.shard_number, w->options.shards)) {
			w->done[i] = true;
			continue;
		}
		w->progress.total++;
		kept += w->done[i];
		if (!w->done[i])
			w->progress.left_ns += study_run_ns(&w->study, run);
	}
	w->progress.done = kept;
	if (kept)
		fprintf(stderr, "%u of %u runs are there already\n", kept, w->progress.total);
}

static void skip(struct run_result *result, const struct plan *plan, const char *why)
{
	memset(result, 0, sizeof *result);
	result->plan = *plan;
	result->status = OUTCOME_SKIPPED;
	snprintf(result->why, sizeof result->why, "%s", why);
}

/* Without a place of its own a skipped run still tells of the machine. */
static struct place *place_of_skipped(struct work *w)
{
	static struct place here;

	if (!here.directory)
		place_open(&here, w->places.directory, NULL);
	return &here;
}

static json_t *execute(struct work *w, const struct study_run *run, enum run_outcome *status)
{
	const struct study_cell *cell = &w->study.cells[run->cell];
	char why[PLAN_WHY_SIZE] = "";
	struct run_result result;
	struct plan plan;
	const char *probe = study_run_plan(&w->study, run, &plan);
	struct place *place = NULL;

	if (*cell->impossible)
		snprintf(why, sizeof why, "%s", cell->impossible);
	else
		place = study_place_get(&w->places, run, &plan, why);
	if (place)
		place_execute(place, &plan, probe, &result);
	else
		skip(&result, &plan, why);
	*status = result.status;
	json_t *object = place_conclude(place ? place : place_of_skipped(w), &result);
	run_result_free(&result);
	if (object &&
	    study_label(&w->study, run, w->options.shard, json_object_get(object, "plan")) != 0) {
		json_decref(object);
		object = NULL;
	}
	return object;
}

/* A run that a signal cut short is not kept: it is run again when the study goes on. */
static void run_one(struct work *w, uint32_t index)
{
	const struct study_run *run = &w->study.runs[index];
	const uint64_t from_ns = witness_now_ns();
	enum run_outcome status;
	char why[STORE_WHY_SIZE];
	json_t *object;

	study_progress_show(&w->progress, w->study.cells[run->cell].name);
	object = execute(w, run, &status);
	w->stopped = *signals_came() || !object;
	if (status != OUTCOME_INTERRUPTED && object) {
		const int err = store_append(w->options.output, object, why);

		w->store_failed |= err != 0;
		w->stopped |= err != 0;
		if (err) {
			study_progress_clear();
			fprintf(stderr, "iostudy study: %s\n", why);
		} else {
			w->outcomes[status]++;
			study_progress_count(&w->progress, study_run_ns(&w->study, run),
			                     witness_now_ns() - from_ns);
		}
	}
	json_decref(object);
}

static int conclude(const struct work *w)
{
	const uint32_t failed = w->outcomes[OUTCOME_FAILED], ok = w->outcomes[OUTCOME_OK];
	const char *directory = w->options.output;

	study_progress_clear();
	printf("%s: %u of %u runs are in %s/runs.jsonl; now %u done, %u skipped, %u failed\n",
	       w->study.name, w->progress.done, w->progress.total, directory, ok,
	       w->outcomes[OUTCOME_SKIPPED], failed);
	if (w->progress.done < w->progress.total)
		printf("the same command goes on with the others\n");
	else
		printf("read them: iostudy report %s -o report.md\n", directory);
	if (fflush(stdout) != 0 && !*signals_came())
		return EXIT_RUN_FAILED;
	if (*signals_came())
		return 128 + *signals_came();
	if (failed || w->store_failed || w->stopped)
		return EXIT_RUN_FAILED;
	return ok || !w->progress.measured ? EXIT_DONE : EXIT_NOTHING;
}

static int prepare(struct work *w, char why[STUDY_WHY_SIZE])
{
	int err;

	w->done = calloc(w->study.run_count, sizeof *w->done);
	if (!w->done) {
		snprintf(why, STUDY_WHY_SIZE, "no memory");
		return -ENOMEM;
	}
	err = store_prepare(w->options.output, why);
	if (!err)
		err = lock(w, why);
	if (!err)
		err = study_resume(&w->study, w->options.output, w->done, why);
	return err;
}

int command_study(int argc, char **argv)
{
	struct work w = {.lock_fd = -1};
	char path[SCRIPT_PATH_SIZE + 80], why[STUDY_WHY_SIZE];
	int err, status;

	study_options_parse(&w.options, argc, argv);
	err = study_read(&w.study, study_locate(w.options.file, path), why);
	if (err) {
		fprintf(stderr, "%s: %s\n", argv[0], why);
		study_free(&w.study);
		return EXIT_BAD_USAGE;
	}
	if (w.options.dry_run) {
		status = study_dry_run(&w.study, &w.options);
		study_free(&w.study);
		return status;
	}
	signals_catch();
	limits_raise();
	w.places = (struct study_places){.study = &w.study,
	                                 .directory = w.options.directory,
	                                 .output = w.options.output,
	                                 .keep = w.options.keep,
	                                 .quiet = true};
	err = prepare(&w, why);
	if (err) {
		fprintf(stderr, "%s: %s\n", argv[0], why);
		status = err == -EEXIST ? EXIT_BAD_USAGE : EXIT_RUN_FAILED;
	} else {
		count_work(&w);
		for (uint32_t i = 0; i < w.study.run_count && !w.stopped; i++)
			if (!w.done[i])
				run_one(&w, i);
		study_places_close(&w.places);
		status = conclude(&w);
	}
	free(w.done);
	study_free(&w.study);
	if (w.lock_fd >= 0)
		close(w.lock_fd);
	return status;
}
