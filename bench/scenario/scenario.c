/* The table of scenarios, their parameters, and the way through their modes: see scenario.h. */
#include "bench/scenario/scenario.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bench/nearest.h"
#include "bench/units.h"

const struct scenario *const scenario_table[] = {&scenario_blocking_calls,  &scenario_event_loop,
                                                 &scenario_virtual_threads, &scenario_upload,
                                                 &scenario_portal,          NULL};

enum { WORD_SIZE = 64, NAMES_MAX = 64 };

const struct scenario *scenario_find(const char *name)
{
	for (size_t i = 0; scenario_table[i]; i++)
		if (strcmp(scenario_table[i]->name, name) == 0)
			return scenario_table[i];
	return NULL;
}

static const struct scenario_parameter *parameter_find(const struct scenario_run *run,
                                                       const char *name, size_t *index)
{
	const struct scenario_parameter *p = run->scenario->parameters;

	for (*index = 0; p[*index].name; ++*index)
		if (strcmp(p[*index].name, name) == 0)
			return &p[*index];
	return NULL;
}

/* The next of the parts that commas separate; NULL after the last. */
static const char *list_next(const char *list, char part[WORD_SIZE])
{
	const size_t length = strcspn(list, ",");

	snprintf(part, WORD_SIZE, "%.*s", (int)(length < WORD_SIZE ? length : WORD_SIZE - 1), list);
	return list[length] ? list + length + 1 : NULL;
}

static int number_parse(const struct scenario_parameter *p, const char *text, uint64_t *number)
{
	switch (p->type) {
	case PARAMETER_TIME:
		return units_parse_time(text, number);
	case PARAMETER_SIZE:
		return units_parse_size(text, number);
	default:
		return units_parse_count(text, number);
	}
}

static const char *number_text(const struct scenario_parameter *p, uint64_t number, char buffer[32])
{
	if (p->type == PARAMETER_TIME)
		return units_format_time(number, buffer);
	if (p->type == PARAMETER_SIZE)
		return units_format_size(number, buffer);
	snprintf(buffer, 32, "%llu", (unsigned long long)number);
	return buffer;
}

static int number_check(struct scenario_run *run, const struct scenario_parameter *p,
                        const char *text)
{
	char low[32], high[32];
	uint64_t number = 0;
	const int error = number_parse(p, text, &number);

	if (!error && number >= p->low && number <= p->high)
		return 0;
	snprintf(run->why, sizeof run->why, "--%s '%.60s': %s; it takes %s to %s", p->name, text,
	         error == -EINVAL ? "not a number with a known unit" : "out of its range",
	         number_text(p, p->low, low), number_text(p, p->high, high));
	return error == -EINVAL ? -EINVAL : -ERANGE;
}

static uint32_t names_count(const char *const *names)
{
	uint32_t n = 0;

	while (names[n])
		n++;
	return n;
}

static int word_check(struct scenario_run *run, const struct scenario_parameter *p,
                      const char *word)
{
	char near[NEAREST_SIZE];

	for (const char *const *w = p->words; *w; w++)
		if (strcmp(*w, word) == 0)
			return 0;
	if (strcmp(word, "all") == 0)
		return 0;
	snprintf(run->why, sizeof run->why, "--%s '%s': unknown%s; it takes %s", p->name, word,
	         nearest_text(near, word, p->words, names_count(p->words)), p->argument);
	return -EINVAL;
}

static int value_check(struct scenario_run *run, const struct scenario_parameter *p,
                       const char *value)
{
	char part[WORD_SIZE];
	uint32_t count = 0;
	int error = 0;

	if (p->type == PARAMETER_TEXT)
		return 0;
	if (p->type != PARAMETER_WORDS && p->type != PARAMETER_NUMBERS)
		return number_check(run, p, value);
	for (const char *at = value; at && !error; count++) {
		at = list_next(at, part);
		error = p->type == PARAMETER_WORDS ? word_check(run, p, part)
		                                   : number_check(run, p, part);
	}
	if (!error && count > SCENARIO_LIST_MAX) {
		snprintf(run->why, sizeof run->why, "--%s: %u values, and it takes at most %d",
		         p->name, count, SCENARIO_LIST_MAX);
		error = -ERANGE;
	}
	return error;
}

int scenario_set(struct scenario_run *run, const char *name, const char *value)
{
	size_t index;
	const struct scenario_parameter *p = parameter_find(run, name, &index);
	int error;

	if (!p)
		return -ENOENT;
	error = value_check(run, p, value);
	if (!error)
		run->values[index] = value;
	return error;
}

static const char *value_of(const struct scenario_run *run, const char *name,
                            const struct scenario_parameter **parameter)
{
	size_t index;
	const struct scenario_parameter *p = parameter_find(run, name, &index);

	assert(p);
	if (parameter)
		*parameter = p;
	return run->values[index] ? run->values[index] : p->value;
}

uint64_t scenario_number(const struct scenario_run *run, const char *name)
{
	const struct scenario_parameter *p;
	const char *value = value_of(run, name, &p);
	uint64_t number = 0;
	const int error = number_parse(p, value, &number);

	assert(!error);
	return number;
}

uint64_t scenario_time_ns(const struct scenario_run *run, const char *name)
{
	return (uint64_t)((double)scenario_number(run, name) * run->time_scale + 0.5);
}

uint32_t scenario_numbers(const struct scenario_run *run, const char *name,
                          uint64_t numbers[SCENARIO_LIST_MAX])
{
	const struct scenario_parameter *p;
	char part[WORD_SIZE];
	uint32_t count = 0;

	for (const char *at = value_of(run, name, &p); at && count < SCENARIO_LIST_MAX; count++) {
		at = list_next(at, part);
		numbers[count] = 0;
		number_parse(p, part, &numbers[count]);
	}
	return count;
}

bool scenario_has_word(const struct scenario_run *run, const char *name, const char *word)
{
	char part[WORD_SIZE];

	for (const char *at = value_of(run, name, NULL); at;) {
		at = list_next(at, part);
		if (strcmp(part, word) == 0 || strcmp(part, "all") == 0)
			return true;
	}
	return false;
}

const char *scenario_text(const struct scenario_run *run, const char *name)
{
	return value_of(run, name, NULL);
}

static bool is_wanted(const struct scenario_run *run, const struct scenario_mode *mode)
{
	char part[WORD_SIZE];

	for (const char *at = run->only; at;) {
		at = list_next(at, part);
		if (strcmp(part, mode->name) == 0)
			return true;
	}
	return !run->only;
}

/* Every mode that was asked for by name must be there. */
static int check_only(struct scenario_run *run)
{
	const char *names[NAMES_MAX];
	char part[WORD_SIZE], near[NEAREST_SIZE];
	uint32_t count = 0;

	for (const struct scenario_mode *m = run->scenario->modes; m->name && count < NAMES_MAX;
	     m++)
		names[count++] = m->name;
	for (const char *at = run->only; at;) {
		uint32_t i = 0;

		at = list_next(at, part);
		while (i < count && strcmp(names[i], part) != 0)
			i++;
		if (i < count)
			continue;
		snprintf(run->why, sizeof run->why,
		         "--compare-only '%s': %s has no such mode%s; see iostudy scenario %s "
		         "--help",
		         part, run->scenario->name, nearest_text(near, part, names, count),
		         run->scenario->name);
		return -EINVAL;
	}
	return 0;
}

int scenario_carry_out(struct scenario_run *run)
{
	const struct scenario *s = run->scenario;
	int error = check_only(run);

	if (error)
		return error;
	if (s->prepare)
		error = s->prepare(run);
	for (const struct scenario_mode *m = s->modes; m->name && !error; m++)
		if (is_wanted(run, m))
			error = *run->signal ? -EINTR : s->run(run, m);
	if (s->finish)
		s->finish(run);
	return error < 0 ? error : 0;
}
