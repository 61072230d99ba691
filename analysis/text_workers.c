/*
 * In words: what io_uring gave to its workers and why, and where submissions slept.
 */
#include "analysis/report.h"
#include "analysis/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct line {
	char *text;
	size_t size;
};

static void add(struct line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct line *line, const char *format, ...)
{
	const size_t length = strlen(line->text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line->text + length, line->size - length, format, arguments);
	va_end(arguments);
}

static void add_punted(struct line *line, const struct view_workers *w)
{
	const char *between = " (";

	if (!(w->submitted > 0))
		return;
	if (!(w->punted > 0)) {
		add(line, " None of %s requests went to a worker of io_uring.",
		    format_count(w->submitted).text);
		return;
	}
	if (w->punted > w->submitted) /* again after it was ready, such as a receive */
		add(line, " %s requests went to a worker of io_uring, %s times in all",
		    format_count(w->submitted).text, format_count(w->punted).text);
	else
		add(line, " %s of %s requests went to a worker of io_uring",
		    format_count(w->punted).text, format_count(w->submitted).text);
	for (size_t i = 0; i < VIEW_PUNT_COUNT; i++) {
		if (!(w->punted_by[i] > 0))
			continue;
		add(line, "%s%s: %s", between, format_count(w->punted_by[i]).text,
		    view_punt_words[i]);
		between = "; ";
	}
	add(line, "); the workers, at most %s, parked %s times, %s in all",
	    format_count(w->most).text, format_count(w->parks).text,
	    format_time(w->parked_ns).text);
	if (w->limit > 0)
		add(line, "; allowed are %s for files", format_count(w->limit).text);
	if (w->unbounded > 0)
		add(line, " and %s of the others, of which there are %s",
		    format_count(w->unbounded_limit).text, format_count(w->unbounded).text);
	add(line, ".");
}

static void add_sleeps(struct line *line, const struct view_sleeps *s)
{
	const char *between = ": ";

	if (!(s->all_count > 0))
		return;
	add(line, " Submitting slept in %s", s->call ? s->call : "the kernel");
	for (size_t i = 0; i < VIEW_CAUSE_COUNT; i++) {
		if (!(s->count[i] > 0))
			continue;
		add(line, "%s%s times, %s, for %s", between, format_count(s->count[i]).text,
		    format_time(s->parked_ns[i]).text, view_cause_words[i]);
		between = "; ";
	}
	add(line, ".");
}

void workers_sentence(const struct view_probe *probe, char *text, size_t size)
{
	struct line line = {text, size};

	add_punted(&line, &probe->workers);
	add_sleeps(&line, &probe->sleeps);
}

void report_workers(struct text *out, const struct groups *g)
{
	char name[REPORT_NAME_SIZE], escaped[REPORT_NAME_SIZE], sentence[REPORT_NAME_SIZE];
	bool any = false;

	for (size_t i = 0; i < g->cell_count; i++) {
		const struct view_probe *probe = view_headline(&g->cells[i].view);

		sentence[0] = '\0';
		if (probe && g->cells[i].measured)
			workers_sentence(probe, sentence, sizeof sentence);
		if (!*sentence)
			continue;
		if (!any)
			text_add(out, "## What went to io_uring's workers, and where submissions "
			              "slept\n\n");
		any = true;
		text_add(out, "* %s:%s\n", report_cell_name(name, g, &g->cells[i]),
		         report_escape(escaped, sentence));
	}
	if (any)
		text_add(out, "\n");
}
