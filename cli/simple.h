/*
 * What the small commands share: a handful of options, and output that is told when it fails.
 */
#ifndef IOSTUDY_CLI_SIMPLE_H
#define IOSTUDY_CLI_SIMPLE_H

#include <stdbool.h>

#include <jansson.h>

enum { SIMPLE_WORDS_MAX = 16 };

/* --json, --ascii, --directory DIR (where allowed), and words. */
struct simple_options {
	bool json, ascii;
	const char *directory; /* NULL: not given */
	const char *words[SIMPLE_WORDS_MAX];
	unsigned word_count;
};

/* What a command takes. */
struct simple_command {
	const char *summary;      /* for --help */
	const char *argument;     /* of the words, for --help; NULL: it takes none */
	const char *const *words; /* the valid ones; ends with NULL */
	bool directory;
};

/* Parses argv; ends the program on a mistake (status 2) and after --help (status 0). */
void simple_parse(struct simple_options *options, const struct simple_command *command, int argc,
                  char **argv);

/* Puts a text on stdout, or one JSON object on one line, which is released. An exit status: a
 * full disk is told on stderr. */
int simple_put(const char *text);
int simple_put_json(json_t *object);

#endif
