/* `iostudy serve` beside a test. */
#ifndef IOSTUDY_TESTS_SERVED_H
#define IOSTUDY_TESTS_SERVED_H

#include <stdbool.h>
#include <sys/types.h>

enum { SERVED_OPTIONS_MAX = 16 };

struct served {
	pid_t pid;
	char address[128]; /* HOST:PORT, as it printed it */
};

/* Starts `iostudy serve SERVICE`, at listen (HOST:PORT) or, with NULL, where it likes, and waits
 * until it listens. It ends with this process. False: it did not come to that. */
bool served_begin(struct served *served, const char *service, const char *listen);

/* Where it likes, with options of its own; the last of them NULL. */
bool served_begin_with(struct served *served, const char *service, const char *const *options);

/* The same, with no more than so many descriptors. */
bool served_begin_limited(struct served *served, const char *service, unsigned descriptors);

/* In the network namespace of a process, on a CPU. */
bool served_begin_inside(struct served *served, const char *service, const char *listen,
                         pid_t namespace_of, int cpu);

/* Sends it a signal and waits for its end: its status, 128 + n of what killed it. */
int served_end(struct served *served, int signal);

#endif
