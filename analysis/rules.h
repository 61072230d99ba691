/*
 * The rules behind the findings. A rule reads the facts of one run and tells its finding.
 */
#ifndef IOSTUDY_RULES_H
#define IOSTUDY_RULES_H

#include "analysis/format.h"
#include "analysis/run_view.h"
#include "analysis/summary.h"

struct facts {
	struct run_view run;
	struct summary summary;
	const struct view_probe *probe; /* the headline's; all zero threads when there is none */
	bool has_probe, exact;          /* exact: the probe sees every switch and knows the calls */
	bool disk, socket;
	bool reads, writes; /* what a disk workload does */
	double held_ns[VIEW_KIND_COUNT], parked_ns[VIEW_KIND_COUNT];
	double held_mean[VIEW_KIND_COUNT], parked_mean[VIEW_KIND_COUNT];
	/* What lost events can hide. A thread that was never seen is missing for the whole window:
	 * a conclusion that there are no more threads must bear lost_threads of them. A thread that
	 * was seen is misstated until its next switch: what says that there are so many must bear
	 * misstated_threads fewer (ten times the mean time between switches for each event). */
	double lost_threads, misstated_threads;
};

enum raised { NOT_RAISED, RAISED, WITHHELD };

enum { FINDING_TEXT_SIZE = 900, FINDING_EVIDENCE_MAX = 12 };

struct finding {
	enum raised raised;
	const char *severity, *confidence;
	char text[FINDING_TEXT_SIZE], advice[FINDING_TEXT_SIZE]; /* ASCII; advice may be empty */
	struct {
		const char *name;
		double value;
	} evidence[FINDING_EVIDENCE_MAX];
	size_t evidence_count;
};

void facts_gather(struct facts *facts, const struct run_view *view);

void finding_say(struct finding *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
void finding_advise(struct finding *f, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void finding_show(struct finding *f, const char *name, double value);

/* The finding as it stands in a result; NULL: no memory. */
json_t *finding_json(const struct finding *finding, const char *tag, const char *class);

/* "likely" where the probe infers what an exact one sees. */
const char *facts_confidence(const struct facts *f);

/* "reads", "writes", "answers" ... */
const char *facts_requests(const struct facts *f);

/* Almost nothing of a disk workload reached the disk. */
bool facts_page_cache(const struct facts *f);

/* The share of a CPU that each of the submitting threads used. */
double facts_cpu_per_thread(const struct facts *f);

/* Who is parked or held. */
void rule_no_thread(const struct facts *f, struct finding *out);
void rule_one_waiter(const struct facts *f, struct finding *out);
void rule_thread_per_io(const struct facts *f, struct finding *out);
void rule_hidden_workers(const struct facts *f, struct finding *out);
void rule_serial_per_file(const struct facts *f, struct finding *out);
void rule_spinning(const struct facts *f, struct finding *out);

/* What io_uring hands to its workers, and submissions that sleep. */
void rule_punted_and_parked(const struct facts *f, struct finding *out);
void rule_punted_not_parked(const struct facts *f, struct finding *out);
void rule_no_nowait(const struct facts *f, struct finding *out);
void rule_submit_blocked(const struct facts *f, struct finding *out);
void rule_tag_wait(const struct facts *f, struct finding *out);

/* What the figures of the run can bear. */
void rule_page_cache(const struct facts *f, struct finding *out);
void rule_behind_schedule(const struct facts *f, struct finding *out);
void rule_depth_not_reached(const struct facts *f, struct finding *out);
void rule_no_interrupt(const struct facts *f, struct finding *out);
void rule_too_short(const struct facts *f, struct finding *out);

#endif
