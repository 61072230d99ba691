/* The figures of expectations: see expectation_figures.h. */
#include "analysis/expectation_figures.h"

#include <math.h>
#include <string.h>

/* What the summary holds already. */
#define FROM_SUMMARY(name, field)                                                                  \
	FIGURE(name)                                                                               \
	{                                                                                          \
		(void)v;                                                                           \
		(void)run;                                                                         \
		return s->field;                                                                   \
	}

FROM_SUMMARY(figure_parks, parks_per_operation)
FROM_SUMMARY(figure_held, held_per_in_flight)
FROM_SUMMARY(figure_parked, parked_per_in_flight)
FROM_SUMMARY(figure_threads_parked, threads_parked_mean)
FROM_SUMMARY(figure_served, served_mean)
FROM_SUMMARY(figure_held_per_served, held_per_served)
FROM_SUMMARY(figure_nobody, nobody_parked_share)
FROM_SUMMARY(figure_rate, iops)
FROM_SUMMARY(figure_block_requests, block_requests_per_operation)

/* CPUs that waited for I/O, as the system counts it. A CPU that worked meanwhile counts none: on a
 * busy machine the figure says nothing. */
FIGURE(figure_iowait)
{
	(void)s;
	(void)run;
	return v->others_cpu_ns < v->window_ns / 4 ? quotient(v->iowait_ns, v->window_ns) : NAN;
}

/* What the first probe counted, of which there may be none. */
#define FROM_PROBE(name, expression)                                                               \
	FIGURE(name)                                                                               \
	{                                                                                          \
		const struct view_probe *p = view_headline(v);                                     \
                                                                                                   \
		(void)s;                                                                           \
		(void)run;                                                                         \
		return p ? (expression) : NAN;                                                     \
	}

static double share(const double *counts, size_t count, size_t of)
{
	double all = 0;

	for (size_t i = 0; i < count; i++)
		all += counts[i];
	return quotient(counts[of], all);
}

FROM_PROBE(figure_posted_interrupt, share(p->posted_in, VIEW_POSTED_COUNT, VIEW_BY_INTERRUPT))
FROM_PROBE(figure_posted_submitter, share(p->posted_in, VIEW_POSTED_COUNT, VIEW_BY_SUBMITTER))
FROM_PROBE(figure_arrived_hardirq, share(p->arrived_in, VIEW_ARRIVED_COUNT, VIEW_IN_HARDIRQ))
FROM_PROBE(figure_arrived_interrupt, 1 - share(p->arrived_in, VIEW_ARRIVED_COUNT, VIEW_IN_TASK))
FROM_PROBE(figure_over_subject, share(p->arrived_over, VIEW_OVER_COUNT, VIEW_OVER_SUBJECT))
FROM_PROBE(figure_sleeps, quotient(p->sleeps.all_count, v->operations))
FROM_PROBE(figure_tag_sleeps, p->sleeps.count[VIEW_CAUSE_TAGS])
FROM_PROBE(figure_punted, quotient(p->workers.punted, p->workers.submitted))
FROM_PROBE(figure_punted_fsync, quotient(p->workers.punted_by[VIEW_PUNT_FSYNC], v->operations))
FROM_PROBE(figure_workers_parked, probe_mean(p, v, p->workers.parked_ns))
FROM_PROBE(figure_worker_parks, quotient(p->workers.parks, v->operations))
FROM_PROBE(figure_sqpoll_running, probe_mean(p, v, p->kinds[VIEW_SQPOLL].state_ns[VIEW_RUNNING]))
FROM_PROBE(figure_pool_parked, probe_mean(p, v, kind_parked_ns(&p->kinds[VIEW_POOL])))

FIGURE(figure_says_page_cache)
{
	const json_t *findings = json_object_get(run, "findings"), *finding;
	size_t i;

	(void)v;
	(void)s;
	json_array_foreach((json_t *)findings, i,
	                   finding) if (name_is(json_string_value(json_object_get(finding, "tag")),
	                                        "PAGE-CACHE")) return 1;
	return 0;
}

FIGURE(figure_refused)
{
	(void)s;
	(void)run;
	return v->status == VIEW_SKIPPED;
}
