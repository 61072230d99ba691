/*
 * Engines, workloads and probes as people name them: one, several, "basic", "all", or fio's word.
 */
#ifndef IOSTUDY_SELECTION_H
#define IOSTUDY_SELECTION_H

#include <stdint.h>

#include "bench/plan.h"

enum { SELECTION_MAX = 64 };

/* Names of the tables of engines or workloads, each once, in the order in which they came. */
struct selection {
	const char *names[SELECTION_MAX];
	uint32_t count;
};

/* Adds what "a", "basic", "all" or "io_uring" stands for. 0, or -ENOENT with why: the name and
 * the nearest ones. */
int selection_add_engine(struct selection *selection, const char *name, char why[PLAN_WHY_SIZE]);
int selection_add_workload(struct selection *selection, const char *name, char why[PLAN_WHY_SIZE]);

/* Adds the workload for a value of fio's --rw. 0, or -ENOENT with why: what is nearest. */
int selection_add_rw(struct selection *selection, const char *rw, char why[PLAN_WHY_SIZE]);

/* Whether a text is "auto", "none", or probes of the table, each once: "bpf,perf". 0, or -ENOENT or
 * -EINVAL with why. */
int selection_check_probes(const char *text, char why[PLAN_WHY_SIZE]);

#endif
