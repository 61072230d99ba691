/* The table of workloads, and what they have in common. */
#include "bench/workload.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct workload_ops *const workload_table[] = {
    &disk_randread, &disk_seqread, &disk_randwrite,   &disk_seqwrite, &disk_randrw, &disk_fsync,
    &socket_delay,  &socket_echo,  &socket_multiplex, &timer_delay,   NULL,
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
	const struct workload_ops *ops = workload_find(plan->workload);
	const uint32_t services = ops->services ? ops->services(plan, thread) : 0;
	int err = -ENOMEM;

	*w = (struct workload){
	    .ops = ops,
	    .plan = plan,
	    .thread = thread,
	    .threads = plan->threads,
	    .slots = slots,
	    .services = services,
	    .checked = !(engine_find(plan->engine)->caps & ENGINE_NO_IO),
	    .requests = calloc(slots + services, sizeof *w->requests),
	    .posted = calloc(slots + services, sizeof *w->posted),
	};
	w->state = calloc(1, w->ops->size);
	if (!w->requests || !w->posted || !w->state) {
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
	free(w->posted);
	w->state = w->requests = NULL;
	w->posted = NULL;
	return err;
}

void workload_close(struct workload *w)
{
	w->ops->close(w);
	free(w->state);
	free(w->requests);
	free(w->posted);
}

void workload_post(struct workload *w, uint32_t slot, int32_t result)
{
	const uint32_t slots = w->slots + w->services;

	assert(slot < slots && w->posted_count < slots);
	w->posted[(w->posted_at + w->posted_count++) % slots] = (struct io_done){.slot = slot,
	                                                                         .result = result};
}

struct io_done workload_take_post(struct workload *w)
{
	const struct io_done post = w->posted[w->posted_at];

	assert(w->posted_count);
	w->posted_at = (w->posted_at + 1) % (w->slots + w->services);
	w->posted_count--;
	return post;
}
