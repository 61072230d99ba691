/*
 * The manual page: it renders without a warning, and names what the program's tables hold. And
 * an installation, which puts it in its place and can be taken away again.
 */
#include "bench/plan.h"
#include "bench/scenario/scenario.h"
#include "bench/workload.h"
#include "engines/engine.h"
#include "tests/process.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char page[] = "docs/iostudy.1";

static char *page_text(void)
{
	char *text = NULL;
	size_t size = 0;
	FILE *file = fopen(page, "re");
	if (!file)
		return NULL;
	if (getdelim(&text, &size, '\0', file) < 0)
		text[0] = 0;
	fclose(file);
	return text;
}

TEST(manual, renders_without_a_warning)
{
	static const char *const lint[] = {"-T", "lint", "-W", "warning", page, NULL};
	static const char *const man[] = {"-l", "--warnings", page, NULL};
	static const char *const width[] = {"MANWIDTH=80", "MANPAGER=cat", "LC_ALL=C", NULL};
	struct process_result r;

	if (!process_is_installed("mandoc") && !process_is_installed("man"))
		SKIP("neither mandoc nor man is installed");
	if (process_is_installed("mandoc")) {
		process_run(&(struct process){.program = "mandoc", .argv = lint}, &r);
		CHECK_STATUS(&r, 0);
		CHECK_STRING(r.out, "");
		process_free(&r);
	}
	if (process_is_installed("man") && process_is_installed("groff")) {
		const struct process p = {.program = "man", .argv = man, .environment = width};
		process_run(&p, &r);
		CHECK_STATUS(&r, 0);
		CHECK_STRING(r.err, "");
		CHECK(process_widest_line(r.out) <= 80);
		process_free(&r);
	}
}

TEST(manual, names_every_engine_workload_and_setting)
{
	char name[64], *text = page_text();

	REQUIRE_MESSAGE(text, "%s cannot be read", page);
	for (const struct engine_ops *const *ops = engine_table; *ops; ops++) {
		snprintf(name, sizeof name, ".It Cm %s\n", (*ops)->name);
		CHECK_MESSAGE(strstr(text, name), "%s does not name engine %s", page, (*ops)->name);
	}
	for (const struct workload_ops *const *ops = workload_table; *ops; ops++) {
		snprintf(name, sizeof name, ".It Cm %s\n", (*ops)->name);
		CHECK_MESSAGE(strstr(text, name), "%s does not name workload %s", page,
		              (*ops)->name);
	}
	for (const struct scenario *const *s = scenario_table; *s; s++) {
		snprintf(name, sizeof name, ".It Cm %s\n", (*s)->name);
		CHECK_MESSAGE(strstr(text, name), "%s does not name scenario %s", page, (*s)->name);
	}
	for (const struct plan_setting *setting = plan_settings; setting->name; setting++) {
		snprintf(name, sizeof name, "Fl -%s ", setting->name);
		CHECK_MESSAGE(strstr(text, name), "%s does not name --%s", page, setting->name);
	}
	free(text);
}

/* Runs make with the build that is under test, so that nothing is built anew. */
static void make_run(const char *target, const char *root, struct process_result *r)
{
	char build[4200], destination[300];
	const char *const arguments[] = {"--no-print-directory", "-s", target, build, destination,
	                                 "PREFIX=/usr",          NULL};
	/* What an outer make has set for its own children is not for this one. */
	static const char *const variables[] = {"MAKEFLAGS", "MAKELEVEL", "MFLAGS", NULL};

	snprintf(build, sizeof build, "BUILD=%s", test_build_directory());
	snprintf(destination, sizeof destination, "DESTDIR=%s", root);
	process_run(
	    &(struct process){
		.program = "make", .argv = arguments, .environment = variables, .seconds = 300},
	    r);
}

TEST(install, can_be_used_and_taken_away_again)
{
	struct process_result r;
	char root[256], path[400];
	const char *const version[] = {"--version", NULL};
	const char *const find[] = {root, "-type", "f", NULL};

	process_make_directory(root);
	make_run("install", root, &r);
	CHECK_STATUS(&r, 0);
	process_free(&r);
	snprintf(path, sizeof path, "%s/usr/bin/iostudy", root);
	process_run(&(struct process){.program = path, .argv = version}, &r);
	CHECK_STATUS(&r, 0);
	CHECK_CONTAINS(r.out, IOSTUDY_VERSION);
	process_free(&r);
	snprintf(path, sizeof path, "%s/usr/share/man/man1/iostudy.1", root);
	CHECK_EQUAL(access(path, R_OK), 0);
	make_run("uninstall", root, &r);
	CHECK_STATUS(&r, 0);
	process_free(&r);
	process_run(&(struct process){.program = "find", .argv = find}, &r);
	CHECK_STRING(r.out, "");
	process_free(&r);
	process_remove_directory(root);
}
