/* Options with suggestions: see options.h. */
#include "cli/options.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/nearest.h"

enum { NAMES_MAX = 128 };

static void refuse(const char *program, const char *option, const struct argp *argp)
{
	const char *names[NAMES_MAX] = {"help", "usage"};
	uint32_t n = 2;

	for (const struct argp_option *o = argp->options; o->name && n < NAMES_MAX; o++)
		names[n++] = o->name;
	fprintf(stderr, "%s: unknown option '--%.60s'", program, option);
	nearest_print(stderr, option, names, n);
	fprintf(stderr, " (%s --help)\n", program);
	exit(EXIT_BAD_USAGE);
}

/* Whether it is an option's name or, as getopt allows, the beginning of one. */
static int is_known(const char *option, const struct argp *argp)
{
	const size_t length = strlen(option);

	if (strncmp(option, "help", length) == 0 || strncmp(option, "usage", length) == 0)
		return 1;
	for (const struct argp_option *o = argp->options; o->name; o++)
		if (strncmp(option, o->name, length) == 0)
			return 1;
	return 0;
}

void options_parse(const struct argp *argp, int argc, char **argv, void *input)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		char name[64];

		if (strncmp(argv[i], "--", 2) != 0)
			continue;
		snprintf(name, sizeof name, "%.*s", (int)strcspn(argv[i] + 2, "="), argv[i] + 2);
		if (!is_known(name, argp))
			refuse(argv[0], name, argp);
	}
	argp_parse(argp, argc, argv, 0, NULL, input);
}
