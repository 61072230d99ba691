/* The rows of the live view: kinds and places, threads, or the frames of a stack. */
#ifndef IOSTUDY_WATCH_LIVE_ROWS_H
#define IOSTUDY_WATCH_LIVE_ROWS_H

#include "analysis/watch_live.h"

enum { LIVE_LINE_BYTES = 1200, LIVE_ROWS_MAX = 1 << 17 };

/* One row of the list. */
struct live_row {
	double now, mean;
	const json_t *about; /* a kind, a place, a thread */
	const char *frame;   /* of a stack */
	bool is_kind;
};

struct live_rows {
	struct live_row *all;
	size_t count, room;
};

/* Sorted as the view wants them; free rows->all. Few rows when memory is short. */
void live_rows_make(const struct live_view *v, struct live_rows *rows);

void live_say_row(const struct live_view *v, const struct live_row *row, char *out, size_t size);

/* Where a place or a thread waits, in words. */
void live_say_where(const json_t *one, char *out, size_t size);

double live_window_ns(const struct live_view *v);

#endif
