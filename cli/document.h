/*
 * A document that is written: to a file, which it replaces in one step, so that a reader never
 * sees half of it; or to a device, a pipe, or the standard output ("-").
 */
#ifndef IOSTUDY_CLI_DOCUMENT_H
#define IOSTUDY_CLI_DOCUMENT_H

#include <stddef.h>

enum { DOCUMENT_PATH_SIZE = 4200 };

struct document {
	int fd;
	char path[DOCUMENT_PATH_SIZE], temporary[DOCUMENT_PATH_SIZE]; /* empty: written to as is */
};

/* 0 or -errno. */
int document_open(struct document *document, const char *path);
int document_add(struct document *document, const char *data, size_t length);

/* Puts it in its place when status is 0; else, and when that fails, leaves everything as it was.
 * Returns status, or -errno. */
int document_close(struct document *document, int status);

#endif
