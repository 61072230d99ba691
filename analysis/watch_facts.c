/* The figures of one watch that the rules read: see watch.h. */
#include <math.h>
#include <string.h>

#include "analysis/watch.h"

double watch_number(const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

const char *watch_string(const json_t *object, const char *name)
{
	const char *value = json_string_value(json_object_get(object, name));

	return value ? value : "";
}

const json_t *watch_kind(const struct watch_facts *f, const char *kind)
{
	const json_t *kinds = json_object_get(
	    json_array_get(json_object_get(f->watch, "probes"), 0), "kinds");
	const json_t *one;
	size_t i;

	json_array_foreach(kinds, i, one)
	{
		if (strcmp(watch_string(one, "kind"), kind) == 0)
			return one;
	}
	return NULL;
}

static void gather_kinds(struct watch_facts *f)
{
	static const char *const names[VIEW_KIND_COUNT] = {
	    [VIEW_APPLICATION] = "application", [VIEW_POOL] = "pool",
	    [VIEW_AIO_HELPER] = "aio-helper",   [VIEW_IO_WQ] = "io-wq",
	    [VIEW_SQPOLL] = "sqpoll",           [VIEW_HELPER] = "helper",
	};

	for (size_t k = 0; k < VIEW_KIND_COUNT; k++) {
		const json_t *kind = watch_kind(f, names[k]);

		if (!kind)
			continue;
		f->threads += watch_number(kind, "threads_now");
		f->parked[k] = watch_number(kind, "parked_direct_ns") / f->window_ns;
		f->waiting += watch_number(kind, "parked_waiter_ns") / f->window_ns;
		f->idle += watch_number(kind, "idle_ns") / f->window_ns;
		f->unseen += watch_number(kind, "unseen_ns") / f->window_ns;
	}
}

static void gather_places(struct watch_facts *f)
{
	const json_t *places = json_object_get(f->watch, "places"), *place;
	size_t i;

	json_array_foreach(places, i, place)
	{
		const char *kind = watch_string(place, "kind");
		const char *type = watch_string(json_object_get(place, "object"), "type");

		if (strcmp(watch_string(place, "state"), "parked-direct") == 0 &&
		    (strcmp(kind, "application") == 0 || strcmp(kind, "pool") == 0) &&
		    (strcmp(type, "file") == 0 || strcmp(type, "device") == 0))
			f->on_files += watch_number(place, "parked_ns") / f->window_ns;
	}
}

void watch_facts_gather(struct watch_facts *f, const json_t *watch)
{
	const json_t *in_flight = json_object_get(watch, "in_flight");
	const json_t *disk = json_object_get(in_flight, "disk");
	const json_t *ring = json_object_get(in_flight, "io_uring");

	*f = (struct watch_facts){.watch = watch};
	f->window_ns = watch_number(watch, "window_ns");
	f->cpus = watch_number(json_object_get(watch, "environment"), "cpus");
	f->sampled = strcmp(
			 watch_string(json_array_get(json_object_get(watch, "probes"), 0), "probe"),
			 "proc") == 0;
	f->lost = watch_number(json_object_get(watch, "lost"), "events");
	f->disk_mean = watch_number(disk, "mean");
	f->disk_requests = watch_number(disk, "requests");
	f->submitted = watch_number(ring, "submitted");
	f->punted = watch_number(ring, "punted");
	gather_kinds(f);
	gather_places(f);
}
