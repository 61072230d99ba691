/*
 * What a watch says of threads that wait for each other: pools, results brought by I/O, and what
 * ends the sleeps inside submissions.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/watch.h"

enum { ENOUGH_WAITS = 20, READY_SHOWN = 4 };

/* Of the threads that are not the C library's: aio_suspend waits for one of several. */
static bool is_sync_wait(const json_t *wait)
{
	const double asked = watch_number(wait, "asked"), count = watch_number(wait, "count");
	const char *waker = watch_string(json_object_get(wait, "waker"), "kind");

	return count >= ENOUGH_WAITS && count >= 0.5 * asked && strcmp(waker, "aio-helper") != 0;
}

void watch_sync_over_async(const struct watch_facts *f, struct finding *out)
{
	const json_t *waits = json_object_get(f->watch, "sync_waits"), *wait;
	char waiter[80], waker[80];
	size_t i;

	json_array_foreach(waits, i, wait)
	{
		const json_t *thread = json_object_get(wait, "thread");
		const json_t *by = json_object_get(wait, "waker");

		if (!is_sync_wait(wait))
			continue;
		out->raised = f->lost > 0 ? WITHHELD : RAISED;
		out->confidence = "likely";
		finding_say(
		    out,
		    "Thread %.0f (%s) gives work to another and waits on a futex until that has "
		    "been parked for I/O: %s of %s such waits ended by thread %.0f (%s) after %s.",
		    watch_number(thread, "tid"),
		    format_name(waiter, sizeof waiter, watch_string(thread, "name"), 15, true),
		    format_count(watch_number(wait, "count")).text,
		    format_count(watch_number(wait, "asked")).text, watch_number(by, "tid"),
		    format_name(waker, sizeof waker, watch_string(by, "name"), 15, true),
		    *watch_string(wait, "waker_syscall") ? watch_string(wait, "waker_syscall")
							 : "a fault");
		finding_advise(out, "Two threads are parked for one I/O. Go on with other work "
		                    "until the result comes, or make the call where it is needed.");
		finding_show(out, "waits_ended_after_io", watch_number(wait, "count"));
		finding_show(out, "waits_asked", watch_number(wait, "asked"));
		finding_show(out, "waited_ns", watch_number(wait, "waited_ns"));
		finding_show(out, "waker_tid", watch_number(by, "tid"));
		return;
	}
}

static void add_pool(struct text *out, const json_t *crew)
{
	const json_t *waits = json_object_get(crew, "waits");
	const json_t *giver = json_object_get(waits, "given_by");
	char name[80], by[80];

	text_add(out, "pool (likely): %s threads like %s",
	         format_count(watch_number(crew, "threads_now")).text,
	         format_name(name, sizeof name, watch_string(crew, "name"), 15, true));
	if (watch_number(waits, "sharing") >= 2)
		text_add(out, ", idle at futex %s", watch_string(waits, "futex"));
	if (json_is_object(giver))
		text_add(out, "\n  work from thread %.0f (%s)", watch_number(giver, "tid"),
		         format_name(by, sizeof by, watch_string(giver, "name"), 15, true));
	text_add(out, "%s %s times in all\n", json_is_object(giver) ? "," : "\n  given work",
	         format_count(watch_number(waits, "given")).text);
}

void watch_text_pools(struct text *out, const json_t *watch)
{
	const json_t *crew;
	size_t i;

	json_array_foreach(json_object_get(watch, "crews"), i, crew)
	{
		if (strcmp(watch_string(crew, "pool"), "likely") == 0)
			add_pool(out, crew);
	}
}

void watch_text_ready(struct text *out, const json_t *watch)
{
	const json_t *ready = json_object_get(watch, "ready"), *one;
	size_t i;

	json_array_foreach(ready, i, one)
	{
		if (i == READY_SHOWN) {
			text_add(out, "and on %zu sockets more\n", json_array_size(ready) - i);
			return;
		}
		text_add(out, "ready, and not taken yet: %s %s on port %.0f of process %.0f\n",
		         format_count(watch_number(one, "count")).text, watch_string(one, "waits"),
		         watch_number(one, "port"), watch_number(one, "pid"));
	}
}

void watch_text_workers(struct text *out, const json_t *watch)
{
	const json_t *group;
	char name[80];
	size_t i;

	json_array_foreach(json_object_get(watch, "workers"), i, group)
	{
		const json_t *owner = json_object_get(group, "owner");

		text_add(out, "workers of io_uring: %s %s for thread %.0f (%s), %s parked now\n",
		         format_count(watch_number(group, "threads_now")).text,
		         watch_string(group, "bound"), watch_number(owner, "tid"),
		         format_name(name, sizeof name, watch_string(owner, "name"), 15, true),
		         format_count(watch_number(group, "parked_now")).text);
	}
}

const char *watch_knob(const char *cause)
{
	static const struct {
		const char *cause, *knob;
	} knobs[] = {
	    {"tags", "submit fewer at once, or raise /sys/block/DEVICE/queue/nr_requests"},
	    {"writeback", "write with O_DIRECT, or sync sooner; vm.dirty_bytes and the device's "
	                  "queue/wbt_lat_usec say when it begins"},
	    {"lock", "writes that extend a file, truncation and buffered writes take the inode's "
	             "lock: allocate it first and overwrite with O_DIRECT"},
	    {"fault", "touch the buffers first (MAP_POPULATE, mlock), or register them"},
	    {"buffered-read",
	     "open with O_DIRECT; or io_uring, which waits for pages in no thread"},
	    {"journal", "allocate and write the file once beforehand, so that no write changes "
	                "metadata"},
	    {"transfer", "the file or device has no asynchronous way for this transfer: aligned "
	                 "O_DIRECT, or IOSQE_ASYNC to have a worker wait"},
	    {"memory", "free memory is short: fewer buffers, or a higher memory.high"},
	    {"unknown", "sysctl kernel.kptr_restrict=1, and the cause can be told"},
	};

	for (size_t i = 0; i < sizeof knobs / sizeof *knobs; i++)
		if (strcmp(cause, knobs[i].cause) == 0)
			return knobs[i].knob;
	return NULL;
}

void watch_text_sleeps(struct text *out, const struct watch_facts *f)
{
	const json_t *sleep;
	size_t i;

	json_array_foreach(json_object_get(f->watch, "submitter_sleeps"), i, sleep)
	{
		const char *knob = watch_knob(watch_string(sleep, "cause"));
		const double share = watch_number(sleep, "parked_ns") / f->window_ns;

		text_add(out, "asleep in a submission: %s, %s times, %s of the window, for %s\n",
		         watch_string(sleep, "call"),
		         format_count(watch_number(sleep, "count")).text,
		         format_percent(share).text, watch_string(sleep, "cause"));
		if (!knob)
			continue;
		text_add(out, "  ");
		text_wrap(out, 2, 2, TEXT_COLUMNS, knob);
	}
}
