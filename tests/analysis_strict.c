/*
 * Whatever a run holds (fields missing, null, huge, of odd values, of wrong types), analysis gives
 * strict JSON and a screen of 80 columns, or one sentence that names the field.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/findings.h"
#include "analysis/report.h"
#include "analysis/store.h"
#include "analysis/summary.h"
#include "analysis/text.h"
#include "tests/analysis_runs.h"
#include "tests/process.h"
#include "tests/schema_check.h"
#include "tests/test.h"

enum { SEEDS = 3000 };

static unsigned long random_next(unsigned long *state)
{
	*state = *state * 6364136223846793005UL + 1442695040888963407UL;
	return *state >> 33;
}

static json_t *odd_value(unsigned long *state, bool types)
{
	switch (random_next(state) % (types ? 11 : 8)) {
	case 0:
		return json_null();
	case 1:
		return json_integer(0);
	case 2:
		return json_integer(1);
	case 3:
		return json_integer(INT64_MAX);
	case 4:
		return json_real(1e308);
	case 5:
		return json_real(5e-324);
	case 6:
		return json_integer((json_int_t)(random_next(state) % 1000000));
	case 7:
		return json_real((double)random_next(state) / 1e6);
	case 8:
		return json_string("NaN");
	case 9:
		return json_integer(-1);
	default:
		return json_pack("[s]", "x");
	}
}

/* Changes, or takes away, about one number in so many. */
static void disturb(json_t *value, unsigned long *state, unsigned rarity, bool types)
{
	json_t *member;
	const char *name;
	void *next;
	size_t i;

	if (json_is_object(value))
		json_object_foreach_safe(value, next, name, member)
		{
			if (!json_is_number(member) && !json_is_null(member))
				disturb(member, state, rarity, types);
			else if (random_next(state) % rarity == 0)
				json_object_set_new(value, name, odd_value(state, types));
			else if (random_next(state) % (rarity * 4) == 0)
				json_object_del(value, name);
		}
	else if (json_is_array(value))
		json_array_foreach(value, i, member)
		{
			if (!json_is_number(member))
				disturb(member, state, rarity, types);
			else if (random_next(state) % rarity == 0)
				json_array_set_new(value, i, odd_value(state, types));
		}
}

static json_t *seeded_run(unsigned long seed)
{
	json_t *(*const makers[])(void) = {run_no_thread,  run_one_waiter, run_thread_per_io,
	                                   run_pool,       run_posix_aio,  run_spinning,
	                                   run_page_cache, run_socket,     run_nothing_ends};
	unsigned long state = seed * 7919 + 1;
	json_t *run = makers[seed % 9]();

	disturb(run, &state, 2 + seed % 29, seed % 5 == 0);
	return run;
}

/* Every number of the JSON text is finite: a strict parser takes it, and no word of it is one
 * that JSON does not know. */
static void check_strict(const json_t *run, unsigned long seed)
{
	json_error_t error;
	char *line = store_line(run);

	CHECK_MESSAGE(line, "seed %lu: cannot be written", seed);
	json_t *again = line ? json_loads(line, JSON_REJECT_DUPLICATES, &error) : NULL;
	CHECK_MESSAGE(again, "seed %lu: %s", seed, error.text);
	json_decref(again);
	free(line);
}

TEST(strict, whatever_a_run_holds_analysis_stands)
{
	char why[RUN_WHY_SIZE], schema_why[SCHEMA_WHY_SIZE];
	json_t *schema = json_load_file("analysis/schema/run.json", 0, NULL);
	const json_t *summary_schema = run_get(schema, "properties.summary");
	const json_t *findings_schema = run_get(schema, "properties.findings");
	size_t read = 0;

	REQUIRE(schema);
	for (unsigned long seed = 0; seed < SEEDS && !test_has_failed(); seed++) {
		json_t *run = seeded_run(seed);
		const bool good = summary_add(run, why) == 0 && findings_add(run, why) == 0;

		if (!good)
			CHECK_MESSAGE(*why, "seed %lu: refused without a reason", seed);
		else
			read++;
		check_strict(run, seed);
		if (good) {
			CHECK_MESSAGE(schema_holds(summary_schema, json_object_get(run, "summary"),
			                           schema_why),
			              "seed %lu: summary%s", seed, schema_why);
			CHECK_MESSAGE(schema_holds(findings_schema,
			                           json_object_get(run, "findings"), schema_why),
			              "seed %lu: findings%s", seed, schema_why);
		}
		char *text = text_render(&run, 1, &(struct text_style){.ascii = true});
		REQUIRE_MESSAGE(text, "seed %lu: no screen", seed);
		CHECK_MESSAGE(process_widest_line(text) <= 80, "seed %lu: too wide: %s", seed,
		              text);
		CHECK_MESSAGE(!strstr(text, " nan") && !strstr(text, " inf"), "seed %lu: %s", seed,
		              text);
		free(text);
		struct digest digest;
		runs_digest(&digest, &run, 1);
		char *document = report_markdown(&digest);
		digest_free(&digest);
		CHECK_MESSAGE(document, "seed %lu: no report", seed);
		free(document);
		json_decref(run);
	}
	CHECK_MESSAGE(read > SEEDS / 3, "only %zu of %d runs could be read", read, SEEDS);
	json_decref(schema);
}

TEST(strict, a_division_by_zero_is_null)
{
	static const char *const zeros[] = {"measured.window_ns", "measured.in_flight_ns",
	                                    "measured.operations", "measured.served_ns"};
	static const char *const nulls[] = {"iops", "held_per_in_flight", "cpu_ns_per_operation",
	                                    "held_per_served"};

	for (size_t i = 0; i < 4; i++) {
		json_t *run = run_one_waiter();
		char path[60];

		run_number(run, zeros[i], 0);
		run_conclude(run);
		snprintf(path, sizeof path, "summary.%s", nulls[i]);
		CHECK_MESSAGE(json_is_null(run_get(run, path)), "%s with %s 0", path, zeros[i]);
		json_decref(run);
	}
}

TEST(strict, one_operation_gives_figures_and_a_limit)
{
	json_t *run = run_bare("uring", "disk-randread", "park");
	run_number(run, "measured.operations", 1);
	run_set(run, "measured.latency_submitted_ns",
	        json_loads("{\"min\":105,\"max\":105,\"buckets\":[[100,1]]}", 0, NULL));
	run_conclude(run);
	CHECK(run_get_number(run, "summary.iops") == 0.5);
	CHECK(run_get_number(run, "summary.latency_p50_ns") == 105); /* within min and max */
	CHECK(run_get_number(run, "summary.latency_p999_ns") == 105);
	CHECK(run_finding(run, "TOO-SHORT"));
	json_decref(run);
}

TEST(strict, percentiles_are_those_of_the_buckets)
{
	json_t *run = run_one_waiter();
	run_conclude(run);
	CHECK(run_get_number(run, "summary.latency_p50_ns") == 362000);
	CHECK(run_get_number(run, "summary.latency_p99_ns") == 619000);
	CHECK(run_get_number(run, "summary.latency_p999_ns") == 1900000);
	CHECK(run_get_number(run, "summary.latency_min_ns") == 101000);
	json_decref(run);
}

TEST(strict, a_library_that_hides_its_threads_is_served_as_the_probe_saw)
{
	json_t *run = run_posix_aio();
	run_conclude(run);
	CHECK_BETWEEN(run_get_number(run, "summary.served_mean"), 0.999, 1.001);
	CHECK_BETWEEN(run_get_number(run, "summary.not_served_mean"), 14.99, 15.01);
	run_set(run, "probes", json_array());
	run_conclude(run);
	CHECK(json_is_null(run_get(run, "summary.served_mean")));
	json_decref(run);
}

TEST(strict, old_files_with_fields_missing_keep_opening)
{
	json_t *run = json_loads("{\"schema\":\"iostudy/run/1\",\"status\":\"ok\"}", 0, NULL);
	run_conclude(run);
	CHECK(json_is_null(run_get(run, "summary.iops")));
	char *text = text_render(&run, 1, &(struct text_style){0});
	CHECK_CONTAINS(text, "No probe");
	free(text);
	json_decref(run);
}
