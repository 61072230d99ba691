/* The lines of a watch while it goes on: means of each interval, and findings as they come. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/format.h"
#include "analysis/watch.h"
#include "bench/witness.h"
#include "cli/watch.h"

enum { COST_SHARE = 500 }; /* looking for findings takes one part of so many, at most */

int watch_lines_begin(struct watch_lines *lines, const struct observation *o, int64_t interval_ns)
{
	lines->begin_ns = lines->line_ns = o->begin_ns;
	lines->interval_ns = interval_ns;
	lines->findings_ns = 0;
	lines->before = malloc(sizeof *lines->before);
	lines->part = malloc(sizeof *lines->part);
	lines->said = json_object();
	if (!lines->before || !lines->part || !lines->said)
		return -ENOMEM;
	*lines->before = *o->first;
	return 0;
}

void watch_lines_end(struct watch_lines *lines)
{
	free(lines->before);
	free(lines->part);
	json_decref(lines->said);
}

/* One line of the window's last part: means since the line before. */
static void print_means(struct watch_lines *lines, const struct probe_reading *last)
{
	struct probe_reading *part = lines->part;
	double direct = 0, waiting = 0, unseen = 0;
	uint32_t threads = 0;

	probe_difference(part, lines->before, last);
	if (!part->time_ns)
		return;
	for (int k = 0; k < KIND_COUNT; k++) {
		direct += (double)part->kinds[k].state_ns[STATE_PARKED_DIRECT];
		waiting += (double)part->kinds[k].state_ns[STATE_PARKED_WAITER];
		unseen += (double)part->kinds[k].state_ns[STATE_UNSEEN];
		threads += last->kinds[k].threads_now;
	}
	const double window = (double)part->time_ns;
	fprintf(stderr, "%7s  %u threads; parked in calls %s, waiting %s; disk %s; unseen %s\n",
	        format_time((double)(last->time_ns - lines->begin_ns)).text, threads,
	        format_mean(direct / window).text, format_mean(waiting / window).text,
	        format_mean((double)part->block_in_flight_ns / window).text,
	        format_mean(unseen / window).text);
}

static void print_finding(struct watch_lines *lines, const json_t *finding)
{
	const char *tag = watch_string(finding, "tag");
	const char *confidence = watch_string(finding, "confidence");
	struct text text = {0};

	if (strcmp(watch_string(finding, "class"), "limit") == 0 ||
	    json_object_get(lines->said, tag))
		return;
	json_object_set_new(lines->said, tag, json_true());
	text_wrap(&text, 9, 11, TEXT_COLUMNS, watch_string(finding, "text"));
	fprintf(stderr, "         %s%s%s%s\n         %s", tag, *confidence == 's' ? "" : " (",
	        *confidence == 's' ? "" : confidence, *confidence == 's' ? "" : ")",
	        text.data ? text.data : "\n");
	text_free(&text);
}

/* What follows from the window so far, and has not been said yet. */
static void print_findings(struct watch_lines *lines, struct observation *o)
{
	const uint64_t begun_ns = witness_now_ns();
	const json_t *finding;
	json_t *watch;
	size_t i;

	if (begun_ns < lines->findings_ns || observe_end(o))
		return;
	watch = observe_json(o, "ok", NULL, json_object());
	if (watch && watch_conclude(watch) == 0)
		json_array_foreach(json_object_get(watch, "findings"), i, finding)
		    print_finding(lines, finding);
	json_decref(watch);
	lines->findings_ns = begun_ns + (witness_now_ns() - begun_ns) * COST_SHARE;
}

void watch_lines_add(struct watch_lines *lines, struct observation *o)
{
	if (o->last->time_ns < lines->line_ns + (uint64_t)lines->interval_ns * 9 / 10)
		return;
	print_means(lines, o->last);
	print_findings(lines, o);
	*lines->before = *o->last;
	lines->line_ns = o->last->time_ns;
}
