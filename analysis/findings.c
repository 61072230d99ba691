/*
 * The table of rules, and their findings as JSON.
 */
#include "analysis/findings.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/rules.h"

enum { CLASS_ANSWER, CLASS_PROBLEM, CLASS_LIMIT, CLASS_COUNT };
static const char *const class_names[CLASS_COUNT] = {"answer", "problem", "limit"};

static const struct {
	const char *tag;
	int class;
	void (*rule)(const struct facts *f, struct finding *out);
} rules[] = {
    {"NO-THREAD", CLASS_ANSWER, rule_no_thread},
    {"ONE-WAITER", CLASS_ANSWER, rule_one_waiter},
    {"THREAD-PER-IO", CLASS_ANSWER, rule_thread_per_io},
    {"PUNTED-NOT-PARKED", CLASS_ANSWER, rule_punted_not_parked},
    {"HIDDEN-WORKERS", CLASS_PROBLEM, rule_hidden_workers},
    {"SERIAL-PER-FILE", CLASS_PROBLEM, rule_serial_per_file},
    {"SPINNING", CLASS_PROBLEM, rule_spinning},
    {"SUBMIT-BLOCKED", CLASS_PROBLEM, rule_submit_blocked},
    {"TAG-WAIT", CLASS_PROBLEM, rule_tag_wait},
    {"PUNTED-AND-PARKED", CLASS_PROBLEM, rule_punted_and_parked},
    {"NO-NOWAIT", CLASS_PROBLEM, rule_no_nowait},
    {"BEHIND-SCHEDULE", CLASS_PROBLEM, rule_behind_schedule},
    {"DEPTH-NOT-REACHED", CLASS_PROBLEM, rule_depth_not_reached},
    {"PAGE-CACHE", CLASS_LIMIT, rule_page_cache},
    {"NO-INTERRUPT", CLASS_LIMIT, rule_no_interrupt},
    {"TOO-SHORT", CLASS_LIMIT, rule_too_short},
    {"LOSS", CLASS_LIMIT, NULL}, /* last: it names what the others had to withhold */
};
enum { RULE_COUNT = sizeof rules / sizeof rules[0] };

const char *findings_tag(size_t i)
{
	return i < RULE_COUNT ? rules[i].tag : NULL;
}

static void rule_loss(const struct facts *f, const char *withheld, struct finding *out)
{
	if (!(f->probe->lost > 0))
		return;
	out->raised = RAISED;
	out->severity = *withheld ? "warn" : "info";
	out->confidence = "sure";
	finding_say(out, "The probe lost %s %s; each can misstate one thread.",
	            format_count(f->probe->lost).text, f->probe->lost == 1 ? "event" : "events");
	if (*withheld)
		finding_say(out, " Withheld, because that could change them:%s.", withheld);
	else
		finding_say(out, " No conclusion above hangs on so few.");
	finding_advise(out, "Fewer threads or a lower rate lose less; repeat the run.");
	finding_show(out, "lost", f->probe->lost);
}

/* Names come from the run; everything else is ASCII already. */
static json_t *json_from_text(const char *text)
{
	char safe[2 * FINDING_TEXT_SIZE];

	if (!*text)
		return json_null();
	return json_string(format_name(safe, sizeof safe, text, sizeof safe, true));
}

json_t *finding_json(const struct finding *f, const char *tag, const char *class)
{
	json_t *evidence = json_object();

	for (size_t i = 0; evidence && i < f->evidence_count; i++)
		json_object_set_new(evidence, f->evidence[i].name,
		                    json_from_number(f->evidence[i].value));
	return json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:o}", "tag", tag, "class", class,
	                 "severity", f->severity, "confidence", f->confidence, "text",
	                 json_from_text(f->text), "evidence", evidence, "advice",
	                 json_from_text(f->advice));
}

/* The findings of one run, in the order of the table. NULL: no memory. */
static json_t *findings_find(const struct facts *f)
{
	json_t *array = json_array();
	char withheld[200] = "";

	for (size_t i = 0; array && i < RULE_COUNT; i++) {
		struct finding found = {
		    .raised = NOT_RAISED, .severity = "info", .confidence = "sure"};

		if (rules[i].rule)
			rules[i].rule(f, &found);
		else
			rule_loss(f, withheld, &found);
		if (found.raised == WITHHELD) {
			const size_t length = strlen(withheld);
			snprintf(withheld + length, sizeof withheld - length, "%s %s",
			         length ? "," : "", rules[i].tag);
		}
		if (found.raised == RAISED &&
		    json_array_append_new(array, finding_json(&found, rules[i].tag,
		                                              class_names[rules[i].class])) != 0) {
			json_decref(array);
			array = NULL;
		}
	}
	return array;
}

/* Adds a warning unless it stands there already. */
static int warning_add(json_t *warnings, const char *text)
{
	json_t *warning;
	size_t i;

	json_array_foreach(warnings, i,
	                   warning) if (json_is_string(warning) &&
	                                strcmp(json_string_value(warning), text) == 0) return 0;
	return json_array_append_new(warnings, json_string(text));
}

static int warnings_find(const struct facts *f, json_t *warnings)
{
	double unseen = 0;
	char text[200];
	int status = 0;

	if (f->probe->self_test_failed)
		status |= warning_add(warnings,
		                      "The self-test of the probe failed: what it says of "
		                      "completions and of the disk is not used.");
	for (size_t k = 0; k < VIEW_KIND_COUNT; k++)
		if (f->probe->kinds[k].state_ns[VIEW_UNSEEN] > 0)
			unseen += f->probe->kinds[k].state_ns[VIEW_UNSEEN];
	if (unseen > 0.01 * f->run.window_ns) {
		snprintf(text, sizeof text,
		         "What threads did for %s could not be told; no ratio counts it.",
		         format_time(unseen).text);
		status |= warning_add(warnings, text);
	}
	if (f->run.verified == VIEW_FALSE)
		status |= warning_add(warnings,
		                      name_is(f->run.engine, "null")
		                          ? "The data was not checked: this engine moves none."
		                          : "The data could not be checked: the file was not "
		                            "filled by iostudy.");
	return status;
}

int findings_add(json_t *run, char why[RUN_WHY_SIZE])
{
	struct facts facts;
	struct run_view view;
	int status = run_view_read(&view, run, why);

	if (status)
		return status;
	facts_gather(&facts, &view);
	const bool concluded = !view_has_failed(&view) && view.status != VIEW_SKIPPED;
	json_t *findings = concluded ? findings_find(&facts) : json_array();
	if (!findings || json_object_set_new(run, "findings", findings) != 0)
		goto fail;
	if (!json_is_array(json_object_get(run, "warnings")) &&
	    json_object_set_new(run, "warnings", json_array()) != 0)
		goto fail;
	if (concluded && warnings_find(&facts, json_object_get(run, "warnings")) != 0)
		goto fail;
	return 0;
fail:
	snprintf(why, RUN_WHY_SIZE, "no memory for the findings of a run");
	return -ENOMEM;
}
