/* The places of a study's runs: see study_places.h. */
#include "cli/study_places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/file.h"

/* The most that a cell on this file system asks for. */
static uint64_t bytes_needed(const struct study *study, const char *name)
{
	uint64_t most = FILE_SIZE_DEFAULT / 4;

	for (uint32_t i = 0; i < study->cell_count; i++) {
		const struct study_cell *cell = &study->cells[i];
		const uint64_t bytes = cell->plan.size_bytes ? cell->plan.size_bytes
		                                             : FILE_SIZE_DEFAULT;

		if (strcmp(cell->filesystem, name) == 0 && bytes > most)
			most = bytes;
	}
	return most;
}

/* A file system is made once; one that cannot be had is not tried again. */
static struct study_filesystem *filesystem_get(struct study_places *places, const char *name,
                                               const char *directory)
{
	char point[PLAN_PATH_SIZE + 64];
	struct study_filesystem *fs;

	for (uint32_t i = 0; i < places->filesystem_count; i++) {
		fs = places->filesystems[i];
		if (strcmp(fs->name, name) == 0 && strcmp(fs->directory, directory) == 0)
			return fs;
	}
	fs = places->filesystem_count < STUDY_PLACES_MAX ? calloc(1, sizeof *fs) : NULL;
	if (!fs)
		return NULL;
	places->filesystems[places->filesystem_count++] = fs;
	snprintf(fs->name, sizeof fs->name, "%s", name);
	snprintf(fs->directory, sizeof fs->directory, "%s", directory);
	snprintf(point, sizeof point, "%s/mnt", places->output);
	mkdir(point, 0755);
	snprintf(point, sizeof point, "%s/mnt/%s-%u", places->output, name,
	         places->filesystem_count);
	filesystem_make(&fs->made, name, directory, point, bytes_needed(places->study, name),
	                fs->why);
	return fs;
}

static struct place *place_get(struct study_places *places, const char *directory,
                               const struct plan *plan)
{
	const char *path = plan->file_named ? plan->file : directory;
	struct study_place *p;

	for (uint32_t i = 0; i < places->place_count; i++) {
		p = places->places[i];
		if (strcmp(p->path, path) == 0 && p->files == plan->files)
			return &p->place;
	}
	p = places->place_count < STUDY_PLACES_MAX ? calloc(1, sizeof *p) : NULL;
	if (!p)
		return NULL;
	places->places[places->place_count++] = p;
	snprintf(p->path, sizeof p->path, "%s", path);
	p->files = plan->files;
	place_open(&p->place, plan->file_named ? places->directory : p->path,
	           plan->file_named ? p->path : NULL);
	p->place.keep = places->keep;
	p->place.quiet = places->quiet;
	return &p->place;
}

/* Runs over several files have files of their own, so that none is filled again and again. */
static bool file_name(struct plan *plan, const char *directory)
{
	char name[64] = FILE_NAME_DEFAULT;

	if (plan->file_named)
		return true;
	if (plan->files > 1)
		snprintf(name, sizeof name, "iostudy-%u.data", plan->files);
	return snprintf(plan->file, sizeof plan->file, "%s/%s", directory, name) <
	       (int)sizeof plan->file;
}

struct place *study_place_get(struct study_places *places, const struct study_run *run,
                              struct plan *plan, char why[PLAN_WHY_SIZE])
{
	const struct study_cell *cell = &places->study->cells[run->cell];
	const char *directory = *cell->directory ? cell->directory : places->directory;
	struct study_filesystem *fs;
	struct place *place;

	if (*cell->filesystem && !plan->file_named) {
		fs = filesystem_get(places, cell->filesystem, directory);
		if (fs && *fs->why) {
			snprintf(why, PLAN_WHY_SIZE, "%s", fs->why);
			return NULL;
		}
		directory = fs ? fs->made.path : directory;
	}
	place = file_name(plan, directory) ? place_get(places, directory, plan) : NULL;
	if (!place)
		snprintf(why, PLAN_WHY_SIZE,
		         "more than %d places, or a path beyond %d bytes: fewer directories, "
		         "file systems and numbers of files in one study",
		         STUDY_PLACES_MAX, PLAN_PATH_SIZE);
	return place;
}

void study_places_close(struct study_places *places)
{
	char path[PLAN_PATH_SIZE + 64];

	for (uint32_t i = 0; i < places->place_count; i++) {
		place_close(&places->places[i]->place);
		free(places->places[i]);
	}
	for (uint32_t i = 0; i < places->filesystem_count; i++) {
		filesystem_remove(&places->filesystems[i]->made);
		free(places->filesystems[i]);
	}
	if (places->filesystem_count) {
		snprintf(path, sizeof path, "%s/mnt", places->output);
		rmdir(path);
	}
	places->place_count = places->filesystem_count = 0;
}
