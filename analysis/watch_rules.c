/*
 * Rules of a watch that answer: who was parked for what was in flight, and what only seems so.
 */
#include <math.h>
#include <string.h>

#include "analysis/watch.h"

enum { ENOUGH_REQUESTS = 20 };

static double parked_all(const struct watch_facts *f)
{
	double sum = f->waiting;

	for (size_t k = 0; k < VIEW_KIND_COUNT; k++)
		sum += f->parked[k];
	return sum;
}

void watch_no_thread(const struct watch_facts *f, struct finding *out)
{
	const double parked = parked_all(f);

	if (!(f->disk_mean >= 0.5) || !(f->disk_requests >= 5 * ENOUGH_REQUESTS) ||
	    parked > 0.01 * f->disk_mean || parked > 0.05 || f->unseen > 0.01)
		return;
	out->raised = f->lost > 0 ? WITHHELD : RAISED;
	finding_say(out,
	            "%s requests were on the disk at a time, and no thread was parked for them.",
	            format_amount(f->disk_mean).text);
	finding_show(out, "disk_in_flight_mean", f->disk_mean);
	finding_show(out, "threads_parked_mean", parked);
}

void watch_one_waiter(const struct watch_facts *f, struct finding *out)
{
	if (!(f->disk_mean >= 1.5) || !(f->disk_requests >= ENOUGH_REQUESTS) || f->waiting < 0.1 ||
	    f->waiting > 1.05 || f->waiting > 0.7 * f->disk_mean ||
	    parked_all(f) > 1.2 * f->waiting)
		return;
	out->raised = RAISED;
	finding_say(out,
	            "%s threads waited for %s requests on the disk: each of them for whichever "
	            "ends next.",
	            format_amount(f->waiting).text, format_amount(f->disk_mean).text);
	finding_show(out, "threads_waiting_mean", f->waiting);
	finding_show(out, "disk_in_flight_mean", f->disk_mean);
}

void watch_thread_per_io(const struct watch_facts *f, struct finding *out)
{
	if (!(f->disk_requests >= ENOUGH_REQUESTS) || f->on_files < 0.2 ||
	    f->on_files < 0.4 * f->disk_mean)
		return;
	out->raised = RAISED;
	finding_say(out,
	            "Each request has a thread of its own: %s threads were parked inside the call "
	            "that transfers, while %s requests were on the disk.",
	            format_amount(f->on_files).text, format_amount(f->disk_mean).text);
	finding_show(out, "threads_parked_mean", f->on_files);
	finding_show(out, "disk_in_flight_mean", f->disk_mean);
	finding_show(out, "parked_per_in_flight", f->on_files / f->disk_mean);
}

void watch_not_parked(const struct watch_facts *f, struct finding *out)
{
	if (!(f->punted >= ENOUGH_REQUESTS) || f->parked[VIEW_IO_WQ] > 0.01)
		return;
	out->raised = RAISED;
	finding_say(out,
	            "io_uring handed %s of %s requests to its workers, and these hardly slept in "
	            "them: punted is not parked.",
	            format_count(f->punted).text, format_count(f->submitted).text);
	finding_show(out, "punted", f->punted);
	finding_show(out, "submitted", f->submitted);
	finding_show(out, "workers_parked_mean", f->parked[VIEW_IO_WQ]);
}

void watch_iowait(const struct watch_facts *f, struct finding *out)
{
	const double iowait = watch_number(f->watch, "threads_iowait_now");

	if (!(iowait >= 1) || f->disk_requests != 0 || f->on_files > 0.01)
		return;
	out->raised = RAISED;
	finding_say(out,
	            "%s of its threads sleep as iowait, while it has no request on the disk: they "
	            "wait on a ring. The system's iowait says nothing of a disk here.",
	            format_count(iowait).text);
	finding_show(out, "threads_iowait", iowait);
	finding_show(out, "disk_requests", f->disk_requests);
}

/* Rows whose threads wait in a ring or an epoll set through the whole window. */
static double idle_waiters(const struct watch_facts *f)
{
	const json_t *places = json_object_get(f->watch, "places"), *place;
	double count = 0;
	size_t i;

	json_array_foreach(places, i, place)
	{
		const char *call = watch_string(place, "syscall");

		if (strcmp(call, "io_uring_enter") == 0 || strncmp(call, "epoll_", 6) == 0)
			count += watch_number(place, "whole_window");
	}
	return count;
}

void watch_idle_waiter(const struct watch_facts *f, struct finding *out)
{
	const double count = idle_waiters(f);

	if (count < 1 || f->disk_requests != 0 || f->submitted > 0)
		return;
	out->raised = RAISED;
	out->confidence = "likely";
	finding_say(out,
	            "%s waited through the whole window in epoll or on a ring and was never woken, "
	            "with nothing on the disk: idle, or armed for what did not come.",
	            count > 1 ? "Threads" : "A thread");
	finding_show(out, "threads", count);
}
