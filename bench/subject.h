/*
 * The subject: the measured process, fresh for every run, with nothing in it but engine and
 * workload. It opens them, waits for the word to go, runs the loop on each of its threads, and
 * stays until it is told to stop, so that its last readings can be taken.
 */
#ifndef IOSTUDY_SUBJECT_H
#define IOSTUDY_SUBJECT_H

#include <stdint.h>
#include <sys/types.h>

#include "bench/plan.h"
#include "bench/witness.h"
#include "probes/threads.h"

struct subject {
	const struct plan *plan;
	struct witness *witness;   /* shared; with plan->threads threads */
	struct thread_mark *marks; /* shared; [THREADS_MAX] */
	uint32_t *in_flight;       /* shared gauge for the probe, or NULL */
};

/* Forks the subject; its pid, or -errno. */
pid_t subject_start(const struct subject *subject);

#endif
