/* A VT100's screen: see terminal.h. */
#include "tests/terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void terminal_begin(struct terminal *t)
{
	memset(t, 0, sizeof *t);
	for (int row = 0; row < TERMINAL_ROWS; row++)
		memset(t->cells[row], ' ', TERMINAL_COLUMNS);
}

static void clear(struct terminal *t, int row, int from, int to)
{
	for (int column = from; column < to; column++)
		t->cells[row][column] = ' ';
}

/* From the cursor to the end of the screen, or all of it. */
static void clear_screen(struct terminal *t, bool all)
{
	clear(t, t->row, all ? 0 : t->column, TERMINAL_COLUMNS);
	for (int row = all ? 0 : t->row + 1; row < TERMINAL_ROWS; row++)
		clear(t, row, 0, TERMINAL_COLUMNS);
}

static int within(int value, int most)
{
	return value < 0 ? 0 : value >= most ? most - 1 : value;
}

static void scroll(struct terminal *t)
{
	memmove(t->cells[0], t->cells[1], (TERMINAL_ROWS - 1) * sizeof t->cells[0]);
	clear(t, TERMINAL_ROWS - 1, 0, TERMINAL_COLUMNS);
}

/* A whole sequence: "[5;1H". */
static void obey(struct terminal *t)
{
	const char *text = t->sequence + 1;
	char *rest;
	const int first = (int)strtol(text, &rest, 10);
	const int second = *rest == ';' ? (int)strtol(rest + 1, NULL, 10) : 0;
	const int step = first ? first : 1;

	switch (t->sequence[t->sequence_bytes - 1]) {
	case 'H':
		t->row = within((first ? first : 1) - 1, TERMINAL_ROWS);
		t->column = within((second ? second : 1) - 1, TERMINAL_COLUMNS);
		break;
	case 'J':
		clear_screen(t, first == 2);
		break;
	case 'K':
		clear(t, t->row, first == 1 ? 0 : t->column,
		      first == 1 ? t->column + 1 : TERMINAL_COLUMNS);
		break;
	case 'A':
		t->row = within(t->row - step, TERMINAL_ROWS);
		break;
	case 'B':
		t->row = within(t->row + step, TERMINAL_ROWS);
		break;
	case 'C':
		t->column = within(t->column + step, TERMINAL_COLUMNS);
		break;
	case 'D':
		t->column = within(t->column - step, TERMINAL_COLUMNS);
		break;
	default: /* how characters look, and modes */
		break;
	}
}

static void keep(struct terminal *t, char c)
{
	if (t->all_bytes < TERMINAL_ALL - 1)
		t->all[t->all_bytes++] = c;
}

static void take_character(struct terminal *t, char c)
{
	if (c == '\r') {
		t->column = 0;
	} else if (c == '\n') {
		keep(t, c);
		if (t->row == TERMINAL_ROWS - 1)
			scroll(t);
		else
			t->row++;
	} else if (c == '\b') {
		t->column = within(t->column - 1, TERMINAL_COLUMNS);
	} else if ((unsigned char)c >= ' ') {
		keep(t, c);
		if (t->column < TERMINAL_COLUMNS)
			t->cells[t->row][t->column++] = c;
	}
}

/* Of "[...X" the last is a letter; others, such as "(B" and "=", have two bytes or one. */
static bool is_whole(const struct terminal *t)
{
	const char last = t->sequence[t->sequence_bytes - 1];

	if (t->sequence[0] == '[')
		return t->sequence_bytes > 1 && last >= '@';
	return !strchr("()", t->sequence[0]) || t->sequence_bytes == 2;
}

void terminal_take(struct terminal *t, const char *data, size_t bytes)
{
	static const char escape = 27;

	for (size_t i = 0; i < bytes; i++) {
		if (data[i] == escape) {
			t->in_sequence = true;
			t->sequence_bytes = 0;
			continue;
		}
		if (!t->in_sequence) {
			take_character(t, data[i]);
			continue;
		}
		t->sequence[t->sequence_bytes++] = data[i];
		if (!is_whole(t) && t->sequence_bytes < sizeof t->sequence - 1)
			continue;
		t->sequence[t->sequence_bytes] = 0;
		if (t->sequence[0] == '[')
			obey(t);
		t->in_sequence = false;
	}
}

bool terminal_has(const struct terminal *t, const char *words)
{
	for (int row = 0; row < TERMINAL_ROWS; row++)
		if (strstr(t->cells[row], words))
			return true;
	return false;
}

const char *terminal_text(const struct terminal *t)
{
	static char text[TERMINAL_ROWS * (TERMINAL_COLUMNS + 1) + 1];
	size_t at = 0;

	for (int row = 0; row < TERMINAL_ROWS; row++)
		at += (size_t)snprintf(text + at, sizeof text - at, "%s\n", t->cells[row]);
	return text;
}
