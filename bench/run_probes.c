/* Chooses, opens and closes the probes of a run: see run_probes.h. */
#include "bench/run_probes.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { AUTOMATIC = 2 }; /* one, and beside an inexact one another to hold it against */

static int open_one(struct run_probes *p, const struct probe_ops *ops, char why[PROBE_WHY_SIZE])
{
	struct probe *probe = &p->probes[p->count];
	const int err = probe_open(probe, ops, &p->config, why);

	if (err)
		return err;
	p->count++;
	if (probe->self_test == SELF_TEST_FAILED)
		run_warn(p->result,
		         "the self-test of probe %s failed, so its block figures are not given: %s",
		         ops->name, probe->self_test_why);
	return 0;
}

/* The tables of a probe that brings its own serve all. */
static void settle_tables(struct run_probes *p)
{
	p->tables = p->own;
	for (uint32_t i = 0; i < p->count; i++)
		if (probe_brings_tables(&p->probes[i]))
			p->tables = p->probes[i].tables;
	for (uint32_t i = 0; i < p->count; i++)
		if (!probe_brings_tables(&p->probes[i]))
			probe_use_tables(&p->probes[i], &p->tables);
}

static int refuse(struct run_probes *p, const char *name, const char *why)
{
	p->result->probe_missing = true;
	run_end(p->result, OUTCOME_SKIPPED, "probe %s: %s", name, why);
	return -EOPNOTSUPP;
}

static int open_named(struct run_probes *p, const char *names)
{
	for (const char *at = names; *at; at += strcspn(at, ","), at += *at == ',') {
		char name[32], why[PROBE_WHY_SIZE] = "";

		snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
		if (open_one(p, probe_find(name), why) != 0)
			return refuse(p, name, why);
	}
	return 0;
}

static bool has_enough(const struct run_probes *p)
{
	return p->count == AUTOMATIC || (p->count == 1 && p->probes[0].ops == probe_table[0]);
}

static void pass_over(struct run_probes *p, const char *name, const char *why)
{
	if (p->refused_count == RUN_PROBES_MAX)
		return;
	p->refused[p->refused_count].name = name;
	snprintf(p->refused[p->refused_count++].why, PROBE_WHY_SIZE, "%s", why);
}

static void open_automatic(struct run_probes *p)
{
	char why[PROBE_WHY_SIZE];

	for (; *p->untried && !has_enough(p); p->untried++)
		if (open_one(p, *p->untried, why) != 0)
			pass_over(p, (*p->untried)->name, why);
}

/* Which were chosen, and why not better ones. */
static void note_choice(struct run_probes *p)
{
	const char *first = p->count ? p->probes[0].ops->name : "no probe";
	const char *second = p->count > 1 ? p->probes[1].ops->name : "";

	for (uint32_t i = 0; i < p->refused_count; i++)
		run_warn(p->result, "threads are counted by %s%s%s, not by %s: %s", first,
		         *second ? " and " : "", second, p->refused[i].name, p->refused[i].why);
}

int run_probes_open(struct run_probes *p, const char *names, const struct probe_config *config,
                    struct run_result *result)
{
	int err = 0;

	*p = (struct run_probes){.config = *config, .result = result};
	if (probe_tables_make(&p->own) != 0) {
		run_end(result, OUTCOME_FAILED, "no memory for the table of threads");
		return -ENOMEM;
	}
	p->config.tables = p->own;
	if (strcmp(names, "auto") == 0) {
		p->untried = probe_table;
		open_automatic(p);
	} else if (strcmp(names, "none") != 0) {
		err = open_named(p, names);
	}
	settle_tables(p);
	return err;
}

/* Takes a probe out, and the next ones that open in. */
static void replace(struct run_probes *p, uint32_t index, const char *why)
{
	pass_over(p, p->probes[index].ops->name, why);
	probe_close(&p->probes[index]);
	p->count--;
	memmove(&p->probes[index], &p->probes[index + 1], (p->count - index) * sizeof p->probes[0]);
	open_automatic(p);
	settle_tables(p);
}

int run_probes_attach(struct run_probes *p, pid_t subject)
{
	for (uint32_t i = 0; i < p->count;) {
		struct probe *probe = &p->probes[i];
		char why[PROBE_WHY_SIZE];
		const int err = probe_attach(probe, subject, why);

		if (!err) {
			i++;
		} else if (p->untried && !probe_brings_tables(probe)) {
			replace(p, i, why);
		} else if (err == -EMFILE || err == -ENFILE) {
			return refuse(p, probe->ops->name, why);
		} else {
			run_end(p->result, OUTCOME_FAILED, "probe %s: %s", probe->ops->name, why);
			return err;
		}
	}
	if (p->untried)
		note_choice(p);
	for (uint32_t i = 0; i < p->count; i++)
		p->result->probes[i] = (struct run_probe){.name = p->probes[i].ops->name,
		                                          .self_test = p->probes[i].self_test};
	p->result->probe_count = p->count;
	return 0;
}

void run_probes_close(struct run_probes *p)
{
	/* one whose tables serve all goes last: others still read them */
	for (uint32_t i = 0; i < p->count; i++)
		if (!probe_brings_tables(&p->probes[i]))
			probe_close(&p->probes[i]);
	for (uint32_t i = 0; i < p->count; i++)
		probe_close(&p->probes[i]);
	p->count = 0;
	probe_tables_free(&p->own);
}
