/* diff on simulated results, whose truth is known: what differs is found, and nothing else. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/diff.h"
#include "bench/random.h"
#include "tests/analysis_runs.h"
#include "tests/schema_check.h"
#include "tests/test.h"

static double uniform(uint64_t *state)
{
	return (double)(random_next(state) >> 11) / 9007199254740992.0;
}

/* Roughly normal; one in ten is wild, as on a machine that others use too. */
static double noise(uint64_t *state)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += uniform(state);
	return random_below(state, 10) ? sum : 8 * fabs(sum);
}

enum { CELLS = 6, EXPERIMENTS = 100 };

/* A run of one of the cells, in which an operation costs so much more than it should. */
static json_t *simulate(size_t cell, uint32_t repeat, double more, uint64_t *state)
{
	static const char *const engines[CELLS / 2] = {"uring", "libaio", "pool"};
	json_t *run = run_bare(engines[cell / 2], "disk-randread", cell % 2 ? "compute" : "park");
	const double operations = 100000 * (1 + 0.02 * noise(state));

	run_number(run, "plan.repeat", repeat);
	run_number(run, "measured.operations", round(operations));
	run_number(run, "measured.cpu_user_ns",
	           round(operations * 1000 * more * (1 + 0.01 * noise(state))));
	run_number(run, "measured.cpu_system_ns", 0);
	return run;
}

static void diff_begin(struct diff *d, const char *metric)
{
	*d = (struct diff){.options.confidence = 0.95};
	if (metric)
		d->options.metrics[d->options.metric_count++] = (size_t)diff_metric_find(metric);
	for (size_t i = 0; !metric && diff_usual_metrics[i]; i++)
		d->options.metrics[d->options.metric_count++] = (size_t)diff_metric_find(
		    diff_usual_metrics[i]);
}

static void diff_take(struct diff *d, enum diff_side side, json_t *run)
{
	CHECK_EQUAL(diff_add(d, side, run), 0);
	json_decref(run);
}

TEST(diff, finds_5_percent_more_in_the_cell_that_has_it_and_nothing_elsewhere)
{
	int found = 0, wrong = 0;

	for (uint64_t seed = 1; seed <= EXPERIMENTS; seed++) {
		uint64_t state = random_stream(seed, 0);
		struct diff d;

		diff_begin(&d, "cpu_ns_per_operation");
		for (uint32_t repeat = 1; repeat <= 16; repeat++)
			for (size_t cell = 0; cell < CELLS; cell++) {
				diff_take(&d, DIFF_A, simulate(cell, repeat, 1, &state));
				diff_take(&d, DIFF_B,
				          simulate(cell, repeat, cell == 3 ? 1.05 : 1, &state));
			}
		CHECK_EQUAL(diff_conclude(&d), 0);
		CHECK_EQUAL(d.comparison_count, CELLS);
		for (size_t i = 0; i < d.comparison_count; i++) {
			const struct diff_comparison *c = &d.comparisons[i];

			if (c->cell == 3) {
				found += c->answer == DIFF_MORE;
				CHECK_BETWEEN(1.05, c->low - 0.005, c->high + 0.005);
			} else {
				wrong += c->answer != DIFF_NOT_ENOUGH;
			}
		}
		diff_free(&d);
	}
	/* with 95 % confidence 5 of 100 are wrong in the mean, and more than 9 in 3 % of cases */
	CHECK_MESSAGE(found >= 98, "found in %d of %d", found, EXPERIMENTS);
	CHECK_MESSAGE(wrong <= 9, "%d differences that are none", wrong);
}

TEST(diff, two_halves_of_one_study_do_not_differ)
{
	int reported = 0;

	for (uint64_t seed = 1; seed <= 20; seed++) {
		uint64_t state = random_stream(seed, 1);
		struct diff d;

		diff_begin(&d, NULL);
		for (uint32_t repeat = 1; repeat <= 16; repeat++)
			for (size_t cell = 0; cell < CELLS; cell++)
				diff_take(&d, repeat % 2 ? DIFF_A : DIFF_B,
				          simulate(cell, repeat, 1, &state));
		CHECK_EQUAL(diff_conclude(&d), 0);
		reported += d.different > 0;
		diff_free(&d);
	}
	CHECK_MESSAGE(reported <= 1, "in %d of 20 splits something was reported", reported);
}

TEST(diff, pairs_take_a_drift_away)
{
	uint64_t state = 5;
	struct diff d;

	for (int paired = 0; paired < 2; paired++) {
		diff_begin(&d, "cpu_ns_per_operation");
		d.options.paired = paired;
		for (uint32_t repeat = 1; repeat <= 12; repeat++) {
			const double drift = 1 + 0.1 * repeat;

			diff_take(&d, DIFF_A, simulate(0, repeat, drift, &state));
			diff_take(&d, DIFF_B, simulate(0, repeat, drift * 1.05, &state));
		}
		CHECK_EQUAL(diff_conclude(&d), 0);
		CHECK_EQUAL(d.comparisons[0].answer, paired ? DIFF_MORE : DIFF_NOT_ENOUGH);
		diff_free(&d);
	}
}

TEST(diff, compares_engines_within_one_set_and_leaves_twins_out)
{
	uint64_t state = 6;
	struct text out = {0};
	struct diff d;

	diff_begin(&d, "cpu_ns_per_operation");
	d.options.engines[DIFF_A] = "uring";
	d.options.engines[DIFF_B] = "libaio";
	for (uint32_t repeat = 1; repeat <= 8; repeat++)
		for (size_t cell = 0; cell < CELLS; cell++) {
			json_t *run = simulate(cell, repeat, cell / 2 == 1 ? 2 : 1, &state);
			json_t *twin = simulate(cell, repeat, 100, &state);

			run_set(twin, "plan.twin", json_string("no-probe"));
			run_number(run, "plan.threads", cell / 2 + 1);
			diff_take(&d, DIFF_A, run);
			diff_take(&d, DIFF_A, twin);
		}
	CHECK_EQUAL(diff_conclude(&d), 0);
	CHECK_EQUAL(d.comparison_count, 2);
	CHECK_EQUAL(d.different, 2);
	CHECK_BETWEEN(d.comparisons[0].estimate, 1.9, 2.1);
	diff_text(&d, "uring", "libaio", &out);
	CHECK_CONTAINS(out.data, "disk-randread compute");
	CHECK_CONTAINS(out.data, "2 of 2 comparisons differ.");
	text_free(&out);
	diff_free(&d);
}

TEST(diff, says_how_many_repeats_would_do)
{
	uint64_t state = 7;
	struct text out = {0};
	struct diff d;

	diff_begin(&d, NULL);
	for (uint32_t repeat = 1; repeat <= 2; repeat++) {
		diff_take(&d, DIFF_A, simulate(0, repeat, 1, &state));
		diff_take(&d, DIFF_B, simulate(0, repeat, 2, &state));
	}
	CHECK_EQUAL(diff_conclude(&d), 0);
	CHECK_EQUAL(d.different, 0);
	diff_text(&d, "a", "b", &out);
	CHECK_CONTAINS(out.data, "So few repeats cannot tell any difference over 6 comparisons");
	CHECK_CONTAINS(out.data, "at least 5 on each");
	text_free(&out);
	diff_free(&d);
}

TEST(diff, tells_which_facts_of_the_machine_differ_and_which_runs_were_noisy)
{
	uint64_t state = 8;
	struct text out = {0};
	struct diff d;
	json_t *a = simulate(0, 1, 1, &state), *b = simulate(0, 1, 1, &state);

	run_set(a, "environment.kernel", json_string("6.1.0"));
	run_number(b, "environment.cpus", 64);
	run_number(b, "measured.steal_ns", 5e8);
	diff_begin(&d, NULL);
	diff_take(&d, DIFF_A, a);
	diff_take(&d, DIFF_B, b);
	CHECK_EQUAL(diff_conclude(&d), 0);
	CHECK(diff_is_across(&d));
	CHECK_EQUAL(d.noisy[DIFF_A], 0);
	CHECK_EQUAL(d.noisy[DIFF_B], 1);
	diff_text(&d, "a", "b", &out);
	CHECK_CONTAINS(out.data, "WARNING cpus: 2 in A, 64 in B");
	CHECK_CONTAINS(out.data, "note kernel: 6.1.0 in A, 6.18.0 in B");
	CHECK_CONTAINS(out.data, "note: in 1 of the 1 runs of B a hypervisor or other processes");
	text_free(&out);
	diff_free(&d);
}

TEST(diff, its_json_holds_to_its_schema)
{
	json_t *schema = json_load_file("analysis/schema/diff.json", 0, NULL);
	char why[SCHEMA_WHY_SIZE];
	uint64_t state = 9;
	struct diff d;

	diff_begin(&d, NULL);
	for (uint32_t repeat = 1; repeat <= 6; repeat++) {
		diff_take(&d, DIFF_A, simulate(0, repeat, 1, &state));
		diff_take(&d, DIFF_B, simulate(0, repeat, 2, &state));
	}
	CHECK_EQUAL(diff_conclude(&d), 0);
	json_t *object = diff_json(&d, "\033[2Ja", "b");
	CHECK_MESSAGE(schema_holds(schema, object, why), "%s", why);
	json_decref(object);
	json_decref(schema);
	diff_free(&d);
}
