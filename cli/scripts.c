/*
 * The files that come with the program, scripts and studies: where they are, and what each is for.
 */
#include "cli/scripts.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool has_ending(const char *name, const char *ending)
{
	const char *dot = strrchr(name, '.');
	return dot && dot != name && strcmp(dot, ending) == 0;
}

/* The first line of comment that says something. */
static void summary_read(const char *path, char *summary, size_t size)
{
	char line[512];
	summary[0] = 0;
	FILE *file = fopen(path, "re");
	if (!file)
		return;
	for (int lines = 0; !*summary && lines < 10 && fgets(line, sizeof line, file); lines++) {
		if (strncmp(line, "#!", 2) == 0)
			continue;
		const char *text = line + strspn(line, "/*;# \t");
		if (text == line || strncmp(text, "SPDX", 4) == 0)
			continue;
		snprintf(summary, size, "%.*s", (int)strcspn(text, "\n"), text);
		for (char *c = summary; *c; c++)
			if (iscntrl((unsigned char)*c))
				*c = ' ';
	}
	fclose(file);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct script *)a)->name, ((const struct script *)b)->name);
}

static bool directory_read(struct scripts *scripts, const char *directory, const char *ending)
{
	char path[PATH_MAX + 256];
	struct dirent *d;
	DIR *folder = opendir(directory);
	while (folder && (d = readdir(folder)) && scripts->count < SCRIPTS_MAX) {
		struct script *script = &scripts->list[scripts->count];
		if (!has_ending(d->d_name, ending) || strlen(d->d_name) >= sizeof script->name)
			continue;
		snprintf(script->name, sizeof script->name, "%.63s", d->d_name);
		snprintf(path, sizeof path, "%s/%s", directory, script->name);
		summary_read(path, script->summary, sizeof script->summary);
		scripts->count++;
	}
	if (folder)
		closedir(folder);
	qsort(scripts->list, scripts->count, sizeof *scripts->list, by_name);
	return scripts->count > 0;
}

/* Installed as bin/iostudy; built as build/iostudy or build/SANITIZER/iostudy. */
static void files_find(struct scripts *scripts, const char *const places[3], const char *ending)
{
	char self[PATH_MAX], place[PATH_MAX + 32], directory[PATH_MAX];

	memset(scripts, 0, sizeof *scripts);
	const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
	if (length <= 0) {
		snprintf(scripts->looked, sizeof scripts->looked, "/proc/self/exe");
		return;
	}
	self[length] = 0;
	*strrchr(self, '/') = 0;
	for (size_t i = 0; i < 3; i++) {
		snprintf(place, sizeof place, "%s/%s", self, places[i]);
		if (realpath(place, directory) && directory_read(scripts, directory, ending)) {
			snprintf(scripts->directory, sizeof scripts->directory, "%s", directory);
			return;
		}
	}
	snprintf(scripts->looked, sizeof scripts->looked, "%.2000s/%s and %.2000s/%s", self,
	         places[0], self, places[1]);
}

void scripts_find(struct scripts *scripts)
{
	static const char *const places[] = {"../share/iostudy", "../probes", "../../probes"};

	files_find(scripts, places, ".bt");
}

void studies_find(struct scripts *studies)
{
	static const char *const places[] = {"../share/iostudy/studies", "../bench/studies",
	                                     "../../bench/studies"};

	files_find(studies, places, ".study");
}
