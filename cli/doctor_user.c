/*
 * The doctor on who asks: user, capabilities, container, seccomp.
 */
#include "cli/doctor.h"

#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Numbers of the first namespaces, fixed in the kernel (include/linux/proc_ns.h). */
enum { FIRST_USER_NAMESPACE = 0xEFFFFFFD, FIRST_PID_NAMESPACE = 0xEFFFFFFC };

static bool namespace_is_first(const char *path, ino_t first)
{
	struct stat st;
	return stat(path, &st) != 0 || st.st_ino == first;
}

/* Whether a file holds a word; false where it cannot be read. */
static bool file_holds(const char *path, const char *word)
{
	char text[8192];
	FILE *file = fopen(path, "re");
	if (!file)
		return false;
	const size_t length = fread(text, 1, sizeof text - 1, file);
	fclose(file);
	text[length] = 0;
	return strstr(text, word) != NULL;
}

static void container_read(char *container, size_t size)
{
	static const char *const words[] = {"docker", "kubepods", "libpod", "lxc", "containerd"};
	const char *name = getenv("container"); /* set by systemd-nspawn, podman, lxc */

	if (access("/.dockerenv", F_OK) == 0)
		name = "docker";
	else if (access("/run/.containerenv", F_OK) == 0)
		name = "podman";
	for (size_t i = 0; !name && i < sizeof words / sizeof *words; i++)
		if (file_holds("/proc/1/cgroup", words[i]) ||
		    file_holds("/proc/self/cgroup", words[i]))
			name = words[i];
	snprintf(container, size, "%s", name ? name : "");
}

void doctor_user_read(struct doctor_user *user)
{
	char line[256];

	user->uid = geteuid();
	user->seccomp = -1;
	user->user_namespace = !namespace_is_first("/proc/self/ns/user", FIRST_USER_NAMESPACE);
	user->pid_namespace = !namespace_is_first("/proc/self/ns/pid", FIRST_PID_NAMESPACE);
	container_read(user->container, sizeof user->container);
	FILE *file = fopen("/proc/self/status", "re");
	while (file && fgets(line, sizeof line, file)) {
		sscanf(line, "CapEff: %" SCNx64, &user->capabilities);
		sscanf(line, "Seccomp: %d", &user->seccomp);
	}
	if (file)
		fclose(file);
}

static void capabilities_check(struct doctor *d)
{
	static const struct {
		unsigned number;
		const char *name, *use;
	} needed[] = {
	    {CAP_BPF, "bpf", "the bpf probe"},
	    {CAP_PERFMON, "perfmon", "the bpf and perf probes"},
	    {CAP_SYS_ADMIN, "sys_admin", "stands in for both"},
	    {CAP_SYS_RESOURCE, "sys_resource", "raising hard limits"},
	    {CAP_IPC_LOCK, "ipc_lock", "locked memory without a limit"},
	};
	char has[200] = "", lacks[400] = "";

	for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
		const bool can = doctor_can(d, needed[i].number);
		char *list = can ? has : lacks;
		const size_t size = can ? sizeof has : sizeof lacks, length = strlen(list);
		snprintf(list + length, size - length, can ? "%s%s" : "%s%s (%s)",
		         length ? ", " : "", needed[i].name, needed[i].use);
	}
	doctor_add(d, DOCTOR_USER, DOCTOR_INFO, "capabilities", "%s%s%s", *has ? has : "none",
	           *lacks ? "; without " : "", lacks);
}

static void container_check(struct doctor *d)
{
	const struct doctor_user *user = &d->user;

	if (user->pid_namespace) {
		struct doctor_check *check = doctor_add(
		    d, DOCTOR_USER, DOCTOR_NOTE, "container", "%s%sits own PID namespace",
		    user->container, *user->container ? ", " : "");
		doctor_explain(check,
		               "PIDs differ outside, and the container's rules (seccomp, "
		               "capabilities, cgroup) come on top of the kernel's.",
		               NULL, NULL);
	} else {
		doctor_add(d, DOCTOR_USER, DOCTOR_INFO, "container",
		           *user->container ? "looks like %s, but sees the machine's PIDs"
		                            : "none seen%s",
		           user->container);
	}
}

void doctor_check_user(struct doctor *d)
{
	const struct doctor_user *user = &d->user;
	struct doctor_check *check;

	doctor_add(d, DOCTOR_USER, DOCTOR_INFO, "user", "%s (uid %u)",
	           user->uid == 0 ? "root" : "an ordinary user", (unsigned)user->uid);
	if (user->user_namespace) {
		check = doctor_add(d, DOCTOR_USER, DOCTOR_NOTE, "user namespace",
		                   "not the machine's");
		doctor_explain(
		    check, "Root here is not the machine's root: its capabilities allow no BPF.",
		    NULL, NULL);
	}
	capabilities_check(d);
	container_check(d);
	if (user->seccomp > 0) {
		check = doctor_add(d, DOCTOR_USER, DOCTOR_NOTE, "seccomp",
		                   "system calls are filtered (mode %d)", user->seccomp);
		doctor_explain(
		    check,
		    "A filter can forbid io_uring and bpf whatever the kernel's settings "
		    "say; the engines and probes above were tried under it.",
		    NULL, NULL);
	} else {
		doctor_add(d, DOCTOR_USER, DOCTOR_INFO, "seccomp", "%s",
		           user->seccomp == 0 ? "no filter" : "not known");
	}
}
