/* One call, and the threads that make them: see calls.h. */
#include "bench/scenario/calls.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench/environment.h"
#include "bench/message.h"
#include "bench/scenario/crew.h"
#include "bench/witness.h"

const char *const calls_form_names[] = {"socket", "shared", "timer", NULL};

enum { STACK_BYTES = 64 << 10 };

static const char *reason_of(int32_t result)
{
	return result ? strerror(-result) : "the service hung up";
}

/* Moves all of a message, in as many requests as it takes. NULL, or why not. */
static const char *move(struct caller *caller, uint8_t op, int fd, void *data, uint32_t length)
{
	for (uint32_t moved = 0; moved < length;) {
		const int32_t n = caller_do(caller, (struct io_req){.op = op,
		                                                    .fd = fd,
		                                                    .data = (char *)data + moved,
		                                                    .length = length - moved});
		if (n <= 0)
			return reason_of(n);
		moved += (uint32_t)n;
	}
	return NULL;
}

static const char *call_service(struct caller *caller, const struct calls *calls, uint32_t id)
{
	struct message asked = {.id = id, .seed = calls->seed, .delay_ns = calls->delay_ns};
	struct message reply = {0};
	const char *reason;
	const int32_t fd = caller_do(caller, (struct io_req){.op = IO_CONNECT,
	                                                     .data = (void *)&calls->service.any,
	                                                     .length = calls->service.length});

	if (fd < 0)
		return reason_of(fd);
	asked.check = message_check(&asked, false);
	reason = move(caller, IO_SEND, fd, &asked, sizeof asked);
	if (!reason)
		reason = move(caller, IO_RECV, fd, &reply, sizeof reply);
	close(fd);
	if (!reason && (!message_is_valid(&reply, true) || reply.id != id))
		reason = "wrong data: the reply is not to this call";
	return reason;
}

static const char *wait_for_timer(struct caller *caller, const struct calls *calls)
{
	const int32_t result = caller_do(
	    caller,
	    (struct io_req){.op = IO_TIMEOUT, .deadline_ns = witness_now_ns() + calls->delay_ns});

	return result ? reason_of(result) : NULL;
}

void call_make(struct board_side *side, struct caller *caller, const struct calls *calls,
               uint32_t id)
{
	const uint64_t start_ns = board_call_begin(side);
	const char *reason = calls->form == FORM_TIMER ? wait_for_timer(caller, calls)
	                                               : call_service(caller, calls, id);

	board_call_end(side, start_ns, start_ns, reason);
}

static void refuse_thread(struct board_side *side, uint32_t index, uint32_t count, int error)
{
	struct rlimit processes = {0};
	char why[SCENARIO_WHY_SIZE];

	getrlimit(RLIMIT_NPROC, &processes);
	snprintf(why, sizeof why,
	         "the system refused thread %u of %u (%s): vm.max_map_count is %lld, and a stack "
	         "takes two mappings; kernel.threads-max %lld; kernel.pid_max %lld; RLIMIT_NPROC "
	         "%llu; and the control group's pids.max",
	         index + 1, count, strerror(-error),
	         (long long)environment_setting("vm/max_map_count"),
	         (long long)environment_setting("kernel/threads-max"),
	         (long long)environment_setting("kernel/pid_max"),
	         (unsigned long long)processes.rlim_cur);
	board_break(side, true, why);
}

int calls_thread_start(struct board_side *side, void *(*body)(void *), void *argument,
                       uint32_t index, uint32_t count)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int error = pthread_attr_init(&attributes);

	if (!error) {
		pthread_attr_setstacksize(&attributes, STACK_BYTES);
		pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
		error = pthread_create(&thread, &attributes, body, argument);
		pthread_attr_destroy(&attributes);
	}
	if (error)
		refuse_thread(side, index, count, -error);
	return -error;
}

static void make_call(struct board_side *side, struct caller *caller, uint32_t id)
{
	call_make(side, caller, side->own, id);
}

int calls_by_threads(struct board_side *side)
{
	const struct calls *calls = side->own;
	const struct crew crew = {.side = side, .count = calls->count, .call = make_call};

	return crew_by_threads(&crew, calls->threads);
}
