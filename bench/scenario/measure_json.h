/* What measure.c and measure_json.c share: a case while it is measured. */
#ifndef IOSTUDY_MEASURE_JSON_H
#define IOSTUDY_MEASURE_JSON_H

#include "bench/run_probes.h"
#include "bench/scenario/census.h"
#include "bench/scenario/measure.h"

struct measurement {
	struct scenario_run *run;
	struct measure_work *work;
	struct run_result *outcome; /* of it: status, why, probes, warnings */
	struct board_side side;
	struct run_probes probes;
	pid_t subject, load;
	uint64_t started_ns, limit_ns;
	bool has_window;
	uint64_t begin_ns, end_ns, cpu_begin_ns, cpu_end_ns;
	struct census census;
	struct probe_reading *from; /* of each probe: the first reading, then the window's */
};

/* A moment as the object tells it: since the work began. */
uint64_t measurement_since(const struct measurement *m, uint64_t time_ns);

/* What changed over time, as an array of series: threads and memory of the measured process; calls
 * that succeeded and failed, and the latency of those that ended meanwhile. */
json_t *measurement_series(const struct measurement *m);

/* The object of the case, without what analysis adds. Takes work's setting and published. NULL
 * when memory is short. */
json_t *measurement_json(struct measurement *m);

#endif
