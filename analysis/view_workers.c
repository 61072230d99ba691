/* Reads io_uring's workers and the submitters' sleeps of a probe's entry: see view_workers.h. */
#include "analysis/view_workers.h"

#include <math.h>
#include <string.h>

#include "analysis/reader.h"

static const char *const punt_names[VIEW_PUNT_COUNT] = {
    "fsync-class", "forced", "short-write", "no-nowait", "hashed-write", "would-block", "other"};
static const char *const cause_names[VIEW_CAUSE_COUNT] = {
    "tags",    "writeback", "lock",   "fault", "buffered-read",
    "journal", "transfer",  "memory", "other", "unknown"};

const char *const view_punt_words[VIEW_PUNT_COUNT] = {
    "operations that always wait, such as fsync",
    "the program asks for it (IOSQE_ASYNC)",
    "a write was short and is gone on with",
    "the file knows no NOWAIT",
    "buffered writes to a file go one after the other",
    "the request could not go on without waiting",
    "another reason",
};

const char *const view_cause_words[VIEW_CAUSE_COUNT] = {
    "a free request of the device (its tags are exhausted)",
    "the writing back of dirty pages",
    "a lock of the kernel, such as the inode's",
    "a page of the program's memory",
    "data that was not in the page cache",
    "the file system's journal",
    "the transfer itself",
    "free memory",
    "other things",
    "what could not be told (the kernel hides its symbols)",
};

void workers_none(struct view_workers *workers, struct view_sleeps *sleeps)
{
	*workers = (struct view_workers){NAN, NAN, {0}, NAN, NAN, NAN, NAN, NAN, NAN};
	for (size_t i = 0; i < VIEW_PUNT_COUNT; i++)
		workers->punted_by[i] = NAN;
	*sleeps = (struct view_sleeps){.all_count = NAN, .all_ns = NAN};
	for (size_t i = 0; i < VIEW_CAUSE_COUNT; i++)
		sleeps->count[i] = sleeps->parked_ns[i] = NAN;
}

/* The place of a name among names, or the one of "other". */
static size_t place_of(const char *name, const char *const *names, size_t count, size_t other)
{
	for (size_t i = 0; name && i < count; i++)
		if (strcmp(name, names[i]) == 0)
			return i;
	return other;
}

static double counted(double number)
{
	return isnan(number) ? 0 : number;
}

static void workers_read(struct reader *r, const json_t *object, struct view_workers *w)
{
	const json_t *list = reader_array(r, object, "punted_by"), *entry;
	size_t i;

	w->submitted = reader_number(r, object, "submitted");
	w->punted = reader_number(r, object, "punted");
	w->parked_ns = reader_number(r, object, "workers_parked_ns");
	w->parks = reader_number(r, object, "workers_parks");
	w->most = reader_number(r, object, "workers_max");
	w->limit = reader_number(r, object, "workers_limit");
	w->unbounded = reader_number(r, object, "workers_unbounded");
	w->unbounded_limit = reader_number(r, object, "workers_unbounded_limit");
	for (i = 0; i < VIEW_PUNT_COUNT; i++)
		w->punted_by[i] = 0;
	json_array_foreach((json_t *)list, i, entry)
	{
		const char *reason = reader_string(r, entry, "reason");

		w->punted_by[place_of(reason, punt_names, VIEW_PUNT_COUNT, VIEW_PUNT_OTHER)] +=
		    counted(reader_number(r, entry, "count"));
	}
}

static void sleeps_read(struct reader *r, const json_t *list, struct view_sleeps *s)
{
	const json_t *entry;
	double most_ns = -1;
	size_t i;

	*s = (struct view_sleeps){.call = NULL};
	json_array_foreach((json_t *)list, i, entry)
	{
		const char *cause = reader_string(r, entry, "cause");
		const size_t c = place_of(cause, cause_names, VIEW_CAUSE_COUNT, VIEW_CAUSE_OTHER);
		const double count = counted(reader_number(r, entry, "count"));
		const double parked_ns = counted(reader_number(r, entry, "parked_ns"));

		s->count[c] += count;
		s->parked_ns[c] += parked_ns;
		s->all_count += count;
		s->all_ns += parked_ns;
		if (parked_ns > most_ns) {
			most_ns = parked_ns;
			s->call = reader_string(r, entry, "call");
			if (name_is(s->call, "sqpoll"))
				s->call = "the submissions of the SQPOLL thread";
		}
	}
}

void view_workers_read(struct reader *r, const json_t *probe, struct view_workers *workers,
                       struct view_sleeps *sleeps)
{
	const json_t *object = reader_object(r, probe, "io_uring");
	const json_t *list = reader_array(r, probe, "submitter_sleeps");

	workers_none(workers, sleeps);
	if (object)
		workers_read(r, object, workers);
	if (list)
		sleeps_read(r, list, sleeps);
}

static size_t main_of(const double *values, size_t from, size_t count)
{
	size_t most = from;

	for (size_t i = from; i < count; i++)
		if (values[i] > values[most])
			most = i;
	return most;
}

size_t workers_main_reason(const struct view_workers *workers)
{
	return main_of(workers->punted_by, 0, VIEW_PUNT_COUNT);
}

size_t sleeps_main_cause(const struct view_sleeps *sleeps, size_t from)
{
	return main_of(sleeps->parked_ns, from, VIEW_CAUSE_COUNT);
}
