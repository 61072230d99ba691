/*
 * The settings of a run: one table for the command line, for study files and for --help, so
 * that a setting is named, checked and explained in one place.
 */
#include "bench/plan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bench/file.h"
#include "bench/json_text.h"
#include "bench/units.h"
#include "bench/workload.h"
#include "engines/engine.h"

enum {
	TYPE_COUNT,
	TYPE_SIZE,
	TYPE_TIME,
	TYPE_FLAG,
	TYPE_ENUM,
	TYPE_DELAY,
	TYPE_PATH,
	TYPE_PEER,
	TYPE_RATE
};

const char *const plan_wait_names[] = {"park", "spin", "compute"};
const char *const plan_cache_names[] = {"cold", "hot"};
const char *const plan_arrival_names[] = {"constant", "poisson"};
const char *const plan_transport_names[] = {"tcp", "unix"};

#define FIELD(name) offsetof(struct plan, name), sizeof(((struct plan *)0)->name)
#define SECOND      1000000000ull

const struct plan_setting plan_settings[] = {
    {"wait", NULL, "HOW", "how waiting is spent: park, spin, compute", TYPE_ENUM, FIELD(wait), 0, 0,
     plan_wait_names, WAIT_COUNT, USE_ALWAYS},
    {"depth", "iodepth", "N", "requests wanted in flight, over all threads", TYPE_COUNT,
     FIELD(depth), 1, PLAN_DEPTH_MAX, NULL, 0, USE_ALWAYS},
    {"batch", "iodepth_batch", "N", "most requests of one submission and of one reap", TYPE_COUNT,
     FIELD(batch), 1, 4096, NULL, 0, USE_ASYNC},
    {"threads", "numjobs", "N", "threads that submit (blocking: as many as the depth)", TYPE_COUNT,
     FIELD(threads), 1, PLAN_THREADS_MAX, NULL, 0, USE_ALWAYS},
    {"pool", NULL, "N", "threads of the pool (one per request)", TYPE_COUNT, FIELD(pool), 1,
     PLAN_THREADS_MAX, NULL, 0, USE_POOL},
    {"bs", "blocksize", "SIZE", "block size", TYPE_SIZE, FIELD(block_bytes), 512, 1ull << 30, NULL,
     0, USE_BLOCK},
    {"size", "filesize", "SIZE", "size of all files together", TYPE_SIZE, FIELD(size_bytes), 512,
     1ull << 44, NULL, 0, USE_FILES},
    {"files", "nrfiles", "N", "spread the blocks over so many files", TYPE_COUNT, FIELD(files), 1,
     FILE_COUNT_MAX, NULL, 0, USE_OWN_FILE},
    {"direct", NULL, "0|1", "1: past the page cache", TYPE_FLAG, FIELD(direct), 0, 1, NULL, 0,
     USE_FILES},
    {"cache", NULL, "cold|hot", "with --direct 0: drop the file's cache first, or fill it",
     TYPE_ENUM, FIELD(cache), 0, 0, plan_cache_names, CACHE_COUNT, USE_CACHE},
    {"fsync", NULL, "N", "fsync after every N writes (0: never; disk-fsync: 1)", TYPE_COUNT,
     FIELD(fsync), 0, 1 << 30, NULL, 0, USE_WRITES},
    {"read-percent", "rwmixread", "N", "share of the reads in disk-randrw", TYPE_COUNT,
     FIELD(read_percent), 0, 100, NULL, 0, USE_MIXED},
    {"runtime", "duration", "TIME", "the window that is measured", TYPE_TIME, FIELD(duration_ns),
     1000000, 24 * 3600 * SECOND, NULL, 0, USE_TIMED},
    {"warmup", "ramp_time", "TIME", "before the window", TYPE_TIME, FIELD(warmup_ns), 0,
     3600 * SECOND, NULL, 0, USE_TIMED},
    {"operations", "number_ios", "N", "end after N operations, without warm-up", TYPE_COUNT,
     FIELD(operations), 1, 1ull << 40, NULL, 0, USE_ALWAYS},
    {"rate", "rate_iops", "N/s", "an open loop: requests arrive by a schedule, in all", TYPE_RATE,
     FIELD(rate_per_s), 1, SECOND, NULL, 0, USE_ALWAYS},
    {"arrival", "rate_process", "HOW", "of --rate: constant (fio's linear), poisson", TYPE_ENUM,
     FIELD(arrival), 0, 0, plan_arrival_names, ARRIVAL_COUNT, USE_RATE},
    {"delay", NULL, "TIME[-TIME]", "what the peer or the timer waits, fixed or random", TYPE_DELAY,
     FIELD(delay_min_ns), 0, 3600 * SECOND, NULL, 0, USE_DELAY},
    {"transport", NULL, "tcp|unix", "sockets to the peer", TYPE_ENUM, FIELD(transport), 0, 0,
     plan_transport_names, TRANSPORT_COUNT, USE_SOCKETS},
    {"connections", NULL, "N", "that the requests of socket-multiplex share (4)", TYPE_COUNT,
     FIELD(connections), 1, PLAN_DEPTH_MAX, NULL, 0, USE_CONNECTIONS},
    {"peer", NULL, "HOST:PORT", "the other end, started there with iostudy serve", TYPE_PEER,
     FIELD(peer), 0, 0, NULL, 0, USE_SOCKETS},
    {"seed", "randseed", "N", "of offsets, delays and block contents", TYPE_COUNT, FIELD(seed), 0,
     INT64_MAX, NULL, 0, USE_ALWAYS},
    {"filename", NULL, "FILE", "use this file; written to only with --overwrite", TYPE_PATH,
     FIELD(file), 0, 0, NULL, 0, USE_FILES},
    {NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0, NULL, 0, 0},
};

void plan_default(struct plan *plan)
{
	*plan = (struct plan){
	    .engine = "uring",
	    .workload = "disk-randread",
	    .depth = 32,
	    .batch = 8,
	    .block_bytes = 4096,
	    .direct = true,
	    .files = 1,
	    .read_percent = 50,
	    .duration_ns = 2 * SECOND,
	    .warmup_ns = SECOND / 2,
	    .delay_min_ns = 20 * 1000000,
	    .delay_max_ns = 20 * 1000000,
	    .seed = 1,
	    .repeat = 1,
	};
}

static const char *format_limit(const struct plan_setting *s, uint64_t value, char buffer[32])
{
	if (s->type == TYPE_TIME || s->type == TYPE_DELAY)
		return units_format_time(value, buffer);
	if (s->type == TYPE_SIZE)
		return units_format_size(value, buffer);
	snprintf(buffer, 32, "%llu", (unsigned long long)value);
	return buffer;
}

static int parse_number(const struct plan_setting *s, const char *text, uint64_t *value,
                        char why[PLAN_WHY_SIZE])
{
	char low[32], high[32];
	int err;

	if (s->type == TYPE_TIME || s->type == TYPE_DELAY)
		err = units_parse_time(text, value);
	else
		err = units_parse_count(text, value);
	if (err == -EINVAL) {
		snprintf(why, PLAN_WHY_SIZE, "--%s: '%.60s' is not a number%s", s->name, text,
		         s->type == TYPE_TIME || s->type == TYPE_DELAY
		             ? " with a unit of time (ns, us, ms, s, m, h)"
		             : " (units: k, m, g)");
		return -EINVAL;
	}
	if (err || *value < s->low || *value > s->high) {
		snprintf(why, PLAN_WHY_SIZE, "--%s %.60s is out of range: %s to %s", s->name, text,
		         format_limit(s, s->low, low), format_limit(s, s->high, high));
		return -ERANGE;
	}
	return 0;
}

/* "20ms", or "10ms-30ms": uniformly between the two. */
static int set_delay(struct plan *plan, const struct plan_setting *s, const char *text,
                     char why[PLAN_WHY_SIZE])
{
	const char *dash = strchr(text, '-');
	uint64_t low, high;
	char first[64];
	int err;

	if (!dash) {
		err = parse_number(s, text, &low, why);
		high = err ? 0 : low;
	} else {
		snprintf(first, sizeof first, "%.*s", (int)(dash - text), text);
		err = parse_number(s, first, &low, why);
		if (!err)
			err = parse_number(s, dash + 1, &high, why);
	}
	if (err)
		return err;
	if (high < low) {
		snprintf(why, PLAN_WHY_SIZE,
		         "--delay %.60s: the first time must not be over the second", text);
		return -EINVAL;
	}
	plan->delay_min_ns = low;
	plan->delay_max_ns = high;
	return 0;
}

static int set_enum(const struct plan_setting *s, const char *text, void *field,
                    char why[PLAN_WHY_SIZE])
{
	size_t at = 0;

	if (s->names == plan_arrival_names && strcmp(text, "linear") == 0)
		text = "constant"; /* fio's word */
	for (uint32_t i = 0; i < s->name_count; i++) {
		if (strcmp(text, s->names[i]) == 0) {
			*(uint32_t *)field = i;
			return 0;
		}
	}
	at += (size_t)snprintf(why, PLAN_WHY_SIZE, "--%s: '%.60s' is none of", s->name, text);
	for (uint32_t i = 0; i < s->name_count && at < PLAN_WHY_SIZE; i++)
		at += (size_t)snprintf(why + at, PLAN_WHY_SIZE - at, "%s %s", i ? "," : "",
		                       s->names[i]);
	return -EINVAL;
}

static int set_path(struct plan *plan, const char *text, char why[PLAN_WHY_SIZE])
{
	if (!*text || strlen(text) >= sizeof plan->file) {
		snprintf(why, PLAN_WHY_SIZE, "--filename: a path has 1 to %zu bytes, this one %zu",
		         sizeof plan->file - 1, strlen(text));
		return -EINVAL;
	}
	strcpy(plan->file, text);
	plan->file_named = true;
	return 0;
}

/* "1000/s"; a bare number is per second. */
static int set_rate(struct plan *plan, const struct plan_setting *s, const char *text,
                    char why[PLAN_WHY_SIZE])
{
	const size_t length = strlen(text);
	char number[64];

	if (length <= 2 || length >= sizeof number || strcmp(text + length - 2, "/s") != 0)
		return parse_number(s, text, &plan->rate_per_s, why);
	snprintf(number, sizeof number, "%.*s", (int)length - 2, text);
	return parse_number(s, number, &plan->rate_per_s, why);
}

static int set_peer(struct plan *plan, const char *text, char why[PLAN_WHY_SIZE])
{
	char reason[ADDRESS_WHY_SIZE];

	if (address_parse(&plan->peer, text, reason) == 0 && address_port(&plan->peer)) {
		plan->peer_named = true;
		return 0;
	}
	if (plan->peer.length)
		snprintf(reason, sizeof reason, "'%.60s' has no port", text);
	snprintf(why, PLAN_WHY_SIZE, "--peer %s", reason);
	return -EINVAL;
}

static const struct plan_setting *find_setting(const char *name)
{
	for (const struct plan_setting *s = plan_settings; s->name; s++)
		if (strcmp(name, s->name) == 0 || (s->alias && strcmp(name, s->alias) == 0))
			return s;
	return NULL;
}

int plan_set(struct plan *plan, const char *name, const char *value, char why[PLAN_WHY_SIZE])
{
	const struct plan_setting *s = find_setting(name);
	uint64_t number;
	char *field;
	int err;

	if (!s)
		return -ENOENT;
	field = (char *)plan + s->offset;
	if (s->type == TYPE_ENUM)
		return set_enum(s, value, field, why);
	if (s->type == TYPE_DELAY)
		return set_delay(plan, s, value, why);
	if (s->type == TYPE_PATH)
		return set_path(plan, value, why);
	if (s->type == TYPE_RATE)
		return set_rate(plan, s, value, why);
	if (s->type == TYPE_PEER)
		return set_peer(plan, value, why);
	err = parse_number(s, value, &number, why);
	if (err)
		return err;
	if (s->size == sizeof(uint64_t))
		memcpy(field, &number, sizeof number);
	else if (s->size == sizeof(uint32_t))
		*(uint32_t *)field = (uint32_t)number;
	else
		*(bool *)field = number != 0;
	return 0;
}

const char *plan_get(const struct plan *plan, const struct plan_setting *s, char buffer[80])
{
	const char *field = (const char *)plan + s->offset;
	char low[32], high[32];
	uint64_t number = 0;

	buffer[0] = 0;
	if (s->type == TYPE_PATH || s->type == TYPE_PEER)
		return buffer;
	if (s->type == TYPE_ENUM) {
		snprintf(buffer, 80, "%s", s->names[*(const uint32_t *)field]);
	} else if (s->type == TYPE_DELAY && plan->delay_min_ns != plan->delay_max_ns) {
		snprintf(buffer, 80, "%s-%s", format_limit(s, plan->delay_min_ns, low),
		         format_limit(s, plan->delay_max_ns, high));
	} else {
		memcpy(&number, field, s->size);
		if (number || s->low == 0)
			snprintf(buffer, 80, "%s", format_limit(s, number, low));
	}
	return buffer;
}

static json_t *null_unless(bool known, json_int_t value)
{
	return known ? json_integer(value) : json_null();
}

static json_t *text_unless_null(const char *text)
{
	return text ? json_string(text) : json_null();
}

json_t *plan_to_json(const struct plan *plan)
{
	const struct engine_ops *engine = engine_find(plan->engine);
	const struct workload_ops *workload = workload_find(plan->workload);
	const uint32_t need = workload ? workload->need : 0;
	const bool disk = need & ENGINE_FILES, socket = need & ENGINE_SOCKETS;
	const bool delays = plan_uses(plan, USE_DELAY);
	char peer[ADDRESS_TEXT_SIZE];

	return json_pack(
	    "{s:s, s:s, s:I, s:I, s:I, s:o, s:b, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o,"
	    " s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:o, s:I, s:I, s:n, s:n, s:n, s:n}",
	    "engine", plan->engine, "workload", plan->workload, "depth", (json_int_t)plan->depth,
	    "batch", (json_int_t)plan->batch, "threads", (json_int_t)plan->threads, "pool",
	    null_unless(plan->pool, plan->pool), "synchronous",
	    engine && engine->caps & ENGINE_SYNCHRONOUS, "wait", plan_wait_names[plan->wait],
	    "block_bytes", null_unless(plan_uses(plan, USE_BLOCK), (json_int_t)plan->block_bytes),
	    "size_bytes", null_unless(disk, (json_int_t)plan->size_bytes), "direct",
	    disk ? json_boolean(plan->direct) : json_null(), "cache",
	    text_unless_null(plan_uses(plan, USE_CACHE) ? plan_cache_names[plan->cache] : NULL),
	    "file", disk ? json_text(plan->file) : json_null(), "files",
	    null_unless(disk, plan->files), "fsync_every",
	    null_unless(plan_uses(plan, USE_WRITES) && plan->fsync, plan->fsync), "read_percent",
	    null_unless(plan_uses(plan, USE_MIXED), plan->read_percent), "transport",
	    text_unless_null(socket ? plan_transport_names[plan->transport] : NULL), "connections",
	    null_unless(plan_uses(plan, USE_CONNECTIONS), plan->connections), "peer",
	    text_unless_null(socket && plan->peer_named ? address_text(&plan->peer, peer) : NULL),
	    "delay_min_ns", null_unless(delays, (json_int_t)plan->delay_min_ns), "delay_max_ns",
	    null_unless(delays, (json_int_t)plan->delay_max_ns), "rate_per_s",
	    null_unless(plan->rate_per_s, (json_int_t)plan->rate_per_s), "arrival",
	    text_unless_null(plan->rate_per_s ? plan_arrival_names[plan->arrival] : NULL),
	    "duration_ns", (json_int_t)plan->duration_ns, "warmup_ns", (json_int_t)plan->warmup_ns,
	    "operations", null_unless(plan->operations, (json_int_t)plan->operations), "seed",
	    (json_int_t)plan->seed, "repeat", (json_int_t)plan->repeat, "study", "cell", "twin",
	    "shard");
}
