/*
 * The live view of a watch as lines of text: groups of threads and the places where they wait, now
 * and over the window; one step deeper the threads of a group; and one more the stack of a thread.
 * It draws and takes keys; it knows no terminal.
 */
#ifndef IOSTUDY_WATCH_LIVE_H
#define IOSTUDY_WATCH_LIVE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "analysis/format.h"

enum live_level { LIVE_GROUPS, LIVE_THREADS, LIVE_STACK, LIVE_LEVELS };

enum live_key {
	LIVE_UP = 0x100, /* others are characters */
	LIVE_DOWN,
	LIVE_PAGE_UP,
	LIVE_PAGE_DOWN,
	LIVE_HOME,
	LIVE_END,
	LIVE_ENTER,
	LIVE_BACK,
};

struct live_view {
	enum live_level level;
	size_t selected[LIVE_LEVELS], first[LIVE_LEVELS]; /* rows: chosen, and topmost */
	bool by_now; /* sorted by how many sleep there now; else by the mean */
	bool paused, help, quit;
	unsigned rows;   /* of the list, when it was drawn last */
	json_t *watch;   /* iostudy/watch/1 with findings: the window so far; owned */
	json_t *threads; /* each as observe_threads_json has it; owned */
	json_t *group;   /* of the level THREADS: the place or kind; owned */
	json_t *thread;  /* of the level STACK; owned */
};

void live_view_free(struct live_view *v);

/* New figures, which it then owns; the screen stays as it is while paused. */
void live_view_take(struct live_view *v, json_t *watch, json_t *threads);

/* An enum live_key or a character: q p s h ?. */
void live_view_key(struct live_view *v, int key);

/* Exactly so many lines, none wider than columns; each begins with a character that tells how it
 * is shown: 'h' a head, '>' the chosen row, '!' a problem, ' ' as it is. */
void live_view_draw(struct live_view *v, struct text *out, unsigned columns, unsigned lines,
                    bool ascii);

#endif
