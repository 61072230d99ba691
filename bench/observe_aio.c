/* How many requests an observed process has with POSIX AIO for one file, looked at now and then.
 * What lies on a stack from before can make a look find less: the largest says most. */
#include <unistd.h>

#include "bench/aio_queue.h"
#include "bench/json_text.h"
#include "bench/observe.h"

enum { HELPERS_MAX = 32, TRIES = 16, APART_US = 100 };

/* A look that meets a helper between two requests finds nothing, and says nothing. */
void observe_aio_queues(struct observation *o)
{
	uint32_t helpers = 0;

	for (size_t i = 0; i < o->now.thread_count && helpers < HELPERS_MAX; i++) {
		const struct census_record *thread = &o->now.threads[i];

		if (thread->kind != KIND_AIO_HELPER || !thread->stack_pointer)
			continue;
		helpers++;
		for (int k = 0; k < TRIES; k++) {
			const uint32_t length = aio_queue_length((pid_t)thread->pid,
			                                         thread->stack_pointer);

			o->aio_looks += length > 0;
			if (length > o->aio_most)
				o->aio_most = length;
			usleep(APART_US);
		}
	}
}

json_t *observe_aio_json(const struct observation *o)
{
	if (!o->aio_looks)
		return json_null();
	return json_pack("{s:o, s:o}", "looks", json_count(o->aio_looks), "per_file_max",
	                 json_count(o->aio_most));
}
