/* Refuses what no run could do, and what no run would heed: see request.h. */
#include "cli/request.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "engines/engine.h"

static bool any_uses(const struct plan *cells, uint32_t count, enum plan_use use)
{
	for (uint32_t i = 0; i < count; i++)
		if (plan_uses(&cells[i], use))
			return true;
	return false;
}

static void check_use(const struct plan *cells, uint32_t count, const char *option,
                      enum plan_use use, const char *program)
{
	if (any_uses(cells, count, use))
		return;
	fprintf(stderr, "%s: --%s is for %s; no run here is one\n", program, option,
	        plan_use_text(use));
	exit(EXIT_BAD_USAGE);
}

/* What was asked for and would be heeded nowhere is a mistake, not a detail. */
static void check_uses(const struct request *r, const struct plan *cells, uint32_t count,
                       const char *program)
{
	bool park = r->wait_count == 0;

	for (uint32_t i = 0; plan_settings[i].name; i++)
		if (r->given[i])
			check_use(cells, count, plan_settings[i].name, plan_settings[i].use,
			          program);
	if (r->plan.overwrite)
		check_use(cells, count, "overwrite", USE_NAMED, program);
	if (r->keep)
		check_use(cells, count, "keep", USE_OWN_FILE, program);
	for (uint32_t i = 0; i < r->wait_count; i++)
		park |= r->waits[i] == WAIT_PARK;
	if (!park)
		check_use(cells, count, "wait spin or compute", USE_ASYNC, program);
}

void request_check(const struct request *r, const char *program)
{
	struct plan *cells = calloc(REQUEST_CELLS_MAX + 1, sizeof *cells);
	const uint32_t count = cells ? request_cells(r, cells, REQUEST_CELLS_MAX + 1) : 0;
	char why[PLAN_WHY_SIZE];

	if (count > REQUEST_CELLS_MAX) {
		fprintf(stderr, "%s: these are more than %d runs: use a smaller --repeat\n",
		        program, REQUEST_CELLS_MAX);
		exit(EXIT_BAD_USAGE);
	}
	check_uses(r, cells, count, program);
	for (uint32_t i = 0; i < count; i++) {
		const int err = plan_complete(&cells[i], why);

		if (err && err != -EOPNOTSUPP) {
			fprintf(stderr, "%s: %s\n", program, why);
			exit(EXIT_BAD_USAGE);
		}
	}
	free(cells);
}
