/* The files of a run, before and after: see run_files.h. */
#include "bench/run_files.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bench/file.h"
#include "bench/ledger.h"
#include "engines/engine.h"

/* Every run begins with nothing left to be written by those before it, and but for one that wants
 * it hot with nothing in the cache: a direct read of a block whose page waits to be written waits
 * for that, and io_uring gives it to a worker. */
static int prepare_cache(struct run_result *result)
{
	const struct plan *plan = &result->plan;
	const bool hot = plan_uses(plan, USE_CACHE) && plan->cache == CACHE_HOT;
	int err;

	if (!plan_uses(plan, USE_FILES))
		return 0;
	err = hot ? file_cache_fill(plan) : file_cache_drop(plan);
	if (err)
		snprintf(result->why, sizeof result->why, "%.200s: cannot %s the page cache: %s",
		         plan->file, hot ? "read it into" : "drop it from", strerror(-err));
	return err;
}

static int prepare_ledger(struct run_result *result)
{
	struct plan *plan = &result->plan;
	const uint64_t blocks = plan_blocks(plan);

	if (!plan_uses(plan, USE_WRITES))
		return 0;
	plan->ledger = ledger_make(blocks, !plan->file_verified);
	if (plan->ledger)
		return 0;
	snprintf(result->why, sizeof result->why,
	         "no memory for a book on %llu blocks; use a smaller --size or a greater --bs",
	         (unsigned long long)blocks);
	return -ENOMEM;
}

int run_files_begin(struct run_result *result)
{
	int err = prepare_cache(result);

	if (!err)
		err = prepare_ledger(result);
	if (err)
		result->status = OUTCOME_FAILED;
	return err;
}

static void read_back(struct run_result *result, const volatile sig_atomic_t *stop)
{
	char why[PLAN_WHY_SIZE];

	result->was_read_back = true;
	if (readback_check(&result->plan, stop, &result->readback, why) == 0)
		return;
	result->measured.wrong += result->readback.wrong;
	if (result->status != OUTCOME_OK && !result->readback.wrong)
		return;
	result->status = OUTCOME_FAILED;
	snprintf(result->why, sizeof result->why, "after the run: %.380s", why);
}

void run_files_finish(struct run_result *result, bool begun, const volatile sig_atomic_t *stop)
{
	const struct engine_ops *engine = engine_find(result->plan.engine);

	if (!result->plan.ledger)
		return;
	if (begun && !(engine->caps & ENGINE_NO_IO))
		read_back(result, stop);
	ledger_free(result->plan.ledger);
	result->plan.ledger = NULL;
}
