/* Where runs happen: see place.h. */
#include "cli/place.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analysis/findings.h"
#include "analysis/summary.h"
#include "bench/json_text.h"
#include "bench/result.h"
#include "bench/units.h"
#include "cli/signals.h"

void place_open(struct place *place, const char *directory, const char *file)
{
	*place = (struct place){.directory = directory};
	environment_read(&place->environment, file ? file : directory);
}

static void release(struct place *place, bool keep)
{
	signals_forget(&place->lease);
	file_release(&place->lease, keep);
	place->prepared = 0;
}

void place_close(struct place *place)
{
	release(place, place->keep);
}

static bool is_asked(const struct place *place, const struct plan *plan)
{
	const struct plan *asked = &place->asked;

	return place->prepared && plan->size_bytes == place->asked_bytes &&
	       plan->files == asked->files && plan->block_bytes <= asked->block_bytes &&
	       plan->overwrite == asked->overwrite && strcmp(plan->file, asked->file) == 0;
}

static void tell_of_file(const struct place *place)
{
	const struct plan *asked = &place->asked;
	char size[32], more[40] = "";

	if (asked->files > 1)
		snprintf(more, sizeof more, " and %u more", asked->files - 1);
	fprintf(stderr, "file %s%s, %s, filled and checked; %s\n", asked->file, more,
	        units_format_size(asked->size_bytes, size),
	        place->keep ? "kept (--keep)" : "removed at the end");
}

/* Makes the file when the first disk run needs it, and again for one that asks for another. */
static int prepare(struct place *place, struct plan *plan)
{
	struct plan *asked = &place->asked;

	if (!is_asked(place, plan)) {
		/* files that are asked for no more would be left behind */
		release(place, place->keep || plan->files == asked->files);
		*asked = *plan;
		place->asked_bytes = plan->size_bytes;
		const int err = file_prepare(asked, &place->lease, signals_came(), place->why);
		place->prepared = err ? err : 1;
		if (place->lease.made && !place->keep)
			signals_guard(&place->lease);
		if (!err && place->lease.made && !place->quiet)
			tell_of_file(place);
		place->quiet = true;
	}
	plan->size_bytes = asked->size_bytes;
	plan->file_verified = asked->file_verified;
	plan->file_seed = asked->file_seed;
	if (place->prepared < 0)
		return place->prepared;
	return plan_uses(plan, USE_WRITES) ? file_claim(plan, &place->lease, place->why) : 0;
}

void place_execute(struct place *place, const struct plan *wanted, const char *probe,
                   struct run_result *result)
{
	const struct run_options options = {
	    .probe = probe,
	    .directory = place->directory,
	    .signal = signals_came(),
	    .script = place->script,
	};
	struct plan plan = *wanted;

	if (!*signals_came() && !(plan_uses(&plan, USE_FILES) && prepare(place, &plan) != 0)) {
		run_execute(&plan, &options, result);
		/* nobody knows what stands there now: the next run makes it anew */
		if (result->status == OUTCOME_FAILED && plan_uses(&plan, USE_WRITES))
			release(place, false);
		return;
	}
	memset(result, 0, sizeof *result);
	result->plan = plan;
	plan_complete(&result->plan, result->why);
	result->status = *signals_came() ? OUTCOME_INTERRUPTED : OUTCOME_FAILED;
	if (*signals_came())
		snprintf(result->why, sizeof result->why,
		         "interrupted by signal %d before it began", (int)*signals_came());
	else
		snprintf(result->why, sizeof result->why, "%s", place->why);
}

/* What bpftrace said; the file that holds it too is named when it is written. */
static json_t *script_json(const struct place *place, const struct run_result *result)
{
	return json_pack("{s:s, s:o, s:n}", "name", strrchr(place->script, '/') + 1, "output",
	                 json_text(result->script_output), "file");
}

json_t *place_conclude(const struct place *place, const struct run_result *result)
{
	json_t *run = result_to_json(result, &place->environment);
	char why[RUN_WHY_SIZE] = "out of memory";

	if (run && result->script_output)
		json_object_set_new(run, "script", script_json(place, result));
	if (run && summary_add(run, why) == 0 && findings_add(run, why) == 0)
		return run;
	fprintf(stderr, "iostudy: the result cannot be written down: %s\n", why);
	json_decref(run);
	return NULL;
}
