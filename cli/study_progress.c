/* How far a study is: see study_progress.h. */
#include "cli/study_progress.h"

#include <stdio.h>
#include <unistd.h>

#include "bench/witness.h"

#define SECOND 1000000000ull

const char *study_duration(char text[40], uint64_t time_ns)
{
	const unsigned long long seconds = (time_ns + SECOND / 2) / SECOND;

	if (seconds < 100)
		snprintf(text, 40, "%llu s", seconds);
	else if (seconds < 6000)
		snprintf(text, 40, "%llu min", (seconds + 30) / 60);
	else
		snprintf(text, 40, "%llu h %02llu min", seconds / 3600, seconds % 3600 / 60);
	return text;
}

/* What the runs took beyond their plans is what the others will take. */
static uint64_t time_left(const struct study_progress *p)
{
	uint64_t extra_ns = STUDY_RUN_EXTRA_NS;

	if (p->measured)
		extra_ns = p->elapsed_ns > p->plans_ns ? (p->elapsed_ns - p->plans_ns) / p->measured
		                                       : 0;
	return p->left_ns + (p->total - p->done) * extra_ns;
}

void study_progress_show(struct study_progress *p, const char *what)
{
	const int terminal = isatty(STDERR_FILENO);
	const uint64_t now_ns = witness_now_ns();
	char left[40];

	if (!terminal && p->last_ns && now_ns - p->last_ns < 10 * SECOND)
		return;
	p->last_ns = now_ns;
	study_duration(left, time_left(p));
	fprintf(stderr, terminal ? "\r\033[K[%u/%u] %s left: %.100s" : "[%u/%u] %s left: %.200s\n",
	        p->done + 1, p->total, left, what);
}

void study_progress_count(struct study_progress *p, uint64_t plan_ns, uint64_t took_ns)
{
	p->done++;
	p->measured++;
	p->left_ns -= plan_ns;
	p->elapsed_ns += took_ns;
	p->plans_ns += plan_ns;
}

void study_progress_clear(void)
{
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
}
