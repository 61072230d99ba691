/* What the terminal can show: see screen.h. */
#include "cli/screen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool locale_is_utf8(void)
{
	const char *names[] = {getenv("LC_ALL"), getenv("LC_CTYPE"), getenv("LANG")};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (names[i] && *names[i])
			return strcasestr(names[i], "utf-8") || strcasestr(names[i], "utf8");
	return false;
}

struct text_style screen_style(bool ascii)
{
	const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
	const bool colour = isatty(STDOUT_FILENO) && !(no_color && *no_color) && terminal &&
	                    strcmp(terminal, "dumb") != 0;

	return (struct text_style){.ascii = ascii || !locale_is_utf8(), .colour = colour && !ascii};
}

void screen_progress(uint32_t index, uint32_t count, const struct plan *plan)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K[%u/%u] %s %s, --wait %s", index + 1, count, plan->engine,
		        plan->workload, plan_wait_names[plan->wait]);
}

void screen_progress_clear(void)
{
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
}
