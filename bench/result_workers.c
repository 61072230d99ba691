/* What a reading says of io_uring's workers and of submitters that slept, as JSON: see result.h. */
#include <string.h>
#include <sys/stat.h>

#include "bench/json_text.h"
#include "bench/result.h"

static json_t *number(uint64_t value)
{
	return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

static json_t *punted_by(const struct workers_reading *w, uint64_t *sum)
{
	json_t *list = json_array();

	for (uint32_t op = 0; op < WORKERS_OPERATIONS; op++)
		for (uint32_t reason = 0; reason < PUNT_REASONS; reason++) {
			const uint64_t count = w->punted[op][reason];

			*sum += count;
			if (count)
				json_array_append_new(list,
				                      json_pack("{s:s, s:s, s:o}", "operation",
				                                workers_operation_name(op),
				                                "reason", punt_reason_names[reason],
				                                "count", number(count)));
		}
	return list;
}

static const char *file_type(uint32_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return "file";
	case S_IFBLK:
		return "device";
	case S_IFSOCK:
		return "socket";
	case S_IFIFO:
		return "pipe";
	default:
		return mode ? "other" : "none";
	}
}

static json_t *parked_by(const struct workers_reading *w)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < WORKERS_FILES; i++) {
		const struct worker_file *f = &w->files[i];

		if (!f->sleeps.count && !f->sleeps.parked_ns)
			continue;
		json_array_append_new(
		    list,
		    json_pack("{s:s, s:{s:s, s:o, s:b}, s:o, s:o}", "operation",
		              i ? workers_operation_name(f->operation) : "several", "object",
		              "type", file_type(f->mode), "name",
		              *f->name ? json_text(f->name) : json_null(), "truncated",
		              strlen(f->name) == WORKERS_NAME_SIZE - 1, "count",
		              number(f->sleeps.count), "parked_ns", number(f->sleeps.parked_ns)));
	}
	return list;
}

static json_t *limit(struct worker_pool pool)
{
	return pool.limit ? number(pool.limit) : json_null();
}

json_t *result_io_uring(const struct probe_reading *r)
{
	const struct workers_reading *w = &r->workers;
	const struct probe_kind *workers = &r->kinds[KIND_IO_WQ];
	uint64_t submitted = 0, punted = 0;
	json_t *by;

	if (!(r->measures & PROBE_PUNTS))
		return json_null();
	for (uint32_t op = 0; op < WORKERS_OPERATIONS; op++)
		submitted += w->submitted[op];
	by = punted_by(w, &punted);
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "submitted",
	                 number(submitted), "punted", number(punted), "punted_by", by,
	                 "workers_parked_ns", number(workers->state_ns[STATE_PARKED_DIRECT]),
	                 "workers_parks", number(workers->parks), "workers_parked_by", parked_by(w),
	                 "workers_max", number(workers->threads_max), "workers_limit",
	                 limit(w->bounded), "workers_unbounded", number(w->unbounded.now),
	                 "workers_unbounded_limit", limit(w->unbounded));
}

json_t *result_submitter_sleeps(const struct probe_reading *r)
{
	json_t *list;

	if (!(r->measures & PROBE_SLEEPS))
		return json_null();
	list = json_array();
	for (uint32_t call = 0; call < SLEEP_CALLS; call++)
		for (uint32_t cause = 0; cause < CAUSE_COUNT; cause++) {
			const struct sleep_count *s = &r->workers.submitter[call][cause];

			if (s->count || s->parked_ns)
				json_array_append_new(list,
				                      json_pack("{s:s, s:s, s:o, s:o}", "call",
				                                sleep_call_names[call], "cause",
				                                sleep_cause_names[cause], "count",
				                                number(s->count), "parked_ns",
				                                number(s->parked_ns)));
		}
	return list;
}
