/* Stored runs: see stored.h. */
#include "cli/stored.h"

#include <stdio.h>
#include <unistd.h>

#include "analysis/findings.h"
#include "analysis/format.h"
#include "analysis/summary.h"
#include "cli/cli.h"

static void complain(void *context, const char *text)
{
	fprintf(stderr, "%s: %s\n", (const char *)context, text);
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
	cases->message = complain;
	cases->context = (void *)program;
	for (size_t i = 0; i < count; i++)
		scenario_read(cases, paths[i]);
	return cases->refused ? EXIT_RUN_FAILED : EXIT_DONE;
}

int stored_read(struct store_runs *runs, const char *const *paths, size_t count,
                const char *program)
{
	char why[STORE_WHY_SIZE], analysis_why[RUN_WHY_SIZE], place[400];
	int status = EXIT_DONE;

	for (size_t i = 0; i < count; i++) {
		if (holds(paths[i], STORE_SCENARIOS) && !holds(paths[i], STORE_RUNS))
			continue;
		const size_t seen = runs->count + runs->visitor.refused + runs->visitor.repeated;

		if (store_read(runs, paths[i], complain, (void *)program, why) != 0) {
			complain((void *)program, why);
			status = EXIT_RUN_FAILED;
		} else if (runs->count + runs->visitor.refused + runs->visitor.repeated == seen) {
			format_name(place, sizeof place, paths[i], 200, false);
			fprintf(stderr, "%s: %s: it holds no run\n", program, place);
			status = EXIT_RUN_FAILED;
		}
	}
	for (size_t i = 0; i < runs->count; i++)
		if (summary_add(runs->runs[i], analysis_why) != 0 ||
		    findings_add(runs->runs[i], analysis_why) != 0) {
			complain((void *)program, analysis_why);
			status = EXIT_RUN_FAILED;
		}
	return runs->visitor.refused ? EXIT_RUN_FAILED : status;
}
