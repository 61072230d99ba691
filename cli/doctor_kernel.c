/*
 * The doctor on the kernel: what tracing needs of it, and the settings that forbid things.
 */
#include "cli/doctor.h"

#include "bench/environment_place.h"

#include <errno.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

static void btf_check(struct doctor *d)
{
	static const char path[] = "/sys/kernel/btf/vmlinux";

	if (access(path, R_OK) == 0) {
		doctor_add(d, DOCTOR_KERNEL, DOCTOR_OK, "BTF", "%s", path);
		return;
	}
	doctor_explain(
	    doctor_add(d, DOCTOR_KERNEL, DOCTOR_NO, "BTF", "%s: %s", path, strerror(errno)),
	    "The bpf probe finds the kernel's structures by it: it needs a kernel built "
	    "with CONFIG_DEBUG_INFO_BTF, and /sys mounted.",
	    NULL, NULL);
}

static void tracefs_check(struct doctor *d)
{
	static const char path[] = "/sys/kernel/tracing";
	struct statfs fs;

	if (statfs(path, &fs) == 0 && fs.f_type == TRACEFS_MAGIC) {
		doctor_add(d, DOCTOR_KERNEL, DOCTOR_OK, "tracefs", "mounted on %s", path);
		return;
	}
	doctor_explain(
	    doctor_add(d, DOCTOR_KERNEL, DOCTOR_NOTE, "tracefs", "not mounted on %s", path),
	    "Scripts to attach by hand find their tracepoints there; the probes above do "
	    "without.",
	    "sudo mount -t tracefs tracefs /sys/kernel/tracing", "sudo umount /sys/kernel/tracing");
}

static void lockdown_check(struct doctor *d)
{
	char text[ENVIRONMENT_TEXT_SIZE], mode[ENVIRONMENT_TEXT_SIZE];

	if (!environment_file_text("/sys/kernel/security/lockdown", text)) {
		doctor_add(d, DOCTOR_KERNEL, DOCTOR_INFO, "lockdown", "none to be seen");
		return;
	}
	environment_chosen(text, mode);
	if (strcmp(mode, "confidentiality") != 0) {
		doctor_add(d, DOCTOR_KERNEL, DOCTOR_OK, "lockdown", "%s", mode);
		return;
	}
	doctor_explain(doctor_add(d, DOCTOR_KERNEL, DOCTOR_NO, "lockdown", "%s", mode),
	               "BPF may not read kernel memory. The mode is chosen at boot (lockdown= on "
	               "the kernel's command line) and cannot be lowered while it runs.",
	               NULL, NULL);
}

/* A setting whose value forbids something to this user. */
static void setting_add(struct doctor *d, const char *file, const char *name, bool forbids,
                        const char *meaning)
{
	char text[40];
	const int64_t value = environment_setting(file);

	if (value < 0) {
		doctor_add(d, DOCTOR_KERNEL, DOCTOR_INFO, "setting", "%s: not there", name);
		return;
	}
	snprintf(text, sizeof text, "%lld", (long long)value);
	doctor_add(d, DOCTOR_KERNEL, forbids ? DOCTOR_NOTE : DOCTOR_INFO, "setting", "%s=%s: %s",
	           name, text, meaning);
}

static void settings_check(struct doctor *d)
{
	static const char *const uring[] = {"rings for everybody",
	                                    "rings only with sys_admin or kernel.io_uring_group",
	                                    "rings for nobody"};
	const int64_t disabled = environment_setting("kernel/io_uring_disabled");
	const int64_t bpf = environment_setting("kernel/unprivileged_bpf_disabled");
	const int64_t perf = environment_setting("kernel/perf_event_paranoid");
	const bool trusted = doctor_can(d, CAP_SYS_ADMIN);
	const bool may_trace = trusted || doctor_can(d, CAP_PERFMON);

	setting_add(d, "kernel/io_uring_disabled", "kernel.io_uring_disabled",
	            disabled == 2 || (disabled == 1 && !trusted),
	            uring[disabled >= 0 && disabled <= 2 ? disabled : 2]);
	setting_add(d, "kernel/unprivileged_bpf_disabled", "kernel.unprivileged_bpf_disabled",
	            bpf > 0 && !trusted && !doctor_can(d, CAP_BPF),
	            bpf > 0 ? "BPF needs a capability"
	                    : "socket filters for everybody; tracing needs a capability");
	setting_add(
	    d, "kernel/perf_event_paranoid", "kernel.perf_event_paranoid", perf > 1 && !may_trace,
	    perf > 1 ? "without perfmon no kernel events" : "a user's own threads may be counted");
}

static void bpftrace_check(struct doctor *d)
{
	static const char more[] = ":/usr/sbin:/usr/local/sbin:/sbin";
	const char *path = getenv("PATH");
	char places[PATH_MAX], file[PATH_MAX], *rest = NULL;

	snprintf(places, sizeof places, "%.4000s%s", path ? path : "/usr/bin:/bin", more);
	for (char *place = strtok_r(places, ":", &rest); place;
	     place = strtok_r(NULL, ":", &rest)) {
		snprintf(file, sizeof file, "%.4000s/bpftrace", place);
		if (access(file, X_OK) != 0)
			continue;
		doctor_add(d, DOCTOR_KERNEL, DOCTOR_OK, "bpftrace", "%s%s", file,
		           doctor_can(d, CAP_SYS_ADMIN) ? "" : "; it works as root only");
		return;
	}
	doctor_explain(doctor_add(d, DOCTOR_KERNEL, DOCTOR_NOTE, "bpftrace", "not installed"),
	               "Only the scripts to attach by hand need it (iostudy list scripts).",
	               "sudo apt-get install bpftrace", "sudo apt-get remove bpftrace");
}

void doctor_check_kernel(struct doctor *d)
{
	const struct environment *env = &d->environment;

	doctor_add(d, DOCTOR_KERNEL, DOCTOR_INFO, "release", "Linux %s %s", env->kernel,
	           env->machine);
	doctor_add(d, DOCTOR_KERNEL, DOCTOR_INFO, "CPUs",
	           "%d online, %d of them allowed; load %.2f; clock %s", env->cpus,
	           env->cpus_allowed, env->load_1, *env->clocksource ? env->clocksource : "?");
	if (strcmp(env->virtualised, "none") != 0)
		doctor_explain(
		    doctor_add(d, DOCTOR_KERNEL, DOCTOR_NOTE, "virtual machine",
		               "%s; %.1f s stolen since boot", env->virtualised,
		               env->steal_ns < 0 ? 0.0 : (double)env->steal_ns / 1e9),
		    "Latencies and CPU times are this machine's as its host lets it run.", NULL,
		    NULL);
	btf_check(d);
	lockdown_check(d);
	tracefs_check(d);
	settings_check(d);
	bpftrace_check(d);
}
