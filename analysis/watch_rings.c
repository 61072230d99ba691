/*
 * Rules of a watch about io_uring's workers and pollers, and about submitters that sleep.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/watch.h"

enum { ENOUGH = 20 };

static const json_t *ring_of(const struct watch_facts *f)
{
	return json_object_get(json_object_get(f->watch, "in_flight"), "io_uring");
}

/* The reason of most hand-overs: "no-nowait"; and its share of all. */
static const char *main_reason(const struct watch_facts *f, double *share)
{
	const json_t *list = json_object_get(ring_of(f), "punted_by"), *one;
	const char *best = "";
	double most = 0;
	size_t i;

	json_array_foreach(list, i, one)
	{
		if (!(watch_number(one, "count") > most))
			continue;
		most = watch_number(one, "count");
		best = watch_string(one, "reason");
	}
	*share = f->punted > 0 ? most / f->punted : NAN;
	return best;
}

/* What would keep requests from the workers that go there for that reason. */
static const char *punt_advice(const char *reason)
{
	static const struct {
		const char *reason, *advice;
	} table[] = {
	    {"fsync-class", "The operation always waits in a thread; ask for it less often, or "
	                    "write with RWF_DSYNC."},
	    {"forced", "The program asks for workers: leave IOSQE_ASYNC and IOSQE_IO_DRAIN out."},
	    {"short-write", "The rest of a short write waits: write to allocated space, directly."},
	    {"no-nowait", "NO-NOWAIT says what to do."},
	    {"hashed-write", "Buffered writes of one file go to a worker, one at a time: O_DIRECT "
	                     "over allocated space does not."},
	    {"would-block", "These would have waited for the device or a lock: fewer at once, or "
	                    "more requests of the device (nr_requests)."},
	};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (strcmp(reason, table[i].reason) == 0)
			return table[i].advice;
	return "in_flight.io_uring in --json has each operation and reason.";
}

void watch_punted_parked(const struct watch_facts *f, struct finding *out)
{
	double share;
	const char *reason = main_reason(f, &share);

	if (!(f->punted >= ENOUGH) || f->parked[VIEW_IO_WQ] <= 0.01)
		return;
	out->raised = RAISED;
	out->severity = "warn";
	finding_say(out,
	            "io_uring handed %s of %s requests to its workers, which were parked for them "
	            "(%s on average). The reason of %s: %s.",
	            format_count(f->punted).text, format_count(f->submitted).text,
	            format_mean(f->parked[VIEW_IO_WQ]).text, format_percent(share).text, reason);
	finding_advise(out, "%s", punt_advice(reason));
	finding_show(out, "punted", f->punted);
	finding_show(out, "submitted", f->submitted);
	finding_show(out, "share", share);
	finding_show(out, "workers_parked_mean", f->parked[VIEW_IO_WQ]);
}

void watch_no_nowait(const struct watch_facts *f, struct finding *out)
{
	double share;
	const char *reason = main_reason(f, &share);

	if (!(f->punted >= ENOUGH) || strcmp(reason, "no-nowait") != 0 || !(share >= 0.5))
		return;
	out->raised = RAISED;
	out->severity = "warn";
	finding_say(out,
	            "Files that cannot be read or written without waiting (no NOWAIT, as on tmpfs "
	            "and overlayfs): each request for them needs a worker thread.");
	finding_advise(out,
	               "Keep such files on ext4, xfs, btrfs or a block device; in a container, "
	               "on a volume.");
	finding_show(out, "punted", f->punted);
	finding_show(out, "share", share);
}

/* The sleeps of submitters for the device's requests, or for all else. */
static void sleeps(const struct watch_facts *f, bool tags, double *count, double *parked_ns)
{
	const json_t *list = json_object_get(f->watch, "submitter_sleeps"), *one;
	size_t i;

	*count = *parked_ns = 0;
	json_array_foreach(list, i, one)
	{
		if ((strcmp(watch_string(one, "cause"), "tags") == 0) != tags)
			continue;
		*count += watch_number(one, "count");
		*parked_ns += watch_number(one, "parked_ns");
	}
}

void watch_tag_wait(const struct watch_facts *f, struct finding *out)
{
	double count, parked_ns;

	sleeps(f, true, &count, &parked_ns);
	if (count < ENOUGH || parked_ns < 0.01 * f->window_ns)
		return;
	out->raised = RAISED;
	out->severity = "warn";
	finding_say(out,
	            "The submitter slept %s times for a free request of the device, %s of the "
	            "window.",
	            format_count(count).text, format_percent(parked_ns / f->window_ns).text);
	finding_advise(out, "Submit fewer at once, or raise /sys/block/DEVICE/queue/nr_requests.");
	finding_show(out, "sleeps", count);
	finding_show(out, "parked_ns", parked_ns);
}

void watch_submit_blocked(const struct watch_facts *f, struct finding *out)
{
	double count, parked_ns;

	sleeps(f, false, &count, &parked_ns);
	if (count < ENOUGH || parked_ns < 0.05 * f->window_ns)
		return;
	out->raised = RAISED;
	out->severity = "warn";
	finding_say(out,
	            "The submitter slept %s times inside its submission, %s of the window: it is "
	            "synchronous in practice.",
	            format_count(count).text, format_percent(parked_ns / f->window_ns).text);
	finding_advise(out,
	               "With libaio, only O_DIRECT is asynchronous; submitter_sleeps in --json "
	               "has each cause.");
	finding_show(out, "sleeps", count);
	finding_show(out, "parked_ns", parked_ns);
}

void watch_over_limit(const struct watch_facts *f, struct finding *out)
{
	const json_t *ring = ring_of(f);
	const double most = watch_number(ring, "workers_max");
	const double limit = watch_number(ring, "workers_limit");
	const double unbounded = watch_number(ring, "workers_unbounded");

	if (!(limit > 0) || !(most - (unbounded > 0 ? unbounded : 0) > limit))
		return;
	out->raised = RAISED;
	out->severity = "warn";
	finding_say(out,
	            "%s workers of io_uring at once, though the kernel gives %s as the limit of "
	            "those that end in bounded time.",
	            format_count(most).text, format_count(limit).text);
	finding_advise(out, "io_uring_register_iowq_max_workers sets both limits.");
	finding_show(out, "workers_max", most);
	finding_show(out, "workers_limit", limit);
	finding_show(out, "workers_unbounded", unbounded);
}

void watch_pollers(const struct watch_facts *f, struct finding *out)
{
	const json_t *kind = watch_kind(f, "sqpoll");
	const double threads = watch_number(kind, "threads_now");
	const double wanted =
	    (watch_number(kind, "running_ns") + watch_number(kind, "runnable_ns")) / f->window_ns;

	if (!(threads > f->cpus) || !(wanted > 0.9 * f->cpus)) /* else they sleep, and take none */
		return;
	out->raised = RAISED;
	out->severity = "warn";
	finding_say(out, "%s SQPOLL threads poll on %s CPUs: they take them from each other.",
	            format_count(threads).text, format_count(f->cpus).text);
	finding_advise(out, "Share one poller among rings: IORING_SETUP_ATTACH_WQ.");
	finding_show(out, "pollers", threads);
	finding_show(out, "cpus_wanted", wanted);
	finding_show(out, "cpus", f->cpus);
}

void watch_spinning(const struct watch_facts *f, struct finding *out)
{
	const json_t *kind = watch_kind(f, "sqpoll");
	const double running =
	    (watch_number(kind, "running_ns") + watch_number(kind, "runnable_ns")) / f->window_ns;

	if (!(running >= 0.5))
		return;
	out->raised = RAISED;
	out->severity = "info";
	finding_say(out,
	            "SQPOLL: a thread of the process that the program did not make burns %s of a "
	            "CPU and never parks for I/O.",
	            format_percent(running > 1 ? 1 : running).text);
	finding_advise(out, "A shorter sq_thread_idle lets it sleep sooner; without a poller one "
	                    "io_uring_enter submits a whole batch.");
	finding_show(out, "cpus_used", running);
}
