/* The options of `iostudy watch`: see watch.h. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/json_text.h"
#include "bench/units.h"
#include "cli/cli.h"
#include "cli/options.h"
#include "cli/watch.h"

enum {
	KEY_CGROUP = 0x100,
	KEY_BATCH,
	KEY_JSON,
	KEY_FAIL_ON,
	KEY_ASCII,
	KEY_PROBE,
	KEY_METRICS,
	KEY_FOLDED
};

static const struct argp_option options[] = {
    {"pid", 'p', "PID[,PID...]", 0, "the processes to watch; may be given again", 0},
    {"children", 'f', 0, 0,
     "and what they fork, now and later (default with -- COMMAND and --cgroup)", 0},
    {"cgroup", KEY_CGROUP, "PATH|NAME", 0,
     "all processes of a control group: a container, a service", 0},
    {"duration", 'd', "TIME", 0, "the window (until Ctrl-C or the end)", 0},
    {"interval", 'i', "TIME", 0, "a line on stderr so often (1s)", 0},
    {"probe", KEY_PROBE, "auto|bpf|proc", 0,
     "what counts: BPF, or samples of /proc where that is not allowed (auto)", 0},
    {"batch", KEY_BATCH, 0, 0, "no lines in between, only the summary", 0},
    {"json", KEY_JSON, "FILE", OPTION_ARG_OPTIONAL,
     "one JSON object, on stdout or into FILE, in place of the summary", 0},
    {"folded", KEY_FOLDED, "FILE", OPTION_ARG_OPTIONAL,
     "the time asleep by stacks, in microseconds, for flame graphs: on stdout in place of the "
     "summary, or into FILE; needs BPF",
     0},
    {"metrics", KEY_METRICS, "[ADDRESS:]PORT", 0,
     "serve OpenMetrics text at http://ADDRESS:PORT/metrics meanwhile (on this machine alone "
     "unless an address is given)",
     0},
    {"fail-on", KEY_FAIL_ON, "warn|crit", 0, "exit status 3 on a problem of that severity", 0},
    {"ascii", KEY_ASCII, 0, 0, "nothing but ASCII", 0},
    {0},
};

static const char documentation[] =
    "Watch any program: who is parked for its I/O, hidden threads included. The program is not "
    "stopped, traced or changed.\v"
    "Examples:\n"
    "  iostudy watch -p 1234 -d 10\n"
    "  iostudy watch -p 1234,1240 --json | jq .places\n"
    "  iostudy watch -- node server.js\n"
    "  iostudy watch --cgroup postgresql.service -d 5\n"
    "  iostudy watch -p 1234 -d 10 --folded | flamegraph.pl --countname us > waits.svg\n"
    "  iostudy watch -p 1234 --batch --metrics 9105\n"
    "  iostudy watch --fail-on warn --json=watch.json -- make check\n"
    "\n"
    "With -- COMMAND its children are watched too, stdout is the command's, and the summary goes "
    "to stderr. Without -d, Ctrl-C is the normal end.\n"
    "\n"
    "Exit status: 0 done, 1 no such process or the watch failed, 2 bad usage, 3 a finding of "
    "--fail-on, 77 watching is not allowed here; with -- COMMAND the command's own unless it "
    "is 0.";

static void take_pids(struct watch_request *r, struct argp_state *state, const char *text)
{
	while (*text) {
		char *end;
		const long pid = strtol(text, &end, 10);
		pid_t *more;

		if (end == text || (*end && *end != ',') || pid < 1 || pid > INT32_MAX) {
			argp_error(state, "-p takes process numbers, as in -p 12,34; not '%.40s'",
			           text);
			return;
		}
		more = realloc(r->pids, (r->pid_count + 1) * sizeof *more);
		if (!more)
			argp_failure(state, EXIT_RUN_FAILED, ENOMEM, "-p");
		r->pids = more;
		r->pids[r->pid_count++] = (pid_t)pid;
		text = *end ? end + 1 : end;
	}
}

static int64_t take_time(struct argp_state *state, const char *option, const char *text)
{
	uint64_t ns = 0;

	if (units_parse_time(text, &ns) || ns == 0 || ns > INT64_MAX)
		argp_error(state, "%s takes a time above 0, as in 10 or 500ms; not '%.40s'", option,
		           text);
	return (int64_t)ns;
}

static error_t take(int key, char *argument, struct argp_state *state)
{
	struct watch_request *r = state->input;

	switch (key) {
	case 'p':
		take_pids(r, state, argument);
		return 0;
	case 'f':
		r->children = true;
		return 0;
	case KEY_CGROUP:
		r->cgroup = argument;
		return 0;
	case 'd':
		r->duration_ns = take_time(state, "-d", argument);
		return 0;
	case 'i':
		r->interval_ns = take_time(state, "-i", argument);
		return 0;
	case KEY_PROBE:
		if (strcmp(argument, "auto") != 0 && strcmp(argument, "bpf") != 0 &&
		    strcmp(argument, "proc") != 0)
			argp_error(state, "--probe takes auto, bpf or proc; not '%.40s'", argument);
		r->probe = argument;
		return 0;
	case KEY_BATCH:
		r->batch = true;
		return 0;
	case KEY_JSON:
		r->json = true;
		r->json_file = argument;
		return 0;
	case KEY_FOLDED:
		r->folded = true;
		r->folded_file = argument;
		return 0;
	case KEY_METRICS:
		r->metrics = argument;
		return 0;
	case KEY_FAIL_ON:
		if (strcmp(argument, "warn") != 0 && strcmp(argument, "crit") != 0)
			argp_error(state, "--fail-on takes warn or crit; not '%.40s'", argument);
		r->severity = argument;
		return 0;
	case KEY_ASCII:
		r->ascii = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected word '%.60s': a command stands after --", argument);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void refuse_two(const struct watch_request *r, const char *name)
{
	if (!r->command || (!r->pid_count && !r->cgroup))
		return;
	fprintf(stderr,
	        "%s: -p and a command exclude each other: a process that runs already is watched "
	        "for a time; use -d 10\n",
	        name);
	exit(EXIT_BAD_USAGE);
}

void watch_request_parse(struct watch_request *r, int argc, char **argv)
{
	static const struct argp argp = {
	    options, take, "-p PID | -- COMMAND [ARGUMENT...]", documentation, NULL, NULL, NULL};
	int own = 0;

	memset(r, 0, sizeof *r);
	r->interval_ns = 1000000000;
	r->probe = "auto";
	while (own < argc && strcmp(argv[own], "--") != 0)
		own++;
	if (own + 1 < argc)
		r->command = argv + own + 1;
	options_parse(&argp, own, argv, r);
	refuse_two(r, argv[0]);
	if (!r->command && !r->pid_count && !r->cgroup) {
		fprintf(stderr, "%s: whom to watch? Give -p PID, --cgroup PATH, or -- COMMAND\n",
		        argv[0]);
		exit(EXIT_BAD_USAGE);
	}
	if (r->command || r->cgroup)
		r->children = true;
	const bool json = r->json && !r->json_file, folded = r->folded && !r->folded_file;
	if (r->command && (json || folded)) {
		fprintf(stderr, "%s: with a command, stdout is the command's: use --%s=FILE\n",
		        argv[0], json ? "json" : "folded");
		exit(EXIT_BAD_USAGE);
	}
	if (json && folded) {
		fprintf(stderr,
		        "%s: --json and --folded cannot both be on stdout: use --json=FILE\n",
		        argv[0]);
		exit(EXIT_BAD_USAGE);
	}
}

json_t *watch_plan_json(const struct watch_request *r)
{
	json_t *pids = json_array(), *command = r->command ? json_array() : json_null();

	for (size_t i = 0; i < r->pid_count; i++)
		json_array_append_new(pids, json_integer(r->pids[i]));
	for (char **word = r->command; word && *word; word++)
		json_array_append_new(command, json_text(*word));
	return json_pack("{s:o, s:o, s:o, s:b, s:o}", "pids", pids, "command", command, "cgroup",
	                 r->cgroup ? json_text(r->cgroup) : json_null(), "children", r->children,
	                 "duration_ns",
	                 r->duration_ns ? json_integer(r->duration_ns) : json_null());
}
