/*
 * What the settings of a run mean together: which of them a run uses, what follows from the
 * engine, and what does not go together.
 */
#include "bench/plan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bench/ledger.h"
#include "bench/units.h"
#include "bench/workload.h"
#include "engines/engine.h"

enum { CONNECTIONS_DEFAULT = 4 };

static const char *const use_texts[] = {
    [USE_ALWAYS] = "every run",
    [USE_TIMED] = "a run that ends with its time: --operations ends it otherwise",
    [USE_ASYNC] = "an engine that does not block in submission",
    [USE_POOL] = "an engine with a pool of threads (pool, epoll-offload) that serves the workload",
    [USE_FILES] = "a disk workload",
    [USE_CACHE] = "a disk workload that reads through the page cache (--direct 0)",
    [USE_WRITES] = "a disk workload that writes",
    [USE_MIXED] = "a disk workload that reads and writes (disk-randrw)",
    [USE_OWN_FILE] = "a disk workload on files of iostudy's own: --filename names one file",
    [USE_NAMED] = "a disk workload on a file that --filename names",
    [USE_DELAY] = "a socket or timer workload",
    [USE_SOCKETS] = "a socket workload",
    [USE_RATE] = "an open loop (--rate)",
    [USE_CONNECTIONS] = "a workload whose requests share connections (socket-multiplex)",
    [USE_BLOCK] = "a disk workload or socket-echo",
};

const char *plan_use_text(enum plan_use use)
{
	return use_texts[use];
}

bool plan_uses(const struct plan *plan, enum plan_use use)
{
	const struct engine_ops *engine = engine_find(plan->engine);
	const struct workload_ops *workload = workload_find(plan->workload);
	const uint32_t caps = engine ? engine->caps : 0;
	const uint32_t need = workload ? workload->need : 0, does = workload ? workload->does : 0;
	const bool files = need & ENGINE_FILES;

	switch (use) {
	case USE_ALWAYS:
		return true;
	case USE_TIMED:
		return !plan->operations;
	case USE_ASYNC:
		return !(caps & ENGINE_SYNCHRONOUS);
	case USE_POOL:
		return caps & ENGINE_POOL && (files || !(caps & ENGINE_POOL_FOR_FILES));
	case USE_FILES:
		return files;
	case USE_CACHE:
		return does & WORK_READS && !plan->direct;
	case USE_WRITES:
		return does & WORK_WRITES;
	case USE_MIXED:
		return does & WORK_READS && does & WORK_WRITES;
	case USE_OWN_FILE:
		return files && !plan->file_named;
	case USE_NAMED:
		return files && plan->file_named;
	case USE_DELAY:
		return need & ENGINE_TIMERS || (workload && workload->peer == &serve_delay);
	case USE_SOCKETS:
		return need & ENGINE_SOCKETS;
	case USE_RATE:
		return plan->rate_per_s;
	case USE_CONNECTIONS:
		return workload && workload->shares;
	case USE_BLOCK:
		return files || (workload && workload->peer == &serve_echo);
	}
	return true;
}

uint64_t plan_blocks(const struct plan *plan)
{
	return plan->size_bytes / plan->files / plan->block_bytes * plan->files;
}

static int complete_block(const struct plan *plan, char why[PLAN_WHY_SIZE])
{
	char block[32], size[32];

	units_format_size(plan->block_bytes, block);
	units_format_size(plan->size_bytes, size);
	if (plan->block_bytes % 512 != 0) {
		snprintf(why, PLAN_WHY_SIZE, "--bs %s is not a multiple of 512 bytes, the sector",
		         block);
		return -EINVAL;
	}
	if (plan->size_bytes && plan_blocks(plan) == 0) {
		snprintf(why, PLAN_WHY_SIZE, "--size %s is smaller than one block (--bs %s)%s",
		         size, block, plan->files > 1 ? " for each of the --files" : "");
		return -EINVAL;
	}
	return 0;
}

/* A workload that writes knows each of its blocks, and has one for each request. */
static int complete_writes(const struct plan *plan, char why[PLAN_WHY_SIZE])
{
	const uint64_t blocks = plan_blocks(plan);
	char size[32], block[32];

	units_format_size(plan->size_bytes, size);
	units_format_size(plan->block_bytes, block);
	if (plan->file_named && !plan->overwrite) {
		snprintf(why, PLAN_WHY_SIZE,
		         "%s would write to %.200s, which you have named: add --overwrite if its "
		         "contents may be lost",
		         plan->workload, plan->file);
		return -EINVAL;
	}
	if (plan->size_bytes && blocks < plan->depth) {
		snprintf(why, PLAN_WHY_SIZE,
		         "--depth %u needs as many blocks, and --size %s has %llu of --bs %s: no "
		         "two requests of a workload that writes are at one block",
		         plan->depth, size, (unsigned long long)blocks, block);
		return -EINVAL;
	}
	if (blocks > LEDGER_BLOCKS_MAX) {
		snprintf(why, PLAN_WHY_SIZE,
		         "--size %s has %llu blocks of --bs %s, and a workload that writes keeps "
		         "a book on %llu at most: use a smaller --size or a greater --bs",
		         size, (unsigned long long)blocks, block, LEDGER_BLOCKS_MAX);
		return -ERANGE;
	}
	return 0;
}

static int complete_disk(struct plan *plan, const struct workload_ops *workload,
                         char why[PLAN_WHY_SIZE])
{
	int err = complete_block(plan, why);

	if (err || !(workload->does & WORK_WRITES))
		return err;
	if (workload->does & WORK_SYNCS && !plan->fsync)
		plan->fsync = 1;
	return complete_writes(plan, why);
}

/* Requests that share connections: every thread keeps one at least, and blocks in its calls. */
static int complete_connections(struct plan *plan, bool synchronous, char why[PLAN_WHY_SIZE])
{
	const uint32_t least = plan->threads ? plan->threads : 1;

	if (!plan->connections)
		plan->connections = least > CONNECTIONS_DEFAULT ? least : CONNECTIONS_DEFAULT;
	if (plan->connections > plan->depth)
		plan->connections = plan->depth;
	if (synchronous && !plan->threads)
		plan->threads = plan->connections;
	if (plan->connections >= plan->threads)
		return 0;
	snprintf(why, PLAN_WHY_SIZE,
	         "--threads %u needs --connections %u and --depth %u or more: every thread has one "
	         "of its own",
	         plan->threads, plan->threads, plan->threads);
	return -EINVAL;
}

static int complete_sockets(struct plan *plan, const struct workload_ops *workload,
                            bool synchronous, char why[PLAN_WHY_SIZE])
{
	char block[32];

	if (plan->peer_named && plan->transport != TRANSPORT_TCP) {
		snprintf(why, PLAN_WHY_SIZE,
		         "--peer is reached by TCP: leave --transport unix out");
		return -EINVAL;
	}
	if (workload->peer == &serve_echo && plan->block_bytes > SERVER_BACKLOG_MAX / 2) {
		snprintf(why, PLAN_WHY_SIZE,
		         "--bs %s is out of range for %s: 512 to 16m, which its peer keeps",
		         units_format_size(plan->block_bytes, block), workload->name);
		return -ERANGE;
	}
	return workload->shares ? complete_connections(plan, synchronous, why) : 0;
}

int plan_complete(struct plan *plan, char why[PLAN_WHY_SIZE])
{
	const struct engine_ops *engine = engine_find(plan->engine);
	const struct workload_ops *workload = workload_find(plan->workload);
	int err = 0;

	if (!engine || !workload) {
		snprintf(why, PLAN_WHY_SIZE, "no such %s: %s", engine ? "workload" : "engine",
		         engine ? plan->workload : plan->engine);
		return -EINVAL;
	}
	if (workload->need & ENGINE_FILES)
		err = complete_disk(plan, workload, why);
	else if (workload->need & ENGINE_SOCKETS)
		err = complete_sockets(plan, workload, engine->caps & ENGINE_SYNCHRONOUS, why);
	if (err)
		return err;
	if (engine->caps & ENGINE_SYNCHRONOUS) {
		plan->wait = WAIT_PARK;
		if (!plan->threads)
			plan->threads = plan->depth;
	}
	if (!plan->threads)
		plan->threads = 1;
	if (plan->threads > plan->depth) {
		snprintf(why, PLAN_WHY_SIZE,
		         "--threads %u needs --depth %u or more: every thread keeps a request",
		         plan->threads, plan->threads);
		return -EINVAL;
	}
	if (plan->threads > PLAN_THREADS_MAX) {
		snprintf(
		    why, PLAN_WHY_SIZE,
		    "%s would take %u threads, one per request; the limit is %d: use --threads",
		    engine->name, plan->threads, PLAN_THREADS_MAX);
		return -ERANGE;
	}
	if (plan->pool && plan->pool < plan->threads) {
		snprintf(why, PLAN_WHY_SIZE,
		         "--pool %u is fewer than --threads %u: each thread needs a worker",
		         plan->pool, plan->threads);
		return -EINVAL;
	}
	if (plan->batch > plan->depth)
		plan->batch = plan->depth;
	return 0;
}
