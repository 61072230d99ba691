/*
 * Engines against each other. A difference counts when it is larger than what repeats of the same
 * cell differ by; without repeats, when it is larger than runs on a busy machine differ by.
 */
#include "analysis/verdict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Two single runs of one cell can differ by so much. */
static const double noise_ratio = 1.10;

enum { THREADS, SPEED, CPU, QUANTITY_COUNT };

/* The ends of one quantity among the cells of a group. */
struct spread {
	const struct cell *low, *high;
	double low_value, high_value;
	double ratio, ratio_deviation; /* high / low; NaN when they cannot be compared */
	bool differs;
	size_t cells; /* that have this quantity */
};

static double cell_quantity(const struct cell *cell, int quantity, double *deviation)
{
	switch (quantity) {
	case THREADS:
		*deviation = cell->held_deviation;
		return cell->summary.threads_held_mean;
	case SPEED:
		*deviation = cell->iops_deviation;
		/* with a rate, the schedule decides */
		return cell->view.rate_per_s > 0 ? NAN : cell->summary.iops;
	default:
		*deviation = cell->cpu_deviation;
		return cell->summary.cpu_ns_per_operation;
	}
}

/* The ratio's own deviation, from those of its two parts. */
static void spread_judge(struct spread *s, int quantity, double low_deviation,
                         double high_deviation)
{
	const double a = low_deviation / s->low_value, b = high_deviation / s->high_value;

	/* none against some is a difference without a ratio */
	s->ratio = quotient(s->high_value, s->low_value);
	s->ratio_deviation = s->ratio * sqrt(a * a + b * b);
	if (quantity == THREADS && s->high_value - s->low_value < 0.1)
		s->differs = false; /* a tenth of a thread */
	else if (isnan(s->ratio))
		s->differs = s->high_value > 0 && quantity == THREADS;
	else if (isnan(s->ratio_deviation))
		s->differs = s->ratio > noise_ratio;
	else
		s->differs = s->ratio - 2 * s->ratio_deviation > 1 && s->ratio > 1.02;
}

static void spread_find(const struct groups *g, size_t group, int quantity, struct spread *s)
{
	double low_deviation = NAN, high_deviation = NAN;

	*s = (struct spread){.ratio = NAN, .ratio_deviation = NAN};
	for (size_t i = 0; i < g->cell_count; i++) {
		const struct cell *cell = &g->cells[i];
		double deviation;
		const double value = cell_quantity(cell, quantity, &deviation);

		/* with --wait compute the CPU time is that of the computing */
		if (cell->group != group || isnan(value) || name_is(cell->view.engine, "null") ||
		    (quantity == CPU && name_is(cell->view.wait, "compute")))
			continue;
		s->cells++;
		if (!s->low || value < s->low_value) {
			s->low = cell;
			s->low_value = value;
			low_deviation = deviation;
		}
		if (!s->high || value > s->high_value) {
			s->high = cell;
			s->high_value = value;
			high_deviation = deviation;
		}
	}
	if (s->cells >= 2)
		spread_judge(s, quantity, low_deviation, high_deviation);
}

static struct number quantity_text(int quantity, double value)
{
	return quantity == THREADS ? format_amount(value)
	       : quantity == SPEED ? format_count(value)
	                           : format_time(value);
}

static const char *const quantity_names[] = {"threads held", "speed", "CPU per operation"};

static void append(char *out, size_t *at, const char *text)
{
	if (*at < VERDICT_SIZE)
		*at += (size_t)snprintf(out + *at, VERDICT_SIZE - *at, "%s", text);
}

static size_t append_spread(char *out, size_t at, int quantity, const struct spread *s)
{
	char high[40], low[40], ratio[100] = "", deviation[60] = "", sentence[400];
	const char *unit = quantity == SPEED ? " per s" : "";
	const struct number most = quantity_text(quantity, s->high_value);
	const struct number least = quantity_text(quantity, s->low_value);

	format_name(high, sizeof high, s->high->view.engine, 24, true);
	format_name(low, sizeof low, s->low->view.engine, 24, true);
	if (!isnan(s->ratio_deviation))
		snprintf(deviation, sizeof deviation, " +- %s",
		         format_fixed(s->ratio_deviation, 2).text);
	if (!isnan(s->ratio))
		snprintf(ratio, sizeof ratio, " (%s%s times)", format_ratio(s->ratio).text,
		         deviation);
	if (quantity == SPEED && *deviation)
		snprintf(sentence, sizeof sentence,
		         "%s: %s ran %s%s times as many operations as %s (%s and %s per s).",
		         quantity_names[quantity], high, format_ratio(s->ratio).text, deviation,
		         low, most.text, least.text);
	else
		snprintf(sentence, sizeof sentence, "%s: %s %s%s, %s %s%s.",
		         quantity_names[quantity], high, most.text, unit, low, least.text, ratio);
	append(out, &at, sentence);
	return at;
}

/* How large a difference is, for naming the largest. */
static double spread_size(const struct spread *s)
{
	if (!s->differs)
		return 0;
	return isnan(s->ratio) ? INFINITY : s->ratio;
}

void verdict_group(const struct groups *g, size_t group, char out[VERDICT_SIZE])
{
	struct spread spreads[QUANTITY_COUNT];
	size_t comparable = 0, at = 0;
	int largest = -1;

	out[0] = '\0';
	for (int q = 0; q < QUANTITY_COUNT; q++) {
		spread_find(g, group, q, &spreads[q]);
		comparable += spreads[q].cells >= 2;
		if (spread_size(&spreads[q]) > (largest < 0 ? 0 : spread_size(&spreads[largest])))
			largest = q;
	}
	if (!comparable || !g->many_engines)
		return;
	if (largest < 0) {
		append(out, &at, "No difference here that one could rely on: ");
	} else {
		append(out, &at, "The larger difference is in ");
		at = append_spread(out, at, largest, &spreads[largest]);
	}
	for (int q = 0; q < QUANTITY_COUNT; q++)
		if (q != largest && spreads[q].differs) {
			append(out, &at, " In ");
			at = append_spread(out, at, q, &spreads[q]);
		}
	bool equal = false;
	for (int q = 0; q < QUANTITY_COUNT; q++) {
		if (spreads[q].cells < 2 || spreads[q].differs)
			continue;
		append(out, &at, equal ? ", " : largest < 0 ? "equal in " : " Equal in ");
		append(out, &at, quantity_names[q]);
		equal = true;
	}
	append(out, &at, equal ? "." : "");
}

void verdict_noise(const struct groups *g, char out[VERDICT_SIZE])
{
	out[0] = '\0';
	if (!g->many_engines)
		return;
	if (g->repeated)
		snprintf(out, VERDICT_SIZE,
		         "Figures are medians of the repeats; +- is one standard "
		         "deviation between them.");
	else
		snprintf(out, VERDICT_SIZE,
		         "One run each: differences in speed or CPU time below about "
		         "10 %% mean nothing; --repeat 5 tells what they are.");
}

static bool is_comparable(const struct cell *cell)
{
	return !isnan(cell->summary.held_per_in_flight) && !name_is(cell->view.engine, "null");
}

/* For a request in flight. */
static bool holds_less(const struct cell *a, const struct cell *b)
{
	return a->summary.held_per_in_flight < b->summary.held_per_in_flight;
}

static bool spins(const struct cell *cell)
{
	return name_is(cell->view.wait, "spin");
}

static bool is_of_a_disk(const struct cell *cell)
{
	return cell->view.workload && strncmp(cell->view.workload, "disk-", 5) == 0 &&
	       cell->view.direct == VIEW_TRUE && cell->view.in_memory != VIEW_TRUE;
}

/* A thread that spins is no answer, though it is not held; of those that hold none a disk's says
 * more than a socket's, where the peer's threads are not seen. */
static bool answers_better(const struct cell *a, const struct cell *b)
{
	static const double none = 0.0005;

	if (spins(a) != spins(b))
		return spins(b);
	if (a->summary.held_per_in_flight < none && b->summary.held_per_in_flight < none &&
	    is_of_a_disk(a) != is_of_a_disk(b))
		return is_of_a_disk(a);
	return holds_less(a, b);
}

void verdict_answer(const struct groups *g, char out[VERDICT_SIZE])
{
	const struct cell *best = NULL, *worst = NULL;
	char best_name[40], worst_name[40], workload[40], wait[40];

	for (size_t i = 0; i < g->cell_count; i++)
		if (is_comparable(&g->cells[i]) && (!best || answers_better(&g->cells[i], best)))
			best = &g->cells[i];
	/* of the same work, else the two say nothing of the engines */
	for (size_t i = 0; best && i < g->cell_count; i++)
		if (is_comparable(&g->cells[i]) &&
		    name_is(g->cells[i].view.workload, best->view.workload) &&
		    strcmp(g->cells[i].settings, best->settings) == 0 &&
		    (!worst || holds_less(worst, &g->cells[i])))
			worst = &g->cells[i];
	if (!best) {
		snprintf(out, VERDICT_SIZE,
		         "No run here counted the threads of requests in flight.");
		return;
	}
	const int length = snprintf(
	    out, VERDICT_SIZE, "With %s%s%s, %s requests of %s in flight held %s threads",
	    format_name(best_name, sizeof best_name, best->view.engine, 24, true),
	    best->view.wait ? " --wait " : "",
	    best->view.wait ? format_name(wait, sizeof wait, best->view.wait, 12, true) : "",
	    format_amount(best->summary.in_flight_mean).text,
	    format_name(workload, sizeof workload, best->view.workload, 24, true),
	    format_amount(best->summary.threads_held_mean).text);
	if (!worst || worst == best)
		snprintf(out + length, VERDICT_SIZE - (size_t)length, ".");
	else
		snprintf(out + length, VERDICT_SIZE - (size_t)length,
		         "; with %s, %s requests of %s held %s.",
		         format_name(worst_name, sizeof worst_name, worst->view.engine, 24, true),
		         format_amount(worst->summary.in_flight_mean).text,
		         format_name(workload, sizeof workload, worst->view.workload, 24, true),
		         format_amount(worst->summary.threads_held_mean).text);
}
