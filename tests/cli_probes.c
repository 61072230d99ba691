/*
 * The choice of probes, and several on one run: which ones, why, and that they agree.
 */
#include <math.h>
#include <string.h>
#include <sys/syscall.h>

#include "tests/cli_runs.h"
#include "tests/test.h"

enum { NOBODY = 65534 };

#define SHORT "--runtime", "200ms", "--wait", "park"

static json_t *probe_find(const json_t *run, const char *name)
{
	const json_t *probes = cli_at(run, "probes");

	for (size_t i = 0; i < json_array_size(probes); i++)
		if (strcmp(cli_text(json_array_get(probes, i), "probe"), name) == 0)
			return json_array_get(probes, i);
	return NULL;
}

/* Threads parked on average, by the probe of that name; *error: how far off it says it can be. */
static double parked(const json_t *run, const char *name, double *error)
{
	static const char *const states[] = {"parked_direct_ns", "parked_waiter_ns",
	                                     "parked_on_result_ns"};
	const json_t *probe = probe_find(run, name);
	const json_t *kinds = cli_at(probe, "kinds");
	const double window_ns = cli_number(probe, "window_ns");
	double sum = 0;

	for (size_t k = 0; k < json_array_size(kinds); k++)
		for (size_t s = 0; s < 3; s++)
			sum += cli_number(json_array_get(kinds, k), states[s]);
	*error = cli_number(probe, "parked_error_ns") / window_ns;
	return sum / window_ns;
}

static void check_agreement(const json_t *run)
{
	static const char *const names[] = {"bpf", "perf", "schedstat", "proc"};

	CHECK_STRING(cli_text(run, "status"), "ok");
	CHECK_EQUAL(json_array_size(cli_at(run, "probes")), 4);
	for (size_t i = 0; i < 4; i++) {
		double error, exact_error;
		const double exact = parked(run, "bpf", &exact_error);
		const double figure = parked(run, names[i], &error);

		CHECK_STRING(cli_text(json_array_get(cli_at(run, "probes"), i), "probe"), names[i]);
		CHECK_EQUAL(cli_number(probe_find(run, names[i]), "lost"), 0);
		CHECK_MESSAGE(fabs(figure - exact) <= error + exact_error,
		              "%s: %s says %.3f +- %.3f parked, bpf %.3f",
		              cli_text(run, "plan.engine"), names[i], figure, error, exact);
		CHECK_BETWEEN(error, 0, 32);
	}
	CHECK(isnan(cli_number(probe_find(run, "bpf"), "samples")));
	CHECK(cli_number(probe_find(run, "proc"), "samples") > 10);
	CHECK(cli_number(probe_find(run, "proc"), "samples_per_s") > 10);
	CHECK(json_is_null(cli_at(probe_find(run, "perf"), "parked_at_completion")));
	CHECK(json_is_null(cli_at(probe_find(run, "proc"), "self_test")));
	/* the first gives the headline */
	double unused;
	CHECK_BETWEEN(cli_number(run, "summary.threads_parked_mean") - parked(run, "bpf", &unused),
	              -1e-6, 1e-6);
}

TEST(probes, all_four_on_one_run_agree_within_what_each_says_of_itself)
{
	if (!process_is_root())
		SKIP("the bpf probe needs root");
	json_t *runs = CLI_RUNS(0, "--engine", "blocking,uring", "--workload", "socket-delay",
	                        "--wait", "park", "--runtime", "1s", "--probe",
	                        "bpf,perf,schedstat,proc");

	CHECK_EQUAL(json_array_size(runs), 2);
	for (size_t i = 0; i < json_array_size(runs); i++)
		check_agreement(json_array_get(runs, i));
	json_decref(runs);
}

/* On one and the same run, as no two runs are alike. What the host takes away is time on the CPU by
 * bpf's clock, and by the kernel's books nobody's, so that schedstat takes it for sleep. */
TEST(probes, blocking_reads_park_as_many_threads_by_bpf_as_by_their_own_statistics)
{
	double unused;

	if (!process_is_root())
		SKIP("the bpf probe needs root");
	json_t *runs = CLI_RUNS(0, "--engine", "blocking", "--workload", "disk-randread",
	                        "--runtime", "2s", "--size", "64m", "--probe", "bpf,schedstat");
	const json_t *run = json_array_get(runs, 0);

	CHECK_STRING(cli_text(run, "status"), "ok");
	CHECK_EQUAL(cli_number(run, "plan.threads"), 32);
	const double in_flight = cli_number(run, "summary.in_flight_mean");
	const double stolen = cli_number(run, "measured.steal_ns") /
	                      cli_number(run, "measured.window_ns");
	CHECK_BETWEEN((parked(run, "bpf", &unused) - parked(run, "schedstat", &unused)) / in_flight,
	              -0.02 - (stolen > 0 ? stolen : 0) / in_flight, 0.02);
	json_decref(runs);
}

struct choice {
	const char *probe;
	long denied;  /* a system call that is refused, or 0 */
	rlim_t files; /* RLIMIT_NOFILE, or 0 */
	const char *first, *second;
	const char *warnings[2]; /* parts of the first two */
};

/* The how-manieth warning that is not of the machine's own noise, or "". */
static const char *warning_of(const json_t *run, int wanted)
{
	const json_t *text;
	size_t i;

	json_array_foreach(json_object_get(run, "warnings"), i, text)
	{
		if (!strstr(json_string_value(text), "the figures are noisy") && wanted-- == 0)
			return json_string_value(text);
	}
	return "";
}

static void check_choice(const struct choice *c)
{
	struct process p = {.argv = (const char *const[]){"--engine", "blocking", "--workload",
	                                                  "timer-delay", "--depth", "64", SHORT,
	                                                  "--probe", c->probe, NULL},
	                    .user = process_is_root() ? NOBODY : 0};

	if (c->denied)
		p.denied[p.denied_count++] = c->denied;
	if (c->files) {
		p.limits[0].resource = RLIMIT_NOFILE;
		p.limits[0].value = c->files;
		p.limit_count = 1;
	}
	json_t *runs = cli_runs(p, 0);
	const json_t *run = json_array_get(runs, 0);

	CHECK_STRING(cli_text(run, "probes.0.probe"), c->first);
	CHECK_STRING(cli_text(run, "probes.1.probe"), c->second);
	CHECK_BETWEEN(cli_number(run, "summary.held_per_in_flight"), 0.5, 1.1);
	for (int i = 0; i < 2; i++) {
		if (c->warnings[i])
			CHECK_CONTAINS(warning_of(run, i), c->warnings[i]);
		else
			CHECK_STRING(warning_of(run, i), "");
	}
	json_decref(runs);
}

TEST(probes, auto_takes_the_best_two_that_are_allowed_and_says_why_not_better)
{
	static const struct choice choices[] = {
	    {"auto",
	     SYS_perf_event_open,
	     0,
	     "schedstat",
	     "proc",
	     {"counted by schedstat and proc, not by bpf: ",
	      "sysctl kernel.perf_event_paranoid=2"}},
	    {"auto", 0, 100, "schedstat", "proc", {"not by bpf: ", "RLIMIT_NOFILE is 100"}},
	    {"proc,schedstat", 0, 0, "proc", "schedstat", {NULL, NULL}},
	    {"proc", 0, 0, "proc", "", {NULL, NULL}},
	};

	for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
		check_choice(&choices[i]);
}

TEST(probes, auto_takes_perf_with_schedstat_where_bpf_is_refused)
{
	struct process p = {.argv = (const char *const[]){"--workload", "timer-delay", SHORT, NULL},
	                    .user = process_is_root() ? NOBODY : 0};
	json_t *runs = cli_runs(p, 0);
	const json_t *run = json_array_get(runs, 0);
	const char *warning = warning_of(run, 1);
	const bool refused = strstr(warning, "perf_event_paranoid");

	if (!refused) {
		CHECK_STRING(cli_text(run, "probes.0.probe"), "perf");
		CHECK_STRING(cli_text(run, "probes.1.probe"), "schedstat");
		CHECK(cli_number(run, "probes.0.kinds.0.voluntary_switches") > 0);
		CHECK(isnan(cli_number(run, "probes.0.kinds.0.parks")));
		CHECK_CONTAINS(warning_of(run, 0),
		               "threads are counted by perf and schedstat, not by bpf: ");
		CHECK_CONTAINS(warning_of(run, 0), "setcap cap_bpf,cap_perfmon+ep");
	}
	json_decref(runs);
	if (refused)
		SKIP("%s", "kernel.perf_event_paranoid forbids the perf probe here");
}

TEST(probes, one_that_is_named_is_required)
{
	static const char *const names[] = {"bpf", "schedstat,bpf", "perf"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct process p = {.argv = (const char *const[]){"--workload", "timer-delay",
		                                                  SHORT, "--probe", names[i], NULL},
		                    .user = process_is_root() ? NOBODY : 0,
		                    .denied = {SYS_perf_event_open},
		                    .denied_count = 1};
		json_t *runs = cli_runs(p, 77);
		const json_t *run = json_array_get(runs, 0);

		CHECK_STRING(cli_text(run, "status"), "skipped");
		CHECK_CONTAINS(cli_text(run, "why"), i == 2 ? "probe perf: " : "probe bpf: ");
		CHECK_EQUAL(json_array_size(cli_at(run, "probes")), 0);
		json_decref(runs);
	}
}

TEST(probes, too_many_threads_for_the_descriptors_are_named)
{
	struct process p = {.argv = (const char *const[]){"--engine", "blocking", "--workload",
	                                                  "timer-delay", "--depth", "64", SHORT,
	                                                  "--probe", "perf", NULL},
	                    .limits = {{RLIMIT_NOFILE, 100}},
	                    .limit_count = 1};
	json_t *runs = cli_runs(p, 77);
	const char *why = cli_text(json_array_get(runs, 0), "why");

	CHECK_CONTAINS(why, "probe perf: ");
	if (!strstr(why, "perf_event_paranoid"))
		CHECK_CONTAINS(why, "RLIMIT_NOFILE is 100; raise it with ulimit -n");
	json_decref(runs);
}

TEST(probes, names_that_make_no_sense_are_refused)
{
	static const char *const rows[][2] = {
	    {"ebpf", "unknown probe 'ebpf': did you mean bpf?"},
	    {"perf,", "unknown probe ''"},
	    {"perf,procs", "unknown probe 'procs': did you mean proc?"},
	    {"perf,auto", "probe auto stands alone"},
	    {"proc,perf,proc", "probe proc is named twice"},
	    {"", "unknown probe ''"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct process_result r;

		PROCESS_RUN(&r, "run", "--probe", rows[i][0]);
		CHECK_STATUS(&r, 2);
		CHECK_CONTAINS(r.err, rows[i][1]);
		process_free(&r);
	}
}

TEST(probes, stand_side_by_side_on_the_screen_and_in_the_report)
{
	char directory[256], runs[300];
	struct process_result r;

	process_make_directory(directory);
	snprintf(runs, sizeof runs, "%s/runs", directory);
	PROCESS_RUN(&r, "run", "--workload", "timer-delay", SHORT, "--probe", "schedstat,proc",
	            "-o", runs);
	CHECK_STATUS(&r, 0);
	CHECK_CONTAINS(r.out, "Threads counted by schedstat");
	CHECK_CONTAINS(r.out, "Probes on the same run");
	CHECK_CONTAINS(r.out, "proc: samples of single threads, ");
	CHECK(process_widest_line(r.out) <= 80);
	process_free(&r);
	PROCESS_RUN(&r, "report", runs, "-o", "-");
	CHECK_STATUS(&r, 0);
	CHECK_CONTAINS(r.out, "## The probes side by side");
	CHECK_CONTAINS(r.out, "| uring timer-delay park | proc |");
	process_free(&r);
	process_remove_directory(directory);
}
