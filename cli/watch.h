/*
 * `iostudy watch`: what it was asked for, and its parts.
 */
#ifndef IOSTUDY_CLI_WATCH_H
#define IOSTUDY_CLI_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bench/observe.h"

struct watch_request {
	pid_t *pids;
	size_t pid_count;
	char **command; /* after --; NULL: none */
	const char *cgroup;
	const char *probe; /* auto, bpf or proc */
	bool children, children_said;
	int64_t duration_ns; /* 0: until the end, or a signal */
	int64_t interval_ns;
	bool batch, ascii, json;
	const char *json_file; /* NULL: standard output */
	bool folded;
	const char *folded_file; /* NULL: standard output, in place of the summary */
	const char *metrics;     /* where they are served; NULL: nowhere */
	const char *severity;    /* --fail-on; NULL: never */
};

/* Reads argv. Ends the program on a mistake (status 2) and after --help (status 0). */
void watch_request_parse(struct watch_request *request, int argc, char **argv);

/* A command that waits to be let go. */
struct watch_child {
	pid_t pid;
	int gate;   /* closing it with a byte written lets it go */
	int failed; /* reads the errno of an exec that failed; nothing when it succeeded */
};

/* Forks; the child waits. 0 or -errno. */
int watch_child_start(struct watch_child *child, char **command);
/* Lets it go. 0, or the errno with which its exec failed, as -errno. */
int watch_child_release(struct watch_child *child);
/* Its exit status once it has ended, 128 + n for a signal; -1 while it runs. */
int watch_child_status(struct watch_child *child);

/* The lines on standard error while a watch goes on. */
struct watch_lines {
	uint64_t begin_ns, line_ns;
	int64_t interval_ns;
	uint64_t findings_ns;                /* not before then are findings looked for again */
	struct probe_reading *before, *part; /* at the line before; and since */
	json_t *said;                        /* tags */
};

/* 0 or -ENOMEM; watch_lines_end in any case. */
int watch_lines_begin(struct watch_lines *lines, const struct observation *o, int64_t interval_ns);
/* After a look: a line when an interval has passed, and the findings that are new. */
void watch_lines_add(struct watch_lines *lines, struct observation *o);
void watch_lines_end(struct watch_lines *lines);

/* The full-screen view. */
struct watch_live;

bool watch_live_may(const struct watch_request *request); /* both ends are a terminal, and so on */
/* Takes the terminal over; NULL: it cannot. */
struct watch_live *watch_live_open(bool ascii);
/* After a look: new figures, and the screen. */
void watch_live_look(struct watch_live *live, struct observation *o);
/* Standard input can be read, or the size has changed. False: the watch is to end. */
bool watch_live_keys(struct watch_live *live);
void watch_live_close(struct watch_live *live); /* gives the terminal back; NULL: nothing */

/* The figures over HTTP (OpenMetrics), while the watch goes on. */
struct watch_metrics;

/* where: ADDRESS:PORT, or a port of this machine alone. Says on standard error where it listens.
 * 0, or -errno with why. */
int watch_metrics_open(struct watch_metrics **metrics, struct observation *o, const char *where,
                       char why[OBSERVE_WHY_SIZE]);
/* Can be read when somebody asks; then: */
int watch_metrics_fd(const struct watch_metrics *metrics);
void watch_metrics_serve(struct watch_metrics *metrics);
void watch_metrics_close(struct watch_metrics *metrics); /* NULL: nothing */

/* Adds the processes of a control group, and of those below it; by its path, from the root of the
 * file system or of a hierarchy, or by its name where only one has it. How many, or -errno with
 * why. */
int watch_cgroup_add(struct observation *o, const char *cgroup, char why[OBSERVE_WHY_SIZE]);

/* Whether this user may watch that process: under file capabilities only one's own. Samples show
 * nobody more than /proc shows him anyway. */
bool watch_may(const struct observation *o, pid_t pid, char why[OBSERVE_WHY_SIZE]);

/* The request as it stands in the result. */
json_t *watch_plan_json(const struct watch_request *request);

#endif
