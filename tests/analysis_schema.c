/*
 * The schema of a run says of our objects what is true, and the schema, the rules and the summary
 * know the same names.
 */
#include <string.h>

#include "analysis/findings.h"
#include "analysis/summary.h"
#include "tests/analysis_runs.h"
#include "tests/schema_check.h"
#include "tests/test.h"

static json_t *schema_load(void)
{
	json_error_t error;
	json_t *schema = json_load_file("analysis/schema/run.json", JSON_REJECT_DUPLICATES, &error);

	CHECK_MESSAGE(schema, "analysis/schema/run.json, line %d: %s", error.line, error.text);
	return schema;
}

TEST(schema, holds_for_every_kind_of_run)
{
	json_t *(*const makers[])(void) = {run_no_thread,  run_one_waiter, run_thread_per_io,
	                                   run_pool,       run_posix_aio,  run_spinning,
	                                   run_page_cache, run_socket,     run_nothing_ends,
	                                   run_failed,     run_skipped};
	char why[SCHEMA_WHY_SIZE];
	json_t *schema = schema_load();

	for (size_t i = 0; schema && i < sizeof makers / sizeof makers[0]; i++) {
		json_t *run = makers[i]();
		run_conclude(run);
		CHECK_MESSAGE(schema_holds(schema, run, why), "run %zu: %s", i, why);
		json_decref(run);
	}
	json_decref(schema);
}

TEST(schema, refuses_what_is_wrong)
{
	static const struct {
		const char *path, *json;
	} rows[] = {
	    {"status", "\"fine\""},
	    {"schema", "\"iostudy/run/2\""},
	    {"measured.operations", "\"many\""},
	    {"measured.window_ns", "-1"},
	    {"measured.errors", "{\"EIO\":\"two\"}"},
	    {"measured.latency_submitted_ns", "{\"min\":1,\"max\":2,\"buckets\":[[1,2,3]]}"},
	    {"probes.0.kinds.0.kind", "\"helper\""},
	    {"findings", "[{\"tag\":\"NO-THREAD\"}]"},
	    {"summary", "{}"},
	};
	char why[SCHEMA_WHY_SIZE];
	json_t *schema = schema_load();

	for (size_t i = 0; schema && i < sizeof rows / sizeof rows[0]; i++) {
		json_t *run = run_one_waiter();
		run_conclude(run);
		run_set(run, rows[i].path, json_loads(rows[i].json, JSON_DECODE_ANY, NULL));
		CHECK_MESSAGE(!schema_holds(schema, run, why), "%s: %s is let through",
		              rows[i].path, rows[i].json);
		json_decref(run);
	}
	json_decref(schema);
}

TEST(schema, lists_every_tag_and_every_summary_field)
{
	json_t *schema = schema_load(), *tag;
	const json_t *tags = run_get(schema, "properties.findings.items.properties.tag.enum");
	const json_t *fields = run_get(schema, "properties.summary.properties");
	size_t count = 0, i;

	for (; findings_tag(count); count++) {
		bool listed = false;
		json_array_foreach((json_t *)tags, i, tag)
		    listed |= strcmp(json_string_value(tag), findings_tag(count)) == 0;
		CHECK_MESSAGE(listed, "%s is not in the schema", findings_tag(count));
	}
	CHECK_EQUAL(json_array_size(tags), count);
	for (i = 0; i < SUMMARY_FIELD_COUNT; i++)
		CHECK_MESSAGE(json_object_get(fields, summary_field_name(i)),
		              "%s is not in the schema", summary_field_name(i));
	CHECK_EQUAL(json_object_size(fields), SUMMARY_FIELD_COUNT);
	json_decref(schema);
}
