/* Finds the command and hands over. Options without a command are those of `iostudy run`. */
#include <argp.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/nearest.h"

struct command {
	const char *name, *summary;
	int (*main)(int argc, char **argv);
};

static const struct command commands[] = {
    {"run", "run engines through workloads and count the threads parked", command_run},
    {"study", "run a matrix of runs from a file; resumes", command_study},
    {"show", "print stored results again", command_show},
    {"diff", "compare two sets of results, or two engines", command_diff},
    {"report", "write a document from stored results", command_report},
    {"watch", "who is parked in any program, hidden threads included", command_watch},
    {"scenario", "the classic experiments, published numbers beside ours", command_scenario},
    {"doctor", "what this machine and this user may do, and what allows more", command_doctor},
    {"list", "engines, workloads, probes, scripts", command_list},
    {"serve", "be the peer of socket runs: echo, delay", command_serve},
    {NULL, NULL, NULL},
};

static void print_usage(FILE *out)
{
	fputs("iostudy - while an I/O is in flight, which threads are parked for it?\n"
	      "  iostudy --engine uring                one engine: disk and sockets\n"
	      "  iostudy --engine basic                the engines beside each other\n"
	      "  iostudy run --engine all -o results   and keep every run\n"
	      "  iostudy report results -o report.md   a document from them\n"
	      "  iostudy -p PID                        who is parked in any program\n"
	      "  iostudy doctor                        what this machine allows\n"
	      "  iostudy list                          engines, workloads, probes, scripts\n"
	      "  iostudy COMMAND --help                all options, with examples\n",
	      out);
}

static int unknown_command(const char *name)
{
	const char *names[sizeof commands / sizeof *commands];
	uint32_t n = 0;

	for (; commands[n].name; n++)
		names[n] = commands[n].name;
	fprintf(stderr, "iostudy: unknown command '%.60s'", name);
	nearest_print(stderr, name, names, n);
	fputs("; see iostudy --help\n", stderr);
	return EXIT_BAD_USAGE;
}

/* `iostudy -p PID` and `iostudy -- COMMAND` are short for watching. */
static int is_watch(const char *word)
{
	return strncmp(word, "-p", 2) == 0 || strcmp(word, "--") == 0;
}

static int run_command(const struct command *command, int argc, char **argv)
{
	char name[64];

	snprintf(name, sizeof name, "iostudy %s", command->name);
	argv[0] = name;
	return command->main(argc, argv);
}

/* A descriptor 0, 1 or 2 that is closed would be given to the next file that is opened, and what
 * is printed would land in it. Writes to a closed output fail as they should. */
static void hold_standard_descriptors(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", fd == 2 ? O_WRONLY : O_RDONLY);
}

int main(int argc, char **argv)
{
	hold_standard_descriptors();
	argp_err_exit_status = EXIT_BAD_USAGE;
	if (argc < 2) {
		print_usage(stderr);
		return EXIT_BAD_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-?") == 0 ||
	    strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
		print_usage(stdout);
		for (const struct command *c = commands; c->name; c++)
			printf("  %-8s %s\n", c->name, c->summary);
		return EXIT_DONE;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		printf("iostudy %s\n", IOSTUDY_VERSION);
		return EXIT_DONE;
	}
	if (is_watch(argv[1]))
		return run_command(&(struct command){"watch", NULL, command_watch}, argc, argv);
	if (argv[1][0] == '-')
		return run_command(&commands[0], argc, argv);
	for (const struct command *c = commands; c->name; c++)
		if (strcmp(argv[1], c->name) == 0)
			return run_command(c, argc - 1, argv + 1);
	return unknown_command(argv[1]);
}
