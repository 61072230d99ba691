/* Stored runs: see stored.h. */
#include "cli/stored.h"

#include <stdio.h>
#include <unistd.h>

#include "analysis/findings.h"
#include "analysis/format.h"
#include "analysis/summary.h"
#include "cli/cli.h"

struct reading {
	const char *program;
	int (*take)(void *context, json_t *run);
	void *context;
	int taken;  /* what take answered last */
	int status; /* an exit status */
};

static void complain(void *context, const char *text)
{
	fprintf(stderr, "%s: %s\n", ((const struct reading *)context)->program, text);
}

static int conclude(void *context, json_t *run)
{
	struct reading *r = context;
	char why[RUN_WHY_SIZE];

	if (summary_add(run, why) != 0 || findings_add(run, why) != 0) {
		complain(r, why);
		r->status = EXIT_RUN_FAILED;
	}
	r->taken = r->take(r->context, run);
	return r->taken;
}

static bool holds(const char *place, const char *name)
{
	char path[4200];

	snprintf(path, sizeof path, "%s/%s", place, name);
	return access(path, F_OK) == 0;
}

int stored_cases(struct scenario_reader *cases, const char *const *paths, size_t count,
                 const char *program)
{
	struct reading r = {.program = program};

	cases->message = complain;
	cases->context = &r;
	for (size_t i = 0; i < count; i++)
		scenario_read(cases, paths[i]);
	cases->context = NULL;
	return cases->refused ? EXIT_RUN_FAILED : EXIT_DONE;
}

int stored_visit(const char *const *paths, size_t count, const char *program,
                 int (*take)(void *context, json_t *run), void *context)
{
	struct reading r = {program, take, context, 0, EXIT_DONE};
	struct store_visitor visitor = {.run = conclude, .message = complain, .context = &r};
	char why[STORE_WHY_SIZE], place[400];

	for (size_t i = 0; i < count && !r.taken; i++) {
		const size_t seen = visitor.used + visitor.refused + visitor.repeated;

		if (holds(paths[i], STORE_SCENARIOS) && !holds(paths[i], STORE_RUNS))
			continue;
		const int err = store_visit(&visitor, paths[i], why);

		if (r.taken)
			break;
		if (err) {
			complain(&r, why);
			r.status = EXIT_RUN_FAILED;
		} else if (visitor.used + visitor.refused + visitor.repeated == seen) {
			format_name(place, sizeof place, paths[i], 200, false);
			fprintf(stderr, "%s: %s: it holds no run\n", program, place);
			r.status = EXIT_RUN_FAILED;
		}
	}
	if (visitor.refused)
		r.status = EXIT_RUN_FAILED;
	store_visitor_free(&visitor);
	return r.status;
}
