/*
 * What follows from the numbers of one run: rates, percentiles, threads per request.
 *
 * NaN stands for a quantity that cannot be told: something it needs was not measured, its divisor
 * is 0, or the run failed (a run that failed has no figures). It is null in JSON.
 */
#ifndef IOSTUDY_SUMMARY_H
#define IOSTUDY_SUMMARY_H

#include "analysis/run_view.h"

struct summary {
	double iops, bytes_per_s;
	/* from the histogram: the lower bound of the bucket in which the percentile lies */
	double latency_p50_ns, latency_p90_ns, latency_p99_ns, latency_p999_ns;
	double latency_min_ns, latency_max_ns;
	double latency_scheduled_p50_ns, latency_scheduled_p99_ns, latency_scheduled_max_ns;
	double in_flight_mean, served_mean, not_served_mean; /* not served: waiting for a worker */
	double threads_parked_mean, threads_held_mean;
	double parked_per_in_flight, held_per_in_flight, parked_per_served, held_per_served;
	double cpu_mean, cpu_ns_per_operation, parks_per_operation;
	double nobody_parked_share; /* of the completions that the probe saw */
	double block_requests_per_operation, borrowed_ns_per_operation;
	double compute_speed_ratio; /* with I/O, against the same without */
};

enum { SUMMARY_FIELD_COUNT = sizeof(struct summary) / sizeof(double) };

/* The fields by number, for whoever treats them alike. */
double *summary_field(struct summary *summary, size_t i);
const char *summary_field_name(size_t i);

/* parked, and held: the time of all threads of a kind, or NaN. */
double kind_parked_ns(const struct view_kind *kind);
double kind_held_ns(const struct view_kind *kind);

/* The same of all threads that a probe saw. */
double probe_parked_ns(const struct view_probe *probe);
double probe_held_ns(const struct view_probe *probe);

/* A time that the probe counted, as a mean over its window. */
double probe_mean(const struct view_probe *probe, const struct run_view *view, double time_ns);

/* a / b, or NaN. */
double quotient(double a, double b);

void summary_compute(struct summary *summary, const struct run_view *view);

/* Sets "summary" of the run. 0, or -EINVAL (the run cannot be read) or -ENOMEM, with why. */
int summary_add(json_t *run, char why[RUN_WHY_SIZE]);

/* A number for JSON: whole numbers as integers, NaN and infinity as null. */
json_t *json_from_number(double number);

#endif
