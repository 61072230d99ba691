/* What follows from the numbers of a case: see scenario_view.h. */
#include "analysis/scenario_view.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "analysis/statistics.h"
#include "analysis/summary.h"

double scenario_number_at(const json_t *result, const char *part, const char *name)
{
	const json_t *value = json_object_get(json_object_get(result, part), name);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

const char *scenario_string_at(const json_t *result, const char *part, const char *name)
{
	const char *text = json_string_value(json_object_get(json_object_get(result, part), name));

	return text ? text : "";
}

/* Sums of the first probe over all its kinds; NaN without one. */
static double probe_sum(const json_t *result, const char *const *names)
{
	const json_t *probe = json_array_get(json_object_get(result, "probes"), 0), *kind;
	double sum = probe ? 0 : NAN;
	size_t i;

	json_array_foreach((json_t *)json_object_get(probe, "kinds"), i, kind)
	{
		for (const char *const *name = names; *name; name++) {
			const json_t *value = json_object_get(kind, *name);

			sum += json_is_number(value) ? json_number_value(value) : NAN;
		}
	}
	return sum;
}

static double percentile(const json_t *latency, double share)
{
	const json_t *buckets = json_object_get(latency, "buckets"), *bucket;
	double all = 0, below = 0;
	size_t i;

	json_array_foreach((json_t *)buckets, i, bucket)
	    all += json_number_value(json_array_get(bucket, 1));
	json_array_foreach((json_t *)buckets, i, bucket)
	{
		below += json_number_value(json_array_get(bucket, 1));
		if (below >= share * all)
			return json_number_value(json_array_get(bucket, 0));
	}
	return NAN;
}

static json_t *summary_of(const json_t *result)
{
	static const char *const parked[] = {"parked_direct_ns", "parked_waiter_ns",
	                                     "parked_on_result_ns", NULL};
	static const char *const in_call[] = {"in_call_running_ns", "in_call_runnable_ns", NULL};
	const json_t *latency = json_object_get(json_object_get(result, "measured"), "latency_ns");
	const double window = scenario_number_at(result, "measured", "window_ns");
	const double calls = scenario_number_at(result, "measured", "calls");
	const double failed = scenario_number_at(result, "measured", "failed");
	const double in_flight = scenario_number_at(result, "measured", "in_flight_ns");
	const double parked_ns = probe_sum(result, parked);
	const double held_ns = parked_ns + probe_sum(result, in_call);

	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "success_share",
	                 json_from_number(quotient(calls - failed, calls)), "latency_p50_ns",
	                 json_from_number(percentile(latency, 0.5)), "latency_p90_ns",
	                 json_from_number(percentile(latency, 0.9)), "latency_p99_ns",
	                 json_from_number(percentile(latency, 0.99)), "in_flight_mean",
	                 json_from_number(quotient(in_flight, window)), "threads_parked_mean",
	                 json_from_number(quotient(parked_ns, window)), "threads_held_mean",
	                 json_from_number(quotient(held_ns, window)), "parked_per_in_flight",
	                 json_from_number(quotient(parked_ns, in_flight)), "held_per_in_flight",
	                 json_from_number(quotient(held_ns, in_flight)));
}

int scenario_conclude(json_t *result)
{
	const bool measured = json_is_object(json_object_get(result, "measured"));
	json_t *summary = measured ? summary_of(result) : json_null();

	if (json_object_set_new(result, "summary", summary) != 0)
		return -ENOMEM;
	return json_object_set_new(result, "findings", scenario_findings(result)) ? -ENOMEM : 0;
}
