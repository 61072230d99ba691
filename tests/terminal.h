/* A terminal's screen as a test sees it: so much of a VT100 as programs of ncurses use. */
#ifndef IOSTUDY_TESTS_TERMINAL_H
#define IOSTUDY_TESTS_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

enum { TERMINAL_ROWS = 24, TERMINAL_COLUMNS = 80, TERMINAL_ALL = 1 << 18 };

struct terminal {
	char cells[TERMINAL_ROWS][TERMINAL_COLUMNS + 1];
	int row, column;
	bool in_sequence; /* an escape sequence is coming in: */
	char sequence[32];
	size_t sequence_bytes;
	size_t all_bytes;
	char all[TERMINAL_ALL]; /* every printable character that was ever written, and lines' ends
	                         */
};

void terminal_begin(struct terminal *t);
void terminal_take(struct terminal *t, const char *data, size_t bytes);

/* Whether one of its lines has these words now. */
bool terminal_has(const struct terminal *t, const char *words);

/* The screen as text, until the next call. */
const char *terminal_text(const struct terminal *t);

#endif
