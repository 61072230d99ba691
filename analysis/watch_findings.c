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

static const struct {
	const char *tag, *class;
	void (*rule)(const struct watch_facts *f, struct finding *out);
} rules[] = {
    {"NO-THREAD", answer, watch_no_thread},
    {"ONE-WAITER", answer, watch_one_waiter},
    {"THREAD-PER-IO", answer, watch_thread_per_io},
    {"PUNTED-NOT-PARKED", answer, watch_not_parked},
    {"IOWAIT-IS-NOT-DISK", answer, watch_iowait},
    {"IDLE-WAITER", answer, watch_idle_waiter},
    {"POOL-EXHAUSTED", problem, watch_pool_exhausted},
    {"SYNC-OVER-ASYNC", problem, watch_sync_over_async},
    {"HIDDEN-WORKERS", problem, watch_hidden_workers},
    {"SERIAL-PER-FILE", problem, watch_serial_per_file},
    {"PUNTED-AND-PARKED", problem, watch_punted_parked},
    {"NO-NOWAIT", problem, watch_no_nowait},
    {"TAG-WAIT", problem, watch_tag_wait},
    {"SUBMIT-BLOCKED", problem, watch_submit_blocked},
    {"WORKERS-OVER-LIMIT", problem, watch_over_limit},
    {"POLLERS-OVER-CPUS", problem, watch_pollers},
    {"SPINNING", problem, watch_spinning},
    {"NOTHING-SEEN", limit, rule_nothing},
    {"TOO-SHORT", limit, rule_short},
    {"LOSS", limit, NULL},
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

static int apply(const struct watch_facts *f, json_t *findings, json_t *checked)
{
	char withheld[200] = "";
	int error = 0;

	for (size_t i = 0; i < RULE_COUNT; i++) {
		struct finding found = {
		    .raised = NOT_RAISED, .severity = "info", .confidence = "sure"};
		const size_t length = strlen(withheld);

		if (rules[i].rule)
			rules[i].rule(f, &found);
		else
			rule_loss(f, withheld, &found);
		if (found.raised == WITHHELD)
			snprintf(withheld + length, sizeof withheld - length, "%s %s",
			         length ? "," : "", rules[i].tag);
		if (found.raised == RAISED)
			error |= json_array_append_new(
			    findings, finding_json(&found, rules[i].tag, rules[i].class));
		else if (found.raised == NOT_RAISED && rules[i].class == problem &&
		         is_judged(f, rules[i].tag))
			error |= json_array_append_new(checked, json_string(rules[i].tag));
	}
	return error ? -ENOMEM : 0;
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
	json_t *findings = json_array(), *checked = json_array();
	struct watch_facts facts;
	int error = -ENOMEM;

	watch_facts_gather(&facts, watch);
	if (findings && checked)
		error = apply(&facts, findings, checked);
	if (json_object_set_new(watch, "findings", findings) ||
	    json_object_set_new(watch, "checked", checked) || add_knobs(watch) ||
	    json_object_set_new(watch, "not_visible", not_visible(&facts)))
		error = -ENOMEM;
	return error;
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
