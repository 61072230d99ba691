/*
 * iostudy doctor, in the surroundings in which people need it: as root and as an ordinary user,
 * with small limits, in a namespace, under a filter on system calls.
 */
#include "engines/engine.h"
#include "probes/probe.h"
#include "tests/process.h"
#include "tests/test.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NOBODY = 65534 };

/* Runs `doctor --json` so, and parses what it says. NULL after a failure. */
static json_t *doctor_json(struct process p, int status)
{
	static const char *const arguments[] = {"doctor", "--json", "--directory", "/var/tmp",
	                                        NULL};
	struct process_result r;
	json_error_t error;

	if (!p.argv)
		p.argv = arguments;
	process_run(&p, &r);
	CHECK_STATUS(&r, status);
	json_t *object = json_loads(r.out, 0, &error);
	CHECK_MESSAGE(object, "%s: %s", error.text, r.out);
	CHECK(r.out_bytes && strchr(r.out, '\n') == r.out + r.out_bytes - 1);
	process_free(&r);
	return object;
}

/* A field of one check: json_field(object, "engines", "uring", "state"); "" when not there. */
static const char *field(const json_t *object, const char *section, const char *name,
                         const char *key)
{
	const json_t *list = json_object_get(object, section);
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *check = json_array_get(list, i);
		const char *its = json_string_value(json_object_get(check, "name"));
		const char *text = json_string_value(json_object_get(check, key));
		if (its && strcmp(its, name) == 0)
			return text ? text : "";
	}
	return "";
}

TEST(doctor, tries_every_engine_and_probe)
{
	json_t *object = doctor_json((struct process){0}, 0);
	REQUIRE(object);
	CHECK_STRING(json_string_value(json_object_get(object, "schema")), "iostudy/doctor/1");
	CHECK(json_is_true(json_object_get(object, "can_run")));
	for (const struct engine_ops *const *ops = engine_table; *ops; ops++) {
		const char *state = field(object, "engines", (*ops)->name, "state");
		CHECK_MESSAGE(strcmp(state, "ok") == 0 || strcmp(state, "no") == 0, "%s: \"%s\"",
		              (*ops)->name, state);
	}
	for (const struct probe_ops *const *ops = probe_table; *ops; ops++)
		CHECK(*field(object, "probes", (*ops)->name, "state"));
	CHECK_STRING(field(object, "engines", "blocking", "state"), "ok");
	json_decref(object);
}

TEST(doctor, tries_a_polled_read_in_its_directory)
{
	json_t *object = doctor_json((struct process){0}, 0);
	REQUIRE(object);
	if (strcmp(field(object, "engines", "uring-iopoll", "state"), "no") == 0)
		CHECK_CONTAINS(field(object, "engines", "uring-iopoll", "why"), "a polled read");
	json_decref(object);
}

TEST(doctor, gives_a_reason_for_everything_that_may_not_be_done)
{
	static const struct process rows[] = {
	    {0},
	    {.user = NOBODY},
	    {.denied = {SYS_io_uring_setup, SYS_bpf}, .denied_count = 2},
	    {.limits = {{RLIMIT_NOFILE, 40}}, .limit_count = 1},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const char *section;
		json_t *list;
		if (rows[i].user && !process_is_root())
			continue;
		json_t *object = doctor_json(rows[i], 0);
		json_object_foreach(object, section, list)
		{
			for (size_t c = 0; c < json_array_size(list); c++) {
				const char *name, *state, *allow, *undo;
				json_unpack(json_array_get(list, c), "{s:s, s:s}", "name", &name,
				            "state", &state);
				allow = field(object, section, name, "allow");
				undo = field(object, section, name, "undo");
				CHECK_MESSAGE(strcmp(state, "no") != 0 ||
				                  *field(object, section, name, "why"),
				              "%s may not be done, without a reason", name);
				CHECK_MESSAGE(!*allow == !*undo, "%s: allow without undo", name);
			}
		}
		json_decref(object);
	}
}

TEST(doctor, tells_an_ordinary_user_what_allows_bpf)
{
	if (!process_is_root())
		SKIP("only root can become another user");
	json_t *object = doctor_json((struct process){.user = NOBODY}, 0);
	REQUIRE(object);
	CHECK_STRING(field(object, "probes", "bpf", "state"), "no");
	CHECK_CONTAINS(field(object, "probes", "bpf", "allow"), "sudo ");
	CHECK(*field(object, "probes", "bpf", "undo"));
	CHECK_CONTAINS(field(object, "user", "user", "value"), "65534");
	CHECK_STRING(field(object, "engines", "blocking", "state"), "ok");
	json_decref(object);
}

/* moby#39396: version and settings say yes, a filter says no. */
TEST(doctor, finds_rings_forbidden_by_a_filter)
{
	json_t *object = doctor_json(
	    (struct process){.denied = {SYS_io_uring_setup}, .denied_count = 1}, 0);
	REQUIRE(object);
	CHECK_STRING(field(object, "engines", "uring", "state"), "no");
	CHECK_CONTAINS(field(object, "engines", "uring", "why"), "io_uring");
	CHECK_STRING(field(object, "engines", "pool", "state"), "ok");
	CHECK_STRING(field(object, "user", "seccomp", "state"), "note");
	json_decref(object);
}

TEST(doctor, knows_a_pid_namespace)
{
	static const char *const unshare[] = {"-p",     "-f", "--mount-proc", NULL, "doctor",
	                                      "--json", NULL};
	const char *arguments[sizeof unshare / sizeof *unshare];
	char program[4096];
	struct process_result r;

	if (!process_is_root())
		SKIP("only root can make a PID namespace");
	memcpy(arguments, unshare, sizeof unshare);
	arguments[3] = "true";
	process_run(&(struct process){.program = "unshare", .argv = arguments}, &r);
	const bool can = r.status == 0;
	process_free(&r);
	if (!can)
		SKIP("a PID namespace cannot be made here");
	snprintf(program, sizeof program, "%s/iostudy", test_build_directory());
	arguments[3] = program;
	process_run(&(struct process){.program = "unshare", .argv = arguments}, &r);
	CHECK_STATUS(&r, 0);
	CHECK_CONTAINS(r.out, "its own PID namespace");
	process_free(&r);
}

TEST(doctor, names_the_limit_its_value_and_the_depth)
{
	const struct process p = {.user = process_is_root() ? NOBODY : 0,
	                          .limits = {{RLIMIT_NOFILE, 40}, {RLIMIT_MEMLOCK, 65536}},
	                          .limit_count = 2};
	json_t *object = doctor_json(p, 0);
	REQUIRE(object);
	CHECK_STRING(field(object, "limits", "open files", "state"), "no");
	CHECK_CONTAINS(field(object, "limits", "open files", "value"), "40");
	CHECK_CONTAINS(field(object, "limits", "open files", "allow"), "prlimit");
	CHECK_CONTAINS(field(object, "limits", "open files", "undo"), "nofile=40:40");
	CHECK_CONTAINS(field(object, "limits", "locked memory", "value"), "64 KiB");
	CHECK_CONTAINS(field(object, "limits", "locked memory", "value"), "16");
	json_decref(object);
}

TEST(doctor, speaks_of_a_place_that_is_no_disk_or_no_place)
{
	static const char *const memory[] = {"doctor", "--json", "--directory", "/dev/shm", NULL};
	static const char *const nowhere[] = {"doctor", "--json", "--directory=/nonexistent", NULL};
	json_t *object = doctor_json((struct process){.argv = memory}, 0);

	REQUIRE(object);
	if (strcmp(field(object, "place", "file system", "value"), "tmpfs") == 0)
		CHECK_CONTAINS(field(object, "place", "file system", "why"), "memory");
	json_decref(object);
	object = doctor_json((struct process){.argv = nowhere}, 0);
	REQUIRE(object);
	CHECK_STRING(field(object, "place", "directory", "state"), "no");
	CHECK_CONTAINS(field(object, "place", "directory", "allow"), "mkdir");
	json_decref(object);
}

TEST(doctor, fits_the_screen_in_plain_ascii)
{
	struct process_result r;
	static const char *const arguments[] = {"doctor", "--ascii", NULL};

	process_run(&(struct process){.argv = arguments, .directory = "/var/tmp"}, &r);
	CHECK_STATUS(&r, 0);
	CHECK(process_widest_line(r.out) <= 80);
	CHECK(!strchr(r.out, '\033'));
	for (const char *c = r.out; *c; c++)
		if ((unsigned char)*c > 126 || (*c < 32 && *c != '\n'))
			test_fail(__FILE__, __LINE__, "byte %02x", (unsigned char)*c);
	CHECK_CONTAINS(r.out, "Runs are possible with");
	process_free(&r);
}

TEST(doctor, is_the_same_in_every_locale)
{
	static const char *const german[] = {"LC_ALL=de_DE.UTF-8", NULL};
	static const char *const arguments[] = {"list", "--json", NULL};
	struct process_result plain, other;

	process_run(&(struct process){.argv = arguments}, &plain);
	process_run(&(struct process){.argv = arguments, .environment = german}, &other);
	CHECK_STRING(other.out, plain.out);
	process_free(&plain);
	process_free(&other);
	json_t *object = doctor_json((struct process){.environment = german}, 0);
	json_decref(object);
}

TEST(doctor, names_a_wrong_option)
{
	struct process_result r;

	PROCESS_RUN(&r, "doctor", "--badly");
	CHECK_STATUS(&r, 2);
	CHECK_CONTAINS(r.err, "badly");
	CHECK_STRING(r.out, "");
	process_free(&r);
}
