/* Numbers with units, and the settings of a run. */
#include <errno.h>
#include <stdio.h>

#include "bench/histogram.h"
#include "bench/plan.h"
#include "bench/random.h"
#include "bench/units.h"
#include "tests/test.h"

struct unit_case {
	const char *text;
	int err;
	uint64_t value;
};

TEST(units, sizes_are_powers_of_1024)
{
	static const struct unit_case cases[] = {
	    {"0", 0, 0},
	    {"4k", 0, 4096},
	    {"4K", 0, 4096},
	    {"1M", 0, 1 << 20},
	    {"1.5k", 0, 1536},
	    {"2GiB", 0, 2ull << 30},
	    {"", -EINVAL, 0},
	    {"k", -EINVAL, 0},
	    {"-1", -EINVAL, 0},
	    {"+1", -EINVAL, 0},
	    {" 1", -EINVAL, 0},
	    {"1x", -EINVAL, 0},
	    {"1e3", -EINVAL, 0},
	    {"0x10", -EINVAL, 0},
	    {"1.", -EINVAL, 0},
	    {".5k", -EINVAL, 0},
	    {"nan", -EINVAL, 0},
	    {"1,5k", -EINVAL, 0},
	    {"0.3", -EINVAL, 0},
	    {"18446744073709551615", 0, UINT64_MAX},
	    {"18446744073709551616", -ERANGE, 0},
	    {"17179869184g", -ERANGE, 0},
	    {"99999999999999999999999999999999999999999999", -ERANGE, 0},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint64_t value = 0;
		const int err = units_parse_size(cases[i].text, &value);

		CHECK_MESSAGE(err == cases[i].err, "'%s': %d", cases[i].text, err);
		CHECK_MESSAGE(err || value == cases[i].value, "'%s': %llu", cases[i].text,
		              (unsigned long long)value);
	}
}

TEST(units, bare_times_are_seconds)
{
	static const struct unit_case cases[] = {
	    {"2", 0, 2000000000},   {"2s", 0, 2000000000}, {"500ms", 0, 500000000},
	    {"0.5", 0, 500000000},  {"20us", 0, 20000},    {"7ns", 0, 7},
	    {"1m", 0, 60000000000}, {"0.5ns", -EINVAL, 0}, {"2 s", -EINVAL, 0},
	    {"1d", -EINVAL, 0},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint64_t value = 0;
		const int err = units_parse_time(cases[i].text, &value);

		CHECK_MESSAGE(err == cases[i].err, "'%s': %d", cases[i].text, err);
		CHECK_MESSAGE(err || value == cases[i].value, "'%s': %llu", cases[i].text,
		              (unsigned long long)value);
	}
}

TEST(units, what_is_formatted_parses_to_the_same)
{
	uint64_t random = 1;

	for (int i = 0; i < 1000; i++) {
		const uint64_t bytes = random_next(&random) >> (random % 60);
		uint64_t again = 0;
		char text[32];

		CHECK_EQUAL(units_parse_size(units_format_size(bytes, text), &again), 0);
		CHECK_MESSAGE(again == bytes, "%s is not %llu", text, (unsigned long long)bytes);
		CHECK_EQUAL(units_parse_time(units_format_time(bytes, text), &again), 0);
		CHECK_MESSAGE(again == bytes, "%s is not %llu", text, (unsigned long long)bytes);
	}
}

TEST(plan, a_value_out_of_range_is_refused_with_the_range)
{
	static const char *const cases[][3] = {
	    {"depth", "0", "1 to 131072"},     {"depth", "131073", "1 to 131072"},
	    {"bs", "511", "512 to 1g"},        {"bs", "1025m", "512 to 1g"},
	    {"runtime", "0", "1ms to 86400s"}, {"threads", "16385", "1 to 16384"},
	    {"delay", "2h", "0s to 3600s"},    {"delay", "1s-2h", "0s to 3600s"},
	    {"direct", "2", "0 to 1"},
	};
	struct plan plan;
	char why[PLAN_WHY_SIZE];

	plan_default(&plan);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		CHECK_EQUAL(plan_set(&plan, cases[i][0], cases[i][1], why), -ERANGE);
		CHECK_CONTAINS(why, cases[i][2]);
	}
}

TEST(plan, what_is_no_value_is_refused_by_name)
{
	struct plan plan;
	char why[PLAN_WHY_SIZE];

	plan_default(&plan);
	CHECK_EQUAL(plan_set(&plan, "depth", "many", why), -EINVAL);
	CHECK_CONTAINS(why, "--depth: 'many'");
	CHECK_EQUAL(plan_set(&plan, "delay", "20ms-10ms", why), -EINVAL);
	CHECK_EQUAL(plan_set(&plan, "delay", "20ms-", why), -EINVAL);
	CHECK_EQUAL(plan_set(&plan, "wait", "sleep", why), -EINVAL);
	CHECK_CONTAINS(why, "park, spin, compute");
	CHECK_EQUAL(plan_set(&plan, "filename", "", why), -EINVAL);
	CHECK_EQUAL(plan_set(&plan, "flavour", "1", why), -ENOENT);
}

TEST(plan, fio_words_set_the_same)
{
	struct plan plan;
	char why[PLAN_WHY_SIZE];

	plan_default(&plan);
	CHECK_EQUAL(plan_set(&plan, "iodepth", "64", why), 0);
	CHECK_EQUAL(plan_set(&plan, "numjobs", "4", why), 0);
	CHECK_EQUAL(plan_set(&plan, "blocksize", "16k", why), 0);
	CHECK_EQUAL(plan_set(&plan, "delay", "1ms-3ms", why), 0);
	CHECK_EQUAL(plan.depth, 64);
	CHECK_EQUAL(plan.threads, 4);
	CHECK_EQUAL(plan.block_bytes, 16384);
	CHECK_EQUAL(plan.delay_min_ns, 1000000);
	CHECK_EQUAL(plan.delay_max_ns, 3000000);
}

TEST(plan, blocking_takes_a_thread_for_each_request)
{
	struct plan plan;
	char why[PLAN_WHY_SIZE];

	plan_default(&plan);
	snprintf(plan.engine, sizeof plan.engine, "blocking");
	plan.wait = WAIT_COMPUTE;
	CHECK_EQUAL(plan_complete(&plan, why), 0);
	CHECK_EQUAL(plan.threads, plan.depth);
	CHECK_EQUAL(plan.wait, WAIT_PARK);
}

TEST(plan, what_does_not_go_together_is_refused)
{
	struct plan plan;
	char why[PLAN_WHY_SIZE];

	plan_default(&plan);
	plan.threads = 64;
	CHECK_EQUAL(plan_complete(&plan, why), -EINVAL);
	CHECK_CONTAINS(why, "--depth 64");
	plan_default(&plan);
	plan.block_bytes = 1000;
	CHECK_EQUAL(plan_complete(&plan, why), -EINVAL);
	plan_default(&plan);
	plan.size_bytes = 512;
	CHECK_EQUAL(plan_complete(&plan, why), -EINVAL);
	CHECK_CONTAINS(why, "smaller than one block");
	plan_default(&plan);
	plan.depth = PLAN_DEPTH_MAX;
	snprintf(plan.engine, sizeof plan.engine, "blocking");
	CHECK_EQUAL(plan_complete(&plan, why), -ERANGE);
	CHECK_CONTAINS(why, "--threads");
}

TEST(histogram, a_value_is_off_by_less_than_one_64th)
{
	uint64_t random = 7;

	for (int i = 0; i < 100000; i++) {
		const uint64_t time_ns = random_next(&random) >> (21 + random % 42);
		const uint32_t bucket = histogram_bucket(time_ns);
		const uint64_t low = histogram_lowest(bucket);

		CHECK(bucket < HISTOGRAM_BUCKETS);
		CHECK(low <= time_ns);
		CHECK(time_ns - low <= time_ns / HISTOGRAM_EXACT);
		CHECK_EQUAL(histogram_bucket(low), bucket);
	}
}

TEST(histogram, buckets_are_in_order_and_the_last_takes_the_rest)
{
	for (uint32_t i = 1; i < HISTOGRAM_BUCKETS; i++) {
		CHECK(histogram_lowest(i) > histogram_lowest(i - 1));
		CHECK_EQUAL(histogram_bucket(histogram_lowest(i) - 1), i - 1);
	}
	CHECK_EQUAL(histogram_bucket(UINT64_MAX), HISTOGRAM_BUCKETS - 1);
}
