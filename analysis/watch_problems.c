/*
 * Rules of a watch that name problems: hidden threads, exhausted pools, submitters that sleep.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/watch.h"

void watch_hidden_workers(const struct watch_facts *f, struct finding *out)
{
	const double helpers = f->parked[VIEW_AIO_HELPER], workers = f->parked[VIEW_IO_WQ];
	const json_t *kind = watch_kind(f, helpers >= workers ? "aio-helper" : "io-wq");
	const json_t *ring = json_object_get(json_object_get(f->watch, "in_flight"), "io_uring");
	const double limit = watch_number(ring, "workers_limit");

	if (helpers + workers < 0.2 || !kind)
		return;
	out->raised = RAISED;
	out->severity = "warn";
	finding_say(out,
	            "Threads that the program did not make are parked for its I/O: %s of %s on "
	            "average, %s at once",
	            format_mean(helpers + workers).text,
	            helpers >= workers ? "the C library's POSIX AIO"
	                               : "io_uring's workers (iou-wrk)",
	            format_count(watch_number(kind, "threads_max")).text);
	if (workers > helpers && limit > 0)
		finding_say(out, "; the kernel allows %s bounded ones", format_count(limit).text);
	finding_say(out, ".");
	finding_advise(out,
	               helpers >= workers
	                   ? "POSIX AIO of glibc is a pool of threads; io_uring or libaio with "
	                     "O_DIRECT parks none."
	                   : "PUNTED-AND-PARKED says why the kernel used workers.");
	finding_show(out, "aio_helpers_parked_mean", helpers);
	finding_show(out, "io_wq_parked_mean", workers);
	finding_show(out, "threads_max", watch_number(kind, "threads_max"));
	finding_show(out, "workers_limit", limit);
}

/* On connections that the process itself has opened, while more clients than threads wait. */
static bool crew_calls(const json_t *crew)
{
	const double threads = watch_number(crew, "threads_now");

	return watch_number(crew, "on_calls_now") >= threads &&
	       watch_number(crew, "clients_now") > threads;
}

/* All of the crew are inside calls and none was ever waiting for work; or it was seen as a pool,
 * with a place to idle, and hardly ever idled. Threads of which each has its connection look the
 * same, but sleep in sockets and pipes: only what sleeps in files, or in calls of its own while
 * clients wait, is judged. */
static bool crew_exhausted(const json_t *crew)
{
	const double threads = watch_number(crew, "threads_now");
	const double alive = watch_number(crew, "alive_ns"), futex = watch_number(crew, "futex_ns");
	const double parked = watch_number(crew, "parked_direct_ns");
	const bool calls = crew_calls(crew);

	if (threads < 2 || json_is_true(json_object_get(crew, "of_c_library")) ||
	    !(calls || watch_number(crew, "on_files_now") >= threads))
		return false;
	if (watch_number(crew, "whole_window") == threads)
		return true;
	return (calls || futex > 0) && futex < 0.02 * alive && parked > 0.8 * alive;
}

/* Where most of the parked threads of the application are: "openat of fifo /tmp/f". */
static void say_place(const struct watch_facts *f, struct finding *out)
{
	const json_t *places = json_object_get(f->watch, "places"), *place;
	size_t i;

	json_array_foreach(places, i, place)
	{
		const json_t *object = json_object_get(place, "object");
		const char *kind = watch_string(place, "kind");

		if (strcmp(watch_string(place, "state"), "parked-direct") != 0 ||
		    (strcmp(kind, "application") != 0 && strcmp(kind, "pool") != 0) ||
		    watch_number(place, "threads_now") < 2)
			continue;
		finding_say(out, " They are in %s", watch_string(place, "syscall"));
		if (object)
			finding_say(out, " of a %s", watch_string(object, "type"));
		finding_say(out, ".");
		return;
	}
}

void watch_pool_exhausted(const struct watch_facts *f, struct finding *out)
{
	const json_t *crews = json_object_get(f->watch, "crews"), *crew;
	char name[80];
	size_t i;

	json_array_foreach(crews, i, crew)
	{
		const double threads = watch_number(crew, "threads_now");

		if (!crew_exhausted(crew) || threads >= f->threads)
			continue;
		out->raised = f->lost > 0 ? WITHHELD : RAISED;
		out->severity = "crit";
		out->confidence = "likely";
		finding_say(out,
		            "%s of %s threads of one pool (%s) were parked inside calls, and none "
		            "was free: whatever is handed to the pool waits.",
		            format_count(watch_number(crew, "parked_now")).text,
		            format_count(threads).text,
		            format_name(name, sizeof name, watch_string(crew, "name"), 15, true));
		if (crew_calls(crew))
			finding_say(out,
			            " They wait on connections that the process itself has opened, "
			            "while it has %s clients.",
			            format_count(watch_number(crew, "clients_now")).text);
		else
			say_place(f, out);
		finding_advise(out, "A larger pool moves the limit; calls that may wait for ever "
		                    "belong in a pool of their own, or in the event loop.");
		finding_show(out, "threads", threads);
		finding_show(out, "parked_now", watch_number(crew, "parked_now"));
		finding_show(out, "whole_window", watch_number(crew, "whole_window"));
		return;
	}
}

/* The most that one file was served at a time, over the window. */
static double served_per_file(const struct watch_facts *f)
{
	const json_t *places = json_object_get(f->watch, "places"), *place;
	double most = 0;
	size_t i;

	json_array_foreach(places, i, place)
	{
		const double mean = watch_number(place, "parked_ns") / f->window_ns;

		if (strcmp(watch_string(place, "kind"), "aio-helper") == 0 &&
		    strcmp(watch_string(place, "state"), "parked-direct") == 0 && mean > most)
			most = mean;
	}
	return most;
}

void watch_serial_per_file(const struct watch_facts *f, struct finding *out)
{
	const json_t *helper = watch_kind(f, "aio-helper");
	const double alive = watch_number(helper, "alive_ns");
	const double busy = alive - watch_number(helper, "unseen_ns");
	const double per_file = served_per_file(f);
	const bool one = watch_number(helper, "threads_max") == 1;
	const double asked = watch_number(
	    json_object_get(json_object_get(f->watch, "in_flight"), "posix_aio"), "per_file_max");

	if (!(busy >= 0.4 * alive) || watch_number(helper, "parks") < 20 ||
	    !(one || (per_file >= 0.2 && per_file <= 1.02)))
		return;
	out->raised = RAISED;
	out->severity = "warn";
	out->confidence = "likely";
	finding_say(out, "POSIX AIO serves a file by one thread, one request after the other.");
	if (asked > 0)
		finding_say(out, " Asked for one file: up to %s at a time, served: 1.",
		            format_count(asked).text);
	else
		finding_say(out, " How many were asked for at a time could not be told.");
	finding_advise(out, "io_uring and libaio serve one file at depth; POSIX AIO only several "
	                    "files.");
	finding_show(out, "helpers_max", watch_number(helper, "threads_max"));
	finding_show(out, "helper_busy_share", busy / alive);
	finding_show(out, "asked_per_file_max", asked);
	finding_show(out, "served_per_file_mean", per_file);
}
