/*
 * The rules that tell who was parked or held for the I/O.
 */
#include "analysis/rules.h"

#include <math.h>
#include <string.h>

/* Requests were in flight for long enough that "nobody was parked meanwhile" means something. */
static const double enough_in_flight_ns = 1e9;
static const double enough_completions = 100;

static double unseen_ns(const struct facts *f)
{
	double sum = 0;

	for (size_t k = 0; k < VIEW_KIND_COUNT; k++)
		if (f->probe->kinds[k].state_ns[VIEW_UNSEEN] > 0)
			sum += f->probe->kinds[k].state_ns[VIEW_UNSEEN];
	return sum;
}

static void no_thread_speed(const struct facts *f, struct finding *out)
{
	const struct summary *s = &f->summary;
	const bool alone = f->probe->kinds[VIEW_APPLICATION].threads_max == 1 &&
	                   !f->probe->kinds[VIEW_POOL].present;

	if (name_is(f->run.wait, "spin"))
		finding_say(out, " The submitter spent its CPU on asking instead: see SPINNING.");
	if (isnan(s->compute_speed_ratio))
		return;
	finding_say(out, " %s kept %s of %s computing speed (%s units per s, %s without I/O).",
	            alone ? "The only thread" : "The threads",
	            format_percent(s->compute_speed_ratio).text, alone ? "its" : "their",
	            format_count(f->run.compute_units_per_s).text,
	            format_count(f->run.compute_units_per_s_alone).text);
	finding_show(out, "compute_speed_ratio", s->compute_speed_ratio);
}

/* Native AIO gives an fsync to a work queue (fs/aio.c, aio_fsync_work): somebody waits after all.
 */
static void say_of_kworkers(const struct facts *f, struct finding *out)
{
	if (name_is(f->run.engine, "libaio") && f->run.fsync_every >= 1)
		finding_say(out,
		            " Not counted: its fsyncs are made by the kernel's own worker threads "
		            "(kworker), which belong to no process and wait there.");
}

void rule_no_thread(const struct facts *f, struct finding *out)
{
	const struct summary *s = &f->summary;
	const double all = f->probe->completions, nobody = f->probe->completions_nobody_parked;
	const double unseen = f->probe->completions_unseen;
	const bool seen = all >= enough_completions;

	/* Who would park and did not has been too busy submitting: that shows nothing. */
	if (!f->has_probe || facts_page_cache(f) || name_is(f->run.engine, "null") ||
	    name_is(f->run.wait, "park") || !(s->in_flight_mean > 0) ||
	    !(s->parked_per_in_flight <= 0.001) || s->held_per_in_flight > 0.001 ||
	    unseen_ns(f) > 0.001 * f->run.in_flight_ns)
		return;
	if (seen ? !(nobody >= 0.999 * all) : !(f->run.in_flight_ns >= enough_in_flight_ns))
		return;
	out->raised = f->lost_threads > 0 ? WITHHELD : RAISED;
	out->severity = "info";
	/* completions that were not seen change nothing where no thread ever parked */
	out->confidence = f->exact && !isnan(s->held_per_in_flight) &&
	                          (!(unseen > 0.001 * all) || s->parks_per_operation == 0)
	                      ? "sure"
	                      : "likely";
	if (f->run.operations > 0)
		finding_say(out,
		            "With --wait %s the %s came back and no thread had waited for them: ",
		            f->run.wait ? f->run.wait : "?", facts_requests(f));
	else
		finding_say(out, "While %s requests were in flight no thread waited for them: ",
		            format_amount(s->in_flight_mean).text);
	if (seen)
		finding_say(out, "nobody was parked at %s of %s %s (%s).",
		            format_count(nobody).text, format_count(all).text,
		            f->disk ? "disk completions" : "arrivals",
		            format_percent(nobody / all).text);
	if (seen && unseen > 0)
		finding_say(out, " %s more came that the kernel shows to no tracer.",
		            format_count(unseen).text);
	if (!seen)
		finding_say(out, "%s s of requests in flight, %s s of threads parked.",
		            format_fixed(f->run.in_flight_ns / 1e9, 2).text,
		            format_fixed(s->threads_parked_mean * f->run.window_ns / 1e9, 3).text);
	finding_show(out, "completions", all);
	finding_show(out, "completions_nobody_parked", nobody);
	finding_show(out, "completions_unseen", unseen);
	finding_show(out, "in_flight_mean", s->in_flight_mean);
	finding_show(out, "parked_per_in_flight", s->parked_per_in_flight);
	finding_show(out, "held_per_in_flight", s->held_per_in_flight);
	say_of_kworkers(f, out);
	no_thread_speed(f, out);
}

void rule_one_waiter(const struct facts *f, struct finding *out)
{
	const struct summary *s = &f->summary;
	double waiter_ns = 0, parked_ns = 0;

	for (size_t k = 0; k < VIEW_KIND_COUNT; k++) {
		if (f->parked_ns[k] > 0)
			waiter_ns += f->probe->kinds[k].state_ns[VIEW_PARKED_WAITER];
		parked_ns += f->parked_ns[k];
	}
	if (!(s->in_flight_mean >= 2) || !(s->threads_held_mean <= 1.05) ||
	    !(s->held_per_in_flight > 0.001) || !(parked_ns > 0) ||
	    !(waiter_ns >= 0.9 * parked_ns) || facts_page_cache(f))
		return;
	out->raised = s->threads_held_mean + f->lost_threads > 1.05 ? WITHHELD : RAISED;
	out->severity = "info";
	out->confidence = facts_confidence(f);
	finding_say(
	    out,
	    "One thread waited for %s requests (%s parked, %s held on average). A thread per "
	    "request would have held %s.",
	    format_amount(s->in_flight_mean).text, format_mean(s->threads_parked_mean).text,
	    format_mean(s->threads_held_mean).text, format_amount(s->in_flight_mean).text);
	say_of_kworkers(f, out);
	finding_advise(out, "--wait compute shows the same I/O without even this one thread.");
	finding_show(out, "in_flight_mean", s->in_flight_mean);
	finding_show(out, "threads_parked_mean", s->threads_parked_mean);
	finding_show(out, "threads_held_mean", s->threads_held_mean);
	finding_show(out, "held_per_in_flight", s->held_per_in_flight);
}

void rule_thread_per_io(const struct facts *f, struct finding *out)
{
	const struct summary *s = &f->summary;
	const size_t k = f->held_ns[VIEW_POOL] > 0 ? VIEW_POOL : VIEW_APPLICATION;
	const double ratio = quotient(f->held_mean[k], s->served_mean);
	const double direct = probe_mean(f->probe, &f->run,
	                                 f->probe->kinds[k].state_ns[VIEW_PARKED_DIRECT]);

	/* On a fast disk many of those held queue for a CPU rather than being parked. */
	if (!(ratio >= 0.95 && ratio <= 1.05) || !(f->held_mean[k] >= 1.9) ||
	    !(direct >= 0.25 * f->held_mean[k]) || facts_page_cache(f))
		return;
	out->raised = f->held_mean[k] - f->misstated_threads >= 0.95 * s->served_mean &&
	                      f->held_mean[k] + f->lost_threads <= 1.05 * s->served_mean
	                  ? RAISED
	                  : WITHHELD;
	out->severity = "info";
	out->confidence = facts_confidence(f);
	finding_say(out,
	            "Every request held a thread of its own: %s %s were held (%s parked inside the "
	            "call) for %s requests served at a time.",
	            format_amount(f->held_mean[k]).text,
	            k == VIEW_POOL ? "pool threads" : "threads", format_amount(direct).text,
	            format_amount(s->served_mean).text);
	if (s->not_served_mean >= 0.05 * s->in_flight_mean && s->not_served_mean >= 0.1)
		finding_say(out, " Another %s requests waited for a worker to take them up.",
		            format_amount(s->not_served_mean).text);
	finding_advise(
	    out, f->disk ? "--engine uring serves as many with one waiter, or with none."
			 : "--engine uring or epoll serves as many with one waiter, or with none.");
	finding_show(out, "held_per_served", ratio);
	finding_show(out, "threads_held_mean", f->held_mean[k]);
	finding_show(out, "parked_direct_mean", direct);
	finding_show(out, "served_mean", s->served_mean);
	finding_show(out, "not_served_mean", s->not_served_mean);
}

void rule_hidden_workers(const struct facts *f, struct finding *out)
{
	const double helpers = f->held_mean[VIEW_AIO_HELPER], workers = f->held_mean[VIEW_IO_WQ];
	const size_t k = workers > helpers || isnan(helpers) ? VIEW_IO_WQ : VIEW_AIO_HELPER;
	const double held = f->held_mean[k];
	const double most = f->probe->kinds[k].threads_max;

	if (!(held >= 0.5))
		return;
	out->raised = held - f->misstated_threads >= 0.5 ? RAISED : WITHHELD;
	out->severity = "warn";
	out->confidence = facts_confidence(f);
	finding_say(out,
	            "Threads that the program did not make were held for its I/O: %s %s, %s of "
	            "them parked, on average; at most %s existed at once. They are %s.",
	            format_amount(held).text, view_kind_names[k],
	            format_amount(f->parked_mean[k]).text, format_count(most).text,
	            k == VIEW_IO_WQ ? "io_uring's workers (iou-wrk)"
	                            : "the C library's, behind its POSIX AIO calls");
	if (k == VIEW_IO_WQ)
		finding_advise(out,
		               "The kernel hands to a worker what it cannot start without waiting: "
		               "%s. Compare a direct read on ext4 or a block device.",
		               f->run.nowait_read == VIEW_FALSE
		                   ? "here the file system refuses RWF_NOWAIT"
		                   : "buffered writes, fsync, or what IOSQE_ASYNC asks for");
	else
		finding_advise(out, "%s needs no such thread.",
		               !f->disk    ? "--engine uring or epoll"
		               : f->writes ? "--engine uring with --direct 1 and no fsync"
		                           : "--engine uring with direct reads");
	finding_show(out, "threads_held_mean", held);
	finding_show(out, "threads_parked_mean", f->parked_mean[k]);
	finding_show(out, "threads_max", most);
	finding_show(out, "served_mean", f->summary.served_mean);
}

void rule_serial_per_file(const struct facts *f, struct finding *out)
{
	const struct summary *s = &f->summary;

	const bool glibc = name_is(f->run.engine, "posix-aio") ||
	                   name_is(f->run.engine, "posix-aio-signal");

	if (!f->disk || !glibc || f->run.files > 1 || !(f->run.depth >= 2) ||
	    !(s->in_flight_mean >= 1.5) || !(s->served_mean >= 0.5 && s->served_mean <= 1.1))
		return;
	/* glibc's rule is known, so a loss leaves a doubt rather than nothing */
	out->raised = isnan(f->run.served_ns) && f->misstated_threads > 0.1 ? WITHHELD : RAISED;
	out->severity = "warn";
	out->confidence = f->lost_threads > 0 ? "likely" : facts_confidence(f);
	finding_say(
	    out,
	    "Asked for %s at once, served %s at a time: POSIX AIO takes the requests of one "
	    "file strictly in turn, whatever the depth.",
	    format_count(f->run.depth).text, format_fixed(s->served_mean, 2).text);
	finding_advise(out, "Spread the requests over several files (--files 8), or use --engine "
	                    "uring.");
	finding_show(out, "depth", f->run.depth);
	finding_show(out, "in_flight_mean", s->in_flight_mean);
	finding_show(out, "served_mean", s->served_mean);
	finding_show(out, "held_per_served", s->held_per_served);
}

/* Who asks again and again instead of parking, and how much of a CPU that takes. */
static double spinning_cpu(const struct facts *f, const char **who)
{
	const struct view_kind *application = &f->probe->kinds[VIEW_APPLICATION];
	const double *poller = f->probe->kinds[VIEW_SQPOLL].state_ns;
	/* who never sleeps spins, however little of a busy machine it gets */
	const double awake = probe_mean(f->probe, &f->run,
	                                poller[VIEW_RUNNING] + poller[VIEW_RUNNABLE]);

	if (awake >= 0.8) {
		*who = "io_uring's submission poller (SQPOLL, the kernel's thread iou-sqp)";
		return probe_mean(f->probe, &f->run, poller[VIEW_RUNNING]);
	}
	if (name_is(f->run.wait, "spin")) {
		*who = "the submitting thread";
		return facts_cpu_per_thread(f);
	}
	if (f->run.engine && strstr(f->run.engine, "iopoll") && !name_is(f->run.wait, "compute")) {
		*who = "the thread that polls the device (IOPOLL)";
		return probe_mean(f->probe, &f->run, application->in_call_running_ns);
	}
	return 0;
}

void rule_spinning(const struct facts *f, struct finding *out)
{
	const struct summary *s = &f->summary;
	const char *who = "";
	const double cpu = spinning_cpu(f, &who);
	const bool asked = name_is(f->run.wait, "spin");
	const bool poller = strstr(who, "SQPOLL") != NULL;

	/* Who was told to spin spins, however little of a busy machine it gets. Beside a poller
	 * the submitter may well wait. */
	if (!(cpu >= (asked || poller ? 0.05 : 0.8)) || !(s->in_flight_mean > 0) ||
	    (!poller && s->parked_per_in_flight > 0.01))
		return;
	out->raised = RAISED; /* from CPU time, which loses nothing */
	out->severity = asked && !poller ? "info" : "warn";
	out->confidence = "sure";
	finding_say(out,
	            "%s of a CPU went into asking whether I/O had completed: %s %s parked, "
	            "it spun, for %s requests in flight.",
	            format_percent(cpu > 1 ? 1 : cpu).text, who,
	            poller && f->parked_ns[VIEW_SQPOLL] > 0 ? "hardly ever" : "never",
	            format_amount(s->in_flight_mean).text);
	finding_advise(out, poller  ? "Without SQPOLL the submitter pays one system call per batch "
	                              "instead of a CPU."
	                    : asked ? "--wait park gives the CPU away; --wait compute uses it."
	                            : "Polling pays only where the device answers in a few "
	                              "microseconds and a CPU is free.");
	finding_show(out, "cpu", cpu);
	finding_show(out, "in_flight_mean", s->in_flight_mean);
	finding_show(out, "parked_per_in_flight", s->parked_per_in_flight);
}
