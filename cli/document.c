/* A document that is written: see document.h. */
#include "cli/document.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int document_open(struct document *d, const char *path)
{
	struct stat file;
	char *target;
	int length;

	*d = (struct document){.fd = STDOUT_FILENO};
	if (strcmp(path, "-") == 0)
		return 0;
	if (stat(path, &file) == 0 && !S_ISREG(file.st_mode)) {
		d->fd = open(path, O_WRONLY | O_CLOEXEC);
		return d->fd < 0 ? -errno : 0;
	}
	target = realpath(path, NULL); /* behind a link: the link stays */
	length = snprintf(d->path, sizeof d->path, "%s", target ? target : path);
	free(target);
	if (length >= (int)sizeof d->path ||
	    snprintf(d->temporary, sizeof d->temporary, "%.4170s.%d.tmp", d->path, (int)getpid()) <
	        length)
		return -ENAMETOOLONG;
	d->fd = open(d->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	return d->fd < 0 ? -errno : 0;
}

int document_add(struct document *d, const char *data, size_t length)
{
	while (length) {
		const ssize_t written = write(d->fd, data, length);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -errno;
		data += written;
		length -= (size_t)written;
	}
	return 0;
}

int document_close(struct document *d, int status)
{
	struct stat old;

	if (*d->temporary) {
		if (!status && stat(d->path, &old) == 0 && fchmod(d->fd, old.st_mode & 07777) != 0)
			status = -errno;
		if (!status && fsync(d->fd) != 0 && errno != EINVAL)
			status = -errno;
	}
	if (d->fd > STDERR_FILENO && close(d->fd) != 0 && !status)
		status = -errno;
	if (*d->temporary && !status && rename(d->temporary, d->path) != 0)
		status = -errno;
	if (*d->temporary && status)
		unlink(d->temporary);
	return status;
}
