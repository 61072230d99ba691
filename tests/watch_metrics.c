/* iostudy watch --metrics: the OpenMetrics grammar, the truth of a program, and odd names. */
#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/watch.h"
#include "tests/http_talk.h"
#include "tests/test.h"
#include "tests/watch_help.h"

/* Behind a name: {label="value",...}, or nothing. NULL: that is no list of labels. */
static const char *skip_labels(const char *c)
{
	if (*c != '{')
		return c;
	do {
		c++;
		if (!isalpha((unsigned char)*c))
			return NULL;
		c += strspn(c, "abcdefghijklmnopqrstuvwxyz_");
		if (c[0] != '=' || c[1] != '"')
			return NULL;
		for (c += 2; *c != '"'; c++) {
			if (!*c || (*c == '\\' && !strchr("\\\"n", c[1])) ||
			    (unsigned char)*c < ' ')
				return NULL;
			c += *c == '\\';
		}
		c++;
	} while (*c == ',');
	return *c == '}' ? c + 1 : NULL;
}

/* One sample, of the family that is open. */
static void check_sample(const char *line, const char *family, const char *type, json_t *seen)
{
	const size_t name = strspn(line, "abcdefghijklmnopqrstuvwxyz_");
	const bool counter = strcmp(type, "counter") == 0;
	const char *rest = skip_labels(line + name);
	char wanted[200], series[1000], *end = NULL;

	snprintf(wanted, sizeof wanted, "%s%s", family, counter ? "_total" : "");
	CHECK_MESSAGE(strlen(wanted) == name && strncmp(line, wanted, name) == 0,
	              "not of the family %s: %s", family, line);
	REQUIRE_MESSAGE(rest && *rest == ' ', "no sample: %s", line);
	strtod(rest + 1, &end);
	CHECK_MESSAGE(end > rest + 1 && !*end, "no number at the end: %s", line);
	snprintf(series, sizeof series, "%.*s", (int)(rest - line), line);
	CHECK_MESSAGE(!json_object_get(seen, series), "twice: %s", series);
	json_object_set_new(seen, series, json_real(strtod(rest + 1, NULL)));
}

/* Checks all of a text; the samples by name and labels. */
static json_t *check_metrics(const char *text)
{
	json_t *samples = json_object(), *families = json_object();
	char *copy = strdup(text), *rest = copy, *line;
	char family[100] = "", type[20] = "", word[8], unit[20];
	bool ended = false;

	CHECK(*text && text[strlen(text) - 1] == '\n');
	while ((line = strsep(&rest, "\n")) && *line) {
		CHECK(!ended);
		if (strcmp(line, "# EOF") == 0) {
			ended = true;
		} else if (sscanf(line, "# TYPE %99s %19s", family, type) == 2) {
			CHECK_MESSAGE(!json_object_get(families, family), "twice: %s", family);
			json_object_set_new(families, family, json_true());
		} else if (sscanf(line, "# %7s %99s %19s", word, family, unit) == 3) {
			CHECK(json_object_get(families, family) != NULL);
			if (strcmp(word, "UNIT") == 0)
				CHECK_MESSAGE(
				    strlen(family) > strlen(unit) &&
					strcmp(family + strlen(family) - strlen(unit), unit) == 0,
				    "%s does not end with its unit %s", family, unit);
			else
				CHECK_STRING(word, "HELP");
		} else {
			check_sample(line, family, type, samples);
		}
	}
	CHECK(ended && line && !rest); /* nothing comes behind it */
	json_decref(families);
	free(copy);
	return samples;
}

static double sample(const json_t *samples, const char *series)
{
	const json_t *found = json_object_get(samples, series);

	CHECK_MESSAGE(found, "there is no %s", series);
	return json_number_value(found);
}

/* Starts a watch that serves its figures, and waits until it does. */
static pid_t watch_begin(const char *pid, char address[128], int *errors)
{
	char line[256] = "", program[300];
	int ends[2];
	pid_t watch;
	size_t at = 0;

	snprintf(program, sizeof program, "%s/iostudy", test_build_directory());
	if (pipe(ends) != 0)
		return -1;
	watch = fork();
	if (watch == 0) {
		dup2(ends[1], STDERR_FILENO);
		close(ends[0]);
		close(ends[1]);
		execl(program, "iostudy", "watch", "-p", pid, "--batch", "--metrics", "0", NULL);
		_exit(127);
	}
	close(ends[1]);
	while (at < sizeof line - 1 && read(ends[0], line + at, 1) == 1 && line[at] != '\n')
		at++;
	*errors = ends[0];
	return sscanf(line, "iostudy: metrics at http://%127[^/]/metrics", address) == 1 ? watch
	                                                                                 : -1;
}

TEST(watch_metrics, tell_of_threads_and_where_they_are_parked_and_only_grow)
{
	static const char *const program[] = {"hold", "pipe=7", "futex=2", NULL};
	struct program parkers;
	char pid[16], address[128] = "";
	json_t *first, *second;
	struct talk t;
	int errors, status = -1;
	pid_t watch;

	NEED_BPF();
	REQUIRE(program_start(&parkers, "parkers", program));
	REQUIRE(program_expect(&parkers, "ready"));
	usleep(100000);
	snprintf(pid, sizeof pid, "%d", (int)parkers.pid);
	watch = watch_begin(pid, address, &errors);
	REQUIRE_MESSAGE(watch > 0, "no metrics are served");
	REQUIRE(talk_begin(&t, address));
	CHECK_EQUAL(talk_ask(&t, HTTP_GET, "/metrics", "", 0), 200);
	CHECK_STRING(http_reader_header(&t.reader, "content-type"),
	             "application/openmetrics-text; version=1.0.0; charset=utf-8");
	first = check_metrics(t.body);
	CHECK_EQUAL(sample(first, "iostudy_threads{kind=\"application\"}"), 10);
	usleep(50000);
	CHECK_EQUAL(talk_ask(&t, HTTP_GET, "/metrics", "", 0), 200);
	second = check_metrics(t.body);
	static const char parked[] = "iostudy_thread_seconds_total{kind=\"application\",state="
				     "\"parked-direct\"}";
	const double grown = sample(second, parked) - sample(first, parked);
	const double passed = sample(second, "iostudy_watched_seconds_total") -
	                      sample(first, "iostudy_watched_seconds_total");
	CHECK_BETWEEN(grown / passed, 7.99, 8.01); /* and the first, which reads its own input */
	CHECK_EQUAL(talk_ask(&t, HTTP_GET, "/other", "", 0), 404);
	CHECK_EQUAL(talk_ask(&t, HTTP_POST, "/metrics", "x", 1), 405);
	CHECK(talk_say(&t, "nonsense\r\n\r\n"));
	CHECK_EQUAL(talk_hear(&t, false), 400);
	talk_end(&t);
	json_decref(first);
	json_decref(second);
	kill(watch, SIGINT);
	CHECK_EQUAL(waitpid(watch, &status, 0), watch);
	CHECK_EQUAL(status, 0);
	close(errors);
	program_end(&parkers);
}

/* A file whose name would end a label, a line and the text, were it not escaped. */
TEST(watch_metrics, hold_to_the_grammar_whatever_a_file_is_called)
{
	json_t *watch = json_pack(
	    "{s:i, s:[{s:[{s:s, s:i, s:i, s:i}]}], s:[{s:s, s:s, s:s, s:i, s:{s:s, s:s}}], s:{}}",
	    "window_ns", 1000000000, "probes", "kinds", "kind", "application", "threads_now", 1,
	    "parks", 3, "running_ns", 500000000, "places", "kind", "application", "state",
	    "parked-direct", "syscall", "read", "threads_now", 1, "object", "type", "file", "name",
	    "a\"b\\c\nd\x1b[31m} 1\n# EOF\n", "in_flight");
	char *text = watch ? watch_metrics(watch) : NULL;
	json_t *samples;

	REQUIRE(text);
	samples = check_metrics(text);
	CHECK_EQUAL(sample(samples, "iostudy_parks_total{kind=\"application\"}"), 3);
	CHECK(strstr(text, "name=\"a\\\"b\\\\c\\nd.[31m} 1\\n# EOF\\n\"} 1\n") != NULL);
	json_decref(samples);
	json_decref(watch);
	free(text);
}

TEST(watch_metrics, are_refused_where_they_cannot_be_served)
{
	static const char *const rows[][2] = {
	    {"256.1.1.1:1", "--metrics"},
	    {"127.0.0.1:99999", "--metrics"},
	    {"192.0.2.1:9100", "cannot listen on 192.0.2.1:9100"}};

	char pid[16];

	NEED_BPF();
	snprintf(pid, sizeof pid, "%d", (int)getpid());
	for (size_t i = 0; i < 3; i++) {
		struct process_result r;

		PROCESS_RUN(&r, "watch", "-p", pid, "-d", "100ms", "--metrics", rows[i][0]);
		CHECK_STATUS(&r, 1);
		CHECK_CONTAINS(r.err, rows[i][1]);
		process_free(&r);
	}
}
