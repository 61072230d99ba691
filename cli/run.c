/* `iostudy run`: carries out what was asked for, run by run, and prints the answer. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/store.h"
#include "analysis/text.h"
#include "bench/limits.h"
#include "cli/cli.h"
#include "cli/place.h"
#include "cli/request.h"
#include "cli/screen.h"
#include "cli/scripts.h"
#include "cli/signals.h"

/* What the runs share. */
struct session {
	struct request request;
	struct place place;
	struct plan cells[REQUEST_CELLS_MAX];
	uint32_t cell_count;
	json_t *runs[REQUEST_CELLS_MAX];
	uint32_t run_count, ok, skipped, failed, interrupted;
	bool store_failed;
};

static void keep(struct session *s, json_t *run)
{
	char why[STORE_WHY_SIZE];

	if (!s->request.output || s->store_failed)
		return;
	if (scripts_keep(s->request.output, run, why) != 0)
		fprintf(stderr, "iostudy: %s\n", why);
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
	place_execute(&s->place, &s->cells[index], s->request.probe, &result);
	screen_progress_clear();
	count(s, result.status);
	run = place_conclude(&s->place, &result);
	run_result_free(&result);
	if (!run) {
		s->failed++;
		return true;
	}
	keep(s, run);
	s->runs[s->run_count++] = run;
	return !s->request.json || print_json(run);
}

/* What the script said beside each run, as it said it: bpftrace prints names of the kernel's. */
static bool print_scripts(const struct session *s)
{
	bool good = true;

	for (uint32_t i = 0; i < s->run_count; i++) {
		const char *output = json_string_value(
		    json_object_get(json_object_get(s->runs[i], "script"), "output"));

		if (output)
			good &= printf("%s beside run %u:\n%s", strrchr(s->request.script, '/') + 1,
			               i + 1, output) >= 0;
	}
	return good;
}

static bool print_text(struct session *s)
{
	const struct text_style style = screen_style(s->request.ascii);
	char *text = text_render(s->runs, s->run_count, &style);
	bool good;

	if (!text)
		return false;
	good = fputs(text, stdout) != EOF && print_scripts(s) && fflush(stdout) == 0;
	free(text);
	return good;
}

static int exit_status(const struct session *s, bool printed, int print_errno)
{
	if (*signals_came())
		return 128 + *signals_came();
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
	char caveat[240], why[STORE_WHY_SIZE];
	struct stat st;
	int err = 0;

	limits_raise();
	if (s->request.output)
		err = store_prepare(s->request.output, why);
	if (err) {
		fprintf(stderr, "iostudy: %s\n", why);
		exit(EXIT_RUN_FAILED);
	}
	place_open(&s->place, s->request.directory, named ? place : NULL);
	s->place.keep = s->request.keep;
	s->place.quiet = s->request.json;
	s->place.script = *s->request.script ? s->request.script : NULL;
	if (!s->request.json && !(stat(place, &st) == 0 && S_ISBLK(st.st_mode)) &&
	    environment_caveat(&s->place.environment, place, caveat))
		fprintf(stderr, "%s\n", caveat);
}

int command_run(int argc, char **argv)
{
	struct session *s = calloc(1, sizeof *s);
	bool printed = true;
	int print_errno, status;

	signals_catch();
	if (!s) {
		fputs("iostudy: out of memory\n", stderr);
		return EXIT_RUN_FAILED;
	}
	request_parse(&s->request, argc, argv);
	s->cell_count = request_cells(&s->request, s->cells, REQUEST_CELLS_MAX);
	begin(s);
	for (uint32_t i = 0; i < s->cell_count && printed && !s->interrupted; i++)
		printed = run_cell(s, i);
	print_errno = errno;
	if (printed && !s->request.json) {
		printed = print_text(s);
		print_errno = errno;
	}
	place_close(&s->place);
	status = exit_status(s, printed, print_errno);
	for (uint32_t i = 0; i < s->run_count; i++)
		json_decref(s->runs[i]);
	free(s);
	return status;
}
