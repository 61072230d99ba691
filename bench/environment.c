/*
 * The machine's own facts: kernel, CPUs, hypervisor, memory, clock, load. The file system and
 * the device are in environment_place.c.
 */
#include "bench/environment.h"
#include "bench/environment_place.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

static void text_set(char text[ENVIRONMENT_TEXT_SIZE], const char *value)
{
	snprintf(text, ENVIRONMENT_TEXT_SIZE, "%s", value);
}

static int32_t cpus_allowed(void)
{
	/* The kernel may have been built for more CPUs than a cpu_set_t holds. */
	for (int cpus = CPU_SETSIZE; cpus <= 1 << 16; cpus *= 2) {
		const size_t bytes = CPU_ALLOC_SIZE(cpus);
		cpu_set_t *set = CPU_ALLOC(cpus);
		if (!set)
			return -1;
		const int error = sched_getaffinity(0, bytes, set) ? errno : 0;
		const int32_t count = error ? -1 : CPU_COUNT_S(bytes, set);
		CPU_FREE(set);
		if (error != EINVAL)
			return count;
	}
	return -1;
}

static void cpu_model_read(char model[ENVIRONMENT_TEXT_SIZE])
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	if (!file)
		return;
	char line[512];
	while (!*model && fgets(line, sizeof line, file)) {
		char *colon = strchr(line, ':');
		if (!colon || (strncmp(line, "model name", 10) != 0 &&
		               strncmp(line, "Model", 5) != 0 && strncmp(line, "cpu\t", 4) != 0))
			continue;
		colon[strcspn(colon, "\n")] = 0;
		colon += 1 + strspn(colon + 1, " ");
		text_set(model, colon);
	}
	fclose(file);
}

#if defined(__x86_64__) || defined(__i386__)
/* The CPU's hypervisor leaf: the only source that a small virtual machine always has. */
static bool virtualised_by_cpuid(char name[ENVIRONMENT_TEXT_SIZE])
{
	static const struct {
		const char *signature, *name;
	} known[] = {
	    {"KVMKVMKVM", "kvm"},           {"Linux KVM Hv", "kvm"},
	    {"Microsoft Hv", "hyper-v"},    {"VMwareVMware", "vmware"},
	    {"XenVMMXenVMM", "xen"},        {"TCGTCGTCGTCG", "qemu"},
	    {"bhyve bhyve ", "bhyve"},      {"ACRNACRNACRN", "acrn"},
	    {"prl hyperv  ", "parallels"},  {" lrpepyh  vr", "parallels"},
	    {"VBoxVBoxVBox", "virtualbox"},
	};
	unsigned a, b, c, d;
	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & 1u << 31))
		return false;
	char signature[13] = {0};
	__cpuid(0x40000000, a, b, c, d);
	memcpy(signature, &b, 4);
	memcpy(signature + 4, &c, 4);
	memcpy(signature + 8, &d, 4);
	text_set(name, "unnamed");
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strcmp(signature, known[i].signature) == 0)
			text_set(name, known[i].name);
	return true;
}
#else
static bool virtualised_by_cpuid(char name[ENVIRONMENT_TEXT_SIZE])
{
	(void)name;
	return false;
}
#endif

static void virtualised_read(char name[ENVIRONMENT_TEXT_SIZE])
{
	char text[ENVIRONMENT_TEXT_SIZE];
	if (virtualised_by_cpuid(name))
		return;
	if (environment_file_text("/sys/hypervisor/type", text) && *text) {
		text_set(name, text);
		return;
	}
	if (environment_file_text("/proc/device-tree/hypervisor/compatible", text)) {
		text_set(name, strstr(text, "kvm")   ? "kvm"
		               : strstr(text, "xen") ? "xen"
		                                     : "unnamed");
		return;
	}
	text_set(name, "none");
}

/* The times of all CPUs since boot, in the order of proc(5). False: not known. */
static bool cpu_times_read(uint64_t times_ns[8])
{
	FILE *file = fopen("/proc/stat", "re");
	const long hertz = sysconf(_SC_CLK_TCK);
	int found = 0;

	if (!file)
		return false;
	if (fscanf(file, "cpu") == 0)
		while (found < 8 && fscanf(file, "%" SCNu64, &times_ns[found]) == 1)
			found++;
	fclose(file);
	for (int i = 0; i < found && hertz > 0; i++)
		times_ns[i] *= 1000000000ull / (uint64_t)hertz;
	return found == 8 && hertz > 0;
}

int64_t environment_steal_ns(void)
{
	uint64_t times_ns[8];

	return cpu_times_read(times_ns) ? (int64_t)times_ns[7] : -1;
}

int64_t environment_iowait_ns(void)
{
	uint64_t times_ns[8];

	return cpu_times_read(times_ns) ? (int64_t)times_ns[4] : -1;
}

int64_t environment_busy_ns(void)
{
	uint64_t t[8]; /* user, nice, system, idle, iowait, irq, softirq, steal */

	return cpu_times_read(t) ? (int64_t)(t[0] + t[1] + t[2] + t[5] + t[6]) : -1;
}

static void machine_read(struct environment *env)
{
	struct utsname uts;
	struct sysinfo info;
	double load[3];

	text_set(env->iostudy, IOSTUDY_VERSION);
	if (uname(&uts) == 0) {
		text_set(env->host, uts.nodename);
		text_set(env->kernel, uts.release);
		text_set(env->machine, uts.machine);
	}
	cpu_model_read(env->cpu_model);
	virtualised_read(env->virtualised);
	environment_file_text("/sys/devices/system/clocksource/clocksource0/current_clocksource",
	                      env->clocksource);
	env->cpus = (int32_t)sysconf(_SC_NPROCESSORS_ONLN);
	env->cpus_allowed = cpus_allowed();
	env->memory_bytes = sysinfo(&info) == 0 ? (int64_t)((uint64_t)info.totalram * info.mem_unit)
	                                        : -1;
	env->load_1 = env->load_5 = env->load_15 = -1;
	if (getloadavg(load, 3) == 3) {
		env->load_1 = load[0];
		env->load_5 = load[1];
		env->load_15 = load[2];
	}
	env->steal_ns = environment_steal_ns();
}

int environment_read(struct environment *env, const char *path)
{
	memset(env, 0, sizeof *env);
	machine_read(env);
	return environment_place_read(env, path);
}

const char *environment_caveat(const struct environment *env, const char *path, char text[240])
{
	const int length = path ? (int)strnlen(path, 80) : 1;
	const char *shown = path ? path : ".";
	if (env->in_memory)
		snprintf(text, 240,
		         "%.*s is on %s, which is memory: no disk is read there; "
		         "name a place on a disk with --directory",
		         length, shown, env->filesystem);
	else if (env->layered)
		snprintf(text, 240,
		         "%.*s is on %s, which hands the work to another file system; "
		         "name a place on a disk with --directory",
		         length, shown, env->filesystem);
	else
		return NULL;
	return text;
}
