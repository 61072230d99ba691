/* `iostudy run`: carries out what was asked for, run by run, and prints the answer. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/findings.h"
#include "analysis/store.h"
#include "analysis/summary.h"
#include "analysis/text.h"
#include "bench/environment.h"
#include "bench/file.h"
#include "bench/limits.h"
#include "bench/result.h"
#include "bench/run.h"
#include "bench/units.h"
#include "bench/workload.h"
#include "cli/cli.h"
#include "cli/request.h"
#include "cli/screen.h"

/* What the runs share. */
struct session {
	struct request request;
	struct environment environment;
	struct plan cells[REQUEST_CELLS_MAX];
	uint32_t cell_count;
	struct file_lease lease;
	bool file_ready, file_failed;
	char file_why[PLAN_WHY_SIZE];
	json_t *runs[REQUEST_CELLS_MAX];
	uint32_t run_count, ok, skipped, failed, interrupted;
	bool store_failed;
};

enum { SECOND_SIGNAL_NS = 500000000 }; /* sooner it is the first one, sent to a whole group too */

static volatile sig_atomic_t signal_came;
static volatile uint64_t signal_came_ns;

/* Our own file, for a second signal, which ends the program at once. */
static volatile sig_atomic_t lease_fd = -1;
static char lease_path[PLAN_PATH_SIZE];

static void on_signal(int sig)
{
	const uint64_t now_ns = witness_now_ns();

	if (!signal_came) {
		signal_came_ns = now_ns;
		signal_came = sig;
	} else if (now_ns - signal_came_ns > SECOND_SIGNAL_NS) {
		if (lease_fd >= 0 && flock(lease_fd, LOCK_EX | LOCK_NB) == 0)
			unlink(lease_path);
		_exit(128 + sig);
	}
}

static void catch_signals(void)
{
	const int caught[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

	for (size_t i = 0; i < sizeof caught / sizeof *caught; i++) {
		struct sigaction old;

		/* what nohup(1) ignores stays ignored */
		if (sigaction(caught[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(caught[i], &action, NULL);
	}
	signal(SIGXFSZ, SIG_IGN); /* and a file that grows beyond its limit as EFBIG */
	signal(SIGPIPE, SIG_IGN); /* a closed pipe shows as EPIPE when it is written to */
}

/* Makes the file when the first disk run needs it; the settings are the same for all of them. */
static int prepare_file(struct session *s, struct plan *plan)
{
	struct plan *shared = &s->request.plan;
	int err;

	if (!s->file_ready && !s->file_failed) {
		err = file_prepare(shared, &s->lease, &signal_came, s->file_why);
		s->file_ready = err == 0;
		s->file_failed = err != 0;
		if (s->lease.made && !s->request.keep) {
			snprintf(lease_path, sizeof lease_path, "%s", s->lease.path);
			lease_fd = s->lease.fd;
		}
		if (s->file_ready && s->lease.made && !s->request.json) {
			char size[32];

			fprintf(stderr, "file %s, %s, filled and checked; %s\n", shared->file,
			        units_format_size(shared->size_bytes, size),
			        s->request.keep ? "kept (--keep)" : "removed at the end");
		}
	}
	plan->size_bytes = shared->size_bytes;
	plan->file_verified = shared->file_verified;
	plan->file_seed = shared->file_seed;
	return s->file_failed ? -EIO : 0;
}

static void execute(struct session *s, struct plan *plan, struct run_result *result)
{
	const struct run_options options = {
	    .probe = s->request.probe,
	    .directory = s->request.directory,
	    .signal = &signal_came,
	};
	const bool disk = workload_find(plan->workload)->need & ENGINE_FILES;

	if (!signal_came && !(disk && prepare_file(s, plan) != 0)) {
		run_execute(plan, &options, result);
		return;
	}
	memset(result, 0, sizeof *result);
	result->plan = *plan;
	plan_complete(&result->plan, result->why);
	result->status = signal_came ? OUTCOME_INTERRUPTED : OUTCOME_FAILED;
	if (signal_came)
		snprintf(result->why, sizeof result->why,
		         "interrupted by signal %d before it began", (int)signal_came);
	else
		snprintf(result->why, sizeof result->why, "%s", s->file_why);
}

/* The finished object of a run, or NULL when memory is short. */
static json_t *conclude(const struct session *s, const struct run_result *result)
{
	json_t *run = result_to_json(result, &s->environment);
	char why[RUN_WHY_SIZE] = "out of memory";

	if (run && summary_add(run, why) == 0 && findings_add(run, why) == 0)
		return run;
	fprintf(stderr, "iostudy: the result cannot be written down: %s\n", why);
	json_decref(run);
	return NULL;
}

static void keep(struct session *s, json_t *run)
{
	char why[STORE_WHY_SIZE];

	if (!s->request.output || s->store_failed)
		return;
	if (store_append(s->request.output, run, why) == 0)
		return;
	fprintf(stderr, "iostudy: %s\n", why);
	s->store_failed = true;
}

static void count(struct session *s, enum run_outcome status)
{
	s->ok += status == OUTCOME_OK;
	s->skipped += status == OUTCOME_SKIPPED;
	s->failed += status == OUTCOME_FAILED;
	s->interrupted += status == OUTCOME_INTERRUPTED;
}

/* False when stdout is closed or full. */
static bool print_json(const json_t *run)
{
	char *line = store_line(run);
	const bool good = line && fputs(line, stdout) != EOF && putchar('\n') != EOF &&
	                  fflush(stdout) == 0;

	free(line);
	return good;
}

static bool run_cell(struct session *s, uint32_t index)
{
	struct run_result result;
	json_t *run;

	screen_progress(index, s->cell_count, &s->cells[index]);
	execute(s, &s->cells[index], &result);
	screen_progress_clear();
	count(s, result.status);
	run = conclude(s, &result);
	run_result_free(&result);
	if (!run) {
		s->failed++;
		return true;
	}
	keep(s, run);
	s->runs[s->run_count++] = run;
	return !s->request.json || print_json(run);
}

static bool print_text(struct session *s)
{
	const struct text_style style = screen_style(s->request.ascii);
	char *text = text_render(s->runs, s->run_count, &style);
	bool good;

	if (!text)
		return false;
	good = fputs(text, stdout) != EOF && fflush(stdout) == 0;
	free(text);
	return good;
}

static int exit_status(const struct session *s, bool printed, int print_errno)
{
	if (signal_came)
		return 128 + signal_came;
	if (!printed && print_errno == EPIPE)
		return 128 + SIGPIPE;
	if (!printed)
		fprintf(stderr, "iostudy: cannot write to standard output: %s\n",
		        strerror(print_errno));
	if (!printed || s->failed || s->store_failed)
		return EXIT_RUN_FAILED;
	return s->ok ? EXIT_DONE : EXIT_NOTHING;
}

static void begin(struct session *s)
{
	const bool named = s->request.plan.file_named;
	const char *place = named ? s->request.plan.file : s->request.directory;
	char caveat[240];
	struct stat st;
	int err = 0;

	limits_raise();
	if (s->request.output)
		err = store_prepare(s->request.output, s->file_why);
	if (err) {
		fprintf(stderr, "iostudy: %s\n", s->file_why);
		exit(EXIT_RUN_FAILED);
	}
	environment_read(&s->environment, place);
	if (!s->request.json && !(stat(place, &st) == 0 && S_ISBLK(st.st_mode)) &&
	    environment_caveat(&s->environment, place, caveat))
		fprintf(stderr, "%s\n", caveat);
}

int command_run(int argc, char **argv)
{
	struct session *s = calloc(1, sizeof *s);
	bool printed = true;
	int print_errno, status;

	catch_signals();
	if (!s) {
		fputs("iostudy: out of memory\n", stderr);
		return EXIT_RUN_FAILED;
	}
	request_parse(&s->request, argc, argv);
	s->cell_count = request_cells(&s->request, s->cells, REQUEST_CELLS_MAX);
	s->lease.fd = -1;
	begin(s);
	for (uint32_t i = 0; i < s->cell_count && printed && !s->interrupted; i++)
		printed = run_cell(s, i);
	print_errno = errno;
	if (printed && !s->request.json) {
		printed = print_text(s);
		print_errno = errno;
	}
	lease_fd = -1;
	file_release(&s->lease, s->request.keep);
	status = exit_status(s, printed, print_errno);
	for (uint32_t i = 0; i < s->run_count; i++)
		json_decref(s->runs[i]);
	free(s);
	return status;
}
