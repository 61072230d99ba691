/* Refuses what no run could do, and what no run would heed: see request.h. */
#include "cli/request.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"

static bool check_use(const struct plan *cells, uint32_t count, const char *option,
                      enum plan_use use, char why[PLAN_WHY_SIZE])
{
	for (uint32_t i = 0; i < count; i++)
		if (plan_uses(&cells[i], use))
			return true;
	snprintf(why, PLAN_WHY_SIZE, "--%s is for %s; no run here is one", option,
	         plan_use_text(use));
	return false;
}

/* What was asked for and would be heeded nowhere is a mistake, not a detail. */
static bool check_uses(const struct request *r, const struct plan *cells, uint32_t count,
                       char why[PLAN_WHY_SIZE])
{
	bool park = r->wait_count == 0, good = true;

	for (uint32_t i = 0; good && plan_settings[i].name; i++)
		good = !r->given[i] ||
		       check_use(cells, count, plan_settings[i].name, plan_settings[i].use, why);
	if (good && r->plan.overwrite)
		good = check_use(cells, count, "overwrite", USE_NAMED, why);
	if (good && r->keep)
		good = check_use(cells, count, "keep", USE_OWN_FILE, why);
	for (uint32_t i = 0; i < r->wait_count; i++)
		park |= r->waits[i] == WAIT_PARK;
	if (good && !park)
		good = check_use(cells, count, "wait spin or compute", USE_ASYNC, why);
	return good;
}

static bool check_cells(const struct request *r, struct plan *cells, uint32_t count,
                        char why[PLAN_WHY_SIZE])
{
	if (count > REQUEST_CELLS_MAX) {
		snprintf(why, PLAN_WHY_SIZE, "these are more than %d runs: use a smaller --repeat",
		         REQUEST_CELLS_MAX);
		return false;
	}
	if (!check_uses(r, cells, count, why))
		return false;
	for (uint32_t i = 0; i < count; i++) {
		const int err = plan_complete(&cells[i], why);

		if (err && err != -EOPNOTSUPP)
			return false;
	}
	return true;
}

void request_check(const struct request *r, const char *program)
{
	struct plan *cells = calloc(REQUEST_CELLS_MAX + 1, sizeof *cells);
	const uint32_t count = cells ? request_cells(r, cells, REQUEST_CELLS_MAX + 1) : 0;
	char why[PLAN_WHY_SIZE] = "out of memory";
	const bool good = cells && check_cells(r, cells, count, why);

	free(cells);
	if (good)
		return;
	fprintf(stderr, "%s: %s\n", program, why);
	exit(EXIT_BAD_USAGE);
}
