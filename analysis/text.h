/*
 * The screen: one run or many as text of at most 80 columns. Counts come before ratios; then
 * answers, problems, limits, and what to try next.
 */
#ifndef IOSTUDY_TEXT_H
#define IOSTUDY_TEXT_H

#include <stdbool.h>

#include <jansson.h>

#include "analysis/format.h"
#include "analysis/groups.h"

struct text_style {
	bool ascii;  /* nothing but ASCII */
	bool colour; /* escape sequences; what they say stands there in words too */
	bool brief;  /* no details of single runs, no proposals */
};

enum { TEXT_COLUMNS = 80 };

/* The screen of these runs, which carry their findings. Free it with free(). NULL: no memory. */
char *text_render(json_t *const *runs, size_t count, const struct text_style *style);
char *text_render_groups(const struct groups *groups, const struct text_style *style);

/* Parts of it. */
void text_headline(struct text *out, const struct groups *groups, const struct text_style *style);
void text_tables(struct text *out, const struct groups *groups, const struct text_style *style);
void text_probes(struct text *out, const struct groups *groups, const struct text_style *style);
void text_verdicts(struct text *out, const struct groups *groups, const struct text_style *style);
void text_findings(struct text *out, const struct groups *groups, const struct text_style *style);
void text_details(struct text *out, const struct groups *groups, const struct text_style *style);
void text_next(struct text *out, const struct groups *groups, const struct text_style *style);

/* What a group compares: "disk-randread, --wait park, 4 KiB direct". */
void group_title(const struct groups *groups, const struct group *group, char *out, size_t size);

/* How people call an engine in a sentence. */
const char *engine_label(const char *engine);

/* Who counted the threads, and how well: "Threads counted by BPF: exact, 0 events lost." */
void probe_sentence(const struct groups *groups, char *out, size_t size);

/* Appends to text, which holds size bytes: what io_uring gave to its workers and why, what those
 * parked, and where submissions slept. Nothing where nothing was measured or none was there. */
void workers_sentence(const struct view_probe *probe, char *text, size_t size);

#endif
