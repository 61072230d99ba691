/*
 * From a watch's figures to conclusions and to its screen. Reads results only (iostudy/watch/1).
 */
#ifndef IOSTUDY_ANALYSIS_WATCH_H
#define IOSTUDY_ANALYSIS_WATCH_H

#include <jansson.h>
#include <stdbool.h>

#include "analysis/rules.h"
#include "analysis/text.h"

/* The figures of one watch that the rules read; means are over the window, in threads. */
struct watch_facts {
	const json_t *watch;
	double window_ns, cpus, lost;
	bool sampled;                   /* in /proc, and not counted */
	double threads;                 /* alive now */
	double parked[VIEW_KIND_COUNT]; /* inside the call that transfers */
	double waiting;                 /* parked, waiting for one of several */
	double idle, unseen;
	double on_files;                 /* the application's and pools', parked at a file */
	double disk_mean, disk_requests; /* NaN: not measured */
	double submitted, punted;        /* NaN: not measured */
};

void watch_facts_gather(struct watch_facts *f, const json_t *watch);

/* The object of a kind in the first probe; NULL: no thread was of it. */
const json_t *watch_kind(const struct watch_facts *f, const char *kind);
/* A number of an object; NaN where there is none. */
double watch_number(const json_t *object, const char *name);
const char *watch_string(const json_t *object, const char *name);

/* Sets "findings", "checked" and "not_visible". 0 or -ENOMEM. */
int watch_conclude(json_t *watch);

/* The tags in the order in which they are looked for; NULL after the last. */
const char *watch_tag(size_t i);

/* True if a problem of at least that severity ("warn", "crit") was found. */
bool watch_trips(const json_t *watch, const char *severity);

/* The summary, at most 80 columns. Free it with free(). NULL: no memory. */
char *watch_text(const json_t *watch, const struct text_style *style);

/* The same as OpenMetrics text. */
char *watch_metrics(const json_t *watch);

/* Parts of the summary. */
void watch_text_pools(struct text *out, const json_t *watch);
void watch_text_ready(struct text *out, const json_t *watch);
void watch_text_workers(struct text *out, const json_t *watch);
void watch_text_sleeps(struct text *out, const struct watch_facts *f);

/* What ends a submitter's sleeps of that cause; NULL: none is known. */
const char *watch_knob(const char *cause);

/* Rules: who is parked, and what stands in the way. */
void watch_no_thread(const struct watch_facts *f, struct finding *out);
void watch_one_waiter(const struct watch_facts *f, struct finding *out);
void watch_thread_per_io(const struct watch_facts *f, struct finding *out);
void watch_not_parked(const struct watch_facts *f, struct finding *out);
void watch_iowait(const struct watch_facts *f, struct finding *out);
void watch_idle_waiter(const struct watch_facts *f, struct finding *out);
void watch_hidden_workers(const struct watch_facts *f, struct finding *out);
void watch_sync_over_async(const struct watch_facts *f, struct finding *out);
void watch_pool_exhausted(const struct watch_facts *f, struct finding *out);
void watch_serial_per_file(const struct watch_facts *f, struct finding *out);
void watch_punted_parked(const struct watch_facts *f, struct finding *out);
void watch_no_nowait(const struct watch_facts *f, struct finding *out);
void watch_tag_wait(const struct watch_facts *f, struct finding *out);
void watch_submit_blocked(const struct watch_facts *f, struct finding *out);
void watch_over_limit(const struct watch_facts *f, struct finding *out);
void watch_pollers(const struct watch_facts *f, struct finding *out);
void watch_spinning(const struct watch_facts *f, struct finding *out);

#endif
