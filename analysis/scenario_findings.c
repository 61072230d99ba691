/* The findings of a case: who was held for its calls, and whose threads those were. */
#include <math.h>
#include <string.h>

#include "analysis/rules.h"
#include "analysis/scenario_view.h"

/* What the rules read. */
struct case_facts {
	const json_t *result;
	const char *probe; /* its name, or NULL: there was none */
	double lost;
	double in_flight_mean, held_mean, parked_mean, held_per_in_flight;
	double held[VIEW_KIND_COUNT]; /* of threads, on average */
	double on_result_mean;
};

static double number_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

static double held_of(const json_t *kind)
{
	static const char *const parts[] = {"parked_direct_ns", "parked_waiter_ns",
	                                    "parked_on_result_ns", "in_call_running_ns",
	                                    "in_call_runnable_ns"};
	double sum = 0;

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		sum += number_of(kind, parts[i]);
	return sum;
}

static void gather(struct case_facts *f, const json_t *result)
{
	const json_t *probe = json_array_get(json_object_get(result, "probes"), 0), *kind;
	const double window = scenario_number_at(result, "measured", "window_ns");
	size_t i;

	*f = (struct case_facts){
	    .result = result,
	    .probe = json_string_value(json_object_get(probe, "probe")),
	    .lost = number_of(probe, "lost"),
	    .in_flight_mean = scenario_number_at(result, "summary", "in_flight_mean"),
	    .held_mean = scenario_number_at(result, "summary", "threads_held_mean"),
	    .parked_mean = scenario_number_at(result, "summary", "threads_parked_mean"),
	    .held_per_in_flight = scenario_number_at(result, "summary", "held_per_in_flight"),
	};
	json_array_foreach((json_t *)json_object_get(probe, "kinds"), i, kind)
	{
		const char *name = json_string_value(json_object_get(kind, "kind"));

		f->on_result_mean += quotient(number_of(kind, "parked_on_result_ns"), window);
		for (size_t k = 0; name && k < VIEW_KIND_COUNT; k++)
			if (strcmp(name, view_kind_names[k]) == 0)
				f->held[k] = quotient(held_of(kind), window);
	}
}

static void show_means(const struct case_facts *f, struct finding *out)
{
	finding_show(out, "in_flight_mean", f->in_flight_mean);
	finding_show(out, "threads_held_mean", f->held_mean);
	finding_show(out, "held_per_in_flight", f->held_per_in_flight);
}

static void rule_waiter(const struct case_facts *f, struct finding *out)
{
	if (!(f->in_flight_mean >= 2) || !(f->held_mean <= 1.05) || !(f->held_mean > 0))
		return;
	out->raised = RAISED;
	finding_say(out,
	            "One thread waited for %s calls (%s held on average). A thread per call would "
	            "have held %s.",
	            format_amount(f->in_flight_mean).text, format_mean(f->held_mean).text,
	            format_amount(f->in_flight_mean).text);
	show_means(f, out);
}

static void rule_thread_per_call(const struct case_facts *f, struct finding *out)
{
	const double own = f->held[VIEW_APPLICATION] + f->held[VIEW_POOL];

	if (!(f->held_per_in_flight >= 0.95 && f->held_per_in_flight <= 1.05) ||
	    !(own >= 0.9 * f->held_mean))
		return;
	out->raised = RAISED;
	finding_say(out,
	            "Every call held a thread of its own: %s threads were held (%s parked) for %s "
	            "calls in flight.",
	            format_amount(f->held_mean).text, format_amount(f->parked_mean).text,
	            format_amount(f->in_flight_mean).text);
	show_means(f, out);
}

/* How many of that name were seen at once. */
static double seen_of(const struct case_facts *f, const char *name)
{
	return number_of(json_object_get(json_object_get(f->result, "measured"), "threads_by_name"),
	                 name);
}

static void rule_hidden(const struct case_facts *f, struct finding *out)
{
	static const size_t hidden[] = {VIEW_HELPER, VIEW_AIO_HELPER, VIEW_IO_WQ};
	size_t k = hidden[0];
	char safe[40];

	for (size_t i = 1; i < sizeof hidden / sizeof *hidden; i++)
		if (f->held[hidden[i]] > f->held[k])
			k = hidden[i];
	if (!(f->held[k] >= 0.5))
		return;
	const json_t *names = json_object_get(json_object_get(f->result, "measured"),
	                                      "names_by_kind");
	const char *name = json_string_value(json_object_get(names, view_kind_names[k]));
	out->raised = RAISED;
	out->severity = "warn";
	finding_say(out,
	            "Threads that the program did not ask for were held for its calls: %s %s "
	            "threads on average, for %s calls in flight.",
	            format_amount(f->held[k]).text, view_kind_names[k],
	            format_amount(f->in_flight_mean).text);
	if (name)
		finding_say(out, " They are named '%s': %s were seen at once.",
		            format_name(safe, sizeof safe, name, 15, true),
		            format_count(seen_of(f, name)).text);
	finding_advise(out, "A future does not make a blocking call asynchronous: it hides where "
	                    "the thread is parked. Wait for many calls in one place, by a ring or "
	                    "an epoll set.");
	finding_show(out, "threads_hidden_held_mean", f->held[k]);
	show_means(f, out);
}

static void rule_on_result(const struct case_facts *f, struct finding *out)
{
	if (!(f->on_result_mean >= 0.2) || !(f->on_result_mean >= 0.2 * f->held_mean))
		return;
	out->raised = RAISED;
	out->severity = "warn";
	finding_say(out,
	            "Threads waited for the results of calls that others had been given: %s on "
	            "average. Such a thread is held all the same.",
	            format_amount(f->on_result_mean).text);
	finding_advise(out, "Let the result go on with the work (a callback, a coroutine), instead "
	                    "of waiting for it.");
	finding_show(out, "parked_on_result_mean", f->on_result_mean);
	show_means(f, out);
}

static void rule_loss(const struct case_facts *f, struct finding *out)
{
	if (!(f->lost > 0))
		return;
	out->raised = RAISED;
	finding_say(out, "The probe lost %s events; each can misstate one thread.",
	            format_count(f->lost).text);
	finding_show(out, "lost", f->lost);
}

static const struct {
	const char *tag, *class;
	void (*rule)(const struct case_facts *f, struct finding *out);
} rules[] = {
    {"ONE-WAITER", "answer", rule_waiter},
    {"THREAD-PER-IO", "answer", rule_thread_per_call},
    {"HIDDEN-WORKERS", "problem", rule_hidden},
    {"SYNC-OVER-ASYNC", "problem", rule_on_result},
    {"LOSS", "limit", rule_loss},
};

json_t *scenario_findings(const json_t *result)
{
	json_t *findings = json_array();
	struct case_facts f;

	gather(&f, result);
	for (size_t i = 0; f.probe && i < sizeof rules / sizeof *rules; i++) {
		struct finding found = {
		    .raised = NOT_RAISED,
		    .severity = "info",
		    .confidence = strcmp(f.probe, "bpf") == 0 && !(f.lost > 0) ? "sure" : "likely"};

		rules[i].rule(&f, &found);
		if (found.raised == RAISED)
			json_array_append_new(findings,
			                      finding_json(&found, rules[i].tag, rules[i].class));
	}
	return findings;
}
