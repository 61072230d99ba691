/*
 * What one run is to do: one engine, one workload, one setting. A plan is plain data, so that
 * the subject, a process of its own, can have a copy.
 */
#ifndef IOSTUDY_PLAN_H
#define IOSTUDY_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "bench/address.h"

enum {
	PLAN_WHY_SIZE = 400, /* bytes of a reason, its terminating zero included */
	PLAN_NAME_SIZE = 32, /* of an engine's or a workload's name */
	PLAN_PATH_SIZE = 4096,
	PLAN_DEPTH_MAX = 1 << 17,
	PLAN_THREADS_MAX = 1 << 14,
};

enum plan_wait { WAIT_PARK, WAIT_SPIN, WAIT_COMPUTE, WAIT_COUNT };
enum plan_cache { CACHE_COLD, CACHE_HOT, CACHE_COUNT };
enum plan_arrival { ARRIVAL_CONSTANT, ARRIVAL_POISSON, ARRIVAL_COUNT };
enum plan_transport { TRANSPORT_TCP, TRANSPORT_UNIX, TRANSPORT_COUNT };

extern const char *const plan_wait_names[WAIT_COUNT];
extern const char *const plan_cache_names[CACHE_COUNT];
extern const char *const plan_arrival_names[ARRIVAL_COUNT];
extern const char *const plan_transport_names[TRANSPORT_COUNT];

struct plan {
	char engine[PLAN_NAME_SIZE];
	char workload[PLAN_NAME_SIZE];
	uint32_t depth;   /* requests wanted in flight, over all threads */
	uint32_t batch;   /* most requests of one submission, and of one reap */
	uint32_t threads; /* of the subject that submit; 0: the engine's own default */
	uint32_t pool;    /* threads of a pool engine; 0: one per request */
	uint32_t wait;    /* enum plan_wait */
	uint64_t seed;
	uint64_t duration_ns, warmup_ns;
	uint64_t
	    rate_per_s;   /* an open loop: so many requests arrive, over all threads; 0: closed */
	uint32_t arrival; /* enum plan_arrival; with a rate */
	uint64_t operations; /* end after so many, without warm-up; 0: the time decides */
	uint32_t repeat;     /* which repetition this is, from 1 */
	/* disk */
	uint64_t block_bytes;
	uint64_t size_bytes; /* 0: the named file's own, else FILE_SIZE_DEFAULT */
	bool direct, overwrite;
	uint32_t cache;              /* enum plan_cache; without direct, of a workload that reads */
	uint32_t files;              /* over which the blocks are spread; >= 1 */
	uint32_t fsync;              /* after every so many writes of a thread; 0: never */
	uint32_t read_percent;       /* of a workload that reads and writes */
	char file[PLAN_PATH_SIZE];   /* the first; see file_path */
	bool file_named;             /* by the user: it is his, and never removed */
	bool file_verified;          /* filled by us, so that its blocks can be checked */
	uint64_t file_seed;          /* with which the first was filled */
	struct ledger *ledger;       /* of a workload that writes, while it runs; shared */
	struct order_passes *passes; /* of one that reads past a cache; likewise */
	/* sockets and timers */
	uint64_t delay_min_ns, delay_max_ns;
	uint32_t transport;   /* enum plan_transport */
	uint32_t connections; /* that requests share; 0: the workload's own default */
	struct address peer;  /* of the other end; of ours once it is started */
	bool peer_named;      /* by the user: none is started */
};

/* The defaults of every setting. */
void plan_default(struct plan *plan);

/* Sets one setting from text, by its own name or by the one fio's users type ("iodepth").
 * 0, -ENOENT: no such setting; -EINVAL, -ERANGE with why: names the value and the range. */
int plan_set(struct plan *plan, const char *name, const char *value, char why[PLAN_WHY_SIZE]);

/* Fills in what depends on the engine (threads, batch), and refuses what does not go together.
 * 0, -EINVAL or -ERANGE with why; -EOPNOTSUPP: this engine cannot do this workload, with why. */
int plan_complete(struct plan *plan, char why[PLAN_WHY_SIZE]);

/* Blocks of all its files, of size_bytes in all. */
uint64_t plan_blocks(const struct plan *plan);

/* The plan as DESIGN's JSON object. NULL when memory is short. */
json_t *plan_to_json(const struct plan *plan);

/* Which runs a setting means anything to. */
enum plan_use {
	USE_ALWAYS,
	USE_TIMED,    /* a run that ends with its time, not with its operations */
	USE_ASYNC,    /* an engine that does not block in submission */
	USE_POOL,     /* an engine with a pool of threads */
	USE_FILES,    /* a disk workload */
	USE_CACHE,    /* one that reads through the page cache */
	USE_WRITES,   /* one that writes */
	USE_MIXED,    /* one that does both */
	USE_OWN_FILE, /* on files of our own */
	USE_NAMED,    /* on a file that the user named */
	USE_DELAY,    /* a socket or timer workload */
	USE_SOCKETS,
	USE_RATE,        /* an open loop */
	USE_CONNECTIONS, /* a workload whose requests share them */
	USE_BLOCK,       /* one with blocks or messages */
};

/* Whether the setting changes anything in this run. The plan need not be complete. */
bool plan_uses(const struct plan *plan, enum plan_use use);

/* The end of "--cache is for ..."; what would use it. */
const char *plan_use_text(enum plan_use use);

/* One setting, for --help and the man page. */
struct plan_setting {
	const char *name, *alias; /* alias: fio's word, or NULL */
	const char *argument;     /* N, SIZE, TIME, ... */
	const char *help;
	uint8_t type; /* of plan.c */
	size_t offset, size;
	uint64_t low, high;
	const char *const *names; /* of an enumeration, or NULL */
	uint32_t name_count;
	uint8_t use; /* enum plan_use */
};
extern const struct plan_setting plan_settings[]; /* ends with a name of NULL */

/* The setting's value in a plan as text that plan_set takes; empty where the value is "not given"
 * or goes without saying. Returns buffer. */
const char *plan_get(const struct plan *plan, const struct plan_setting *setting, char buffer[80]);

#endif
