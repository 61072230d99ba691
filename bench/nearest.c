/* The names nearest to a mistyped one, by edit distance: see nearest.h. */
#include "bench/nearest.h"

#include <stdio.h>
#include <string.h>

enum { LENGTH_MAX = 40, SHOWN_MAX = 3 };

/* Levenshtein's, over at most LENGTH_MAX bytes. */
static uint32_t distance(const char *a, const char *b)
{
	const size_t n = strnlen(a, LENGTH_MAX), m = strnlen(b, LENGTH_MAX);
	uint32_t row[LENGTH_MAX + 1];

	for (size_t j = 0; j <= m; j++)
		row[j] = (uint32_t)j;
	for (size_t i = 1; i <= n; i++) {
		uint32_t diagonal = row[0];

		row[0] = (uint32_t)i;
		for (size_t j = 1; j <= m; j++) {
			const uint32_t above = row[j];
			uint32_t best = diagonal + (a[i - 1] != b[j - 1]);

			if (above + 1 < best)
				best = above + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
			diagonal = above;
		}
	}
	return row[m];
}

const char *nearest_text(char text[NEAREST_SIZE], const char *name, const char *const *names,
                         uint32_t count)
{
	const size_t length = strnlen(name, LENGTH_MAX);
	uint32_t best = UINT32_MAX, shown = 0;
	size_t at = 0;

	text[0] = 0;
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t d = distance(name, names[i]);

		if (d < best)
			best = d;
	}
	if (best > length / 2 + 1)
		return text;
	for (uint32_t i = 0; i < count && shown < SHOWN_MAX; i++) {
		if (distance(name, names[i]) > best)
			continue;
		at += (size_t)snprintf(text + at, NEAREST_SIZE - at, "%s %.40s",
		                       shown ? " or" : ": did you mean", names[i]);
		shown++;
	}
	if (shown)
		snprintf(text + at, NEAREST_SIZE - at, "?");
	return text;
}
