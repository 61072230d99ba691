/* The full-screen view of a watch (ncurses): see watch.h. What it shows is analysis/watch_live.h.
 */
#include <locale.h>
#include <ncurses.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/watch.h"
#include "analysis/watch_live.h"
#include "bench/witness.h"
#include "cli/watch.h"

enum { COST_SHARE = 4, LINES_LEAST = 1, COLUMNS_LEAST = 1 };

struct watch_live {
	SCREEN *screen;
	struct live_view view;
	bool ascii;
	uint64_t next_ns; /* not before then are figures taken: looking takes its share at most */
};

bool watch_live_may(const struct watch_request *r)
{
	return !r->batch && !r->json && !r->folded && !r->command && isatty(STDIN_FILENO) &&
	       isatty(STDOUT_FILENO);
}

/* NULL where the terminal cannot place a cursor, or is not known. */
struct watch_live *watch_live_open(bool ascii)
{
	struct watch_live *live = calloc(1, sizeof *live);

	if (!live)
		return NULL;
	setlocale(LC_CTYPE, ""); /* how wide a character is; no figure follows it */
	live->screen = newterm(NULL, stdout, stdin);
	if (live->screen && !tigetstr("cup")) {
		endwin();
		delscreen(live->screen);
		live->screen = NULL;
	}
	if (!live->screen) {
		free(live);
		return NULL;
	}
	live->ascii = ascii;
	cbreak();
	noecho();
	curs_set(0);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(25);
	return live;
}

static void draw(struct watch_live *live)
{
	const int rows = LINES < LINES_LEAST ? LINES_LEAST : LINES;
	const int columns = COLS < COLUMNS_LEAST ? COLUMNS_LEAST : COLS;
	struct text text = {0};
	char *line, *rest;
	int y = 0;

	live_view_draw(&live->view, &text, (unsigned)columns, (unsigned)rows, live->ascii);
	erase();
	rest = text.data;
	while (rest && (line = strsep(&rest, "\n")) && *line) {
		const attr_t how = *line == 'h'   ? A_BOLD
		                   : *line == '>' ? A_REVERSE
		                   : *line == '!' ? A_BOLD
		                                  : A_NORMAL;

		attrset(how);
		mvaddstr(y, 0, line + 1);
		if (*line == '>')
			for (int x = getcurx(stdscr); x < columns && getcury(stdscr) == y; x++)
				addch(' ');
		y++;
	}
	attrset(A_NORMAL);
	refresh();
	text_free(&text);
}

static int key_of(int key)
{
	switch (key) {
	case KEY_UP:
	case 'k':
		return LIVE_UP;
	case KEY_DOWN:
	case 'j':
		return LIVE_DOWN;
	case KEY_PPAGE:
		return LIVE_PAGE_UP;
	case KEY_NPAGE:
	case ' ':
		return LIVE_PAGE_DOWN;
	case KEY_HOME:
		return LIVE_HOME;
	case KEY_END:
		return LIVE_END;
	case '\n':
	case '\r':
	case KEY_ENTER:
	case KEY_RIGHT:
		return LIVE_ENTER;
	case 27:
	case KEY_LEFT:
	case KEY_BACKSPACE:
	case 127:
		return LIVE_BACK;
	default:
		return key;
	}
}

static void take_figures(struct watch_live *live, struct observation *o)
{
	const uint64_t begun_ns = witness_now_ns();
	json_t *watch;

	if (observe_end(o))
		return;
	watch = observe_json(o, "ok", NULL, json_object());
	if (watch && watch_conclude(watch) == 0)
		live_view_take(&live->view, watch, observe_threads_json(o));
	else
		json_decref(watch);
	live->next_ns = witness_now_ns() + (witness_now_ns() - begun_ns) * (COST_SHARE - 1);
}

void watch_live_look(struct watch_live *live, struct observation *o)
{
	if (!live->view.watch || (!live->view.paused && witness_now_ns() >= live->next_ns))
		take_figures(live, o);
	draw(live);
}

bool watch_live_keys(struct watch_live *live)
{
	struct pollfd input = {.fd = STDIN_FILENO};
	int key;

	while ((key = getch()) != ERR) /* a new size is a key too */
		live_view_key(&live->view, key_of(key));
	if (poll(&input, 1, 0) > 0 && input.revents & (POLLHUP | POLLERR | POLLNVAL))
		return false;
	if (live->view.watch)
		draw(live);
	return !live->view.quit;
}

void watch_live_close(struct watch_live *live)
{
	if (!live)
		return;
	endwin();
	delscreen(live->screen);
	live_view_free(&live->view);
	free(live);
}
