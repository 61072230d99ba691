/* The finding about an open loop: whether the requests kept to their schedule. */
#include "analysis/rules.h"

#include <math.h>

/* What a Poisson process leaves out by chance: three deviations. */
static double chance(double expected)
{
	return 3 * sqrt(expected);
}

void rule_behind_schedule(const struct facts *f, struct finding *out)
{
	const struct summary *s = &f->summary;
	const double expected = f->run.rate_per_s * f->run.window_ns / 1e9;
	const bool fewer = f->run.operations < 0.9 * expected - chance(expected);
	const bool late = f->run.unfinished_oldest_ns > 1e8 &&
	                  f->run.unfinished_oldest_ns > 10 * s->latency_p50_ns;
	/* much more than the request itself took, for one in a hundred */
	const bool waited = s->latency_scheduled_p99_ns > 1e8 &&
	                    s->latency_scheduled_p99_ns > 10 * s->latency_p50_ns;

	if (!(f->run.rate_per_s > 0) || !(fewer || late || waited))
		return;
	out->raised = RAISED;
	out->severity = fewer || late ? "warn" : "info";
	out->confidence = "sure";
	finding_say(out,
	            "Requests did not keep to their schedule: %s per s were to arrive, %s per s "
	            "ended. From its scheduled moment a request took %s (p99), from its submission "
	            "%s",
	            format_count(f->run.rate_per_s).text, format_count(s->iops).text,
	            format_time(s->latency_scheduled_p99_ns).text,
	            format_time(s->latency_p99_ns).text);
	if (f->run.unfinished_oldest_ns > 0)
		finding_say(out, "; at the end of the window the oldest one open was due %s before",
		            format_time(f->run.unfinished_oldest_ns).text);
	finding_say(out, ".");
	finding_advise(out,
	               "Something stood still, or %s in flight are too few for that rate: "
	               "--depth times the rate's gap is the time that a request may take.",
	               format_count(f->run.depth).text);
	finding_show(out, "rate_per_s", f->run.rate_per_s);
	finding_show(out, "iops", s->iops);
	finding_show(out, "latency_scheduled_p99_ns", s->latency_scheduled_p99_ns);
	finding_show(out, "latency_submitted_p99_ns", s->latency_p99_ns);
	finding_show(out, "unfinished_oldest_ns", f->run.unfinished_oldest_ns);
}
