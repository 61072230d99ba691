/* How far a study is, and how long it will take: on stderr. */
#ifndef IOSTUDY_CLI_STUDY_PROGRESS_H
#define IOSTUDY_CLI_STUDY_PROGRESS_H

#include <stdint.h>

struct study_progress {
	uint32_t total, done;          /* runs; done also counts those kept from before */
	uint64_t left_ns;              /* by plan, of the runs that are not done */
	uint32_t measured;             /* runs of this call */
	uint64_t elapsed_ns, plans_ns; /* how long they took, and should have by plan */
	uint64_t last_ns;              /* when a line was last written */
};

/* Beyond its warm-up and its window a run takes so long at first estimate: processes, probes. */
enum { STUDY_RUN_EXTRA_NS = 600000000 };

/* "1 h 20 min", "2 min", "40 s". Returns text. */
const char *study_duration(char text[40], uint64_t time_ns);

/* Before a run: a line on a terminal; elsewhere one every 10 seconds. */
void study_progress_show(struct study_progress *progress, const char *what);

/* After a run. */
void study_progress_count(struct study_progress *progress, uint64_t plan_ns, uint64_t took_ns);

/* Takes the line away again, on a terminal. */
void study_progress_clear(void);

#endif
