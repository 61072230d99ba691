/*
 * The doctor on the place of the measured file: file system, device, and what was tried there.
 */
#include "cli/doctor.h"

#include "analysis/format.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { DEPTH_DEFAULT = 32 };
#define FILE_SIZE_DEFAULT (256ll << 20)

static void directory_check(struct doctor *d)
{
	struct doctor_check *check;
	char allow[DOCTOR_COMMAND_SIZE], undo[DOCTOR_COMMAND_SIZE];
	const bool fits = strlen(d->directory) < 100;

	if (d->environment_error) {
		check = doctor_add(d, DOCTOR_PLACE, DOCTOR_NO, "directory", "%.200s: %s",
		                   d->directory, strerror(-d->environment_error));
		if (d->environment_error != -ENOENT || !fits)
			return;
		snprintf(allow, sizeof allow, "mkdir -p '%.100s'", d->directory);
		snprintf(undo, sizeof undo, "rmdir '%.100s'", d->directory);
		doctor_explain(check, NULL, allow, undo);
	} else if (access(d->directory, W_OK) != 0) {
		check = doctor_add(d, DOCTOR_PLACE, DOCTOR_NO, "directory",
		                   "%.200s cannot be written to: %s", d->directory,
		                   strerror(errno));
		doctor_explain(check, "The file to be measured cannot be made there.",
		               "iostudy run --directory /var/tmp ...", "nothing stays");
	} else {
		check = doctor_add(d, DOCTOR_PLACE, DOCTOR_OK, "directory", "%.200s, %s free",
		                   d->directory,
		                   format_bytes((double)d->environment.free_bytes).text);
		if (d->environment.free_bytes >= FILE_SIZE_DEFAULT)
			return;
		check->state = DOCTOR_NO;
		doctor_explain(check,
		               "The file to be measured takes 256 MiB unless told otherwise.",
		               "iostudy run --size 16m ...", "nothing stays");
	}
}

static void filesystem_check(struct doctor *d)
{
	const struct environment *env = &d->environment;
	char caveat[240];
	const char *why = environment_caveat(env, d->directory, caveat);
	struct doctor_check *check = doctor_add(d, DOCTOR_PLACE, why ? DOCTOR_NOTE : DOCTOR_OK,
	                                        "file system", "%s",
	                                        *env->filesystem ? env->filesystem : "not known");
	if (why)
		doctor_explain(check, why, "iostudy run --directory /var/tmp ...", "nothing stays");
}

static void device_check(struct doctor *d)
{
	const struct environment *env = &d->environment;
	struct doctor_check *check;
	char undo[DOCTOR_COMMAND_SIZE], allow[DOCTOR_COMMAND_SIZE];

	if (!*env->device) {
		doctor_add(d, DOCTOR_PLACE, DOCTOR_INFO, "device", "none to be seen");
		return;
	}
	check = doctor_add(d, DOCTOR_PLACE, DOCTOR_OK, "device",
	                   "%s, scheduler %s, %s, %s requests queued at most (nr_requests)",
	                   env->device, *env->scheduler ? env->scheduler : "not known",
	                   env->rotational == ANSWER_YES ? "says it rotates" : "does not rotate",
	                   env->nr_requests < 0 ? "?"
	                                        : format_count((double)env->nr_requests).text);
	if (env->nr_requests < 0 || env->nr_requests >= DEPTH_DEFAULT)
		return;
	check->state = DOCTOR_NOTE;
	snprintf(allow, sizeof allow, "echo 256 | sudo tee /sys/block/%s/queue/nr_requests",
	         env->device);
	snprintf(undo, sizeof undo, "echo %lld | sudo tee /sys/block/%s/queue/nr_requests",
	         (long long)env->nr_requests, env->device);
	doctor_explain(check, "Beyond that even an asynchronous submission parks its thread.",
	               allow, undo);
}

static void trial_add(struct doctor *d, const char *name, enum environment_answer answer,
                      enum doctor_state if_not, const char *yes, const char *no, const char *why)
{
	if (answer == ANSWER_UNKNOWN)
		doctor_add(d, DOCTOR_PLACE, DOCTOR_INFO, name, "could not be tried here");
	else if (answer == ANSWER_YES)
		doctor_add(d, DOCTOR_PLACE, DOCTOR_OK, name, "%s", yes);
	else
		doctor_explain(doctor_add(d, DOCTOR_PLACE, if_not, name, "%s", no), why, NULL,
		               NULL);
}

void doctor_check_place(struct doctor *d)
{
	const struct environment *env = &d->environment;

	directory_check(d);
	if (d->environment_error)
		return;
	filesystem_check(d);
	device_check(d);
	trial_add(d, "O_DIRECT", env->direct_read, DOCTOR_NOTE,
	          env->in_memory ? "accepted, but this is memory" : "accepted",
	          "refused by this file system",
	          "Only --direct 0 works here: reads may come from the page cache.");
	trial_add(d, "RWF_NOWAIT", env->nowait_read, DOCTOR_NOTE, "accepted",
	          "refused by this file system",
	          "io_uring cannot try a read without waiting here: it hands each to a worker "
	          "thread, which is then parked for it.");
	trial_add(d, "polled queues", env->io_poll, DOCTOR_INFO, "the device has them",
	          "the device has none", "uring-iopoll cannot poll for completions here.");
}
