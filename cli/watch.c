/* `iostudy watch`: watches programs that are not ours, and says who is parked. */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "analysis/format.h"
#include "analysis/store.h"
#include "analysis/watch.h"
#include "bench/witness.h"
#include "cli/cli.h"
#include "cli/screen.h"
#include "cli/signals.h"
#include "cli/watch.h"

enum { FIRST_LOOK_NS = 20000000 };

struct session {
	struct watch_request request;
	struct observation observation;
	struct watch_child child;
	int child_status; /* -1: it runs, or there is none */
	uint64_t begin_ns;
	uint64_t look_ns; /* when the next look is due */
	int64_t pause_ns; /* between looks: at first short, for what soon ends */
	struct watch_metrics *metrics;
	struct watch_live *live; /* NULL: lines on standard error */
};

static int say(const char *why)
{
	fprintf(stderr, "iostudy: %s\n", why);
	return EXIT_RUN_FAILED;
}

/* The processes that were asked for; -errno with why. */
static int add_targets(struct session *s, char why[OBSERVE_WHY_SIZE])
{
	const struct watch_request *r = &s->request;
	int error = 0;

	for (size_t i = 0; i < r->pid_count && !error; i++)
		error = watch_may(&s->observation, r->pids[i], why)
		            ? observe_add(&s->observation, r->pids[i], why)
		            : -EPERM;
	if (!error && r->cgroup)
		error = watch_cgroup_add(&s->observation, r->cgroup, why);
	if (error >= 0 && r->command) {
		error = watch_child_start(&s->child, r->command);
		if (error)
			snprintf(why, OBSERVE_WHY_SIZE, "cannot start a process: %s",
			         strerror(-error));
		else
			error = observe_add(&s->observation, s->child.pid, why);
	}
	return error < 0 ? error : 0;
}

/* Sleeps until the next look or the end, until the command ends, somebody asks for the figures, or
 * a signal comes. */
static void pause_until_look(struct session *s, uint64_t end_ns)
{
	const uint64_t now_ns = witness_now_ns();
	const uint64_t until_ns = end_ns && end_ns < s->look_ns ? end_ns : s->look_ns;
	const uint64_t wait_ns = until_ns > now_ns ? until_ns - now_ns : 0;
	const struct timespec time = {(time_t)(wait_ns / 1000000000), (long)(wait_ns % 1000000000)};
	const int child = s->child.pid > 0 ? (int)syscall(SYS_pidfd_open, s->child.pid, 0) : -1;
	struct pollfd ends[] = {
	    {.fd = child, .events = POLLIN},
	    {.fd = s->metrics ? watch_metrics_fd(s->metrics) : -1, .events = POLLIN},
	    {.fd = s->live ? STDIN_FILENO : -1, .events = POLLIN},
	};

	if (ppoll(ends, 3, &time, NULL) > 0 && ends[1].revents)
		watch_metrics_serve(s->metrics);
	if (child >= 0)
		close(child);
}

/* Whether it is time for a look; then the next one is due later. */
static bool look_is_due(struct session *s)
{
	const uint64_t now_ns = witness_now_ns();

	if (now_ns < s->look_ns)
		return false;
	s->pause_ns *= 2;
	if (s->pause_ns > s->request.interval_ns)
		s->pause_ns = s->request.interval_ns;
	s->look_ns = now_ns + (uint64_t)s->pause_ns;
	return true;
}

/* What a look shows on the screen, or on standard error. */
static void show(struct session *s, struct watch_lines *lines)
{
	if (s->live)
		watch_live_look(s->live, &s->observation);
	else if (!s->request.batch)
		watch_lines_add(lines, &s->observation);
}

/* Hands a signal on to the command, which ends by it or not; true if that ends the watch. */
static bool signal_ends(struct session *s, bool *forwarded)
{
	const int came = *signals_came();

	if (!came || s->child.pid <= 0)
		return came != 0;
	if (!*forwarded)
		kill(s->child.pid, came);
	*forwarded = true;
	return false;
}

static int watch_window(struct session *s)
{
	const struct watch_request *r = &s->request;
	struct observation *o = &s->observation;
	struct watch_lines lines;
	const uint64_t end_ns = r->duration_ns ? s->begin_ns + (uint64_t)r->duration_ns : 0;
	bool forwarded = false;
	int error = watch_lines_begin(&lines, o, r->interval_ns);

	s->look_ns = s->begin_ns + (uint64_t)s->pause_ns;
	if (!error && watch_live_may(r))
		s->live = watch_live_open(screen_style(r->ascii).ascii);
	while (!error && !signal_ends(s, &forwarded)) {
		pause_until_look(s, end_ns);
		if (s->child.pid > 0 && (s->child_status = watch_child_status(&s->child)) >= 0)
			break;
		if (end_ns && witness_now_ns() >= end_ns)
			break;
		if (s->live && !watch_live_keys(s->live))
			break;
		if (!look_is_due(s))
			continue;
		error = observe_look(o, !r->batch);
		if (!error)
			show(s, &lines);
	}
	watch_live_close(s->live);
	s->live = NULL;
	watch_lines_end(&lines);
	return error == -ESRCH ? 0 : error;
}

/* Puts the object or the summary where it belongs. True when it got there. */
static bool print_result(const struct session *s, const json_t *watch)
{
	const struct watch_request *r = &s->request;
	const struct text_style style = screen_style(r->ascii);
	char *text = r->json ? store_line(watch) : watch_text(watch, &style);
	FILE *out = r->command && !r->json ? stderr : stdout;
	bool good;

	if (r->json_file)
		out = fopen(r->json_file, "we");
	good = text && out && fputs(text, out) != EOF && (!r->json || putc('\n', out) != EOF);
	if (out)
		good = (r->json_file ? fclose(out) : fflush(out)) == 0 && good;
	if (!good)
		fprintf(stderr, "iostudy: cannot write to %s: %s\n",
		        r->json_file ? r->json_file : "standard output", strerror(errno));
	free(text);
	return good;
}

static bool print_folds(const struct session *s)
{
	const struct watch_request *r = &s->request;
	char why[OBSERVE_WHY_SIZE] = "";
	char *text = observe_folds(&s->observation, why);
	FILE *out = r->folded_file ? fopen(r->folded_file, "we") : stdout;
	bool good = text && out && fputs(text, out) != EOF;

	if (out)
		good = (r->folded_file ? fclose(out) : fflush(out)) == 0 && good;
	if (!good)
		fprintf(stderr, "iostudy: cannot write the stacks to %s: %s\n",
		        r->folded_file ? r->folded_file : "standard output",
		        *why ? why : strerror(errno));
	free(text);
	return good;
}

static int conclude(struct session *s)
{
	const int came = *signals_came();
	const bool interrupted = came && came != SIGINT;
	char why[64] = "";
	json_t *watch;
	int status;

	if (interrupted)
		snprintf(why, sizeof why, "interrupted by signal %d", came);
	watch = observe_json(&s->observation, interrupted ? "interrupted" : "ok",
	                     interrupted ? why : NULL, watch_plan_json(&s->request));
	if (!watch || watch_conclude(watch))
		return say("out of memory");
	const bool instead = s->request.folded && !s->request.folded_file;
	bool printed = (instead && !s->request.json) || print_result(s, watch);
	if (s->request.folded)
		printed = print_folds(s) && printed;
	if (!printed)
		status = EXIT_RUN_FAILED;
	else if (s->child_status > 0)
		status = s->child_status;
	else if (interrupted)
		status = 128 + came;
	else
		status = s->request.severity && watch_trips(watch, s->request.severity) ? EXIT_GATE
		                                                                        : EXIT_DONE;
	json_decref(watch);
	return status;
}

static int watch_all(struct session *s)
{
	char why[OBSERVE_WHY_SIZE] = "";
	int error = add_targets(s, why);

	if (error)
		return say(*why ? why : strerror(-error));
	error = observe_begin(&s->observation);
	if (!error && s->request.metrics) {
		error = watch_metrics_open(&s->metrics, &s->observation, s->request.metrics, why);
		if (error)
			return say(*why ? why : strerror(-error));
	}
	s->begin_ns = s->observation.begin_ns;
	if (!error && s->request.command) {
		error = watch_child_release(&s->child);
		if (error) {
			watch_child_status(&s->child);
			fprintf(stderr, "iostudy: cannot run %.200s: %s\n", s->request.command[0],
			        strerror(-error));
			return error == -ENOENT ? 127 : 126;
		}
	}
	if (!error)
		error = watch_window(s);
	if (!error)
		error = observe_end(&s->observation);
	if (error) {
		snprintf(why, sizeof why, "watching failed: %s", strerror(-error));
		return say(why);
	}
	return conclude(s);
}

static void warn_of_samples(const struct observation *o)
{
	if (*o->without_bpf)
		fprintf(stderr,
		        "iostudy: threads are sampled in /proc: %s. BPF would add each sleep and "
		        "wake-up, the requests on the disk and in io_uring, why it used workers, "
		        "where submissions sleep, and pools.\n",
		        o->without_bpf);
}

int command_watch(int argc, char **argv)
{
	struct session *s = calloc(1, sizeof *s);
	char why[OBSERVE_WHY_SIZE] = "";
	int status, error;

	if (!s)
		return say("out of memory");
	watch_request_parse(&s->request, argc, argv);
	signals_catch();
	s->child_status = -1;
	s->pause_ns = FIRST_LOOK_NS;
	error = observe_open(&s->observation, s->request.folded ? "bpf" : s->request.probe,
	                     s->request.children, s->request.folded, ".", why);
	if (error) {
		fprintf(stderr, "iostudy: %s\n", *why ? why : strerror(-error));
		status = EXIT_NOTHING;
	} else {
		warn_of_samples(&s->observation);
		status = watch_all(s);
		watch_metrics_close(s->metrics);
		observe_close(&s->observation);
	}
	free(s->request.pids);
	free(s);
	return status;
}
