/* The thresholds of `iostudy diff --fail-on`, for CI. */
#ifndef IOSTUDY_CLI_DIFF_GATE_H
#define IOSTUDY_CLI_DIFF_GATE_H

#include <stdio.h>

#include "analysis/diff.h"

enum { GATES_MAX = 16 };

struct gate {
	size_t metric;
	bool more;     /* > : met when B has more */
	double factor; /* 1.05 for 5 % */
};

/* "cpu_ns_per_operation>5%", "iops<-5%". 0 or -EINVAL. */
int gate_parse(struct gate *gate, const char *text);

/* Whether a comparison told a difference beyond a gate; each is named on out. */
bool gates_met(const struct gate *gates, size_t count, const struct diff *diff, FILE *out);

#endif
