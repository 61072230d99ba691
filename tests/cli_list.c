/*
 * iostudy list: what it names is what the tables hold, for people and for programs.
 */
#include "bench/workload.h"
#include "engines/engine.h"
#include "probes/probe.h"
#include "tests/process.h"
#include "tests/test.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

TEST(list, names_every_engine_workload_and_probe)
{
	struct process_result r;

	PROCESS_RUN(&r, "list");
	CHECK_STATUS(&r, 0);
	for (const struct engine_ops *const *ops = engine_table; *ops; ops++)
		CHECK_CONTAINS(r.out, (*ops)->name);
	for (const struct workload_ops *const *ops = workload_table; *ops; ops++)
		CHECK_CONTAINS(r.out, (*ops)->name);
	for (const struct probe_ops *const *ops = probe_table; *ops; ops++)
		CHECK_CONTAINS(r.out, (*ops)->name);
	CHECK_CONTAINS(r.out, "scripts");
	CHECK_STRING(r.err, "");
	process_free(&r);
	PROCESS_RUN(&r, "list", "engines", "workloads", "probes");
	CHECK_STATUS(&r, 0);
	CHECK(process_widest_line(r.out) <= 80);
	process_free(&r);
}

TEST(list, shows_only_what_it_is_asked_for)
{
	struct process_result r;

	PROCESS_RUN(&r, "list", "workloads", "probes");
	CHECK_STATUS(&r, 0);
	CHECK_CONTAINS(r.out, "disk-randread");
	CHECK_CONTAINS(r.out, "probes");
	CHECK(!strstr(r.out, "engines\n"));
	process_free(&r);
}

TEST(list, is_one_json_object_on_one_line)
{
	struct process_result r;
	json_error_t error;

	PROCESS_RUN(&r, "list", "--json");
	CHECK_STATUS(&r, 0);
	json_t *object = json_loads(r.out, 0, &error);
	REQUIRE_MESSAGE(object, "%s: %s", error.text, r.out);
	CHECK(strchr(r.out, '\n') == r.out + r.out_bytes - 1);
	CHECK_STRING(json_string_value(json_object_get(object, "schema")), "iostudy/list/1");
	const json_t *engines = json_object_get(object, "engines");
	for (size_t i = 0; engine_table[i]; i++) {
		const json_t *engine = json_array_get(engines, i);
		CHECK_STRING(json_string_value(json_object_get(engine, "name")),
		             engine_table[i]->name);
		CHECK(json_array_size(json_object_get(engine, "serves")) > 0);
	}
	CHECK(json_is_array(json_object_get(object, "scripts")));
	json_decref(object);
	process_free(&r);
}

/* Lists the scripts of a copy of the program in directory/place. */
static void scripts_list(const char *directory, const char *place, const char *how,
                         struct process_result *r)
{
	char program[600], script[900], self[256];
	const char *const arguments[] = {"-c", script, NULL};

	snprintf(self, sizeof self, "%s/iostudy", test_build_directory());
	snprintf(program, sizeof program, "%s/%s/iostudy", directory, place);
	snprintf(script, sizeof script, "mkdir -p %s/%s && cp '%s' '%s' && %s", directory, place,
	         self, program, how);
	process_run(&(struct process){.program = "sh", .argv = arguments}, r);
	CHECK_STATUS(r, 0);
	process_free(r);
	const char *const list[] = {"list", "scripts", NULL};
	process_run(&(struct process){.program = program, .argv = list}, r);
}

TEST(list, finds_the_scripts_of_an_installation_and_of_a_build)
{
	static const char *const places[][2] = {
	    {"bin", "share/iostudy"}, {"build", "probes"}, {"build/address-undefined", "probes"}};
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		struct process_result r;
		char directory[256], how[900], expected[600];
		process_make_directory(directory);
		snprintf(how, sizeof how,
		         "mkdir -p %s/%s && printf '#!/usr/bin/env bpftrace\\n"
		         "/*\\n * Counts parked threads.\\n */\\n' > %s/%s/parked.bt",
		         directory, places[i][1], directory, places[i][1]);
		scripts_list(directory, places[i][0], how, &r);
		CHECK_STATUS(&r, 0);
		snprintf(expected, sizeof expected, "bpftrace %s/%s/parked.bt PID", directory,
		         places[i][1]);
		CHECK_CONTAINS(r.out, expected);
		CHECK_CONTAINS(r.out, "Counts parked threads.");
		process_free(&r);
		process_remove_directory(directory);
	}
}

TEST(list, says_where_it_looked_for_scripts_in_vain)
{
	struct process_result r;
	char directory[256];

	process_make_directory(directory);
	scripts_list(directory, "bin", "true", &r);
	CHECK_STATUS(&r, 0);
	CHECK_CONTAINS(r.out, "not found");
	CHECK_CONTAINS(r.out, directory);
	process_free(&r);
	process_remove_directory(directory);
}

TEST(list, names_a_wrong_word_and_a_wrong_option)
{
	struct process_result r;

	PROCESS_RUN(&r, "list", "enginez");
	CHECK_STATUS(&r, 2);
	CHECK_CONTAINS(r.err, "enginez");
	CHECK_CONTAINS(r.err, "engines");
	CHECK_STRING(r.out, "");
	process_free(&r);
	PROCESS_RUN(&r, "list", "--jsom");
	CHECK_STATUS(&r, 2);
	CHECK_CONTAINS(r.err, "jsom");
	CHECK_STRING(r.out, "");
	process_free(&r);
}

TEST(list, tells_when_its_output_cannot_be_written)
{
	struct process_result r;
	const char *const arguments[] = {"list", NULL};

	process_run(&(struct process){.argv = arguments, .out = OUTPUT_FULL}, &r);
	CHECK_STATUS(&r, 1);
	CHECK_CONTAINS(r.err, "No space left");
	process_free(&r);
	process_run(&(struct process){.argv = arguments, .out = OUTPUT_CLOSED}, &r);
	CHECK(r.status != 0);
	process_free(&r);
}
