/*
 * The rules that tell what io_uring gives to its workers, and when a submission itself sleeps.
 */
#include "analysis/rules.h"

#include <math.h>
#include <string.h>

/* Fewer than these say more of a run's edges than of its engine. */
static const double enough_requests = 20;
static const double enough_share = 0.05;
/* Workers that sleep so often for each request handed over, or for so many threads on average,
 * are parked for the I/O. */
static const double parks_often = 0.1;
static const double parked_threads = 0.25;

static double punted_share(const struct facts *f)
{
	const struct view_workers *w = &f->probe->workers;

	return w->punted >= enough_requests ? quotient(w->punted, w->submitted) : 0;
}

static bool workers_park(const struct facts *f, double lost)
{
	const struct view_workers *w = &f->probe->workers;

	return w->parks + lost >= parks_often * w->punted ||
	       probe_mean(f->probe, &f->run, w->parked_ns) >= parked_threads;
}

/* "1,000 of 1,000 requests went to io_uring's workers, since ...": of a request that a loss of
 * events could hide, nothing is concluded, for none is hidden: they are counted, not inferred. */
static void say_punted(const struct facts *f, struct finding *out)
{
	const struct view_workers *w = &f->probe->workers;
	const size_t reason = workers_main_reason(w);

	/* at an edge of the window one may be handed over that was submitted before it */
	finding_say(out, "%s of %s requests went to io_uring's worker threads (",
	            format_count(fmin(w->punted, w->submitted)).text,
	            format_count(w->submitted).text);
	if (w->punted_by[reason] < 0.99 * w->punted)
		finding_say(out,
		            "%s of them: ", format_percent(w->punted_by[reason] / w->punted).text);
	finding_say(out, "%s)", view_punt_words[reason]);
}

/* "At most 6 of them existed; the kernel allows 8." */
static void say_limit(const struct facts *f, struct finding *out)
{
	const struct view_workers *w = &f->probe->workers;

	finding_say(out, " At most %s of them existed at once", format_count(w->most).text);
	if (w->unbounded > 0 && w->unbounded_limit > 0)
		finding_say(
		    out,
		    "; %s are of the kind that the kernel bounds only by RLIMIT_NPROC (%s), "
		    "not of the %s for files",
		    format_count(w->unbounded).text, format_count(w->unbounded_limit).text,
		    format_count(w->limit).text);
	else if (w->limit > 0)
		finding_say(out, "; the kernel allows %s", format_count(w->limit).text);
	finding_say(out, ".");
}

static void show_workers(const struct facts *f, struct finding *out)
{
	const struct view_workers *w = &f->probe->workers;

	finding_show(out, "submitted", w->submitted);
	finding_show(out, "punted", w->punted);
	finding_show(out, "workers_parks", w->parks);
	finding_show(out, "workers_parked_ns", w->parked_ns);
	finding_show(out, "workers_max", w->most);
	finding_show(out, "workers_limit", w->limit);
}

static const char *punt_advice(size_t reason)
{
	switch (reason) {
	case VIEW_PUNT_FSYNC:
		return "Fewer and larger fsyncs, or writes with RWF_DSYNC, need fewer workers; "
		       "IORING_REGISTER_IOWQ_MAX_WORKERS bounds them.";
	case VIEW_PUNT_FORCED:
		return "Leave IOSQE_ASYNC away (--engine uring): the kernel hands over by itself "
		       "what would wait.";
	case VIEW_PUNT_NO_NOWAIT:
		return "Put the file on ext4, xfs, btrfs or a block device: --directory DIR.";
	case VIEW_PUNT_HASHED:
		return "--direct 1 on blocks that exist already writes without a worker; xfs takes "
		       "buffered writes without waiting.";
	case VIEW_PUNT_WOULD_BLOCK:
		return "A lower --depth than the device's nr_requests, or writes over blocks that "
		       "exist already, need not wait.";
	default:
		return "IORING_REGISTER_IOWQ_MAX_WORKERS bounds the workers.";
	}
}

void rule_punted_and_parked(const struct facts *f, struct finding *out)
{
	const struct view_workers *w = &f->probe->workers;

	if (!(punted_share(f) >= enough_share) || !workers_park(f, 0))
		return;
	out->raised = RAISED;
	out->severity = "warn";
	out->confidence = facts_confidence(f);
	say_punted(f, out);
	finding_say(out,
	            " and the workers slept there, %s times: a thread is parked for the I/O "
	            "after all, %s on average.",
	            format_count(w->parks).text,
	            format_mean(probe_mean(f->probe, &f->run, w->parked_ns)).text);
	say_limit(f, out);
	finding_advise(out, "%s", punt_advice(workers_main_reason(w)));
	show_workers(f, out);
}

void rule_punted_not_parked(const struct facts *f, struct finding *out)
{
	const struct view_workers *w = &f->probe->workers;

	if (!(punted_share(f) >= enough_share) || workers_park(f, 0))
		return;
	/* a park that was lost would be one more */
	out->raised = workers_park(f, f->lost_threads) ? WITHHELD : RAISED;
	out->severity = "info";
	out->confidence = facts_confidence(f);
	say_punted(f, out);
	finding_say(out,
	            ", which %s for them: punted is not parked. The hand-over costs CPU and "
	            "the order of requests, no waiting thread.",
	            w->parks > 0 ? "hardly ever slept" : "never slept");
	say_limit(f, out);
	finding_advise(out, "%s", punt_advice(workers_main_reason(w)));
	show_workers(f, out);
}

void rule_no_nowait(const struct facts *f, struct finding *out)
{
	const struct view_workers *w = &f->probe->workers;
	const double refused = w->punted_by[VIEW_PUNT_NO_NOWAIT];
	const bool ring = f->run.engine && strncmp(f->run.engine, "uring", 5) == 0;
	const bool counted = punted_share(f) >= enough_share && refused >= 0.5 * w->punted;
	/* a device below the file may refuse what the file system would take */
	const bool below = punted_share(f) >= enough_share && f->run.nowait_read == VIEW_FALSE &&
	                   w->punted_by[VIEW_PUNT_WOULD_BLOCK] >= 0.5 * w->punted;
	const bool likely = isnan(w->punted) && f->run.nowait_read == VIEW_FALSE;

	if (!f->disk || !ring || (!counted && !below && !likely))
		return;
	out->raised = RAISED;
	out->severity = "warn";
	out->confidence = likely ? "likely" : "sure";
	finding_say(out, "%s refuses transfers that must not wait (NOWAIT)",
	            f->run.filesystem && !below ? f->run.filesystem
	            : f->run.device             ? f->run.device
	                                        : "The place of the file");
	if (likely)
		finding_say(out, ", so io_uring gives every request to a worker thread there; no "
		                 "probe counted them.");
	else
		finding_say(out,
		            ", so io_uring gave %s of %s requests to worker threads: there is "
		            "a thread behind each.",
		            format_count(fmin(w->punted, w->submitted)).text,
		            format_count(w->submitted).text);
	if (name_is(f->run.filesystem, "overlay"))
		finding_advise(out,
		               "In a container, put the data on a volume, which is no overlay.");
	else
		finding_advise(out, "%s", punt_advice(VIEW_PUNT_NO_NOWAIT));
	finding_show(out, "submitted", w->submitted);
	finding_show(out, "punted", w->punted);
	finding_show(out, "punted_no_nowait", refused);
}

static const char *sleep_advice(size_t cause)
{
	switch (cause) {
	case VIEW_CAUSE_WRITEBACK:
		return "Write at the disk's pace, or raise vm.dirty_ratio and the device's "
		       "queue/wbt_lat_usec.";
	case VIEW_CAUSE_LOCK:
		return "Write over blocks that exist already, where locks are shared, or use "
		       "a file for each submitter.";
	case VIEW_CAUSE_FAULT:
		return "Touch and lock the buffers first (mlock), or register them.";
	case VIEW_CAUSE_BUFFERED_READ:
		return "--direct 1, or --engine uring, which waits for no page of a buffered read.";
	case VIEW_CAUSE_JOURNAL:
		return "Allocate the file beforehand and write over it: then no metadata changes.";
	case VIEW_CAUSE_TRANSFER:
		return "Allocate the file beforehand: a direct write that extends it is waited "
		       "for.";
	case VIEW_CAUSE_MEMORY:
		return "Leave the kernel more free memory (vm.min_free_kbytes), or ask for less at "
		       "once.";
	case VIEW_CAUSE_UNKNOWN:
		return "sysctl kernel.kptr_restrict=0 lets the causes be told.";
	default:
		return "probes/submitter.bt shows where in the kernel it sleeps.";
	}
}

void rule_submit_blocked(const struct facts *f, struct finding *out)
{
	const struct view_sleeps *s = &f->probe->sleeps;
	const double count = s->all_count - s->count[VIEW_CAUSE_TAGS];
	const double slept_ns = s->all_ns - s->parked_ns[VIEW_CAUSE_TAGS];
	const size_t cause = sleeps_main_cause(s, VIEW_CAUSE_TAGS + 1);
	const double per_request = quotient(count, f->run.operations);

	if (!(count >= enough_requests) ||
	    !(per_request >= enough_share || slept_ns >= enough_share * f->run.window_ns))
		return;
	out->raised = count - f->probe->lost < enough_requests ? WITHHELD : RAISED;
	out->severity = "warn";
	out->confidence = cause == VIEW_CAUSE_UNKNOWN ? "likely" : facts_confidence(f);
	finding_say(out,
	            "The submission itself slept: %s times inside %s, %s in all, mostly for %s.",
	            format_count(count).text, s->call ? s->call : "a submission",
	            format_time(slept_ns).text, view_cause_words[cause]);
	if (per_request >= 0.5)
		finding_say(out,
		            " That is %s times for each request: asynchronous in name, "
		            "synchronous in practice.",
		            format_fixed(per_request, 2).text);
	finding_advise(out, "%s", sleep_advice(cause));
	finding_show(out, "submitter_sleeps", count);
	finding_show(out, "submitter_parked_ns", slept_ns);
	finding_show(out, "operations", f->run.operations);
}

void rule_tag_wait(const struct facts *f, struct finding *out)
{
	const struct view_sleeps *s = &f->probe->sleeps;
	const double count = s->count[VIEW_CAUSE_TAGS], slept_ns = s->parked_ns[VIEW_CAUSE_TAGS];
	const bool too_deep = f->run.depth > f->run.nr_requests;

	if (!(count >= 1) || (!too_deep && !(slept_ns >= 0.01 * f->run.window_ns)))
		return;
	out->raised = RAISED;
	out->severity = "warn";
	out->confidence = facts_confidence(f);
	finding_say(out,
	            "The submitter slept %s times inside %s, %s in all, for a free request of the "
	            "device: %s at once are what %s has (nr_requests)",
	            format_count(count).text, s->call ? s->call : "a submission",
	            format_time(slept_ns).text, format_count(f->run.nr_requests).text,
	            f->run.device ? f->run.device : "it");
	if (too_deep)
		finding_say(out, ", and %s were wanted.", format_count(f->run.depth).text);
	else
		finding_say(out, ", which others use as well.");
	finding_advise(out,
	               "--depth %s at most, or more of them: echo N > "
	               "/sys/block/%s/queue/nr_requests.",
	               format_fixed(f->run.nr_requests, 0).text,
	               f->run.device ? f->run.device : "DEVICE");
	finding_show(out, "tag_waits", count);
	finding_show(out, "tag_wait_ns", slept_ns);
	finding_show(out, "nr_requests", f->run.nr_requests);
	finding_show(out, "depth", f->run.depth);
}
