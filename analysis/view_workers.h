/*
 * What a probe says of io_uring's workers and of sleeping submitters, as plain numbers.
 */
#ifndef IOSTUDY_VIEW_WORKERS_H
#define IOSTUDY_VIEW_WORKERS_H

#include <stddef.h>

#include <jansson.h>

struct reader;

enum view_punt {
	VIEW_PUNT_FSYNC,
	VIEW_PUNT_FORCED,
	VIEW_PUNT_SHORT,
	VIEW_PUNT_NO_NOWAIT,
	VIEW_PUNT_HASHED,
	VIEW_PUNT_WOULD_BLOCK,
	VIEW_PUNT_OTHER,
	VIEW_PUNT_COUNT
};

enum view_cause {
	VIEW_CAUSE_TAGS,
	VIEW_CAUSE_WRITEBACK,
	VIEW_CAUSE_LOCK,
	VIEW_CAUSE_FAULT,
	VIEW_CAUSE_BUFFERED_READ,
	VIEW_CAUSE_JOURNAL,
	VIEW_CAUSE_TRANSFER,
	VIEW_CAUSE_MEMORY,
	VIEW_CAUSE_OTHER,
	VIEW_CAUSE_UNKNOWN,
	VIEW_CAUSE_COUNT
};

/* All NaN where the probe did not measure them; the limits also where there is no ring. */
struct view_workers {
	double submitted, punted, punted_by[VIEW_PUNT_COUNT];
	double parked_ns, parks, most, limit, unbounded, unbounded_limit;
};

struct view_sleeps {
	double count[VIEW_CAUSE_COUNT], parked_ns[VIEW_CAUSE_COUNT]; /* over all calls */
	double all_count, all_ns;
	const char *call; /* in which most of the time was slept, or NULL */
};

extern const char *const view_punt_words[VIEW_PUNT_COUNT];   /* why, for a sentence */
extern const char *const view_cause_words[VIEW_CAUSE_COUNT]; /* for what, for a sentence */

/* The reason of most hand-overs; the cause of most sleep, [from, VIEW_CAUSE_COUNT) only. */
size_t workers_main_reason(const struct view_workers *workers);
size_t sleeps_main_cause(const struct view_sleeps *sleeps, size_t from);

/* Reads io_uring and submitter_sleeps of a probe's entry. A field of a wrong type fails the reader.
 */
void view_workers_read(struct reader *r, const json_t *probe, struct view_workers *workers,
                       struct view_sleeps *sleeps);

/* Nothing measured. */
void workers_none(struct view_workers *workers, struct view_sleeps *sleeps);

#endif
