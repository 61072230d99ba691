/* The plan of a study: printed by --dry-run, and what of it is done already. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/store.h"
#include "cli/cli.h"
#include "cli/study.h"

enum { NAME_SHOWN = 200 };

static void run_print(const struct study *study, const struct study_run *run, uint32_t number)
{
	const struct study_cell *cell = &study->cells[run->cell];
	const char *twin = study_twin_names[run->twin];

	printf("%5u  repeat %u  %.*s%s%s%s\n", number, run->repeat, NAME_SHOWN, cell->name,
	       twin ? "  twin: " : "", twin ? twin : "", *cell->impossible ? "  (skipped)" : "");
}

static void impossible_print(const struct study *study)
{
	for (uint32_t i = 0; i < study->cell_count; i++)
		if (*study->cells[i].impossible)
			printf("skipped: %.*s: %s\n", NAME_SHOWN, study->cells[i].name,
			       study->cells[i].impossible);
}

int study_dry_run(const struct study *study, const struct study_options *options)
{
	uint64_t time_ns = 0;
	uint32_t count = 0, counted = 0;
	char duration[40];

	for (uint32_t i = 0; i < study->run_count; i++) {
		const struct study_run *run = &study->runs[i];

		if (!study_is_in_shard(run, options->shard_number, options->shards))
			continue;
		run_print(study, run, ++count);
		time_ns += study_run_ns(study, run) + STUDY_RUN_EXTRA_NS;
		counted += study->cells[run->cell].plan.operations != 0;
	}
	impossible_print(study);
	printf("%s: %u cells, %u repeats, %u runs%s%s, about %s", study->name, study->cell_count,
	       study->repeats, count, options->shard ? " in part " : "",
	       options->shard ? options->shard : "", study_duration(duration, time_ns));
	if (counted)
		printf(" and what %u runs take that end after a number of operations", counted);
	printf("\n");
	if (fflush(stdout) == 0)
		return EXIT_DONE;
	fprintf(stderr, "iostudy study: cannot write to standard output\n");
	return EXIT_RUN_FAILED;
}

/* --- what is done already ----------------------------------------------------------------- */

struct resuming {
	const struct study *study;
	bool *done;
	size_t foreign;    /* runs of this study as it was before */
	char example[200]; /* one of them */
};

static int run_mark(void *context, json_t *run)
{
	struct resuming *r = context;
	const json_t *plan = json_object_get(run, "plan");
	const int64_t at = study_find(r->study, plan);

	if (at >= 0)
		r->done[at] = true;
	if (at == -ENOENT) {
		r->foreign++;
		snprintf(r->example, sizeof r->example, "%s",
		         json_string_value(json_object_get(plan, "cell")) ?: "no cell");
	}
	json_decref(run);
	return 0;
}

static void complain(void *context, const char *text)
{
	(void)context;
	fprintf(stderr, "iostudy study: %s\n", text);
}

int study_resume(const struct study *study, const char *directory, bool *done,
                 char why[STUDY_WHY_SIZE])
{
	struct resuming r = {.study = study, .done = done};
	struct store_visitor visitor = {.run = run_mark, .message = complain, .context = &r};
	int status = store_repair(directory, why);

	if (status > 0)
		fprintf(stderr, "iostudy study: %s\n", why);
	if (status >= 0)
		status = store_visit(&visitor, directory, why);
	store_visitor_free(&visitor);
	if (status == 0 && r.foreign) {
		snprintf(why, STUDY_WHY_SIZE,
		         "%.200s holds %zu runs of %s that its file plans no more, as \"%.180s\": "
		         "it was changed since; name another -o DIR",
		         directory, r.foreign, study->name, r.example);
		return -EEXIST;
	}
	return status;
}
