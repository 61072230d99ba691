/*
 * Runs made by hand, for the tests of analysis: complete objects of schema iostudy/run/1, each of
 * a known kind, and a way to change one field of them.
 */
#ifndef IOSTUDY_TEST_ANALYSIS_RUNS_H
#define IOSTUDY_TEST_ANALYSIS_RUNS_H

#include <stdbool.h>

#include <jansson.h>

#include "analysis/digest.h"

/* A run of 2 s at depth 32 with a BPF probe, one application thread alive, nothing parked, and
 * every request in flight and served all the time. */
json_t *run_bare(const char *engine, const char *workload, const char *wait);

json_t *run_no_thread(void);     /* uring, disk, --wait compute */
json_t *run_one_waiter(void);    /* uring, disk, --wait park */
json_t *run_thread_per_io(void); /* blocking, disk, 32 threads */
json_t *run_pool(void);          /* pool, disk, 32 workers and a waiter */
json_t *run_posix_aio(void);     /* posix-aio, disk, depth 16 on one file */
json_t *run_spinning(void);      /* uring, disk, --wait spin */
json_t *run_page_cache(void);    /* blocking, disk, buffered and hot */
json_t *run_socket(void);        /* epoll, socket-delay of 20 ms, depth 64 */
json_t *run_nothing_ends(void);  /* epoll, 64 requests of 10 s, window 2 s */
json_t *run_punted(void);        /* uring-async, disk: all forced, no worker parked */
json_t *run_blocked(void);       /* libaio, buffered: each read slept for in io_submit */
json_t *run_failed(void);        /* uring, wrong data */
json_t *run_skipped(void);       /* epoll on a file */

/* Sets the field at a path such as "probes.0.kinds.1.called_ns"; makes objects on the way. */
void run_set(json_t *run, const char *path, json_t *value);
void run_number(json_t *run, const char *path, double value);
void run_delete(json_t *run, const char *path);
const json_t *run_get(const json_t *run, const char *path);
double run_get_number(const json_t *run, const char *path); /* NaN unless it is a number */

/* Sets the states of one kind of thread, as means over the window. */
void run_threads(json_t *run, const char *kind, double threads, double parked_direct,
                 double parked_waiter, double in_call);

/* Takes the runs, concluded already, into *digest (zero), which holds what a page needs too. */
void runs_digest(struct digest *digest, json_t *const *runs, size_t count);

/* summary_add and findings_add; false with a failed check when one of them fails. */
bool run_conclude(json_t *run);
/* The finding of that tag, or NULL. */
const json_t *run_finding(const json_t *run, const char *tag);

#endif
