/*
 * The text of a study: sections of settings, each with its list of values, as they stand in the
 * file. What they mean for a run is study.c's.
 */
#ifndef IOSTUDY_STUDY_FILE_H
#define IOSTUDY_STUDY_FILE_H

#include "bench/study.h"

enum {
	STUDY_SETTINGS_MAX = 64, /* of one section */
	STUDY_VALUES_MAX = 256,  /* of one setting */
	STUDY_SECTIONS_MAX = 256,
};

struct study_setting {
	char *key; /* as `run` calls it: an alias is replaced */
	unsigned line;
	char **values; /* as they were written, without the blanks around them */
	uint32_t count;
};

struct study_section {
	char *name;
	unsigned line;
	struct study_setting settings[STUDY_SETTINGS_MAX];
	uint32_t count;
};

struct study_text {
	char *path;                                         /* for messages */
	struct study_section *sections[STUDY_SECTIONS_MAX]; /* the first is [global] */
	uint32_t count;
};

/* Reads the file. Each value of a setting of a run has been checked by itself. 0, or -errno with
 * why. Free it with study_text_free, also after a failure. */
int study_text_read(struct study_text *text, const char *path, char why[STUDY_WHY_SIZE]);
void study_text_free(struct study_text *text);

/* The setting in a section, or in [global]; NULL: in neither. */
const struct study_setting *study_text_find(const struct study_text *text,
                                            const struct study_section *section, const char *key);

#endif
