/* fio's words: see fio_words.h. */
#include "bench/fio_words.h"

#include <stddef.h>
#include <string.h>

const char *fio_words_engine(const char *name)
{
	static const char *const names[][2] = {
	    {"io_uring", "uring"},     {"psync", "blocking"},  {"sync", "blocking"},
	    {"vsync", "blocking"},     {"pvsync", "blocking"}, {"pvsync2", "blocking"},
	    {"posixaio", "posix-aio"},
	};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(name, names[i][0]) == 0)
			return names[i][1];
	return name;
}

const char *fio_words_workload(const char *rw, const char **why)
{
	static const struct {
		const char *rw, *workload, *why;
	} words[] = {
	    {"read", "disk-seqread", NULL},
	    {"write", "disk-seqwrite", NULL},
	    {"randread", "disk-randread", NULL},
	    {"randwrite", "disk-randwrite", NULL},
	    {"randrw", "disk-randrw", NULL},
	    {"rw", NULL, "no workload mixes reads and writes in order; the nearest is randrw"},
	    {"readwrite", NULL,
	     "no workload mixes reads and writes in order; the nearest is randrw"},
	    {"trim", NULL, "no workload trims; the nearest is write"},
	    {"randtrim", NULL, "no workload trims; the nearest is randwrite"},
	    {"trimwrite", NULL, "no workload trims; the nearest is write"},
	};

	*why = "it takes read, write, randread, randwrite and randrw";
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(rw, words[i].rw) == 0) {
			*why = words[i].why;
			return words[i].workload;
		}
	return NULL;
}
