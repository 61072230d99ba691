/* Prints the names nearest to a mistyped one: see nearest.h. */
#include "cli/nearest.h"

#include "bench/nearest.h"

void nearest_print(FILE *out, const char *name, const char *const *names, uint32_t count)
{
	char text[NEAREST_SIZE];

	fputs(nearest_text(text, name, names, count), out);
}
