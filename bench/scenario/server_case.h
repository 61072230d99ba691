/*
 * A case whose measured process is a server: the gateway, in a process of its own, in front of a
 * delay service, with a load on it from another process.
 */
#ifndef IOSTUDY_SERVER_CASE_H
#define IOSTUDY_SERVER_CASE_H

#include "bench/scenario/gateway.h"
#include "bench/scenario/load.h"
#include "bench/scenario/measure.h"

/* One case. */
struct server_case {
	struct gateway_config gateway;
	struct load load; /* its server and tally are filled in */
	uint64_t *kept;   /* what a scenario keeps from one mode to the next; 0 at first */
	const void *own;  /* of the scenario */
};

/* What its processes share. */
struct server_shared {
	struct address address; /* of the gateway */
	struct gateway_counts counts;
	struct load_tally tally;
};

/* The delay service for all cases: run->own is made of it by prepare, and freed by finish. */
int server_case_prepare(struct scenario_run *run);
void server_case_finish(struct scenario_run *run);

/* A gateway in front of that service, with the defaults for so many users. */
void server_case_defaults(struct server_case *c, const struct scenario_run *run, uint32_t users);

/* Carries it out. work: mode, setting, published and conclude are set. As measure_case. */
int server_case_measure(struct scenario_run *run, const struct server_case *c,
                        struct measure_work *work);

/* A percentile of a histogram, in ns; 0: it is empty. */
uint64_t server_case_percentile(const struct histogram *histogram, double share);

/* The share of the calls that succeeded in less than that. */
double server_case_share_under(const struct board *board, uint64_t time_ns);

#endif
