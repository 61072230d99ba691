/*
 * Derived quantities. Each is a quotient of measured sums over one window, so that requests in
 * flight at its edges count with the part that lies in it.
 */
#include "analysis/summary.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>

double quotient(double a, double b)
{
	const double q = a / b;

	return b > 0 && isfinite(q) ? q : NAN;
}

/* A kind that had no thread was not parked, whatever its fields say. */
static bool kind_is_empty(const struct view_kind *kind)
{
	return !kind->present || kind->alive_ns == 0 ||
	       (isnan(kind->alive_ns) && kind->threads_max == 0);
}

double kind_parked_ns(const struct view_kind *kind)
{
	if (kind_is_empty(kind))
		return 0;
	return kind->state_ns[VIEW_PARKED_DIRECT] + kind->state_ns[VIEW_PARKED_WAITER] +
	       kind->state_ns[VIEW_PARKED_ON_RESULT];
}

double kind_held_ns(const struct view_kind *kind)
{
	if (kind_is_empty(kind))
		return 0;
	return kind_parked_ns(kind) + kind->in_call_running_ns + kind->in_call_runnable_ns;
}

double probe_mean(const struct view_probe *probe, const struct run_view *view, double time_ns)
{
	return quotient(time_ns, isnan(probe->window_ns) ? view->window_ns : probe->window_ns);
}

/* One value that was not measured makes the sum unknown. */
static double kinds_sum(const struct view_probe *probe, double (*of)(const struct view_kind *))
{
	double sum = 0;

	for (size_t k = 0; k < VIEW_KIND_COUNT; k++)
		sum += of(&probe->kinds[k]);
	return sum;
}

double probe_parked_ns(const struct view_probe *probe)
{
	return kinds_sum(probe, kind_parked_ns);
}

double probe_held_ns(const struct view_probe *probe)
{
	return kinds_sum(probe, kind_held_ns);
}

static double kind_parks(const struct view_kind *kind)
{
	return kind_is_empty(kind) ? 0 : kind->parks;
}

/* The lower bound of the bucket that holds the request of that rank, within min ... max. */
static double histogram_percentile(const json_t *histogram, double share)
{
	const json_t *buckets = json_object_get(histogram, "buckets"), *bucket;
	const json_t *min = json_object_get(histogram, "min"),
		     *max = json_object_get(histogram, "max");
	double total = 0, seen = 0;
	size_t i;

	json_array_foreach((json_t *)buckets, i, bucket)
	    total += json_number_value(json_array_get(bucket, 1));
	if (!(total > 0))
		return NAN;
	const double rank = ceil(share * total);
	json_array_foreach((json_t *)buckets, i, bucket)
	{
		double lower = json_number_value(json_array_get(bucket, 0));

		seen += json_number_value(json_array_get(bucket, 1));
		if (seen < rank)
			continue;
		if (json_is_number(min) && lower < json_number_value(min))
			lower = json_number_value(min);
		if (json_is_number(max) && lower > json_number_value(max))
			lower = json_number_value(max);
		return lower;
	}
	return NAN;
}

static double histogram_edge(const json_t *histogram, const char *edge)
{
	const json_t *value = json_object_get(histogram, edge);

	/* the edges of an empty histogram mean nothing */
	return json_is_number(value) && !isnan(histogram_percentile(histogram, 0.5))
	           ? json_number_value(value)
	           : NAN;
}

static void latency_compute(struct summary *s, const struct run_view *v)
{
	s->latency_p50_ns = histogram_percentile(v->latency_submitted, 0.5);
	s->latency_p90_ns = histogram_percentile(v->latency_submitted, 0.9);
	s->latency_p99_ns = histogram_percentile(v->latency_submitted, 0.99);
	s->latency_p999_ns = histogram_percentile(v->latency_submitted, 0.999);
	s->latency_min_ns = histogram_edge(v->latency_submitted, "min");
	s->latency_max_ns = histogram_edge(v->latency_submitted, "max");
	s->latency_scheduled_p50_ns = histogram_percentile(v->latency_scheduled, 0.5);
	s->latency_scheduled_p99_ns = histogram_percentile(v->latency_scheduled, 0.99);
	s->latency_scheduled_max_ns = histogram_edge(v->latency_scheduled, "max");
}

/* Where a library hides its threads, what they were doing tells how many requests it served. */
static double served_mean(const struct run_view *v)
{
	const struct view_probe *probe = view_headline(v);

	if (!isnan(v->served_ns) || !probe || !probe->kinds[VIEW_AIO_HELPER].present)
		return quotient(v->served_ns, v->window_ns);
	return probe_mean(probe, v, probe->kinds[VIEW_AIO_HELPER].called_ns);
}

static void threads_compute(struct summary *s, const struct run_view *v)
{
	const struct view_probe *probe = view_headline(v);

	s->in_flight_mean = quotient(v->in_flight_ns, v->window_ns);
	s->served_mean = served_mean(v);
	s->not_served_mean = s->in_flight_mean - s->served_mean;
	if (s->not_served_mean < 0)
		s->not_served_mean = 0;
	if (!probe)
		return;
	s->threads_parked_mean = probe_mean(probe, v, probe_parked_ns(probe));
	s->threads_held_mean = probe_mean(probe, v, probe_held_ns(probe));
	s->parked_per_in_flight = quotient(s->threads_parked_mean, s->in_flight_mean);
	s->held_per_in_flight = quotient(s->threads_held_mean, s->in_flight_mean);
	s->parked_per_served = quotient(s->threads_parked_mean, s->served_mean);
	s->held_per_served = quotient(s->threads_held_mean, s->served_mean);
	s->parks_per_operation = quotient(kinds_sum(probe, kind_parks), v->operations);
	s->nobody_parked_share = quotient(probe->completions_nobody_parked, probe->completions);
	s->block_requests_per_operation = quotient(probe->block_requests, v->operations);
	s->borrowed_ns_per_operation = quotient(probe->borrowed_ns[VIEW_FROM_IDLE] +
	                                            probe->borrowed_ns[VIEW_FROM_SUBJECT] +
	                                            probe->borrowed_ns[VIEW_FROM_OTHER],
	                                        v->operations);
}

#define FIELD(name)                                                                                \
	{                                                                                          \
#name, offsetof(struct summary, name)                                              \
	}
static const struct {
	const char *name;
	size_t offset;
} fields[] = {
    FIELD(iops),
    FIELD(bytes_per_s),
    FIELD(latency_p50_ns),
    FIELD(latency_p90_ns),
    FIELD(latency_p99_ns),
    FIELD(latency_p999_ns),
    FIELD(latency_min_ns),
    FIELD(latency_max_ns),
    FIELD(latency_scheduled_p50_ns),
    FIELD(latency_scheduled_p99_ns),
    FIELD(latency_scheduled_max_ns),
    FIELD(in_flight_mean),
    FIELD(served_mean),
    FIELD(not_served_mean),
    FIELD(threads_parked_mean),
    FIELD(threads_held_mean),
    FIELD(parked_per_in_flight),
    FIELD(held_per_in_flight),
    FIELD(parked_per_served),
    FIELD(held_per_served),
    FIELD(cpu_mean),
    FIELD(cpu_ns_per_operation),
    FIELD(parks_per_operation),
    FIELD(nobody_parked_share),
    FIELD(block_requests_per_operation),
    FIELD(borrowed_ns_per_operation),
    FIELD(compute_speed_ratio),
};
_Static_assert(sizeof fields / sizeof fields[0] == SUMMARY_FIELD_COUNT, "every field is named");

const char *summary_field_name(size_t i)
{
	return fields[i].name;
}

double *summary_field(struct summary *s, size_t i)
{
	return (double *)((char *)s + fields[i].offset);
}

void summary_compute(struct summary *s, const struct run_view *v)
{
	for (size_t i = 0; i < SUMMARY_FIELD_COUNT; i++)
		*summary_field(s, i) = NAN;
	if (view_has_failed(v) || v->status == VIEW_SKIPPED)
		return;
	s->iops = quotient(v->operations, v->window_ns / 1e9);
	s->bytes_per_s = quotient(v->bytes, v->window_ns / 1e9);
	s->cpu_mean = quotient(v->cpu_user_ns + v->cpu_system_ns, v->window_ns);
	s->cpu_ns_per_operation = quotient(v->cpu_user_ns + v->cpu_system_ns, v->operations);
	s->compute_speed_ratio = quotient(v->compute_units_per_s, v->compute_units_per_s_alone);
	latency_compute(s, v);
	threads_compute(s, v);
}

json_t *json_from_number(double number)
{
	if (!isfinite(number))
		return json_null();
	if (number == floor(number) && fabs(number) < 9e15)
		return json_integer((json_int_t)number);
	return json_real(number);
}

int summary_add(json_t *run, char why[RUN_WHY_SIZE])
{
	struct run_view view;
	struct summary summary;
	const int status = run_view_read(&view, run, why);

	if (status)
		return status;
	summary_compute(&summary, &view);
	json_t *object = json_object();
	for (size_t i = 0; object && i < SUMMARY_FIELD_COUNT; i++)
		if (json_object_set_new(object, fields[i].name,
		                        json_from_number(*summary_field(&summary, i))) != 0) {
			json_decref(object);
			object = NULL;
		}
	if (!object || json_object_set_new(run, "summary", object) != 0) {
		snprintf(why, RUN_WHY_SIZE, "no memory for the summary of a run");
		return -ENOMEM;
	}
	return 0;
}
