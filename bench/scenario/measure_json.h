/* What measure.c and measure_json.c share: a case while it is measured. */
#ifndef IOSTUDY_MEASURE_JSON_H
#define IOSTUDY_MEASURE_JSON_H

#include "bench/run.h"
#include "bench/scenario/census.h"
#include "bench/scenario/measure.h"

enum { MEASUREMENT_WARNINGS = 8 };

struct measurement {
	struct scenario_run *run;
	struct measure_work *work;
	enum run_outcome status;
	char why[SCENARIO_WHY_SIZE]; /* unless ok */
	struct board_side side;
	struct thread_mark *own_marks;
	uint32_t *own_in_flight;
	struct probe probe_state, *probe; /* NULL: none */
	pid_t subject, load;
	uint64_t started_ns, limit_ns;
	bool has_window;
	uint64_t begin_ns, end_ns, cpu_begin_ns, cpu_end_ns;
	struct census census;
	struct probe_reading *from, *to, *window; /* [3] in one piece, at from */
	char warnings[MEASUREMENT_WARNINGS][SCENARIO_WHY_SIZE];
	uint32_t warning_count;
};

void measurement_warn(struct measurement *m, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The object of the case, without what analysis adds. Takes work's setting and published. NULL
 * when memory is short. */
json_t *measurement_json(struct measurement *m);

#endif
