/*
 * Observing programs that are not ours over a window: the watch's readings and census, with names
 * for what the kernel numbers, and the groups that their threads form.
 */
#ifndef IOSTUDY_OBSERVE_H
#define IOSTUDY_OBSERVE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bench/maps.h"
#include "bench/symbols.h"
#include "probes/watch.h"

#define RINGS_UNKNOWN INT64_MIN
enum { OBSERVE_TARGETS_MAX = 4096, OBSERVE_WHY_SIZE = 300, CREWS_MAX = 256 };

/* A process that the user named. */
struct observe_target {
	pid_t pid;
	uint32_t process;  /* as the kernel numbers it */
	uint32_t children; /* that it had when it was named */
	char command[64];
};

/* Threads of one process that began with the same function, and whose names differ in numbers
 * alone: two or more. */
struct crew {
	uint32_t process, pid;
	uint64_t routine;
	bool of_library; /* the C library's own threads: its POSIX AIO, its timers */
	char name[16];   /* of one of them */
	char stem[16];   /* of all: numbers made # */
	uint32_t threads, parked, on_files, whole_window, futex, waiting;
	uint32_t on_calls; /* parked on connections that the process itself has opened */
	uint32_t clients;  /* connections of the process that others have opened */
	uint64_t alive_ns, parked_ns, futex_ns, running_ns;
	/* by their waits on futexes, as in struct futex_waits */
	uint64_t waits, at_place, given, passed_on;
	uint64_t place;      /* where the first of them waits most; 0: nobody has waited */
	uint32_t sharing;    /* who waits most there */
	uint64_t giver;      /* who ends most waits of one of them */
	uint32_t own_givers; /* threads whose waits are ended by one of the crew itself mostly */
	uint32_t told;       /* that are taken for a pool's threads */
};

/* Whether a crew is a pool: waits for work at the same place again and again, and gets it from
 * threads that wait elsewhere. */
enum crew_pool { CREW_NO_POOL, CREW_CANNOT_TELL, CREW_LIKELY_POOL };
enum crew_pool crew_pool(const struct crew *crew);

struct observation {
	struct watch watch;
	bool children;
	bool folds;                         /* stacks are taken: see observe_folds */
	char without_bpf[OBSERVE_WHY_SIZE]; /* why it counts by samples; empty: it does not */
	struct observe_target *targets;
	size_t target_count;
	struct symbols symbols; /* empty: the kernel hides them */
	uint64_t begin_ns, end_ns;
	struct probe_reading *first, *last, *window; /* readings; and their difference */
	struct watch_census begin, now;
	struct watch_cost cost_begin, cost;
	uint64_t own_cpu_begin_ns, own_cpu_ns;
	json_t *names;     /* of objects, by process and number */
	json_t *functions; /* of the kernel, by place */
	json_t *routines;  /* of threads, by their number */
	struct maps *maps; /* of processes, with folds */
	size_t map_count;
	uint64_t looks;
	uint64_t births; /* when they were looked at last */
	struct crew crews[CREWS_MAX];
	size_t crew_count;
	/* requests of io_uring in flight at attach, as told then and at the end */
	int64_t rings_before, rings_after;
	/* POSIX AIO: the requests of one file, at the moments when they were looked at */
	uint64_t aio_looks, aio_most;
	bool alive; /* some thread lived at the last reading */
};

/* probe: "bpf" or "proc" is required; "auto" is BPF, or samples where that is not allowed, and then
 * o->without_bpf says why. 0, or -errno with why: what is missing, and the one command that allows
 * it. */
int observe_open(struct observation *o, const char *probe, bool children, bool folds,
                 const char *directory, char why[OBSERVE_WHY_SIZE]);

/* Names a process before observe_begin. -ESRCH: there is none. */
int observe_add(struct observation *o, pid_t pid, char why[OBSERVE_WHY_SIZE]);

/* Opens the window. 0 or -errno. */
int observe_begin(struct observation *o);

/* A look in passing: where threads have been born, names the new ones while they live; and takes
 * a reading (o->last) if one is wanted. -ESRCH when no thread lives any more. */
int observe_look(struct observation *o, bool reading);

/* Closes the window. It can be closed again, later. 0 or -errno. */
int observe_end(struct observation *o);
void observe_close(struct observation *o);

/* A new object as iostudy/watch/1 without its findings. status: ok or interrupted. */
json_t *observe_json(struct observation *o, const char *status, const char *why, json_t *plan);

/* The time asleep by stacks, as flame graphs are drawn from: a line for each, its frames from the
 * outermost on, separated by semicolons, the reason first, then microseconds. Of processes that
 * are gone functions are named as far as a look in passing had seen their maps. A new text; NULL
 * with why: it cannot be told. */
char *observe_folds(const struct observation *o, char why[OBSERVE_WHY_SIZE]);

/* Parts of it, in files of their own. */
void observe_fold_maps(struct observation *o); /* of processes that live */
/* True if a thread turned out to be of another kind. */
bool observe_name_threads(struct observation *o);
bool observe_crews(struct observation *o);
/* How many of those in flight on rings began before the attach; RINGS_UNKNOWN: they change too
 * fast to tell. */
int64_t observe_rings(const struct observation *o);
void observe_rings_json(const struct observation *o, json_t *ring);
void observe_aio_queues(struct observation *o);
void observe_name_objects(struct observation *o);
void observe_place_key(char text[64], const struct place_key *place, bool object_alone);
/* The name of a place's object; NULL: it has none that is known. */
const char *observe_object_name(const struct observation *o, const struct place_key *place);
json_t *observe_places_json(struct observation *o);
json_t *observe_crews_json(const struct observation *o);
json_t *observe_sync_waits_json(const struct observation *o);
/* Each thread as it is now, with what it sleeps in; of thousands that takes a moment. */
json_t *observe_threads_json(const struct observation *o);
const char *observe_object_type(const struct observation *o, const struct place_key *place);
const char *observe_state_word(uint8_t state); /* "parked-direct" */
json_t *observe_ready_json(const struct observation *o);
json_t *observe_aio_json(const struct observation *o);
json_t *observe_workers_json(const struct observation *o);
/* A thread by its process and number in the census; NULL: it does not live. */
const struct census_record *observe_thread(const struct observation *o, uint32_t process,
                                           uint64_t number);

#endif
