/*
 * What lies where in the memory of a process that is not ours: the files of its code, and their
 * functions, for addresses of its stacks.
 */
#ifndef IOSTUDY_MAPS_H
#define IOSTUDY_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bench/symbols.h"

enum { MAPS_PATH_SIZE = 4096 };

/* A stretch of code. */
struct map {
	uint64_t begin, end, offset; /* offset: in the file */
	char *path;
	struct map_file *file; /* read when it is asked for */
};

struct maps {
	uint32_t process; /* as the kernel numbers it */
	pid_t pid;
	struct map *all;
	size_t count;
};

/* Reads /proc/PID/maps anew; what was known stays where the process is gone. */
void maps_read(struct maps *m, pid_t pid);
void maps_free(struct maps *m);

/* The function at an address, or FILE+0xOFFSET. False: there is no code there. */
bool maps_say(struct maps *m, uint64_t address, char *out, size_t size);

#endif
