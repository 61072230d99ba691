/* The table of workloads, and what they have in common. */
#include "bench/workload.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct workload_ops *const workload_table[] = {
    &disk_randread, &disk_seqread, &disk_randwrite, &disk_seqwrite, &disk_randrw,
    &disk_fsync,    &socket_delay, &timer_delay,    NULL,
};

const struct workload_ops *workload_find(const char *name)
{
	for (const struct workload_ops *const *ops = workload_table; *ops; ops++)
		if (strcmp((*ops)->name, name) == 0)
			return *ops;
	return NULL;
}

int workload_open(struct workload *w, const struct plan *plan, uint32_t thread, uint32_t slots)
{
	int err = -ENOMEM;

	*w = (struct workload){
	    .ops = workload_find(plan->workload),
	    .plan = plan,
	    .thread = thread,
	    .threads = plan->threads,
	    .slots = slots,
	    .checked = !(engine_find(plan->engine)->caps & ENGINE_NO_IO),
	    .requests = calloc(slots, sizeof *w->requests),
	};
	w->state = calloc(1, w->ops->size);
	if (!w->requests || !w->state) {
		snprintf(w->why, sizeof w->why, "no memory for %u requests", slots);
		goto fail;
	}
	err = w->ops->open(w);
	if (err)
		goto fail;
	return 0;
fail:
	free(w->state);
	free(w->requests);
	w->state = w->requests = NULL;
	return err;
}

void workload_close(struct workload *w)
{
	w->ops->close(w);
	free(w->state);
	free(w->requests);
}
