/*
 * The doctor's trials: every engine is opened and serves one request, every probe is opened.
 */
#include "cli/doctor.h"

#include "engines/engine.h"
#include "probes/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TRIAL_SLOTS = 4, TRIAL_BLOCK = 4096, TRIAL_TIMEOUT_NS = 1000000000 };

/* What an engine may be forbidden by, with the command against it. */
static void uring_explain(const struct doctor *d, struct doctor_check *check)
{
	const int64_t disabled = environment_setting("kernel/io_uring_disabled");
	char undo[DOCTOR_COMMAND_SIZE];

	if (disabled > 0 && !(disabled == 1 && doctor_can(d, CAP_SYS_ADMIN))) {
		snprintf(undo, sizeof undo, "sudo sysctl kernel.io_uring_disabled=%d",
		         (int)disabled);
		doctor_explain(check, NULL, "sudo sysctl kernel.io_uring_disabled=0", undo);
	} else if (d->user.seccomp == 2 && d->user.pid_namespace) {
		doctor_explain(check, NULL, "docker run --security-opt seccomp=unconfined IMAGE",
		               "start the container without that option");
	}
}

static void aio_explain(struct doctor_check *check)
{
	const int64_t max = environment_setting("fs/aio-max-nr");
	char undo[DOCTOR_COMMAND_SIZE];

	if (max < 0 || max - environment_setting("fs/aio-nr") >= TRIAL_SLOTS)
		return;
	snprintf(undo, sizeof undo, "sudo sysctl fs.aio-max-nr=%lld", (long long)max);
	doctor_explain(check, NULL, "sudo sysctl fs.aio-max-nr=1048576", undo);
}

/* Lets an open engine serve one request that waits for nothing. 0, or -errno. */
static int engine_serve_one(struct engine *e)
{
	const uint32_t slot = 0;
	struct io_done done;

	const int sent = engine_submit(e, &slot, 1);
	if (sent != 1)
		return sent < 0 ? sent : -EAGAIN;
	const int got = engine_reap(e, &done, 1, 1, TRIAL_TIMEOUT_NS);
	if (got != 1)
		return got < 0 ? got : -ETIMEDOUT;
	return done.result;
}

/* *file: a descriptor to read from, which the engine knows in advance; or -1. */
static int engine_try(const struct engine_ops *ops, const int *file, char why[ENGINE_WHY_SIZE])
{
	struct io_req requests[TRIAL_SLOTS] = {0};
	struct engine engine;
	struct engine_config config = {
	    .requests = requests,
	    .slots = TRIAL_SLOTS,
	    .need = ops->caps & (ENGINE_FILES | ENGINE_SOCKETS | ENGINE_TIMERS),
	    .memory_bytes = (size_t)TRIAL_SLOTS * TRIAL_BLOCK,
	    .fds = file,
	    .fd_count = *file >= 0,
	};
	why[0] = 0;
	for (unsigned i = 0; i < TRIAL_SLOTS; i++)
		requests[i] = (struct io_req){.op = IO_NOP, .fd = -1};
	config.memory = mmap(NULL, config.memory_bytes, PROT_READ | PROT_WRITE,
	                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (config.memory == MAP_FAILED) {
		snprintf(why, ENGINE_WHY_SIZE, "no memory for a trial: %s", strerror(errno));
		return -errno;
	}
	int error = engine_open(&engine, ops, &config, why);
	if (!error) {
		error = engine_serve_one(&engine);
		if (error)
			snprintf(why, ENGINE_WHY_SIZE,
			         "it opens, but a request that waits for nothing failed: %s",
			         strerror(-error));
		engine_close(&engine);
	}
	munmap(config.memory, config.memory_bytes);
	return error;
}

void doctor_check_engines(struct doctor *d)
{
	const int file = environment_trial_open(d->directory);
	char why[ENGINE_WHY_SIZE];

	for (const struct engine_ops *const *ops = engine_table; *ops; ops++) {
		const int error = engine_try(*ops, &file, why);
		struct doctor_check *check = doctor_add(d, DOCTOR_ENGINES,
		                                        error ? DOCTOR_NO : DOCTOR_OK, (*ops)->name,
		                                        "%s", (*ops)->summary);
		if (!error) {
			d->engines_open += strcmp((*ops)->name, "null") != 0;
			continue;
		}
		doctor_explain(check, *why ? why : strerror(-error), NULL, NULL);
		if (strncmp((*ops)->name, "uring", 5) == 0 || strcmp((*ops)->name, "port") == 0)
			uring_explain(d, check);
		else if (strcmp((*ops)->name, "libaio") == 0)
			aio_explain(check);
	}
	if (file >= 0)
		close(file);
}

/* The command against what forbids a probe. */
static void probe_explain(const struct doctor *d, const struct probe_ops *ops,
                          struct doctor_check *check)
{
	const int64_t paranoid = environment_setting("kernel/perf_event_paranoid");
	char allow[DOCTOR_COMMAND_SIZE], undo[DOCTOR_COMMAND_SIZE], self[100];
	const ssize_t length = readlink("/proc/self/exe", self, sizeof self);

	if (strcmp(ops->name, "perf") == 0 && d->user.uid != 0 && paranoid > 2) {
		snprintf(undo, sizeof undo, "sudo sysctl kernel.perf_event_paranoid=%d",
		         (int)paranoid);
		doctor_explain(check, NULL, "sudo sysctl kernel.perf_event_paranoid=2", undo);
	} else if (d->user.user_namespace) {
		doctor_explain(check, NULL, "docker run --privileged --userns=host IMAGE",
		               "start the container without those options");
	} else if (d->user.pid_namespace && d->user.uid == 0) {
		doctor_explain(check, NULL, "docker run --privileged IMAGE",
		               "start the container without that option");
	} else if (d->user.uid != 0 && length > 0 && length < (ssize_t)sizeof self) {
		self[length] = 0;
		snprintf(allow, sizeof allow, "sudo setcap cap_bpf,cap_perfmon+ep '%s'", self);
		snprintf(undo, sizeof undo, "sudo setcap -r '%s'", self);
		doctor_explain(check, NULL, allow, undo);
	} else if (d->user.uid != 0) {
		doctor_explain(check, NULL, "sudo iostudy ...",
		               "nothing stays: it is for that run");
	}
}

void doctor_check_probes(struct doctor *d)
{
	for (const struct probe_ops *const *ops = probe_table; *ops; ops++) {
		const struct probe_config config = {.test_directory = d->directory};
		char why[PROBE_WHY_SIZE] = "";
		struct probe probe;
		memset(&probe, 0, sizeof probe);
		const int error = probe_open(&probe, *ops, &config, why);
		struct doctor_check *check = doctor_add(d, DOCTOR_PROBES,
		                                        error ? DOCTOR_NO : DOCTOR_OK, (*ops)->name,
		                                        "%s", (*ops)->summary);
		if (error) {
			doctor_explain(check, *why ? why : strerror(-error), NULL, NULL);
			probe_explain(d, *ops, check);
			continue;
		}
		if (probe.self_test == SELF_TEST_FAILED || *probe.self_test_why) {
			check->state = DOCTOR_NOTE;
			doctor_explain(check, probe.self_test_why, NULL, NULL);
		}
		if (d->probes_open++ == 0)
			snprintf(d->best_probe, sizeof d->best_probe, "%s", (*ops)->name);
		probe_close(&probe);
	}
}
