/* The live view of iostudy watch: as text, at any size, and on a real terminal's screen. */
#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "analysis/watch_live.h"
#include "tests/terminal.h"
#include "tests/test.h"
#include "tests/watch_help.h"

/* So many threads of an application, three quarters of them parked in reads of a pipe. */
static void view_make(struct live_view *v, int threads)
{
	json_t *all = json_array();
	json_t *watch = json_pack(
	    "{s:i, s:[{s:s, s:i}], s:{s:i}, s:[{s:[{s:s, s:i, s:i, s:I}]}], "
	    "s:[{s:s, s:s, s:s, s:i, "
	    "s:I, s:{s:s, s:s}}, {s:s, s:s, s:s, s:i, s:I}], s:[{s:s, s:s, s:s, s:s}]}",
	    "window_ns", 1000000000, "targets", "command", "wor\x1b[31mker", "pid", 12, "lost",
	    "events", 0, "probes", "kinds", "kind", "application", "threads_now", threads,
	    "threads_max", threads, "parked_direct_ns", (json_int_t)750000000 * threads, "places",
	    "kind", "application", "state", "parked-direct", "syscall", "read", "threads_now",
	    threads * 3 / 4, "parked_ns", (json_int_t)500000000 * threads, "object", "type", "pipe",
	    "name", "pipe:[1]", "kind", "application", "state", "unseen", "syscall", "futex",
	    "threads_now", threads / 4, "parked_ns", (json_int_t)900000000 * threads, "findings",
	    "tag", "POOL-EXHAUSTED", "class", "problem", "confidence", "likely", "text", "all");

	for (int i = 0; i < threads; i++)
		json_array_append_new(
		    all, json_pack("{s:i, s:s, s:s, s:s, s:i, s:i, s:s, s:{s:s}, s:[s, s]}", "tid",
		                   1000 + i, "name", "a\nb", "kind", "application", "state",
		                   i % 4 ? "parked-direct" : "unseen", "since_ns", 5, "parked_ns",
		                   i, "syscall", i % 4 ? "read" : "futex", "object", "type",
		                   i % 4 ? "pipe" : "", "stack", "pipe_read", "vfs_read"));
	CHECK(watch != NULL);
	live_view_take(v, watch, all);
}

/* Exactly so many lines, none wider than that, no control character; the one that is chosen. */
static char *draw(struct live_view *v, unsigned columns, unsigned lines)
{
	struct text text = {0};
	unsigned count = 0;
	char *chosen = strdup("");

	live_view_draw(v, &text, columns, lines, true);
	for (char *rest = text.data, *line; (line = strsep(&rest, "\n")) && *line; count++) {
		CHECK(strchr("h>! ", *line) != NULL);
		CHECK_MESSAGE(strlen(line + 1) <= columns, "%u columns: %s", columns, line);
		for (const char *c = line; *c; c++)
			CHECK(*c >= ' ');
		if (*line == '>') {
			free(chosen);
			chosen = strdup(line + 1);
		}
	}
	CHECK_EQUAL(count, lines);
	text_free(&text);
	return chosen;
}

TEST(watch_live, fits_into_every_size_with_ten_thousand_threads)
{
	struct live_view v = {0};

	view_make(&v, 10000);
	for (int level = 0; level < LIVE_LEVELS; level++) {
		for (unsigned lines = 1; lines <= 50; lines += 7)
			for (unsigned columns = 1; columns <= 200; columns += 33)
				free(draw(&v, columns, lines));
		live_view_key(&v, 'h');
		free(draw(&v, 80, 24));
		live_view_key(&v, 'h');
		live_view_key(&v, LIVE_END);
		free(draw(&v, 80, 24));
		live_view_key(&v, LIVE_HOME);
		live_view_key(&v, LIVE_ENTER);
	}
	live_view_free(&v);
}

/* What the keys choose, one step deeper each, and back. */
static void check_chosen(struct live_view *v, int key, const char *says)
{
	char *chosen;

	if (key)
		live_view_key(v, key);
	chosen = draw(v, 120, 24);
	CHECK_CONTAINS(chosen, says);
	free(chosen);
}

TEST(watch_live, goes_one_step_deeper_with_a_key_and_sorts)
{
	struct live_view v = {0};

	view_make(&v, 8);
	check_chosen(&v, 0, "application");
	check_chosen(&v, LIVE_DOWN, "futex");           /* 0.9 on average */
	check_chosen(&v, 's', "read of pipe pipe:[1]"); /* 6 now */
	check_chosen(&v, LIVE_ENTER, "1007 a\\x0ab");
	check_chosen(&v, LIVE_DOWN, "1006");
	check_chosen(&v, LIVE_END, "1001"); /* all that are parked there, and nobody else */
	check_chosen(&v, LIVE_ENTER, "pipe_read");
	check_chosen(&v, LIVE_DOWN, "vfs_read");
	check_chosen(&v, LIVE_ENTER, "vfs_read"); /* nothing is deeper */
	check_chosen(&v, LIVE_BACK, "1001");
	check_chosen(&v, LIVE_BACK, "read of pipe");
	check_chosen(&v, LIVE_BACK, "read of pipe");
	CHECK(!v.quit);
	live_view_key(&v, 'q');
	CHECK(v.quit);
	live_view_free(&v);
}

TEST(watch_live, paused_it_keeps_what_it_shows)
{
	struct live_view v = {0};
	struct text text = {0};

	view_make(&v, 8);
	live_view_key(&v, 'p');
	view_make(&v, 400);
	live_view_draw(&v, &text, 80, 24, true);
	CHECK_CONTAINS(text.data, "PAUSED");
	CHECK_CONTAINS(text.data, "8 threads, 8 at most");
	text_free(&text);
	live_view_key(&v, 'p');
	view_make(&v, 400);
	live_view_draw(&v, &text, 80, 24, true);
	CHECK_CONTAINS(text.data, "400 threads");
	text_free(&text);
	live_view_free(&v);
}

/* iostudy watch on a terminal of its own. */
struct on_terminal {
	struct terminal screen;
	pid_t pid;
	int fd;
};

static bool on_terminal_begin(struct on_terminal *t, const char *pid, const char *kind)
{
	struct winsize size = {.ws_row = TERMINAL_ROWS, .ws_col = TERMINAL_COLUMNS};
	char program[300];

	snprintf(program, sizeof program, "%s/iostudy", test_build_directory());
	terminal_begin(&t->screen);
	t->pid = forkpty(&t->fd, NULL, NULL, &size);
	if (t->pid == 0) {
		setenv("TERM", kind, 1);
		setenv("LC_ALL", "C", 1);
		execl(program, "iostudy", "watch", "-p", pid, "-i", "100ms", NULL);
		_exit(127);
	}
	return t->pid > 0;
}

/* Reads until the screen, or what was written at all, has these words; 20 s at most. */
static bool on_terminal_shows(struct on_terminal *t, const char *words)
{
	struct pollfd ready = {.fd = t->fd, .events = POLLIN};
	char data[4096];

	for (int i = 0; i < 200; i++) {
		ssize_t n;

		if (terminal_has(&t->screen, words))
			return true;
		if (poll(&ready, 1, 100) <= 0)
			continue;
		n = read(t->fd, data, sizeof data);
		if (n <= 0)
			break;
		terminal_take(&t->screen, data, (size_t)n);
	}
	return terminal_has(&t->screen, words);
}

static int on_terminal_end(struct on_terminal *t)
{
	char data[4096];
	int status = -1;
	ssize_t n;

	while ((n = read(t->fd, data, sizeof data)) > 0) /* until it has closed it */
		terminal_take(&t->screen, data, (size_t)n);
	waitpid(t->pid, &status, 0);
	close(t->fd);
	return status;
}

static bool parkers_begin(struct program *parkers, char pid[16])
{
	static const char *const program[] = {"hold", "pipe=7", "futex=2", NULL};

	if (!program_start(parkers, "parkers", program) || !program_expect(parkers, "ready"))
		return false;
	snprintf(pid, 16, "%d", (int)parkers->pid);
	return true;
}

static void press(const struct on_terminal *t, const char *keys)
{
	CHECK(write(t->fd, keys, strlen(keys)) == (ssize_t)strlen(keys));
}

#define SEE(t, words)                                                                              \
	CHECK_MESSAGE(on_terminal_shows(t, words), "'%s' is not on the screen:\n%s", words,        \
	              terminal_text(&(t)->screen))

TEST(watch_live, is_on_a_real_terminal_what_it_is_as_text)
{
	struct program parkers;
	struct on_terminal t;
	struct winsize small = {.ws_row = 6, .ws_col = 40};
	char pid[16];

	NEED_BPF();
	REQUIRE(parkers_begin(&parkers, pid) && on_terminal_begin(&t, pid, "vt100"));
	SEE(&t, "8     8.00  application      10 threads");
	SEE(&t, "parked-direct    read (");
	SEE(&t, "q end  Enter deeper");
	press(&t, "h");
	SEE(&t, "sort by now, or by the mean");
	press(&t, "h\n");
	SEE(&t, "tid name");
	press(&t, "\n");
	SEE(&t, "the kernel's stack");
	press(&t, "p");
	SEE(&t, "PAUSED");
	ioctl(t.fd, TIOCSWINSZ, &small);
	press(&t, "p");
	usleep(300000);
	press(&t, "q");
	CHECK_EQUAL(on_terminal_end(&t), 0);
	CHECK_CONTAINS(t.screen.all, "Looked for and not found"); /* the summary, afterwards */
	program_end(&parkers);
}

/* Whatever ends it, the terminal is as it was: it echoes, and takes lines. */
TEST(watch_live, gives_the_terminal_back_on_every_way_out)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	struct program parkers;
	char pid[16];

	NEED_BPF();
	REQUIRE(parkers_begin(&parkers, pid));
	for (size_t i = 0; i < 3; i++) {
		struct on_terminal t;
		struct termios before, after;
		int status;

		REQUIRE(on_terminal_begin(&t, pid, "vt100"));
		CHECK(tcgetattr(t.fd, &before) == 0);
		SEE(&t, "q end  Enter deeper");
		kill(t.pid, signals[i]);
		SEE(&t, "cost:"); /* the last line of the summary */
		CHECK(tcgetattr(t.fd, &after) == 0);
		CHECK_EQUAL(before.c_lflag, after.c_lflag);
		status = on_terminal_end(&t);
		CHECK_EQUAL(WEXITSTATUS(status), signals[i] == SIGINT ? 0 : 128 + signals[i]);
	}
	program_end(&parkers);
}

TEST(watch_live, is_lines_where_a_terminal_cannot_show_it)
{
	static const char *const kinds[] = {"dumb", "", "no-such-terminal"};
	struct program parkers;
	char pid[16];

	NEED_BPF();
	REQUIRE(parkers_begin(&parkers, pid));
	for (size_t i = 0; i < 3; i++) {
		struct on_terminal t;

		REQUIRE(on_terminal_begin(&t, pid, kinds[i]));
		SEE(&t, "threads; parked in calls 8.00");
		kill(t.pid, SIGINT);
		CHECK_EQUAL(on_terminal_end(&t), 0);
	}
	program_end(&parkers);
}
