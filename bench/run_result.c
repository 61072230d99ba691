/* What the parts of a run write into its result: see run.h. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/run.h"

const char *const run_outcome_names[] = {"ok", "skipped", "failed", "interrupted"};

void run_end(struct run_result *result, enum run_outcome status, const char *format, ...)
{
	va_list arguments;

	result->status = status;
	va_start(arguments, format);
	vsnprintf(result->why, sizeof result->why, format, arguments);
	va_end(arguments);
}

void run_warn(struct run_result *result, const char *format, ...)
{
	va_list arguments;

	if (result->warning_count == RUN_WARNINGS)
		return;
	va_start(arguments, format);
	vsnprintf(result->warnings[result->warning_count++], PLAN_WHY_SIZE, format, arguments);
	va_end(arguments);
}

void run_result_free(struct run_result *result)
{
	for (uint32_t i = 0; i < result->probe_count; i++)
		free(result->probes[i].reading);
	free(result->script_output);
	result->probe_count = 0;
	result->script_output = NULL;
}
