/* The measured process: see subject.h. */
#include "bench/subject.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench/child.h"
#include "bench/compute.h"
#include "bench/loop.h"
#include "bench/order.h"
#include "bench/workload.h"
#include "engines/engine.h"

enum { STACK_BYTES = 128 << 10 };

struct worker {
	const struct subject *subject;
	uint32_t index;
	pthread_t thread;
};

/* The mark of the calling thread. */
static _Thread_local struct thread_mark *own_mark;

static void pool_thread_begin(void *context)
{
	const struct subject *subject = context;

	own_mark = thread_mark_claim(subject->marks, KIND_POOL);
	if (own_mark)
		thread_mark_set(own_mark, DOING_IDLE, witness_now_ns());
	else
		witness_break(subject->witness, "more threads than the probe can mark");
}

static void pool_thread_end(void *context)
{
	(void)context;
	if (own_mark)
		thread_mark_end(own_mark, witness_now_ns());
}

static void pool_call_begin(void *context, uint32_t slot)
{
	(void)context;
	(void)slot;
	if (own_mark)
		thread_mark_set(own_mark, DOING_CALL, witness_now_ns());
}

static void pool_call_end(void *context, uint32_t slot)
{
	(void)context;
	(void)slot;
	if (own_mark)
		thread_mark_set(own_mark, DOING_IDLE, witness_now_ns());
}

/* A thread's share: the first threads take what does not divide. */
static uint64_t share_of(uint64_t total, uint32_t threads, uint32_t index)
{
	return total / threads + (index < total % threads);
}

/* Slots of the threads before this one. */
static uint64_t first_slot(const struct plan *plan, uint32_t index)
{
	const uint64_t rest = plan->depth % plan->threads;

	return (uint64_t)index * (plan->depth / plan->threads) + (index < rest ? index : rest);
}

static int open_engine(struct engine *engine, const struct subject *subject,
                       const struct workload *w, uint32_t index, char why[PLAN_WHY_SIZE])
{
	const struct plan *plan = subject->plan;
	const struct engine_config config = {
	    .requests = w->requests,
	    .slots = w->slots + w->services,
	    /* of a pool: one per request, and only a service's requests come to the engine */
	    .threads = w->ops->shares && !plan->pool
	                   ? w->services
	                   : (uint32_t)share_of(plan->pool, plan->threads, index),
	    .need = w->ops->need,
	    .memory = w->memory,
	    .memory_bytes = w->memory_bytes,
	    .fds = w->fds,
	    .fd_count = w->fd_count,
	    .hooks = {.context = (void *)subject,
	              .thread_begin = pool_thread_begin,
	              .thread_end = pool_thread_end,
	              .call_begin = pool_call_begin,
	              .call_end = pool_call_end},
	};
	char reason[ENGINE_WHY_SIZE] = "";
	int err = engine_open(engine, engine_find(plan->engine), &config, reason);

	if (err)
		snprintf(why, PLAN_WHY_SIZE, "%s", *reason ? reason : strerror(-err));
	return err;
}

/* Runs between "ready" and "stop", with engine and workload open. */
static void measure(struct worker *worker, struct engine *engine, struct workload *w)
{
	const struct subject *subject = worker->subject;
	struct witness *witness = subject->witness;
	const struct plan *plan = subject->plan;
	struct loop loop = {
	    .plan = plan,
	    .engine = engine,
	    .workload = w,
	    .witness = witness,
	    .own = &witness->thread[worker->index],
	    .schedule = &witness->schedule[worker->index],
	    .scheduled_ns = &witness->scheduled_ns[first_slot(plan, worker->index)],
	    .mark = own_mark,
	    .in_flight = subject->in_flight,
	    .operations = share_of(plan->operations, plan->threads, worker->index),
	};
	char why[PLAN_WHY_SIZE];
	int err;

	if (plan->wait == WAIT_COMPUTE)
		compute_alone(loop.own);
	witness_count(&witness->ready);
	thread_mark_set(own_mark, DOING_IDLE, witness_now_ns());
	while (!__atomic_load_n(&witness->go, __ATOMIC_ACQUIRE))
		witness_wait(&witness->go, 0, -1);
	thread_mark_set(own_mark, DOING_NOTHING, witness_now_ns());
	err = plan->operations && !loop.operations ? 0 : loop_run(&loop, why);
	if (err)
		witness_break(witness, why);
	thread_mark_set(own_mark, DOING_IDLE, witness_now_ns());
	witness_count(&witness->finished);
	while (!__atomic_load_n(&witness->stop, __ATOMIC_ACQUIRE))
		witness_wait(&witness->stop, 0, -1);
	if (w->ops->stop)
		w->ops->stop(w);
}

/* What cannot serve here is no failure of the run. */
static void refuse(struct witness *witness, int err, const char *why)
{
	if (err == -EOPNOTSUPP)
		__atomic_store_n(&witness->refused, 1, __ATOMIC_RELAXED);
	witness_break(witness, why);
}

static void *worker_run(void *argument)
{
	struct worker *worker = argument;
	const struct subject *subject = worker->subject;
	const struct plan *plan = subject->plan;
	char why[PLAN_WHY_SIZE] = "";
	struct engine engine;
	struct workload w;
	int err;

	own_mark = thread_mark_claim(subject->marks, KIND_APPLICATION);
	if (!own_mark) {
		witness_break(subject->witness, "more threads than the probe can mark");
		return NULL;
	}
	err = workload_open(&w, plan, worker->index,
	                    (uint32_t)share_of(plan->depth, plan->threads, worker->index));
	if (err) {
		refuse(subject->witness, err, w.why);
		return NULL;
	}
	err = open_engine(&engine, subject, &w, worker->index, why);
	if (err) {
		refuse(subject->witness, err, why);
	} else {
		measure(worker, &engine, &w);
		engine_close(&engine);
	}
	workload_close(&w);
	return NULL;
}

static int start_thread(struct worker *worker)
{
	pthread_attr_t attributes;
	int err = pthread_attr_init(&attributes);

	if (err)
		return -err;
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	err = pthread_create(&worker->thread, &attributes, worker_run, worker);
	pthread_attr_destroy(&attributes);
	return -err;
}

static void explain_threads(const struct plan *plan, uint32_t index, int err,
                            char why[PLAN_WHY_SIZE])
{
	struct rlimit processes = {0};

	getrlimit(RLIMIT_NPROC, &processes);
	snprintf(why, PLAN_WHY_SIZE,
	         "cannot start thread %u of %u: %s; the limits are RLIMIT_NPROC (%llu), "
	         "kernel.threads-max and the control group's pids.max: use --threads %u or fewer",
	         index + 1, plan->threads, strerror(-err), (unsigned long long)processes.rlim_cur,
	         index);
}

static void subject_main(const struct subject *subject)
{
	const struct plan *plan = subject->plan;
	struct worker *workers = calloc(plan->threads, sizeof *workers);
	char why[PLAN_WHY_SIZE];
	uint32_t started = 1;
	int err = workers ? 0 : -ENOMEM;

	for (uint32_t i = 0; workers && i < plan->threads; i++)
		workers[i] = (struct worker){.subject = subject, .index = i};
	while (!err && started < plan->threads) {
		err = start_thread(&workers[started]);
		if (err) {
			explain_threads(plan, started, err, why);
			witness_break(subject->witness, why);
			_exit(0);
		}
		started++;
	}
	if (err) {
		witness_break(subject->witness, "no memory for the threads' state");
		return;
	}
	worker_run(&workers[0]);
	for (uint32_t i = 1; i < started; i++)
		pthread_join(workers[i].thread, NULL);
	free(workers);
}

pid_t subject_start(const struct subject *subject)
{
	struct order_passes passes = {0}; /* shared by its threads */
	struct plan plan = *subject->plan;
	struct subject own = *subject;
	const pid_t pid = child_fork("iostudy-subject");

	if (pid != 0)
		return pid;
	child_close_others(NULL, 0);
	plan.passes = &passes;
	own.plan = &plan;
	subject_main(&own);
	_exit(0);
}
