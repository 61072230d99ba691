/*
 * The classic experiments. A scenario does the same work in several ways, its modes; each mode is
 * carried out for each setting asked for, in fresh processes (measure.h), and each of these cases
 * becomes one object (schema iostudy/scenario/1).
 *
 * A new scenario is one file with a struct scenario, a line below, and a line in scenario_table.
 */
#ifndef IOSTUDY_SCENARIO_H
#define IOSTUDY_SCENARIO_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "bench/plan.h"

enum {
	SCENARIO_WHY_SIZE = PLAN_WHY_SIZE,
	SCENARIO_PARAMETERS_MAX = 24,
	SCENARIO_LIST_MAX = 32, /* numbers or words in one value */
};

enum scenario_type {
	PARAMETER_NUMBER,
	PARAMETER_NUMBERS, /* "100,1000,10000" */
	PARAMETER_TIME,    /* shrunk by --time-scale */
	PARAMETER_SIZE,    /* bytes: 100k */
	PARAMETER_WORDS,   /* one or more of words, or "all" */
	PARAMETER_TEXT,    /* whatever: a file's name */
};

/* What can be set, as an option of the command. */
struct scenario_parameter {
	const char *name, *argument, *help;
	const char *value; /* the default, as the user would type it; "": none */
	enum scenario_type type;
	uint64_t low, high;       /* of a number, a time (before it is shrunk) or a size */
	const char *const *words; /* ends with NULL */
};

/* One way to do the work. */
struct scenario_mode {
	const char *name, *summary;
	const char *published; /* a JSON object: what was published of it. NULL: nothing */
	const void *own;       /* the scenario's */
};

/* What was asked for, and who is told of it. */
struct scenario_run {
	const struct scenario *scenario;
	const char *values[SCENARIO_PARAMETERS_MAX]; /* in the parameters' order; NULL: default */
	const char *only;                            /* modes, separated by commas; NULL: all */
	double time_scale;
	uint64_t seed;
	const char *probe;                   /* auto, none, or names: "bpf,proc" */
	const char *directory;               /* where files may be made */
	const volatile sig_atomic_t *signal; /* not 0: end now */
	/* Is handed each finished object, which it owns. 0; -errno ends the scenario. */
	int (*result)(void *context, json_t *result);
	/* Is told what begins, in one short line; may be NULL. */
	void (*progress)(void *context, const char *what);
	void *context;
	void *own;                   /* the scenario's, from prepare to finish */
	char why[SCENARIO_WHY_SIZE]; /* of what returned -errno */
};

struct scenario {
	const char *name, *summary;
	const struct scenario_parameter *parameters; /* ends with a name of NULL */
	const struct scenario_mode *modes;           /* ends with a name of NULL */
	/* Before the first mode. 0; 1: that was all that was asked for, and run->why says what was
	 * done; -errno with run->why: nothing can be run. May be NULL. */
	int (*prepare)(struct scenario_run *run);
	/* Carries out one mode: for each of its settings one case (measure.h). 0, or -errno with
	 * run->why: the scenario ends. What only one case cannot do is said in its object. */
	int (*run)(struct scenario_run *run, const struct scenario_mode *mode);
	void (*finish)(struct scenario_run *run); /* also after prepare failed; may be NULL */
};

extern const struct scenario scenario_blocking_calls, scenario_event_loop, scenario_virtual_threads,
    scenario_portal, scenario_upload;
extern const struct scenario *const scenario_table[]; /* ends with NULL */
const struct scenario *scenario_find(const char *name);

/* Sets a parameter; value must outlive the run. 0; -ENOENT: there is none of that name; -EINVAL,
 * -ERANGE with run->why: the value and what it may be. */
int scenario_set(struct scenario_run *run, const char *name, const char *value);

/* Carries out the modes asked for. 0; -EINTR after a signal; -EINVAL with run->why: there is no
 * such mode; or -errno with run->why. */
int scenario_carry_out(struct scenario_run *run);

/* The values. The name must be one of the scenario's, of that type. */
uint64_t scenario_number(const struct scenario_run *run, const char *name);  /* or size */
uint64_t scenario_time_ns(const struct scenario_run *run, const char *name); /* shrunk */
uint32_t scenario_numbers(const struct scenario_run *run, const char *name,
                          uint64_t numbers[SCENARIO_LIST_MAX]); /* how many */
bool scenario_has_word(const struct scenario_run *run, const char *name, const char *word);
const char *scenario_text(const struct scenario_run *run, const char *name);

#endif
