/*
 * The table of a watch's rules; what was looked for and not found; what could not be seen.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/watch.h"

static const double short_window_ns = 1e8;

static void rule_nothing(const struct watch_facts *f, struct finding *out)
{
	double parked = f->waiting;

	for (size_t k = 0; k < VIEW_KIND_COUNT; k++)
		parked += f->parked[k];
	if (f->disk_requests > 0 || f->submitted > 0 || parked > 0.001)
		return;
	out->raised = RAISED;
	finding_say(out, "No I/O was seen in the window: nothing can be concluded from it. That is "
	                 "not a sign of health.");
	finding_advise(out,
	               "Watch while the program does what you ask about; -f adds its children.");
	finding_show(out, "window_ns", f->window_ns);
}

static void rule_short(const struct watch_facts *f, struct finding *out)
{
	if (!(f->window_ns < short_window_ns))
		return;
	out->raised = RAISED;
	finding_say(out, "The window was %s: too short to tell what is rare.",
	            format_time(f->window_ns).text);
	finding_show(out, "window_ns", f->window_ns);
}

static const char answer[] = "answer", problem[] = "problem", limit[] = "limit";

/* What a rule looks at; where the probe does not measure it, nothing follows. */
enum { ANY, DISK, RING, SLEEPS, CREWS };

static const struct {
	const char *tag, *class;
	void (*rule)(const struct watch_facts *f, struct finding *out);
	int needs;
} rules[] = {
    {"NO-THREAD", answer, watch_no_thread, DISK},
    {"ONE-WAITER", answer, watch_one_waiter, DISK},
    {"THREAD-PER-IO", answer, watch_thread_per_io, DISK},
    {"PUNTED-NOT-PARKED", answer, watch_not_parked, RING},
    {"IOWAIT-IS-NOT-DISK", answer, watch_iowait, DISK},
    {"IDLE-WAITER", answer, watch_idle_waiter, DISK},
    {"POOL-EXHAUSTED", problem, watch_pool_exhausted, CREWS},
    {"SYNC-OVER-ASYNC", problem, watch_sync_over_async, CREWS},
    {"HIDDEN-WORKERS", problem, watch_hidden_workers, ANY},
    {"SERIAL-PER-FILE", problem, watch_serial_per_file, ANY},
    {"PUNTED-AND-PARKED", problem, watch_punted_parked, RING},
    {"NO-NOWAIT", problem, watch_no_nowait, RING},
    {"TAG-WAIT", problem, watch_tag_wait, SLEEPS},
    {"SUBMIT-BLOCKED", problem, watch_submit_blocked, SLEEPS},
    {"WORKERS-OVER-LIMIT", problem, watch_over_limit, RING},
    {"POLLERS-OVER-CPUS", problem, watch_pollers, ANY},
    {"SPINNING", problem, watch_spinning, ANY},
    {"NOTHING-SEEN", limit, rule_nothing, ANY},
    {"TOO-SHORT", limit, rule_short, ANY},
    {"LOSS", limit, NULL, ANY},
};
enum { RULE_COUNT = sizeof rules / sizeof *rules };

const char *watch_tag(size_t i)
{
	return i < RULE_COUNT ? rules[i].tag : NULL;
}

static void rule_loss(const struct watch_facts *f, const char *withheld, struct finding *out)
{
	if (!(f->lost > 0))
		return;
	out->raised = RAISED;
	out->severity = *withheld ? "warn" : "info";
	finding_say(out, "The probe lost %s %s; each can misstate one thread.",
	            format_count(f->lost).text, f->lost == 1 ? "event" : "events");
	if (*withheld)
		finding_say(out, " Withheld, because that could change them:%s.", withheld);
	finding_show(out, "lost", f->lost);
}

/* What samples of /proc suffice to tell; for the rest nothing was looked for. */
static bool is_judged(const struct watch_facts *f, const char *tag)
{
	static const char *const by_samples[] = {"HIDDEN-WORKERS", "POLLERS-OVER-CPUS", "SPINNING"};

	for (size_t i = 0; i < sizeof by_samples / sizeof *by_samples; i++)
		if (strcmp(by_samples[i], tag) == 0)
			return true;
	return !f->sampled;
}

static bool is_measured(const struct watch_facts *f, int needs)
{
	switch (needs) {
	case DISK:
		return !isnan(f->disk_mean);
	case RING:
		return !isnan(f->submitted);
	case SLEEPS:
		return json_is_array(json_object_get(f->watch, "submitter_sleeps"));
	case CREWS:
		return json_is_array(json_object_get(f->watch, "crews"));
	default:
		return true;
	}
}

/* What was found, and of the problems which were not there and which cannot be told. */
struct conclusions {
	json_t *findings, *checked, *cannot_tell;
	char withheld[300]; /* the tags that a loss withholds */
};

/* In a short window what is there may be a moment's; and what is not there, lost or rare. */
static int conclude_rule(const struct watch_facts *f, struct conclusions *c, size_t i)
{
	struct finding found = {.raised = NOT_RAISED, .severity = "info", .confidence = "sure"};
	const bool is_short = f->window_ns < short_window_ns;
	const size_t length = strlen(c->withheld);

	if (!rules[i].rule)
		rule_loss(f, c->withheld, &found);
	else if (is_measured(f, rules[i].needs))
		rules[i].rule(f, &found);
	if (found.raised == WITHHELD)
		snprintf(c->withheld + length, sizeof c->withheld - length, "%s %s",
		         length ? "," : "", rules[i].tag);
	if (found.raised == RAISED && is_short && rules[i].class != limit) {
		found.confidence = "cannot-tell";
		found.severity = "info";
	}
	if (found.raised == RAISED)
		return json_array_append_new(c->findings,
		                             finding_json(&found, rules[i].tag, rules[i].class));
	if (rules[i].class != problem)
		return 0;
	return json_array_append_new(is_short || f->lost > 0 || !is_measured(f, rules[i].needs) ||
	                                     !is_judged(f, rules[i].tag)
	                                 ? c->cannot_tell
	                                 : c->checked,
	                             json_string(rules[i].tag));
}

static void not_visible_add(json_t *list, const char *format, double count)
{
	char line[300];

	snprintf(line, sizeof line, format, format_mean(count).text);
	json_array_append_new(list, json_string(line));
}

static json_t *not_visible(const struct watch_facts *f)
{
	json_t *list = json_array();
	double children = 0;
	const json_t *target;
	size_t i;

	json_array_foreach(json_object_get(f->watch, "targets"), i, target)
	    children += watch_number(target, "children_not_watched");
	if (f->unseen >= 0.005)
		not_visible_add(list,
		                "what %s threads on average waited for in futexes, epoll and poll: "
		                "whether I/O is behind it",
		                f->unseen);
	if (f->sampled)
		not_visible_add(list,
		                "without BPF: sleeps between two looks, threads that lived "
		                "shorter, requests in io_uring and why it used workers, where "
		                "submissions sleep, pools%.0s",
		                0);
	if (isnan(f->disk_mean))
		not_visible_add(list, "requests of the disk: the probe cannot tell them here%.0s",
		                0);
	if (children > 0)
		not_visible_add(list, "%s child processes: add -f", children);
	not_visible_add(list, "work that waits in a program's own queues%.0s", 0);
	not_visible_add(list, "written pages that the kernel brings to the disk later%.0s", 0);
	return list;
}

static int add_knobs(const json_t *watch)
{
	json_t *sleep;
	int error = 0;
	size_t i;

	json_array_foreach(json_object_get(watch, "submitter_sleeps"), i, sleep)
	{
		const char *knob = watch_knob(watch_string(sleep, "cause"));

		error |= json_object_set_new(sleep, "knob", knob ? json_string(knob) : json_null());
	}
	return error;
}

int watch_conclude(json_t *watch)
{
	struct conclusions c = {json_array(), json_array(), json_array(), ""};
	struct watch_facts facts;
	int error = 0;

	watch_facts_gather(&facts, watch);
	for (size_t i = 0; i < RULE_COUNT; i++)
		error |= conclude_rule(&facts, &c, i);
	error |= json_object_set_new(watch, "findings", c.findings);
	error |= json_object_set_new(watch, "checked", c.checked);
	error |= json_object_set_new(watch, "cannot_tell", c.cannot_tell);
	error |= json_object_set_new(watch, "not_visible", not_visible(&facts));
	return error || add_knobs(watch) ? -ENOMEM : 0;
}

bool watch_trips(const json_t *watch, const char *severity)
{
	const json_t *finding;
	size_t i;

	json_array_foreach(json_object_get(watch, "findings"), i, finding)
	{
		const char *found = watch_string(finding, "severity");

		if (strcmp(watch_string(finding, "class"), problem) == 0 &&
		    (strcmp(found, severity) == 0 || strcmp(found, "crit") == 0))
			return true;
	}
	return false;
}
